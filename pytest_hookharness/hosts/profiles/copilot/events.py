"""
The events of GitHub's Copilot CLI, from its hooks reference.

Most events have two names. The name by which a hook is configured decides the form of its input.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Unpack

from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources
from pytest_hookharness.hosts.rules import replies
from pytest_hookharness.hosts.rules.profile import EventRule, Power
from pytest_hookharness.hosts.rules.settings import MatcherRules, Syntax
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import Field, Json, Payload, Ruling

DOCS = FactSources("Copilot hooks reference and changelog, to 1.0.78")
# The names of tools for hooks that are configured under one of Claude Code's event names.
CLAUDE_NAMES = {"bash": "Bash", "view": "Read", "create": "Write", "edit": "Edit", "task": "Agent"}

_CLAUDE_MATCHERS = MatcherRules(
    syntax=Syntax.JAVASCRIPT,
    everything=("", "*", "**"),
    plain=r"[\w|-]*",
    anchored=True,
    aliases={name: (own,) for own, name in CLAUDE_NAMES.items()} | {"Agent": ("task", "Task")},
    rule=DOCS.documented(
        "under such a name a matcher is a list of names, Claude's names included, or a regular expression"
    ),
)
_OUT = (replies.Stream.OUT,)
_SUCCESS = replies.CodeRule(codes=(0,), answer=_OUT, meaning=replies.CodeMeaning.PLAIN)
_REFUSAL = replies.CodeRule(
    codes=(2,),
    answer=_OUT,
    meaning=replies.CodeMeaning.REFUSES,
    overrides_answer=True,
    keeps_reason=True,
    rule="code refuses",
)
_FAILURE = replies.CodeRule(meaning=replies.CodeMeaning.FAILS)
_BEFORE_TOOL = (
    _SUCCESS,
    _REFUSAL,
    # Every other exit code: before a tool this host fails closed.
    replies.CodeRule(reason_streams=(), meaning=replies.CodeMeaning.REFUSES, rule="error refuses"),
)
_PERMISSION = (_SUCCESS, replace(_REFUSAL, reason_streams=()), _FAILURE)
_AFTER_FAILURE = (
    _SUCCESS,
    replies.CodeRule(
        codes=(2,), reason_streams=_OUT, meaning=replies.CodeMeaning.REFUSES_IF_WORDS, rule="code informs"
    ),
    _FAILURE,
)
_GRANTS = replies.AnswerRules(
    verdicts=(
        replies.VerdictPath(
            path=("behavior",), reason=("message",), rulings={"allow": Ruling.ALLOW, "deny": Ruling.DENY}
        ),
    )
)


_DECISION, _REASON_KEY = "permissionDecision", "permissionDecisionReason"
_PERMISSIONS = replies.VerdictPath(
    path=(_DECISION,),
    reason=(_REASON_KEY,),
    rulings={"allow": Ruling.ALLOW, "deny": Ruling.DENY, "ask": Ruling.ASK},
    roles=(Role.BEFORE_TOOL,),
)
ANSWERS = replies.AnswerRules(
    verdicts=(
        _PERMISSIONS,
        replies.VerdictPath(
            path=("decision",),
            rulings={"block": Ruling.DENY, "allow": Ruling.ALLOW},
            roles=(Role.STOP, Role.SUBAGENT_STOP),
        ),
    ),
    context=(("additionalContext",),),
    changed_input=(("modifiedArgs",), ("updatedInput",)),
    changed_output=(("modifiedResult", "textResultForLlm"),),
)
_OF_CLAUDE = "hookSpecificOutput"
_CLAUDE_ANSWERS = replace(
    ANSWERS,
    verdicts=(
        *ANSWERS.verdicts,
        replace(_PERMISSIONS, path=(_OF_CLAUDE, _DECISION), reason=(_OF_CLAUDE, _REASON_KEY)),
    ),
    context=(*ANSWERS.context, (_OF_CLAUDE, "additionalContext")),
    changed_input=(*ANSWERS.changed_input, (_OF_CLAUDE, "updatedInput")),
)


def own_values(values: Payload) -> Mapping[str, Json]:
    """Return the input values that only this host has."""
    text = values.get("tool_text", "")
    tool = str(values.get("tool_name", ""))
    return {
        "claude tool": CLAUDE_NAMES.get(tool, tool),
        "input as text": json.dumps(values.get("tool_input"), separators=(",", ":"), ensure_ascii=False),
        "result": {"resultType": "success", "textResultForLlm": text},
        "claude result": {"result_type": "success", "text_result_for_llm": text},
    }


_INPUT = (
    Field(name="toolArgs", kind="input text", source="input as text"),
    Field(name="tool_input", kind="input"),
)
_AS_TEXT = (
    "toolArgs is the input of the call as a JSON text, as people saw it with versions 1.0.5 to 1.0.63; the "
    "reference leaves its type open"
)
_AS_CLAUDE = (
    "an answer in hookSpecificOutput is read too, as people saw it; the reference does not name that key"
)


def _fields(name: str, own: tuple[Field, ...], *, native: bool) -> tuple[Field, ...]:
    if native:
        return (
            Field(name="sessionId", kind="uuid", source="session_id"),
            Field(name="timestamp", kind="count", source="time_ms"),
            Field(name="cwd", kind="folder"),
            *own,
        )
    return (
        Field(name="hook_event_name", kind="event", fixed=(name,)),
        Field(name="session_id", kind="uuid"),
        Field(name="timestamp"),
        Field(name="cwd", kind="folder"),
        *own,
    )


def _pair(
    native: str,
    second: str,
    fact: str,
    own: tuple[tuple[Field, Field], ...] = (),
    *,
    assumed: str = "",
    **options: Unpack[EventOptions],
) -> Iterator[EventRule]:
    for name, place in ((native, 0), (second, 1)):
        if not name:
            continue
        fields = _fields(name, tuple(pair[place] for pair in own), native=place == 0)
        by_tool = options.get("target") == "tool_name" and place == 1
        named: EventOptions = {"timeout": 30.0, **options}
        if by_tool:
            named["target"] = "claude tool"
        if place and options.get("role") is Role.BEFORE_TOOL:
            named["answers"], claims = _CLAUDE_ANSWERS, _AS_CLAUDE
        else:
            claims = _AS_TEXT if _INPUT in own and place == 0 else ""
        rests_on = (assumed, claims)
        yield EventRule(
            fields=DOCS.fields(name, *fields),
            matchers=_CLAUDE_MATCHERS if by_tool else None,
            second_name_of=native if place else "",
            rule=DOCS.documented(fact),
            rests_on=tuple(DOCS.assumed(text) for text in rests_on if text),
            **named,
        )


def _same(name: str, kind: str = "text", source: str = "") -> tuple[Field, Field]:
    return (Field(name=name, kind=kind, source=source), Field(name=name, kind=kind, source=source))


def _called(native: str, second: str, kind: str, source: str) -> tuple[Field, Field]:
    return Field(name=native, kind=kind, source=source), Field(name=second, kind=kind, source=source)


_TOOL = (
    (
        Field(name="toolName", kind="tool", source="tool_name", choices=tuple(CLAUDE_NAMES)),
        Field(name="tool_name", kind="tool", source="claude tool", choices=tuple(CLAUDE_NAMES.values())),
    ),
    _INPUT,
)
_TRANSCRIPT = _called("transcriptPath", "transcript_path", "path", "transcript_path")
_REASON = (
    Field(name="stopReason", kind="word", fixed=("end_turn",)),
    Field(name="stop_reason", kind="word", fixed=("end_turn",)),
)
_RESULT = (
    Field(name="toolResult", kind="object", source="result"),
    Field(name="tool_result", kind="object", source="claude result"),
)
_AGENT = (
    _TRANSCRIPT,
    _called("agentId", "agent_id", "word", "agent_id"),
    _called("agentType", "agent_type", "word", "agent_type"),
    _called("agentName", "agent_name", "word", "agent_type"),
    _called("response", "last_assistant_message", "text", "last_assistant_message"),
    _REASON,
)


def _unreachable(name: str, why: str) -> EventRule:
    return EventRule(
        fields=DOCS.fields(name, *_fields(name, (), native=True)),
        timeout=30.0,
        unreachable=why,
        rule=DOCS.documented(f"{name} hooks block nothing"),
    )


_STOPPED = "decision block makes the agent continue with the reason; exit code 2 is only a warning"
_ALL = (
    *_pair(
        "sessionStart",
        "SessionStart",
        "a session start cannot be refused; additionalContext reaches the agent",
        (_same("source", "word"),),
        role=Role.SESSION_START,
        context=True,
    ),
    *_pair(
        "sessionEnd",
        "SessionEnd",
        "a session end cannot be refused",
        (_same("reason", "word"),),
        role=Role.SESSION_END,
    ),
    *_pair(
        "userPromptSubmitted",
        "UserPromptSubmit",
        "a prompt cannot be refused",
        (_same("prompt"),),
        role=Role.PROMPT,
        context=True,
        assumed=(
            "additionalContext on a prompt reaches the agent, as the changelog says since 1.0.65; the "
            "reference says that the output of such hooks is dropped"
        ),
    ),
    *_pair(
        "preToolUse",
        "PreToolUse",
        "a refusal prevents the call; every failure except a timeout refuses",
        _TOOL,
        role=Role.BEFORE_TOOL,
        power=Power.REFUSES,
        target="tool_name",
        codes=_BEFORE_TOOL,
        context=True,
    ),
    *_pair(
        "permissionRequest",
        "",
        ("behavior allow or deny replaces the user's answer, and the last hook's counts; exit code 2 denies"),
        _TOOL,
        role=Role.PERMISSION,
        power=Power.REFUSES,
        merging=replies.Merging(precedence=replies.Precedence.LAST_SAID),
        target="tool_name",
        codes=_PERMISSION,
        answers=_GRANTS,
        assumed="permission hooks run for commands and for changes of files; interrupt is not simulated",
    ),
    *_pair(
        "postToolUse",
        "PostToolUse",
        "hooks after a successful call can replace its result and add to it",
        (*_TOOL, _RESULT),
        role=Role.AFTER_TOOL,
        target="tool_name",
        context=True,
    ),
    *_pair(
        "postToolUseFailure",
        "PostToolUseFailure",
        "after a failed call, output with exit code 2 reaches the agent",
        (*_TOOL, _same("error")),
        role=Role.TOOL_FAILED,
        power=Power.INFORMS,
        target="tool_name",
        codes=_AFTER_FAILURE,
        context=True,
    ),
    *_pair(
        "agentStop",
        "Stop",
        _STOPPED,
        (_TRANSCRIPT, _REASON, _same("stop_hook_active", "flag")),
        role=Role.STOP,
        power=Power.REFUSES,
    ),
    *_pair(
        "subagentStart",
        "",
        "a subagent's start cannot be refused",
        (_TRANSCRIPT, _called("agentName", "agent_name", "word", "agent_type")),
        role=Role.SUBAGENT_START,
        target="agent_type",
        assumed="additionalContext for a subagent is not simulated",
    ),
    *_pair(
        "subagentStop",
        "SubagentStop",
        _STOPPED,
        _AGENT,
        role=Role.SUBAGENT_STOP,
        power=Power.REFUSES,
        assumed="every kind of subagent has these events; of the built-in kinds, general-purpose has none",
    ),
    *_pair(
        "preCompact",
        "PreCompact",
        "a compaction cannot be refused",
        (_TRANSCRIPT, _same("trigger", "word")),
        role=Role.BEFORE_COMPACT,
        target="trigger",
    ),
    _unreachable("userPromptTransformed", "the simulation sends prompts as they are typed"),
    _unreachable("preMcpToolCall", "the simulated agent has no MCP server"),
    _unreachable("notification", "it does not occur in a headless session"),
    _unreachable("errorOccurred", "the scripted agent has no model server that could fail"),
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}
