"""The events of Gemini CLI 0.61.0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from pytest_hookharness.hosts.profiles.shared import EventOptions, FactSources
from pytest_hookharness.hosts.rules.profile import EventRule, Power
from pytest_hookharness.hosts.rules.replies import Merging, ReasonChoice
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import EventFields, Field, Json, Payload

FACTS = FactSources(
    documents="Gemini CLI hooks reference and source, 2026-09",
    measurement="Gemini CLI 0.61.0, headless, measured",
    choice="not recorded; chosen for the simulation",
    host="gemini-cli",
)
_RECORDED = "Gemini CLI 0.61.0, headless, recorded standard input"

_SESSION = (
    Field(name="session_id", kind="uuid"),
    Field(name="transcript_path", kind="path"),
    Field(name="cwd", kind="folder"),
    Field(name="hook_event_name", kind="event"),
    Field(name="timestamp", kind="word"),
)
_TOOL = (
    Field(name="tool_name", kind="tool", choices=("run_shell_command", "write_file", "replace", "read_file")),
    Field(name="tool_input", kind="input"),
)
_REQUEST = Field(name="llm_request", kind="object")
_WORD = "word"
_ENDS_TURN = (
    "a refusal before a request, or of a response, ends the turn, and no stop hooks run; on the real host "
    "AfterAgent hooks run after a refused BeforeModel"
)
_CONVERSATION = (
    "llm_request has the prompt and the texts that the agent got since; on the real host it has the "
    "whole conversation"
)


def _event(
    event: str,
    *extra: Field,
    fact: str,
    observed: bool = True,
    assumed: tuple[str, ...] = (),
    **own: Unpack[EventOptions],
) -> EventRule:
    keys = FACTS.observed(f"{event} hooks get these keys, in this order", _RECORDED)
    options: EventOptions = {"merging": Merging(reasons=ReasonChoice.SAID, joins_contexts=True), **own}
    return EventRule(
        fields=EventFields(event=event, fields=(*_SESSION, *extra), rule=keys),
        rule=FACTS.observed(fact) if observed else FACTS.documented(fact),
        rests_on=tuple(map(FACTS.assumed, assumed)),
        **options,
    )


_ALL = (
    _event(
        "SessionStart",
        Field(name="source", kind=_WORD, choices=("startup", "resume", "clear")),
        fact="SessionStart cannot be refused; additionalContext reaches the model, plain output does not",
        role=Role.SESSION_START,
        target="source",
        exact=True,
        context=True,
    ),
    _event(
        "SessionEnd",
        Field(name="reason", kind=_WORD, choices=("exit", "clear", "logout", "prompt_input_exit", "other")),
        fact="SessionEnd cannot be refused, and the host waits for its hooks",
        role=Role.SESSION_END,
        target="reason",
        exact=True,
    ),
    _event(
        "PreCompress",
        Field(name="trigger", kind=_WORD, choices=("auto", "manual")),
        fact="PreCompress cannot be refused; it occurs before every request to the model, compressed or not",
        role=Role.BEFORE_COMPACT,
        target="trigger",
        exact=True,
    ),
    _event(
        "Notification",
        Field(name="notification_type", kind=_WORD, choices=("ToolPermission",)),
        Field(name="message"),
        Field(name="details", kind="object"),
        fact="Notification ignores the output of hooks; it occurs when the host asks the user about a call",
        role=Role.NOTIFICATION,
    ),
    _event(
        "BeforeAgent",
        Field(name="prompt"),
        fact="a refusal on BeforeAgent drops the prompt: the model does not get it",
        role=Role.PROMPT,
        power=Power.REFUSES,
        context=True,
        assumed=(
            "BeforeAgent gets the reason of a refused stop as its prompt; a refusal of it ends the turn",
            "on the real host the prompt has the texts of SessionStart hooks before it",
        ),
    ),
    _event(
        "BeforeModel",
        _REQUEST,
        fact="a refusal on BeforeModel prevents the request and ends the turn",
        role=Role.BEFORE_MODEL,
        power=Power.REFUSES,
        observed=False,
        assumed=(
            _ENDS_TURN,
            _CONVERSATION,
            "changed requests and synthetic responses of BeforeModel have no effect",
        ),
    ),
    _event(
        "BeforeToolSelection",
        _REQUEST,
        fact="BeforeToolSelection cannot be refused, and continue: false has no effect on it",
        role=Role.TOOL_CHOICE,
        ignores=("continue",),
        observed=False,
        assumed=(_CONVERSATION, "a choice of tools by BeforeToolSelection has no effect"),
    ),
    _event(
        "AfterModel",
        _REQUEST,
        Field(name="llm_response", kind="object"),
        fact="a refusal on AfterModel discards the response and ends the turn",
        role=Role.AFTER_MODEL,
        power=Power.REFUSES,
        observed=False,
        assumed=(
            _ENDS_TURN,
            _CONVERSATION,
            "AfterModel occurs once for a response; on the real host it occurs for each piece of it",
            "a response that AfterModel changes is used unchanged",
        ),
    ),
    _event(
        "AfterAgent",
        Field(name="prompt", source="submitted_prompt"),
        Field(name="prompt_response", source="spoken"),
        Field(name="stop_hook_active", kind="flag"),
        fact="a refusal on AfterAgent makes the agent continue, with the reason as the next prompt",
        role=Role.STOP,
        power=Power.REFUSES,
        assumed=(
            "AfterAgent gets the user's prompt, even after a refusal",
            "prompt_response has the agent's texts since a refusal; on the real host also those before it",
        ),
    ),
    _event(
        "BeforeTool",
        *_TOOL,
        fact="a refusal on BeforeTool prevents the call, and the model gets the reason",
        role=Role.BEFORE_TOOL,
        power=Power.REFUSES,
        target="tool_name",
    ),
    _event(
        "AfterTool",
        *_TOOL,
        Field(name="tool_response", kind="response"),
        fact=(
            "the reason of a refusal on AfterTool replaces the result, and a text for the model beside it is "
            "lost; it occurs after failed calls too"
        ),
        role=Role.AFTER_TOOL,
        merging=Merging(reasons=ReasonChoice.SAID, joins_contexts=True, refusal_drops_context=True),
        power=Power.REPLACES,
        target="tool_name",
        context=True,
    ),
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}


def own_values(values: Payload) -> Mapping[str, Json]:
    """Return the input values that only this host has: requests, responses and notifications."""
    own: dict[str, Json] = {"llm_request": _request(values), "llm_response": _response(values)}
    if "trigger" not in values:
        own["trigger"] = "auto"
    if "tool_name" in values:
        own |= _notice(values)
    return own


def _request(values: Payload) -> Payload:
    received = values.get("messages")
    prompt = str(values.get("submitted_prompt", ""))
    texts = [str(text) for text in received] if isinstance(received, list) else []
    texts = texts if prompt in texts else [prompt, *texts]
    return {
        "model": values.get("model", ""),
        "messages": [{"role": "user", "content": text} for text in texts],
        "config": {"temperature": 1, "topP": 0.95, "topK": 64},
    }


def _response(values: Payload) -> Payload:
    said = str(values.get("said", ""))
    content: Payload = {"role": "model", "parts": [said] if said else []}
    return {
        "text": said,
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
    }


def _notice(values: Payload) -> dict[str, Json]:
    tool, given = str(values["tool_name"]), values.get("tool_input")
    command = str(given.get("command", "")) if isinstance(given, Mapping) else ""
    if not command:
        title = f"Confirm {tool}"
        details: Payload = {"type": "info", "title": title, "prompt": tool}
        return {"notification_type": "ToolPermission", "message": f"Tool {title}", "details": details}
    title = "Confirm Shell Command"
    return {
        "notification_type": "ToolPermission",
        "message": f"Tool {title} requires execution",
        "details": {
            "type": "exec",
            "title": title,
            "command": command,
            "rootCommand": command.split(maxsplit=1)[0],
        },
    }
