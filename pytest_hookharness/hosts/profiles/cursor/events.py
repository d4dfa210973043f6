"""
The events of Cursor in August 2026, from its documents.

Some occur for every tool, and some, after these, for one tool only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources, PlainTools
from pytest_hookharness.hosts.rules.profile import EventRule, Power
from pytest_hookharness.hosts.rules.replies import AnswerRules, CodeMeaning, CodeRule, Stream, VerdictPath
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import Field, Json, Payload, Ruling

DOCS = FactSources("Cursor hooks documentation, 2026-08")
TOOLS = PlainTools(run="Shell", write="Write", edit="StrReplace", read="Read")

_COMMON = (
    Field(name="conversation_id", kind="uuid", source="session_id"),
    Field(name="generation_id", kind="uuid", source="turn_id", optional=True),
    Field(name="model", kind="word"),
    Field(name="hook_event_name", kind="event"),
    Field(name="cursor_version", kind="word", fixed=("2026-08",)),
    Field(name="workspace_roots", kind="list"),
    Field(name="user_email", kind="nothing", fixed=(None,)),
    Field(name="transcript_path", kind="path"),
)
_CWD = Field(name="cwd", kind="folder")
_CALL = (
    Field(name="tool_name", kind="tool", choices=(TOOLS.run, TOOLS.write, TOOLS.edit, TOOLS.read)),
    Field(name="tool_input", kind="input"),
)
_USE = Field(name="tool_use_id", kind="word")
_DURATION = Field(name="duration", kind="count", source="duration_ms")
_STATUS = Field(name="status", kind="word", fixed=("completed",))
_LOOP = Field(name="loop_count", kind="count", source="stops_refused")
_AGENT = Field(name="subagent_type", kind="word", source="agent_type")
_COMMAND = Field(name="command")
_FILE = Field(name="file_path", kind="path", source="file")

_OUT = (Stream.OUT,)
# How answers are read on events without a form of their own.
ANSWERS = AnswerRules(
    verdicts=(
        VerdictPath(
            path=("permission",),
            reason=("agent_message",),
            rulings={"allow": Ruling.ALLOW, "deny": Ruling.DENY},
        ),
    ),
    context=(("additional_context",),),
    changed_input=(("updated_input",),),
    changed_output=(("updated_mcp_tool_output",),),
    person=(("user_message",),),
)
NO_DECISION = CodeRule(
    codes=(0,), answer=_OUT, meaning=CodeMeaning.FAILS, ignores_silence=True, rule="no decision"
)
FAILURE = CodeRule(meaning=CodeMeaning.FAILS)
_STOP_CODES = (
    NO_DECISION,
    CodeRule(codes=(2,), meaning=CodeMeaning.IGNORED, rule="code means nothing"),
    FAILURE,
)
_READ = replace(ANSWERS, verdicts=(replace(ANSWERS.verdicts[0], reason=()),))
_STOP = AnswerRules(verdicts=(VerdictPath(path=("followup_message",), any_text=True),))
_PROMPT = AnswerRules(
    verdicts=(
        VerdictPath(
            path=("continue",), reason=("user_message",), rulings={False: Ruling.DENY, True: Ruling.ALLOW}
        ),
    )
)
# Hooks in Claude Code's settings may answer in Claude Code's form too.
_NESTED = "hookSpecificOutput"
_PERMISSIONS: Mapping[str | bool, Ruling] = {"allow": Ruling.ALLOW, "deny": Ruling.DENY}
_CLAUDE_VERDICTS = (
    VerdictPath(
        path=(_NESTED, "permissionDecision"),
        reason=(_NESTED, "permissionDecisionReason"),
        rulings=_PERMISSIONS,
    ),
    VerdictPath(path=("decision",), rulings={"block": Ruling.DENY}),
)
_CLAUDE_STOP_CODES = (
    NO_DECISION,
    CodeRule(codes=(2,), meaning=CodeMeaning.REFUSES, overrides_answer=True, rule="imported code"),
    FAILURE,
)
_NO_SERVER = "the simulated agent has no MCP server"
_NO_EDITOR = "the simulation has no editor in which a user types"
_NOT_SENT = "the command line version does not send it, according to Cursor's makers"


def own_values(values: Payload) -> Mapping[str, Json]:
    """Return the input values that only this host has."""
    given = values.get("tool_input")
    tool_input = given if isinstance(given, Mapping) else {}
    edit = {
        "old_string": tool_input.get(TOOLS.old, ""),
        "new_string": tool_input.get(TOOLS.new, tool_input.get(TOOLS.text, "")),
    }
    return {
        "workspace_roots": [values.get("workspace")],
        "command": tool_input.get(TOOLS.command, ""),
        "file": tool_input.get(TOOLS.path, ""),
        "edits": [edit],
        "output as text": json.dumps(values.get("tool_response")),
        "output": values.get("tool_text", ""),
    }


def _in_either_form(own: AnswerRules) -> AnswerRules:
    return replace(
        own,
        verdicts=(*own.verdicts, *_CLAUDE_VERDICTS),
        context=(*own.context, (_NESTED, "additionalContext")),
        changed_input=(*own.changed_input, (_NESTED, "updatedInput")),
        person=(*own.person, ("systemMessage",)),
    )


def _event(
    name: str,
    *fields: Field,
    fact: str = "",
    refuses: bool = False,
    assumed: str = "",
    **own: Unpack[EventOptions],
) -> EventRule:
    if refuses:
        own["power"] = Power.REFUSES
    return EventRule(
        fields=DOCS.fields(name, *_COMMON, *fields),
        foreign_codes=_CLAUDE_STOP_CODES if "codes" in own else (),
        foreign_answers=_in_either_form(own.get("answers", ANSWERS)),
        fails_closed=own.get("role") not in (Role.STOP, Role.SUBAGENT_STOP),
        rule=DOCS.documented(fact or f"{name} hooks block nothing"),
        rests_on=(DOCS.assumed(assumed),) if assumed else (),
        **own,
    )


_ALL = (
    _event(
        "sessionStart",
        fact="additional_context of sessionStart reaches the agent; it cannot be refused",
        role=Role.SESSION_START,
        context=True,
        assumed="variables that sessionStart hooks set with env do not reach later hooks",
    ),
    _event("sessionEnd", Field(name="reason", kind="word"), role=Role.SESSION_END),
    _event(
        "beforeSubmitPrompt",
        Field(name="prompt"),
        Field(name="attachments", kind="list", fixed=([],)),
        fact="continue false on beforeSubmitPrompt prevents the prompt from being sent",
        role=Role.PROMPT,
        answers=_PROMPT,
        refuses=True,
    ),
    _event(
        "preToolUse",
        *_CALL,
        _USE,
        _CWD,
        Field(name="agent_message", optional=True),
        fact="permission deny on preToolUse prevents the call",
        role=Role.BEFORE_TOOL,
        target="tool_name",
        refuses=True,
        assumed="preToolUse occurs before the event for the one tool; agent_message is left out",
    ),
    _event(
        "beforeShellExecution",
        _COMMAND,
        _CWD,
        Field(name="sandbox", kind="flag", fixed=(False,)),
        fact="permission deny on beforeShellExecution prevents the command",
        role=Role.BEFORE_TOOL,
        tools=(TOOLS.run,),
        target="command",
        refuses=True,
    ),
    _event(
        "beforeReadFile",
        _FILE,
        Field(name="content", optional=True),
        fact="permission deny on beforeReadFile prevents the read; user_message is for the user alone",
        role=Role.BEFORE_TOOL,
        answers=_READ,
        tools=(TOOLS.read,),
        refuses=True,
        assumed="the content of the file is left out",
    ),
    _event(
        "postToolUse",
        *_CALL,
        Field(name="tool_output", source="output as text"),
        _USE,
        _CWD,
        _DURATION,
        fact="additional_context of postToolUse reaches the agent; the call stays made",
        role=Role.AFTER_TOOL,
        target="tool_name",
        context=True,
    ),
    _event(
        "afterShellExecution",
        _COMMAND,
        Field(name="output"),
        _DURATION,
        role=Role.AFTER_TOOL,
        tools=(TOOLS.run,),
        target="command",
    ),
    _event(
        "afterFileEdit",
        _FILE,
        Field(name="edits", kind="list"),
        role=Role.AFTER_TOOL,
        tools=(TOOLS.write, TOOLS.edit),
    ),
    _event(
        "postToolUseFailure",
        *_CALL,
        _USE,
        _CWD,
        Field(name="error_message", source="error"),
        Field(name="failure_type", kind="word", fixed=("error",)),
        _DURATION,
        Field(name="is_interrupt", kind="flag"),
        role=Role.TOOL_FAILED,
        target="tool_name",
    ),
    _event("subagentStart", _AGENT, role=Role.SUBAGENT_START, target="agent_type"),
    _event(
        "subagentStop",
        _AGENT,
        _STATUS,
        _LOOP,
        Field(name="modified_files", kind="list", fixed=([],)),
        Field(name="summary", source="last_assistant_message"),
        fact="followup_message on subagentStop makes the subagent continue",
        role=Role.SUBAGENT_STOP,
        target="agent_type",
        codes=_STOP_CODES,
        answers=_STOP,
        refuses=True,
    ),
    _event(
        "preCompact",
        Field(name="trigger", kind="word", choices=("manual", "auto")),
        role=Role.BEFORE_COMPACT,
        target="trigger",
    ),
    _event(
        "stop",
        _STATUS,
        _LOOP,
        fact="only followup_message on stop makes the agent continue",
        role=Role.STOP,
        codes=_STOP_CODES,
        answers=_STOP,
        refuses=True,
    ),
    _event("beforeMCPExecution", *_CALL, refuses=True, unreachable=_NO_SERVER),
    _event("afterMCPExecution", *_CALL, unreachable=_NO_SERVER),
    _event("afterAgentResponse", unreachable=_NOT_SENT),
    _event("afterAgentThought", unreachable=_NOT_SENT),
    _event("beforeTabFileRead", _FILE, refuses=True, unreachable=_NO_EDITOR),
    _event("afterTabFileEdit", _FILE, unreachable=_NO_EDITOR),
    _event("workspaceOpen", unreachable=_NO_EDITOR),
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}
