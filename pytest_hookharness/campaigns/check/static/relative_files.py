"""
State that scripts write or look for by a relative path: after the agent's ``cd`` they use another file.

Only scripts that never change the folder themselves are read, on hosts that start hooks where the agent is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import project_files, read_text
from pytest_hookharness.campaigns.check.static.mac_shell import code_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_SHELL = re.compile(r"#!.*\b(?:ba|da|k|z)?sh\b")
_MOVES = re.compile(r"(?:^|[;&|({]|\b(?:then|do|else)\s)\s*(?:cd|pushd)\s|\bchdir\b", re.MULTILINE)
_LOADS = re.compile(r"^\s*(?:source|\.)\s|[;&]\s*(?:source|\.)\s", re.MULTILINE)
_LOADED = re.compile(r"([\w.-]+\.(?:sh|bash))\b")
# What a shell does elsewhere, such as `$(cd "$(dirname "$0")" && pwd)`.
_SUBSTITUTED = re.compile(r"\$\([^()]*\)")
# A variable whose only value is a relative path with a folder, and what writes a file.
_ASSIGNED = re.compile(
    r"^\s*(?:local\s+|export\s+|readonly\s+)?(\w+)=([\"']?)([^\n]*?)\2[ \t]*$", re.MULTILINE
)
_RELATIVE = re.compile(r"\.?[A-Za-z][\w-]*(?:/[\w.-]+)+")
_WRITES = r"(?:(?<![<&\d])>>?\s*|\btee\s+(?:-a\s+)?|\btouch\s+)[\"']?"
# What asks for a file: in a hidden folder that is the hook's own, others may be meant where the agent is.
_ASKS = r"(?<!\S)-[efs]\s+[\"']?"
_HIDDEN = re.compile(r"\.[a-z][\w-]*/(?!hooks/)[\w./-]+")
_END = r"(?=[\s;)&|]|$)"
# The current folder, and what is joined to it.
_OF_PYTHON = re.compile(
    r"(?:Path\.cwd\(\)\s*/\s*|os\.path\.join\(\s*os\.getcwd\(\)\s*,\s*)[\"']([\w.-]+)[\"'](?=[^\n]*\n(?:[^\n]*\n){0,3}[^\n]*\.?(?:mkdir|makedirs)\()"
)


def relative_file(hook_set: HookSet, hook: Hook) -> str:
    """Return a file that a hook's script uses in the agent's current folder; empty for none."""
    found = hook_set.scripts_of(hook)
    stays = re.search(r"\bcd\s", hook.command) is None and hosts.find(hook_set.host).tools.keeps_folder
    if not stays or len(found) != 1 or _moves(hook_set, found[0]):
        return ""
    text = found[0]
    return next(_used(text) if _SHELL.match(text) else iter(_OF_PYTHON.findall(text)), "")


def _moves(hook_set: HookSet, text: str) -> bool:
    """Return whether a script may change its folder, itself or in a file that it loads."""
    code = code_of(text) if _SHELL.match(text) else text
    names = {name for line in text.splitlines() if _LOADS.search(line) for name in _LOADED.findall(line)}
    if _LOADS.search(code):
        files = [file for file in project_files(hook_set.root) if file.name in names]
        if not names or names - {file.name for file in files}:
            return True
        code = "\n".join([code, *(code_of(read_text(file) or "") for file in files)])
    while (shorter := _SUBSTITUTED.sub("", code)) != code:
        code = shorter
    return _MOVES.search(code) is not None


def _used(text: str) -> Iterator[str]:
    code = code_of(text)
    values: dict[str, list[str]] = {}
    for name, _, value in _ASSIGNED.findall(text):
        values.setdefault(name, []).append(value)
    for name, assigned in values.items():
        variable = rf"\$\{{?{name}\b\}}?[\"']?{_END}"
        if len(assigned) == 1 and _RELATIVE.fullmatch(assigned[0]):
            asked = _HIDDEN.fullmatch(assigned[0]) and re.search(_ASKS + variable, text, re.MULTILINE)
            if asked or re.search(_WRITES + variable, text, re.MULTILINE):
                yield assigned[0]
    yield from re.findall(rf"{_WRITES}({_RELATIVE.pattern}){_END}", code, re.MULTILINE)
    yield from re.findall(rf"{_ASKS}({_HIDDEN.pattern}){_END}", code, re.MULTILINE)
