"""
Files below HOME that hooks read: those that start a loop, as scripts name them, and those that a host keeps.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_hookharness.campaigns.arming.state_names import SESSION, TASK
from pytest_hookharness.campaigns.arming.state_paths import HookScript
from pytest_hookharness.model.checkup import HookSet

# Begins the path of a file below HOME, among those in the project.
HOME = "~/"
_ROOT = r"(?:\$HOME|\$\{HOME(?::-[^}\n]*)?\}|~)"
_FILE = r"[\w./-]*[\w-]+\.(?:json|md|ya?ml|txt|state|flag|local)(?![\w.-])"
_NAMED = re.compile(rf"(?<![\w.])[\"']?{_ROOT}[\"']?/(?P<path>{_FILE})")
# A folder below HOME that a shell script, Python or JavaScript keeps under a name.
_KEPT = re.compile(
    rf"^[ \t]*(?:export\s+|local\s+)?(\w+)=[\"']?{_ROOT}[\"']?/([\w./-]+)[\"']?[ \t]*$", re.MULTILINE
)
_IN_KEPT = re.compile(rf"\$\{{?(?P<name>\w+)\}}?[\"']?/(?P<path>{_FILE})")
_PARTS = r"(?:\s*[/,]\s*[\"'][\w./-]+[\"'])"
_HOME_CALL = r"(?:Path\.home\(\)|(?:os\.)?homedir\(\)|(?:os\.path\.)?expanduser\([\"']~[\"']\))"
_JOINED = re.compile(rf"{_HOME_CALL}(?P<parts>{_PARTS}+)")
_TO_NAME = re.compile(r"\s*(?:const\s+|let\s+)?(\w+)\s*=")
_FURTHER = re.compile(rf"\b(?P<name>\w+)(?P<parts>{_PARTS}+)")
_TEXT = re.compile(r"[\"']([\w./-]+)[\"']")
_ENDING = re.compile(_FILE)
# Files of programs and hosts there, and files that may hold secrets.
_OF_OTHERS = re.compile(
    r"(?:^|/)(?:settings(?:\.local)?|config|credentials?|auth|tokens?|secrets?|package|hooks|plugins?|installed_\w+"
    r"|known_\w+|mcp|history|CLAUDE|AGENTS|GEMINI|README)\.\w+$|(?:^|/)(?:\.ssh|\.aws|\.npm|\.cache|logs?)(?:/|$)",
    re.IGNORECASE,
)
# No path of more bytes is tried: systems allow that many for one name.
_MOST, _LONGEST = 4, 255


def home_files(hook_set: HookSet, script: HookScript) -> list[str]:
    """Return the files below HOME that a script names and that are not lent to it, each as ``~/path``."""
    named = (posixpath.normpath(path) for path in _named(script.text))
    paths = dict.fromkeys(path for path in named if _is_state(path) and _is_free(hook_set.home, path))
    return [f"{HOME}{path}" for path in paths][:_MOST]


def _is_state(path: str) -> bool:
    elsewhere = path.startswith(("..", "/")) or len(path.encode()) > _LONGEST
    return not elsewhere and _OF_OTHERS.search(path) is None


def _is_free(home: Path | None, path: str) -> bool:
    try:
        return home is None or not (home / path).exists()
    except OSError:
        return False


def _named(text: str) -> Iterator[str]:
    """Yield paths below HOME, in the order in which each kind of script names them."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("#", "//")))
    yield from (match["path"] for match in _NAMED.finditer(lines))
    kept = dict(_KEPT.findall(lines))
    for match in _IN_KEPT.finditer(lines):
        if match["name"] in kept:
            yield posixpath.join(kept[match["name"]], match["path"])
    folders: dict[str, str] = {}
    for match in _JOINED.finditer(lines):
        path = posixpath.join(*_TEXT.findall(match["parts"]))
        if _ENDING.fullmatch(path):
            yield path
        elif assigned := _TO_NAME.match(lines, lines.rfind("\n", 0, match.start()) + 1, match.start()):
            folders.setdefault(assigned[1], path)
    for match in _FURTHER.finditer(lines):
        path = posixpath.join(*_TEXT.findall(match["parts"]))
        if match["name"] in folders and _ENDING.fullmatch(path):
            yield posixpath.join(folders[match["name"]], path)


_PLAN = f"# Plan: the work\n\n## Steps\n\n- [ ] {TASK}\n"
_TODO = json.dumps([{"content": TASK, "status": "in_progress", "activeForm": "Doing the work"}])
_TASK_FILE = json.dumps(
    {"id": "1", "subject": TASK, "description": TASK, "status": "pending", "blocks": [], "blockedBy": []}
)
# Files of Claude Code, by the folder that a script names. Source: observed in versions of 2025 and 2026.
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
