"""
State that a shell script names after its own process: each run is another one, and never finds it again.

A file counts as state if the script looks for it before it writes it, and never removes it. A file that is
written first is a temporary one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.static.lone_answers import without_comments
from pytest_hookharness.campaigns.check.static.shell_scripts import SHELL_SCRIPT, code_of

_ASSIGNED = re.compile(
    r"^[ \t]*(?:local\s+|export\s+|readonly\s+)?(?P<name>[A-Za-z_]\w*)=(?P<mark>[\"']?)"
    r"(?P<path>[^\n\"']+?)(?P=mark)[ \t]*$",
    re.MULTILINE,
)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_OF_PROCESS = re.compile(r"\$\$|\$\{?BASHPID\b")
# No host sets this variable, so its default counts. Any other variable may tell sessions apart.
_DEFAULT = re.compile(r"\$\{CLAUDE_SESSION_ID:?-(\$\$|\$\{?BASHPID\}?)\}")
_OF_SESSION = re.compile(r":-|ppid|session|sid\b", re.IGNORECASE)
_READ = (
    r"(?:\b(?:cat|source|jq|grep|head|tail|wc|stat|test)\b[^\n;|&>]*[ \t]"
    r"|\[\[?[ \t]+(?:![ \t]+)?-[efs][ \t]+|<[ \t]*)"
    r"[\"']?\$\{{?{0}\b"
)
_WRITTEN = (
    r"(?:>>?[ \t]*|\btee[ \t]+(?:-a[ \t]+)?|\btouch[ \t]+|\bmv[ \t]+(?:-\w+[ \t]+)?\S+[ \t]+)"
    r"[\"']?\$\{{?{0}\b"
)
_REMOVED = r"\b(?:rm|unlink|mktemp|mkfifo)\b[^\n]*\$\{{?{0}\b|\btrap\b"
# A function that begins before a place and ends behind it.
_FUNCTION, _END = re.compile(r"^[ \t]*(?:function[ \t]+)?[\w-]+[ \t]*\(\)[ \t]*\{", re.MULTILINE), "\n}"

_SAID = "{0} is another file in each run, as each is another process, so it is never found again"


def files_of_processes(text: str) -> Iterator[tuple[str, int]]:
    """Yield the state that a shell script never finds again, in words, with the line of its name."""
    if not SHELL_SCRIPT.match(text):
        return
    code, shown = without_comments(text), code_of(text)
    values = {found["name"]: found["path"] for found in _ASSIGNED.finditer(code)}
    for found in _ASSIGNED.finditer(code):
        name = found["name"]
        path = _VARIABLE.sub(lambda one: values.get(one[1], one[0]), found["path"])
        path = _DEFAULT.sub(r"\1", path)
        is_code = shown.startswith(name, found.start("name"))
        once = is_code and len(re.findall(rf"(?<![\w$.-]){name}=", code)) == 1
        named = "/" in path and _OF_PROCESS.search(path) and not _OF_SESSION.search(path)
        if once and named and _is_looked_for(name, code):
            yield _SAID.format(path), code.count("\n", 0, found.start("name")) + 1


def _is_looked_for(name: str, code: str) -> bool:
    """Return whether a script looks for a file before it writes it, and leaves it there."""
    read = re.search(_READ.format(name), code)
    written = re.search(_WRITTEN.format(name), code)
    if read is None or written is None or re.search(_REMOVED.format(name), code):
        return False
    opened = [one for one in _FUNCTION.finditer(code) if one.end() <= read.start()]
    inside = any(_END not in code[one.end() : read.start()] for one in opened)
    return read.start() < written.start() and not inside
