"""
This module is concerned with the events of the OpenHands SDK 1.58.

Middle floor: hosts. Every event has the same keys; those without a value are null.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.hosts.events import EventRule, Power
from pytest_hookharness.hosts.openhands_sources import RECORDED, observed
from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.hosts.rules.merging import Merging, Precedence, Words
from pytest_hookharness.model.protocol import EventFields, Field, Json

_TOOLS = ("terminal", "file_editor", "think", "finish")
_TOOL = Field(name="tool_name", kind="tool", choices=_TOOLS)
_INPUT = Field(name="tool_input", kind="input")
_RESPONSE = Field(name="tool_response", kind="response")
_MESSAGE = Field(name="message", source="prompt")


def _nothing(name: str) -> Field:
    return Field(name=name, kind="nothing", fixed=(None,))


def _fields(event: str, own: tuple[Field, ...], metadata: Mapping[str, Json]) -> EventFields:
    given = {field.name: field for field in own}
    names = ("tool_name", "tool_input", "tool_response", "message")
    return EventFields(
        event=event,
        fields=(
            Field(name="event_type", kind="event", source="hook_event_name"),
            *(given.get(name) or _nothing(name) for name in names),
            Field(name="session_id", kind="uuid"),
            Field(name="working_dir", kind="folder", source="cwd"),
            Field(name="metadata", kind="object", fixed=(dict(metadata),)),
        ),
        rule=observed(f"{event} hooks get all eight keys, in this order", RECORDED),
    )


def _event(
    event: str,
    *own: Field,
    says: str,
    role: Role,
    power: Power = Power.NOTHING,
    merging: Merging,
    target: str = "",
    context: bool = False,
    metadata: Mapping[str, Json] | None = None,
) -> EventRule:
    return EventRule(
        fields=_fields(event, own, metadata or {}),
        role=role,
        power=power,
        merging=merging,
        target=target,
        context=context,
        timeout=60.0,
        rule=observed(says),
    )


_ALL_RUN = Merging()

_LISTED = (
    _event(
        "SessionStart",
        says=(
            "SessionStart comes with the first message and cannot be refused; additionalContext goes before "
            "the message"
        ),
        role=Role.SESSION_START,
        merging=_ALL_RUN,
        context=True,
    ),
    _event(
        "UserPromptSubmit",
        _MESSAGE,
        says=(
            "a refused prompt is not sent and the run goes to its stop; a refusal together with "
            "additionalContext does not hold, and the prompt is sent"
        ),
        role=Role.PROMPT,
        power=Power.REFUSES,
        merging=Merging(precedence=Precedence.FIRST_REFUSAL, words=Words.FIRST, context_undoes=True),
        context=True,
    ),
    _event(
        "PreToolUse",
        _TOOL,
        _INPUT,
        says="a refusal on PreToolUse keeps the tool from running; additionalContext means nothing there",
        role=Role.BEFORE_TOOL,
        power=Power.REFUSES,
        merging=Merging(precedence=Precedence.FIRST_REFUSAL, words=Words.FIRST),
        target="tool_name",
    ),
    _event(
        "PostToolUse",
        _TOOL,
        _INPUT,
        _RESPONSE,
        says="PostToolUse cannot be refused, and nothing of what its hooks say reaches the model",
        role=Role.AFTER_TOOL,
        merging=_ALL_RUN,
        target="tool_name",
    ),
    _event(
        "Stop",
        says=(
            "a refusal on Stop makes the agent go on; additionalContext of any hook so far stands in for the "
            "reason, and alone it does nothing"
        ),
        role=Role.STOP,
        power=Power.REFUSES,
        merging=Merging(precedence=Precedence.FIRST_REFUSAL, words=Words.FIRST, context_wins=True),
        context=True,
        metadata={"reason": "agent_finished"},
    ),
    _event(
        "SessionEnd",
        says="SessionEnd cannot be refused; without a message there is none",
        role=Role.SESSION_END,
        merging=_ALL_RUN,
    ),
)

EVENTS: Mapping[str, EventRule] = {event.name: event for event in _LISTED}
