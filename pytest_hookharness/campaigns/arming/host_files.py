"""Files that a host itself keeps below HOME and that hooks read, such as the plan of a session."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pytest_hookharness.campaigns.arming.state_names import SESSION, TASK
from pytest_hookharness.model.checkup import HookSet

_PLAN = f"# Plan: the work\n\n## Steps\n\n- [ ] {TASK}\n"
_TODO = json.dumps([{"content": TASK, "status": "in_progress", "activeForm": "Doing the work"}])
_TASK_FILE = json.dumps(
    {"id": "1", "subject": TASK, "description": TASK, "status": "pending", "blocks": [], "blockedBy": []}
)
# What Claude Code keeps, by the folder that a script names. Source: observed in versions of 2025 and 2026.
_CLAUDE_CODE = {
    "plans": (".claude/plans/quiet-running-river.md", _PLAN),
    "todos": (f".claude/todos/{SESSION}-agent-{SESSION}.json", _TODO),
    "tasks": (f".claude/tasks/{SESSION}/1.json", _TASK_FILE),
}
_FILES: Mapping[str, Mapping[str, tuple[str, str]]] = {"claude-code": _CLAUDE_CODE}
_FOLDER = re.compile(
    r"(?:(?:\$\{?HOME\}?|~)[\"']?/|homedir\(\)\s*,\s*[\"']|\.home\(\)\s*/\s*[\"']|expanduser\([\"']~/)\.claude"
    r"(?:[\"']?\s*[/,]\s*[\"']?)(\w+)"
)


def host_files(hook_set: HookSet) -> dict[str, str]:
    """Return the files that the host keeps where scripts look for them, by path below HOME."""
    known = _FILES.get(hook_set.host, {})
    named = {name for _, text in hook_set.sources for name in _FOLDER.findall(text)}
    return dict(known[name] for name in known if name in named)
