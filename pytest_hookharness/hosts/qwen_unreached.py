"""
This module is concerned with the events of Qwen Code 0.24.4 that a simulated session never comes to.

Middle floor: hosts. Their hooks can be given a payload all the same, which is why they stand here.
"""

from __future__ import annotations

from pytest_hookharness.hosts.events import Power
from pytest_hookharness.hosts.qwen_fields import INPUT, LAST, TOOL, WORD, event_rule
from pytest_hookharness.model.protocol import Field

_TODO = (Field(name="todo_id", kind=WORD), Field(name="todo_content"))
_PHASES = (
    Field(name="all_todos", kind="list"),
    Field(name="phase", kind=WORD, choices=("validation", "postWrite")),
)
_NO_TODOS = "the simulation has no list of things to do"

UNREACHED = (
    event_rule(
        "SessionEnd",
        Field(name="reason", kind=WORD, choices=("clear", "logout", "prompt_input_exit", "other")),
        says="SessionEnd cannot be refused; a headless session never came to it",
        target="reason",
        measured=True,
        unreachable="a headless session never comes to it",
    ),
    event_rule(
        "SessionDelete",
        Field(name="deleted_session_id", kind="uuid"),
        says="SessionDelete ignores what a hook says",
        waits=False,
        unreachable="a headless session never comes to it",
    ),
    event_rule(
        "StopFailure",
        Field(name="error", kind=WORD, choices=("rate_limit", "server_error", "loop_detected", "unknown")),
        Field(name="error_details", optional=True),
        LAST,
        says="StopFailure ignores what a hook says",
        target="error",
        waits=False,
        unreachable="the scripted agent has no model server that could fail",
    ),
    event_rule(
        "PermissionDenied",
        TOOL,
        INPUT,
        says="PermissionDenied ignores refusals",
        target="tool_name",
        chosen="the keys of PermissionDenied hooks beside the call are not known",
        unreachable="the simulation denies no permission by itself",
    ),
    event_rule(
        "TodoCreated",
        *_TODO,
        Field(name="todo_status", kind=WORD, choices=("pending", "in_progress", "completed")),
        *_PHASES,
        says="a refusal on TodoCreated keeps the item from being made",
        power=Power.REFUSES,
        unreachable=_NO_TODOS,
    ),
    event_rule(
        "TodoCompleted",
        *_TODO,
        Field(name="previous_status", kind=WORD, choices=("pending", "in_progress")),
        *_PHASES,
        says="a refusal on TodoCompleted keeps the item open",
        power=Power.REFUSES,
        unreachable=_NO_TODOS,
    ),
)
