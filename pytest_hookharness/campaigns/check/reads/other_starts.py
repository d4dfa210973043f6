"""
Other starts of a hook's script, by which it may get an input of another kind.

A script may also be the command of a status line, whose input has keys that no hook gets. Another script of
the project may give it an object of its own, and the command of the hook may add keys on the way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from pathlib import PurePath

from pytest_hookharness.campaigns.arming.project_texts import (
    files_by_path,
    is_small,
    read_known_text,
    read_object,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# A pipe in a command, after a program that may change what it passes on.
_CHANGED = re.compile(r"(?<!\|)\|(?![|&])")
_PASSES_ON = re.compile(r"\s*(?:cat|tee)\b[^|;&]*")
_SCRIPTS = frozenset([".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts"])
_OF_TESTS = re.compile(r"test|spec|fixture", re.IGNORECASE)
_NO_STARTS = frozenset(["hooks", "permissions", "env"])
# A comment, or an item of a list in a text, starts nothing.
_ONLY_SAYS = re.compile(r"^[ \t]*(?:[-*]|\d+[.)]|#|//)[ \t][^\n]*", re.MULTILINE)
_LARGEST = 1 << 16


def has_other_input(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a hook's script may get more than the host sends: on the way, or as a status line."""
    names = {PurePath(path).name for path, _ in hook_set.sources_of(hook)}
    before = hook.command[: min((hook.command.find(name) for name in names), default=0)]
    changed = _CHANGED.search(before)
    if changed and not _PASSES_ON.fullmatch(before, 0, changed.start()):
        return True
    # Other keys of the settings than those of hooks may start a script.
    contents = [read_object(hook_set.root / file) for file in hook_set.files if names]
    texts = [json.dumps({key: one[key] for key in one if key not in _NO_STARTS}) for one in contents]
    return any(name in text for name in names for text in texts)


def is_given_elsewhere(hook_set: HookSet, hook: Hook, keys: Collection[str]) -> bool:
    """Return whether another script of the project names a hook's script, and writes one of some keys."""
    written = re.compile(rf"\b(?:{'|'.join(map(re.escape, keys))})\\?[\"']?\s*:")
    return bool(keys) and any(map(written.search, naming_scripts(hook_set, hook)))


def naming_scripts(hook_set: HookSet, hook: Hook) -> Iterator[str]:
    """Yield the texts of the other scripts of the project, but no tests, that name a hook's script."""
    own = {path: PurePath(path).name for path, _ in hook_set.sources_of(hook)}
    for path, file in files_by_path(hook_set.root).items() if own else ():
        if (
            file.suffix not in _SCRIPTS
            or path in own
            or _OF_TESTS.search(path)
            or not is_small(file, _LARGEST)
        ):
            continue
        text = read_known_text(file)
        code = _ONLY_SAYS.sub("", text) if any(name in text for name in own.values()) else ""
        if any(name in code for name in own.values()):
            yield text
