"""
Scripts that read what a host sends to hooks, in a project whose settings an installer writes.

No file of such a project says on which event they run. A script is tried on the event that its own name is,
else on the events that its first lines name, else on those of its answers, else on the one whose input it
reads.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path

from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files, read_known_text
from pytest_hookharness.model.protocol import Json

_RUNNERS = {".sh": "bash", ".bash": "bash", ".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node"}
_NOT_SHIPPED = frozenset(
    ["test", "tests", "spec", "specs", "fixtures", "examples", "example", "docs", "node_modules", "dist"]
) | {"build", "vendor", ".git", "archive", "archived", "deprecated", "legacy", "templates"}
_TEST = re.compile(r"(?:^|[._-])(?:test|tests|spec)(?:[._-]|$)")
_READS = re.compile(
    r"json\.load\(\s*sys\.stdin|sys\.stdin\.(?:buffer\.)?read|process\.stdin|readFileSync\(\s*(?:0|[\"']/dev/stdin)"
    r"|=\"?\$\(\s*(?:cat|</dev/stdin)\s*(?:\)|2>|\|\|)|/dev/stdin|\bread -r (?:-d '' )?\w+"
)
# Keys that only hosts send, and keys of answers.
_OF_HOOKS = re.compile(
    r"\b(?:tool_input|tool_response|hook_event_name|stop_hook_active|transcript_path|hookSpecificOutput"
    r"|permissionDecision)\b"
)
_COMMENT = re.compile(r"^[ \t]*(?:#|//|\*).*$", re.MULTILINE)
_FIRST_LINES, _LARGEST, _MOST = 30, 1 << 17, 24
_ANSWERED = re.compile(r"\bhookEventName[\"']?\s*[:=]\s*[\"'](\w+)")
# The input that is sent with one event only, the most telling first.
_INPUTS = (
    (re.compile(r"\bstop_hook_active\b"), "Stop"),
    (re.compile(r"\btool_response\b"), "PostToolUse"),
    (re.compile(r"\btool_input\b"), "PreToolUse"),
    (re.compile(r"[.\[\"'](?:user_)?prompt\b"), "UserPromptSubmit"),
)


def unnamed_scripts(root: Path, events: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the scripts that seem to be hooks, by their paths in the project, each with its events."""
    found: dict[str, tuple[str, ...]] = {}
    texts: dict[str, str] = {}
    for path, text in islice(_readers(root), _MOST):
        if (at := _events_of(Path(path).stem, text, events)) and text not in texts.values():
            found[path], texts[path] = at, text
    # What another one starts or loads is a part of that.
    code = {path: _COMMENT.sub("", text) for path, text in texts.items()}
    parts = {path for path in found for other in code if path != other and Path(path).name in code[other]}
    return {path: at for path, at in found.items() if path not in parts}


def settings_for(scripts: Mapping[str, tuple[str, ...]], root_variable: str) -> dict[str, Json]:
    """Return settings that run scripts on their events; the variable names the folder of the project."""
    groups: dict[str, list[Json]] = {}
    for path, events in scripts.items():
        runner = _RUNNERS.get(Path(path).suffix, "bash")
        place = f'"${root_variable}"/{shlex.quote(path)}'
        for event in events:
            handler: dict[str, Json] = {"type": "command", "command": f"{runner} {place}"}
            groups.setdefault(event, []).append({"hooks": [handler]})
    return {"hooks": {event: list(group) for event, group in groups.items()}}


def _readers(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the scripts in folders of hooks that read their standard input and know the keys of a host."""
    for file in project_files(root):
        path = file.relative_to(root)
        folders = {*path.parts[:-1]}
        if file.suffix not in _RUNNERS or _NOT_SHIPPED & folders or _TEST.search(path.stem):
            continue
        of_hooks = any("hook" in part.casefold() for part in path.parts) or len(path.parts) == 1
        if not of_hooks or not is_small(file, _LARGEST):
            continue
        text = read_known_text(file)
        if _READS.search(text) and _OF_HOOKS.search(text):
            yield path.as_posix(), text


def _events_of(name: str, text: str, events: Collection[str]) -> tuple[str, ...]:
    """Return the events on which a script runs, by its name or its words; none if it does not tell."""
    plain = re.sub(r"[^a-z]", "", name.casefold())
    if own := [event for event in events if event.casefold() == plain]:
        return (*own,)
    # A short name is also a word of the language.
    long = "|".join(event for event in events if re.search(r"[a-z][A-Z]", event))
    short = "|".join(event for event in events if not re.search(r"[a-z][A-Z]", event))
    names = re.compile(rf"\b(?:{long})\b|\b(?:{short})(?=[- ](?:hook|event)\b)")
    for line in text.splitlines()[:_FIRST_LINES]:
        if named := dict.fromkeys(names.findall(line.replace("stop hook", "Stop hook"))):
            return (*named,)
    answered = dict.fromkeys(name for name in _ANSWERED.findall(text) if name in events)
    if answered:
        return (*answered,)
    return next(((event,) for pattern, event in _INPUTS if pattern.search(text)), ())
