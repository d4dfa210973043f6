"""
This module is concerned with the events of droid, from its documents of July 2026.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.hosts.documented import Papers
from pytest_hookharness.hosts.events import EventRule, Power
from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.model.protocol import Field

_PAPERS = Papers("droid hooks reference, 2026-07-24")
_COMMON = (
    Field(name="session_id", kind="uuid"),
    Field(name="transcript_path", kind="path"),
    Field(name="cwd", kind="folder"),
    Field(
        name="permission_mode",
        kind="word",
        choices=("off", "spec", "auto-low", "auto-medium", "auto-high"),
    ),
    Field(name="hook_event_name", kind="event"),
)
_CALL = (
    Field(name="tool_name", kind="tool", choices=("Execute", "Create", "Edit", "Read")),
    Field(name="tool_input", kind="input"),
)
_STOP = Field(name="stop_hook_active", kind="flag")


def _event(
    name: str,
    *own: Field,
    says: str,
    role: Role = Role.OTHER,
    power: Power = Power.NOTHING,
    target: str = "",
    shown: bool = False,
    context: bool = False,
    after_failures: bool = True,
    unreachable: str = "",
) -> EventRule:
    return EventRule(
        fields=_PAPERS.fields(name, *_COMMON, *own),
        role=role,
        power=power,
        target=target,
        plain=shown,
        context=context,
        timeout=60.0,
        after_failures=after_failures,
        unreachable=unreachable,
        rule=_PAPERS.says(says),
    )


_ALL = (
    _event(
        "SessionStart",
        Field(name="source", kind="word", choices=("startup", "resume", "clear", "compact")),
        says="SessionStart cannot be refused; plain output and additionalContext reach the agent",
        role=Role.SESSION_START,
        target="source",
        shown=True,
        context=True,
    ),
    _event(
        "SessionEnd",
        Field(name="reason", kind="word", choices=("clear", "logout", "prompt_input_exit", "other")),
        says="SessionEnd cannot be refused",
        role=Role.SESSION_END,
    ),
    _event(
        "UserPromptSubmit",
        Field(name="prompt"),
        says="a refusal on UserPromptSubmit erases the prompt, and the person is told why",
        role=Role.PROMPT,
        power=Power.REFUSES,
        shown=True,
        context=True,
    ),
    _event(
        "PreToolUse",
        *_CALL,
        says="a refusal on PreToolUse keeps the call from being made, and the agent is told why",
        role=Role.BEFORE_TOOL,
        power=Power.REFUSES,
        target="tool_name",
    ),
    _event(
        "PostToolUse",
        *_CALL,
        Field(name="tool_response", kind="response"),
        says="PostToolUse is asked after calls that succeeded; a refusal tells the agent",
        role=Role.AFTER_TOOL,
        power=Power.TELLS,
        target="tool_name",
        context=True,
        after_failures=False,
    ),
    _event(
        "Stop",
        _STOP,
        says="a refusal on Stop makes the agent go on",
        role=Role.STOP,
        power=Power.REFUSES,
    ),
    _event(
        "SubagentStop",
        _STOP,
        says="a refusal on SubagentStop makes the subagent go on",
        role=Role.SUBAGENT_STOP,
        power=Power.REFUSES,
    ),
    _event(
        "PreCompact",
        Field(name="trigger", kind="word", choices=("manual", "auto")),
        Field(name="custom_instructions", kind="nothing"),
        says="PreCompact cannot be refused",
        role=Role.BEFORE_COMPACT,
        target="trigger",
    ),
    _event(
        "Notification",
        Field(name="message"),
        says="Notification cannot be refused",
        unreachable="a headless session never comes to it",
    ),
)
EVENTS: Mapping[str, EventRule] = {event.name: event for event in _ALL}
