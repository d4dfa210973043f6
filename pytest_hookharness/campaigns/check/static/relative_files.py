"""
Files that scripts write by a relative path: after the agent's ``cd``, the hook writes and finds other ones.

Only scripts that never change the folder themselves are read, on hosts that start hooks where the agent is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.static.mac_shell import code_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_SHELL = re.compile(r"#!.*\b(?:ba|da|k|z)?sh\b")
_MOVES = re.compile(
    r"(?:^|[;&|({]|\b(?:then|do|else)\s)\s*(?:cd|pushd)\s|\b(?:chdir|source)\b|^\s*\.\s", re.MULTILINE
)
# A variable whose only value is a relative path with a folder, and what writes a file.
_ASSIGNED = re.compile(
    r"^\s*(?:local\s+|export\s+|readonly\s+)?(\w+)=([\"']?)([^\n]*?)\2[ \t]*$", re.MULTILINE
)
_RELATIVE = re.compile(r"\.?[A-Za-z][\w-]*(?:/[\w.-]+)+")
_WRITES = r"(?:(?<![<&\d])>>?\s*|\btee\s+(?:-a\s+)?|\btouch\s+)[\"']?"
# The current folder, and what is joined to it.
_OF_PYTHON = re.compile(
    r"(?:Path\.cwd\(\)\s*/\s*|os\.path\.join\(\s*os\.getcwd\(\)\s*,\s*)[\"']([\w.-]+)[\"'](?=[^\n]*\n(?:[^\n]*\n){0,3}[^\n]*\.?(?:mkdir|makedirs)\()"
)


def relative_file(hook_set: HookSet, hook: Hook) -> str:
    """Return a file that a hook's script writes in the agent's current folder; empty for none."""
    texts = hook_set.scripts_of(hook)
    stays = re.search(r"\bcd\s", hook.command) is None and hosts.find(hook_set.host).tools.keeps_folder
    return next(_written(texts[0]), "") if stays and len(texts) == 1 else ""


def _written(text: str) -> Iterator[str]:
    if not _SHELL.match(text):
        yield from _OF_PYTHON.findall(text) if "chdir" not in text else ()
        return
    code = code_of(text)
    if _MOVES.search(code):
        return
    values: dict[str, list[str]] = {}
    for name, _, value in _ASSIGNED.findall(text):
        values.setdefault(name, []).append(value)
    for name, assigned in values.items():
        written = rf"{_WRITES}\$\{{?{name}\b\}}?[\"']?(?=[\s;)&|]|$)"
        if len(assigned) == 1 and _RELATIVE.fullmatch(assigned[0]) and re.search(written, text, re.MULTILINE):
            yield assigned[0]
    yield from re.findall(rf"{_WRITES}({_RELATIVE.pattern})(?=[\s;)&|]|$)", code, re.MULTILINE)
