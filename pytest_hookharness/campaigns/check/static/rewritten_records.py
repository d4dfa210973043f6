"""
Files of records that a script reads whole, adds a record to and writes anew: calls side by side lose records.

Only a file is named that is read and written by one path, as JSON, without a lock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_LOCKS = re.compile(
    r"fcntl|msvcrt|O_EXCL|(?<![bc])lock|[\"']wx[\"']|\blck\b|\.lck|tool_use_id|getpid|process\.pid"
    r"|mutex|exclusive|semaphore|transaction",
    re.IGNORECASE,
)
_PATH = r"(?P<path>[A-Za-z_][\w.]*)"
_PYTHON = re.compile(
    rf"\bopen\(\s*{_PATH}\s*(?:,\s*(?:mode\s*=\s*)?[\"']r\w*[\"'])?\s*(?:,[^()\n]*)?\)\s*as\s+(?P<file>\w+)\s*:"
    r"(?:[^\n]*\n){0,3}?[^\n]*?(?P<name>[A-Za-z_]\w*)\s*=\s*json\.load\(\s*(?P=file)\s*\)"
)
_PYTHON_TEXT = re.compile(rf"(?P<name>[A-Za-z_]\w*)\s*=\s*json\.loads\(\s*{_PATH}\.read_text\(")
_SCRIPT = re.compile(
    rf"(?P<name>[A-Za-z_$]\w*)\s*=\s*JSON\.parse\(\s*(?:fs\.)?readFileSync\(\s*{_PATH}\s*[,)]"
)
_ADDS = r"(?<![\w.]){0}\.(?:append|push|unshift|insert)\("
_WRITES = (
    r"\bopen\(\s*{path}\s*,\s*(?:mode\s*=\s*)?[\"']w[\w+]*[\"'][^\n]*\n(?:[^\n]*\n){{0,2}}?[^\n]*json\.dump\("
    r"\s*{name}\b"
    r"|(?<![\w.]){path}\.write_text\(\s*json\.dumps\(\s*{name}\b"
    r"|writeFileSync\(\s*{path}\s*,\s*JSON\.stringify\(\s*{name}\b"
)
_SAID = (
    "it reads all records of a JSON file, adds one and writes all of them anew, so of calls side by side one "
    "may overwrite the record of another"
)
# An agent waits for these calls, one by one.
_ASKS_PERSON = re.compile(r"\^?(?:(?:Enter|Exit)PlanMode|AskUserQuestion|TodoWrite|\|)+\$?")
_TOOLS = frozenset({hosts.Role.BEFORE_TOOL, hosts.Role.AFTER_TOOL, hosts.Role.TOOL_FAILED})


def rewritten_records(text: str) -> Iterator[tuple[str, int]]:
    """Yield that a script of Python or JavaScript writes a file anew with one record more, with the line."""
    if _LOCKS.search(text):
        return
    for pattern in (_PYTHON, _PYTHON_TEXT, _SCRIPT):
        for found in pattern.finditer(text):
            path, name = re.escape(found["path"]), re.escape(found["name"])
            # In another function, the name is that of another value.
            ends = re.compile(r"^(?:async )?(?:def|function)\b", re.MULTILINE).search(text, found.end())
            part = text[found.end() : ends.start() if ends else len(text)]
            adds = re.search(_ADDS.format(name), part)
            writes = re.search(_WRITES.format(path=path, name=name), part)
            if adds and writes and adds.start() < writes.start():
                yield _SAID, text.count("\n", 0, found.start()) + 1


def runs_beside_itself(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a host may run a hook beside itself, for calls that it makes at once."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    asks_person = _ASKS_PERSON.fullmatch(hook.matcher or "")
    return rule is not None and rule.role in _TOOLS and not asks_person and not _LOCKS.search(hook.command)
