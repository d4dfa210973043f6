"""The meanings of names of fields in state files, where nothing else says the value."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TypeAlias

from pytest_hookharness.model.moves import FIRST_PROMPT

Value: TypeAlias = bool | int | str
# Stands for the identifier of the session in the files of a scenario.
SESSION = "{{session_id}}"
# The user's request; a hook may compare the prompt with the task of a loop.
TASK = FIRST_PROMPT.text
# A limit that a loop with it reaches before the host's own cap.
LIMIT = 3
# Each pattern fits names of fields that hold one thing: the identifier of a session, a time, a limit, a total
# (more than the number of things done), a path, a switch, or the last task or words.
is_session = re.compile(r"session(?:_?id)?$", re.IGNORECASE).search
is_time = re.compile(
    r"(?:_at|_time|date|stamp|_since|updated|started|created|last_check\w*)$|^(?:time|at|stamp|started)(?!out)"
    r"|[a-z](?:At|Time|Date|Stamp|Timestamp|Since|Epoch)$|_epoch$"
).search
is_limit = re.compile(r"max|limit|cap\b|_cap", re.IGNORECASE).search
is_total = re.compile(r"(?i:total_|\w+_total$)|total[A-Z]|\w+Total$|total$").match
is_path = re.compile(r"(?:^|_)(?:file|path)$|File$|Path$").search
is_switch = re.compile(r"^(?:is_|has_)?(?:active|enabled|running|on)$", re.IGNORECASE).search
is_work = re.compile(r"(?:task|prompt|goal|promise|objective)(?:_?text)?$", re.IGNORECASE).search
_COUNT = re.compile(r"iteration|count|number|index|attempt|round|total|current|num|turn|cycle", re.IGNORECASE)
_COUNTED = re.compile(
    r"(?i:(?:total|num|number|count)_|\w+_(?:count|total|number|index|num)$)"
    r"|(?:total|num|number|count)[A-Z]|\w+(?:Count|Total|Number|Index|Iterations?|Attempts?)$"
)
_WORDS = re.compile(
    r"task|prompt|goal|promise|text|title|name|descri|message|file|path|branch|phase|stage|plan|step",
    re.IGNORECASE,
)
# Fields of transcripts and of the input of hooks, which hooks read as well.
OF_HOSTS = frozenset(
    [
        *("role", "content", "message", "text", "type", "uuid", "timestamp", "input", "name", "tool_input"),
        *("cwd", "transcript_path", "hook_event_name", "stop_hook_active", "tool_name", "tool_response"),
    ]
)


def by_name(name: str, *, filled: bool = False) -> Value:
    """Return the value that a field most likely has when the work begins; if ``filled``, one that is true."""
    if is_session(name):
        return SESSION
    if is_time(name):
        return now()
    if is_switch(name):
        return True
    if is_limit(name) or is_total(name):
        return LIMIT
    if _COUNTED.match(name) or (_COUNT.search(name) and not _WORDS.search(name)):
        return 1
    return True if filled and not _WORDS.search(name) else TASK


def now(written: str = "", ticks: int = 0) -> Value:
    """Return the present time, as a number if it was written so or if there are ticks of a second."""
    time = datetime.now(UTC)
    if written.isdigit() or ticks:
        return int(time.timestamp() * max(ticks, 1))
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def as_yaml(value: Value) -> str:
    """Return a value as YAML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) or re.fullmatch(r"[\w./-]+", value) else json.dumps(value)
