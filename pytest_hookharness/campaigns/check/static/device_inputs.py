"""
Scripts that open /dev/stdin by its name, or ask whether it is a pipe, where their host gives them a socket.

Linux opens no socket by a name (``ENXIO``), so such a script gets no input, though it does if it is tried by
hand with a pipe. macOS opens it. Which hosts give sockets was observed. Nothing is said of a name behind a
pipe or a here-document, which is another input, or where the script falls back on something else.
"""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.written_answers import without_comments
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of, script_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.processes import Stdio
from pytest_hookharness.model.protocol import Hook

DEVICE = "/dev/stdin"
_READ_IT = "Read standard input itself, as with `$(cat)`, `sys.stdin` or descriptor 0"
_NAME = rf"[\"']?{DEVICE}\b[\"']?"
_ASKS = re.compile(rf"(?:\[|\btest)\s+-p\s+{_NAME}")
_IN_SHELL = re.compile(rf"(?:<\s*|\b(?:cat|jq|head)\b[^\n|;&<>]*?\s){_NAME}")
_IN_OTHERS = re.compile(
    rf"\bopen\(\s*[\"']{DEVICE}[\"']|\bPath\(\s*[\"']{DEVICE}[\"']|\breadFile(?:Sync)?\([^)\n]*[\"'`]{DEVICE}[\"'`]"
)
# Another way to the input, after the name on its line, or beside it.
_OTHER_WAY = re.compile(r"\|\||\?\?|\bor\b|<")
# A choice by the system, which may be made for Linux.
_BY_SYSTEM = re.compile(r"\bdarwin\b|\bmac\w*\b", re.IGNORECASE)
_CATCHES = re.compile(r"\b(?:except|catch)\b")


def device_input(hook_set: HookSet, hook: Hook) -> tuple[str, str] | None:
    """Return what a hook does with /dev/stdin in vain, and what to write instead; ``None`` for nothing."""
    if hook.type != "command" or hosts.find(hook_set.host).process.stdio is not Stdio.SOCKET:
        return None
    return next(filter(None, map(_in_text, hook_set.code_of(hook))), None)


def _in_text(text: str) -> tuple[str, str] | None:
    shell = SHELL_SCRIPT.match(text) is not None or "\n" not in text
    code = code_of(text) if SHELL_SCRIPT.match(text) else without_comments(text)
    asks = _ASKS.search(code) if shell else None
    if asks and not _OTHER_WAY.search(_line_of(code, asks)[1]):
        return f"reads only if {DEVICE} is a pipe; that is", "Ask whether it is a terminal: `[ -t 0 ]`"
    for found in (_IN_SHELL if shell else _IN_OTHERS).finditer(code):
        before, after = _line_of(code, found)
        if shell and (_is_piped(code, found, before) or "<" in before):
            continue
        if not shell and (_CATCHES.search(code, found.end()) or _BY_SYSTEM.search(before + found[0])):
            continue
        if not _OTHER_WAY.search(after) and not (shell and script_of(text).function_at(found.start())):
            return f"opens {DEVICE}", _READ_IT
    return None


def _line_of(code: str, found: re.Match[str]) -> tuple[str, str]:
    """Return what stands before and after a match in its line."""
    begin, end = code.rfind("\n", 0, found.start()) + 1, code.find("\n", found.end())
    return code[begin : found.start()], code[found.end() : end if end >= 0 else len(code)]


def _is_piped(code: str, found: re.Match[str], before: str) -> bool:
    """Return whether a command gets the output of another one, which may stand in the line before."""
    return "|" in before or code[: found.start() - len(before)].rstrip().endswith("|")
