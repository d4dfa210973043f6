"""
The events of Codex 0.169.0, and the lines of its transcript.

The order of the keys is the host's own. Each line of a transcript is an item with its time; the form
follows what is publicly known of such files, and is assumed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Unpack

from pytest_hookharness.hosts.profiles.codex.answers_and_tools import ANSWERS
from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources
from pytest_hookharness.hosts.rules.profile import EventRule, Power
from pytest_hookharness.hosts.rules.replies import Halting, Merging, ReasonChoice
from pytest_hookharness.hosts.rules.tools_and_transcript import TranscriptLine
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session_state.facts import derive_uuid
from pytest_hookharness.model.moves import Subagent, ToolCall
from pytest_hookharness.model.protocol import EventFields, Field, Json, Payload

_RECORDED = "Codex 0.169.0, headless, recorded standard input"
FACTS = FactSources(
    documents="Codex, its source and hooks documentation, mid-2026",
    measurement="Codex 0.169.0, headless, measured",
    choice="not recorded; chosen for the simulation",
    host="codex",
)

_WORD = "word"
_SESSION = Field(name="session_id", kind="uuid")
_TURN = Field(name="turn_id", kind="uuid")
_TRANSCRIPT = Field(name="transcript_path", kind="path", source="rollout")
_MAIN_TRANSCRIPT = Field(name="transcript_path", kind="path")
_CWD = Field(name="cwd", kind="folder")
_EVENT = Field(name="hook_event_name", kind="event")
_MODEL = Field(name="model", kind=_WORD)
_MODE = Field(
    name="permission_mode",
    kind=_WORD,
    choices=("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"),
)
_IN_SUBAGENT = (
    Field(name="agent_id", kind=_WORD, optional=True),
    Field(name="agent_type", kind=_WORD, source="agent_kind", optional=True, choices=("default",)),
)
_OF_SUBAGENT = (
    Field(name="agent_id", kind="uuid"),
    Field(name="agent_type", kind=_WORD, source="agent_kind", choices=("default",)),
)
_TOOL = Field(name="tool_name", kind="tool", choices=("Bash", "apply_patch", "spawn_agent"))
_INPUT = Field(name="tool_input", kind="input")
_USE = Field(name="tool_use_id", kind=_WORD)
_STOPPING = (Field(name="stop_hook_active", kind="flag"), Field(name="last_assistant_message", null=True))
_TRIGGER = Field(name="trigger", kind=_WORD, choices=("auto", "manual"))

# Fields between the session and an event's own keys.
_PLACE = (_CWD, _EVENT, _MODEL)
_OF_TURN = (_TURN, *_IN_SUBAGENT, _TRANSCRIPT, *_PLACE, _MODE)

_FOR_TOOL = Merging(reasons=ReasonChoice.FIRST, several="first refusal")


def seen_as(tool_call: ToolCall) -> Payload:
    """Return the input of a call as hooks see it: of a command the command alone."""
    given = tool_call.input
    return {"command": given["command"]} if tool_call.name == "Bash" and "command" in given else given


def asks(tool_call: ToolCall) -> str | None:
    """Return the reason of a command that asks to leave the sandbox; ``None`` for any other call."""
    if tool_call.input.get("sandbox_permissions") != "require_escalated":
        return None
    return str(tool_call.input.get("justification") or "")


def own_values(values: Payload) -> Mapping[str, Json]:
    """
    Return the input values that only Codex has.

    A subagent has a turn and a transcript of its own, and events about a subagent have these: ``turn_id``,
    and ``rollout``, the transcript of the agent that the event is about. ``agent_kind`` is Codex's name of
    the kind of agent. ``permission_input`` is a call's input with the reason why a permission is needed.
    """
    own: dict[str, Json] = {"rollout": values.get("transcript_path", "")}
    given, agent = values.get("tool_input"), values.get("agent_id")
    if isinstance(given, Mapping):
        reason = values.get("permission_reason")
        own["permission_input"] = {**given, **({"description": reason} if reason else {})}
    if isinstance(agent, str):
        own["rollout"] = str(own["rollout"]).replace(str(values.get("session_id", "")), agent)
        own["turn_id"] = derive_uuid(0, "turn", agent)
        kind = values.get("agent_type")
        own["agent_kind"] = "default" if kind == Subagent().kind else kind
    return own


def _event(
    name: str,
    *fields: Field,
    fact: str,
    observed: bool = True,
    assumed: str = "",
    **own: Unpack[EventOptions],
) -> EventRule:
    keys = FACTS.observed(f"{name} hooks get these keys, in this order", _RECORDED)
    options: EventOptions = {"timeout": 600.0, **own}
    return EventRule(
        fields=EventFields(event=name, fields=(_SESSION, *fields), rule=keys),
        rule=FACTS.observed(fact) if observed else FACTS.documented(fact),
        rests_on=(FACTS.assumed(assumed),) if assumed else (),
        **options,
    )


_ALL = (
    _event(
        "SessionStart",
        _MAIN_TRANSCRIPT,
        *_PLACE,
        _MODE,
        Field(name="source", kind=_WORD, choices=("startup", "resume", "clear", "compact")),
        fact=(
            "SessionStart cannot be refused, but continue: false ends the session before its prompt; plain "
            "output and additionalContext reach the model"
        ),
        halts=True,
        role=Role.SESSION_START,
        target="source",
        plain=True,
        context=True,
    ),
    _event(
        "SessionEnd",
        _MAIN_TRANSCRIPT,
        _CWD,
        _EVENT,
        Field(name="reason", kind=_WORD, choices=("other",)),
        fact="SessionEnd gives its hooks one second, or up to three if they ask for it",
        role=Role.SESSION_END,
        timeout=1.0,
        most=3.0,
        assumed="SessionEnd cannot be refused, and has no target for matchers",
    ),
    _event(
        "Interrupt",
        _TURN,
        _MAIN_TRANSCRIPT,
        *_PLACE,
        _MODE,
        fact="Interrupt gives its hooks one second, or up to three if they ask for it",
        observed=False,
        timeout=1.0,
        most=3.0,
        unreachable="in a scripted session no user interrupts a turn",
    ),
    _event(
        "PreCompact",
        _TURN,
        _MAIN_TRANSCRIPT,
        *_PLACE,
        _TRIGGER,
        fact="PreCompact has no decision; an answer with a decision is invalid",
        observed=False,
        role=Role.BEFORE_COMPACT,
        target="trigger",
        assumed="continue: false on PreCompact prevents the compaction",
    ),
    _event(
        "PostCompact",
        _TURN,
        _MAIN_TRANSCRIPT,
        *_PLACE,
        _TRIGGER,
        fact="PostCompact has no decision; an answer with a decision is invalid",
        observed=False,
        role=Role.AFTER_COMPACT,
        target="trigger",
        assumed="PostCompact occurs right after SessionStart with the source compact",
    ),
    _event(
        "UserPromptSubmit",
        *_OF_TURN,
        Field(name="prompt"),
        fact="a refusal on UserPromptSubmit erases the prompt: the model does not get it",
        role=Role.PROMPT,
        power=Power.REFUSES,
        plain=True,
        context=True,
    ),
    _event(
        "Stop",
        *_OF_TURN,
        *_STOPPING,
        fact=(
            "a refusal on Stop makes the agent continue; stop_hook_active is then true until the next prompt"
        ),
        role=Role.STOP,
        power=Power.REFUSES,
        plain_fails=True,
    ),
    _event(
        "PreToolUse",
        *_OF_TURN,
        _TOOL,
        _INPUT,
        _USE,
        fact="a refusal on PreToolUse prevents the call, and the model gets the reason",
        assumed=(
            "for a refused patch or subagent the model gets the same text as for a command; "
            "updatedInput beside anything except allow makes the answer invalid, even a deny"
        ),
        role=Role.BEFORE_TOOL,
        power=Power.REFUSES,
        merging=_FOR_TOOL,
        target="tool_name",
        context=True,
    ),
    _event(
        "PermissionRequest",
        *_OF_TURN,
        _TOOL,
        Field(name="tool_input", kind="input", source="permission_input"),
        fact="hookSpecificOutput.decision answers PermissionRequest, and any deny wins",
        role=Role.PERMISSION,
        power=Power.REFUSES,
        merging=_FOR_TOOL,
        target="tool_name",
        assumed=(
            "exit code 2 with text on standard error denies; a patch of a file outside of the workspace "
            "asks for no permission"
        ),
    ),
    _event(
        "PostToolUse",
        *_OF_TURN,
        _TOOL,
        _INPUT,
        Field(name="tool_response", kind="response"),
        _USE,
        fact="on a refusal on PostToolUse the model gets the reason instead of the result",
        role=Role.AFTER_TOOL,
        power=Power.REPLACES,
        target="tool_name",
        context=True,
        answers=replace(ANSWERS, halting=Halting.REPLACES),
        assumed=(
            "PostToolUse also occurs after a failed call; continue: false without stopReason has no "
            "effect on it"
        ),
    ),
    _event(
        "SubagentStart",
        _TURN,
        _TRANSCRIPT,
        *_PLACE,
        _MODE,
        *_OF_SUBAGENT,
        fact="SubagentStart cannot be refused",
        assumed="texts of SubagentStart hooks reach only the subagent",
        observed=False,
        role=Role.SUBAGENT_START,
        target="agent_kind",
        plain=True,
        context=True,
    ),
    _event(
        "SubagentStop",
        _TURN,
        _MAIN_TRANSCRIPT,
        Field(name="agent_transcript_path", kind="path"),
        *_PLACE,
        _MODE,
        _STOPPING[0],
        *_OF_SUBAGENT,
        _STOPPING[1],
        fact="a refusal on SubagentStop makes the subagent continue",
        role=Role.SUBAGENT_STOP,
        power=Power.REFUSES,
        plain_fails=True,
        target="agent_kind",
    ),
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}


def put_message(
    line: TranscriptLine, kind: str, message: Payload, _extra: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the line with a message in it, as an item of the conversation."""
    return {"timestamp": line.time, "type": "response_item", "payload": _item(kind, message)}


def _item(kind: str, message: Payload) -> Payload:
    content = message.get("content")
    blocks = content if isinstance(content, Sequence) and not isinstance(content, str) else ()
    block = blocks[0] if blocks else content
    if not isinstance(block, Mapping):
        return _said(kind, "input_text", block)
    match block.get("type"):
        case "tool_use":
            given = json.dumps(block.get("input"), separators=(",", ":"), ensure_ascii=False)
            return {
                "type": "function_call",
                "name": block.get("name"),
                "arguments": given,
                "call_id": block.get("id"),
            }
        case "tool_result":
            output = block.get("content")
            return {"type": "function_call_output", "call_id": block.get("tool_use_id"), "output": output}
        case _:
            return _said(kind, "output_text", block.get("text"))


def _said(role: str, kind: str, text: Json) -> Payload:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
