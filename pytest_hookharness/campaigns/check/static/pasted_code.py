"""
Text of the input that a shell script puts into code: a quotation mark in it ends the text there.

What follows is run, or the code cannot be read, and then the hook decides nothing. Only a variable that gets
its value from the input once, and that the script does not look through, is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.static.lone_answers import without_comments
from pytest_hookharness.campaigns.check.static.shell_scripts import SHELL_SCRIPT

# What an agent or a person writes: any letter may stand in it.
_OF_INPUT = re.compile(
    r"tool_input|toolArgs|\.prompt\b|[\"']prompt[\"']|last_assistant_message|tool_response|tool_result"
    r"|\.(?:command|file_path)\b"
)
_ASSIGNED = re.compile(
    r"^[ \t]*(?:local\s+|export\s+)?(?P<name>[A-Za-z_]\w*)=(?P<quote>\"?)\$\((?P<rest>[^\n]*)", re.MULTILINE
)
_ALL_OF_IT = re.compile(r"\s*(?:cat|</dev/stdin|<\s*/dev/stdin)\s*(?:2>\S+\s*)?\)")
# A program that gets code, in double quotes: its name for a report, and the option before the code.
_CODE = re.compile(
    r"(?:(?<![\w./-])(?P<program>python3?|node|perl|ruby|bun|php)|\"?\$\{?(?P<variable>PYTHON\w*|NODE\w*)\}?\"?)"
    r"(?:\s+-[A-Za-z]+)*?\s+-(?:c|e|ne|pe|r|p)\s+\""
)
_DOCUMENT = re.compile(
    r"(?<![\w./-])(?P<program>python3?|node|perl|ruby)\b(?:\s+-(?=\s|<))?[^\n;|<]*<<-?\s*(?P<end>[A-Za-z_]\w*)"
    r"[^\n]*\n"
    r"(?P<code>[\s\S]*?)^\s*(?P=end)$",
    re.MULTILINE,
)
# The variable between quotation marks of the code.
_QUOTED = r"(?:'|\\\"|`)[^'\"`\n$]*(?<!\\)\$\{{?{0}\b(?:\}}|(?!\w))"
# What a script checks or changes, it may make harmless.
_LOOKED_THROUGH = r"\$\{{?{0}\b\}}?\"?\s*=~|\bcase\s+\"?\$\{{?{0}\b|\$\{{{0}(?:[/%#@:])|%q[^\n]*\$\{{?{0}\b"
_SAID = (
    "${0} is put into the code for {1}: a quotation mark in it ends the text there, and the rest is run, or "
    "breaks the code"
)


def pasted_code(text: str) -> Iterator[tuple[str, int]]:
    """Yield which text of the input a shell script puts into the code of a program, with the line."""
    if not SHELL_SCRIPT.match(text):
        return
    code = without_comments(text)
    names = _of_input(code)
    for program, begin, given in _given_code(code) if names else ():
        for name in names:
            if found := re.search(_QUOTED.format(name), given):
                line = code.count("\n", 0, begin + found.start()) + 1
                yield _SAID.format(name, program), line


def _of_input(code: str) -> list[str]:
    """Return the variables that hold text of the input as it is."""
    found: dict[str, int] = {}
    named: set[str] = set()
    for one in _ASSIGNED.finditer(code):
        name, begin = one["name"], one.start("rest")
        found[name] = found.get(name, 0) + 1
        rest = code[begin : _end_of_substitution(code, begin)]
        if _OF_INPUT.search(rest) or _ALL_OF_IT.match(code, begin):
            named.add(name)
    others = {name for name in named if re.search(rf"(?<![\w$.-]){name}=(?!\"?\$\()(?![\"']{{2}})\S", code)}
    changed = {name for name in named if re.search(_LOOKED_THROUGH.format(name), code)}
    return sorted(name for name in named - others - changed if found[name] == 1)


def _end_of_substitution(code: str, place: int) -> int:
    """Return where the substitution ends that began before a place."""
    depth, quote = 1, ""
    while place < len(code) and depth:
        letter = code[place]
        if letter == "\\" and quote != "'":
            place += 1
        elif quote == "'":
            quote = "" if letter == "'" else quote
        elif letter == "'" and not quote:
            quote = "'"
        elif letter == '"':
            quote = "" if quote else '"'
        elif not quote:
            depth += {"(": 1, ")": -1}.get(letter, 0)
        place += 1
    return place


def _given_code(code: str) -> Iterator[tuple[str, int, str]]:
    """Yield the programs that get code in which a shell fills in variables, with its place and the code."""
    for found in _CODE.finditer(code):
        begin = found.end()
        end = begin
        while end < len(code) and code[end] != '"':
            end += 2 if code[end] == "\\" else 1
        yield found["program"] or f"${found['variable']}", begin, code[begin:end]
    for found in _DOCUMENT.finditer(code):
        yield found["program"], found.start("code"), found["code"]
