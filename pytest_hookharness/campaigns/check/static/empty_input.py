"""
Input that a shell script reads a second time: the first read took all of it, so the second gets nothing.

Only calls that read standard input for sure are counted, one behind the other on the script's way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.static.shell_scripts import SHELL_SCRIPT, code_of

# A value that a program takes from standard input: nothing but options and its code stand behind its name.
_OPTION = r"-(?:[a-zA-Z]+|-raw-output|-exit-status|-compact-output)"
_PROGRAM = re.compile(
    rf"^(?P<name>[A-Za-z_]\w*)=\"?\$\((?:jq(?:[ \t]+{_OPTION})*[ \t]+(?:'_*'|\"_*\"|\.[\w.]*)"
    r"|python3?[ \t]+-c[ \t]+(?:'_*'|\"_*\"))"
    r"(?:[ \t]+2>[ \t]*/dev/null)?(?:[ \t]*\|\|[ \t]*(?:true|:|echo[ \t]+\S*))?\)\"?[ \t]*$"
)
_ALL = re.compile(
    r"^(?P<name>[A-Za-z_]\w*)=\"?(?:\$\((?:cat|<[ \t]*/dev/stdin|cat[ \t]+(?:-|/dev/stdin))"
    r"(?:[ \t]+2>/dev/null)?\)|`cat`)\"?[ \t]*$"
)
_NO_INPUT = re.compile(r"(?<!\S)-\w*n|--null-input|--slurpfile|--rawfile|--args")
# What gives the script, or a part of it, another input, and what ends or leaves the plain way.
_ELSEWHERE = re.compile(r"\bexec\b|<<|<&|(?<![<>&\d])<(?!<)[ \t]*[\"$\w/]|\bcoproc\b|\|[ \t]*(?:while|\{|\()")
_SAID = "${0} is always empty, as ${1} took the whole input before"


def empty_reads(text: str) -> Iterator[tuple[str, int]]:
    """Yield the variables of a shell script that get nothing, in words, each with its line."""
    if not SHELL_SCRIPT.match(text):
        return
    first = ""
    code = code_of(text)
    for number, line in enumerate(code.split("\n"), 1):
        # Only lines at the left edge are surely on the way, and no function or branch.
        found = _PROGRAM.match(line) or _ALL.match(line)
        if found is None or (found.re is _PROGRAM and _NO_INPUT.search(line)):
            if _ELSEWHERE.search(line):
                return
            continue
        if first and first != found["name"]:
            yield _SAID.format(found["name"], first), number
        first = first or found["name"]
