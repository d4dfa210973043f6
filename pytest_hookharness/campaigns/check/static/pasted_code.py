"""
Text of the input that a shell script puts into code: a quotation mark in it ends the text there.

What follows is run, or the code cannot be read, and then the hook decides nothing. Only a variable that gets
a field in which any letter may stand, once and as it is, and that the script does not look through, is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.shell_code.embedded_programs import embedded_programs
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, without_comment_lines

# What an agent or a person writes: any letter may stand in it.
_FREE = r"(?:command|file_path|path|prompt|content|new_string|description|query|url|pattern|message)"
_ASSIGNED = re.compile(r"^[ \t]*(?:local\s+|export\s+)?(?P<name>[A-Za-z_]\w*)=\"?\$\(", re.MULTILINE)
_END = r"\s*(?:2>\s*\S{1,30}\s*)?(?:\|\|\s*(?:true|:|exit\s+0|(?:echo|printf)\s*[\"'{}]{0,4})\s*)?\)"
_ALL_OF_IT = re.compile(r"\s*(?:cat|<\s*/dev/stdin)" + _END)
_JQ = (
    r"jq\s+(?:-[a-zA-Z]{0,5}r[a-zA-Z]{0,5}|--raw-output)\s+(?P<quote>[\"']?)"
    rf"(?:\.(?:tool_input|tool_response)(?:\.\w+){{0,3}}?\.{_FREE}|\.prompt|\.command|\.last_assistant_message)\b\??"
    r"(?:\s*//\s*(?:\.[\w.?]{1,90}|empty|null|\"[^\"\n]{0,90}\"))*(?P=quote)(?=[\s)<])"
)
# The value is the field itself: no other program changes it on the way.
_PIPED = (
    r"\s*(?:(?:echo(?:\s+-\w)?|printf\s+[\"']%s(?:\\n)?[\"'])\s+\"?\$\{?(?P<piped>\w+)\}?\"?\s*\|\s*"
    r"|cat\s*\|\s*)?"
)
_GIVEN = r"(?:\s*<<<\s*\"?\$\{?(?P<given>\w+)\}?\"?)?" + _END
_TAKEN = re.compile(_PIPED + _JQ + _GIVEN)
_BEFORE, _BEHIND = re.compile(_PIPED), re.compile(_GIVEN)
_IS_FREE = re.compile(_FREE)
# Values that the script takes from elsewhere, too.
_OTHERS = re.compile(
    r"(?<![\w$.-])(?P<name>[A-Za-z_]\w*)\+?=(?!\"?\$\()(?![\"']{2})\S"
    r"|\bread\s+(?:-\w+\s+)*(?P<read>\w+)|\bfor\s+(?P<each>\w+)\s+in\b|\bprintf\s+-v\s+(?P<printed>\w+)"
)
# The variable between quotation marks of the code.
_QUOTED = re.compile(
    r"(?P<long>r?(?:'''|(?:\\\"){3})|'|\\\"|\\`)[^'\"`\n$]*(?<!\\)\$\{?(?P<name>[A-Za-z_]\w*)(?:\}|(?!\w))"
)
# What a script checks or changes, it may make harmless: the variables of such a line.
_LOOKS = re.compile(
    r"=~|\bcase\s|%q|\b(?:echo|printf)\s[^\n|]{0,300}\|[^\n]{0,100}\b(?:grep\b|tr\s+-\w*[cd])|\bgrep\s[^\n]{0,200}<<<"
    r"|^\s*(?:assert|check|ensure|guard|is|require|safe|sanit\w*|valid\w*|verify)_?\w*\s+\"?\$"
    r"|(?:\[|\btest)\s[^\n]{0,200}?\s[!=]?=\s*(?!\"\"|'')[^\s=]"
    r"|^\s*(?:if|while|until|elif)\s|(?:\|\||&&)\s*(?:\{[^\n}]{0,100})?\b(?:exit|return|continue|break)\b"
)
# Whether there is a value, or such a file, says nothing of the letters in it.
_PRESENT = re.compile(r"\[\[?\s+(?:!\s+)?-[nzfesrd]\s+\"?\$\{?\w+\}?\"?\s+\]\]?")
_CHANGED = re.compile(r"\$\{(?P<name>\w+)[/%#@:]")
_VARIABLE = re.compile(r"\$\{?(\w+)")
_SAID = (
    "${0} is put into the code for {1}: a quotation mark in it ends the text there, and the rest is run, or "
    "breaks the code"
)
_SAID_OF_THREE = (
    "${0} is put into the code for {1}: three quotation marks in it end the text there, and the rest is run; "
    "a backslash changes the text, or breaks the code"
)


def pasted_code(text: str) -> Iterator[tuple[str, int]]:
    """Yield which text of the input a shell script puts into the code of a program, with the line."""
    if not SHELL_SCRIPT.match(text):
        return
    code = without_comment_lines(text)
    names = texts_of_input(code)
    calls = [
        (one.program, one.begin, code[one.begin : one.end])
        for one in (embedded_programs(text) if names else ())
        if one.expands and one.language != "shell"
    ]
    names -= _looked_through(code, calls)
    for program, begin, given in calls:
        reported = set[str]()
        for found in _QUOTED.finditer(given):
            name, mark = found["name"], found["long"]
            if name in names - reported and not mark.startswith("r"):
                reported.add(name)
                said = _SAID_OF_THREE if mark.endswith(("'''", '\\"\\"\\"')) else _SAID
                yield said.format(name, program), code.count("\n", 0, begin + found.start()) + 1


def texts_of_input(code: str) -> set[str]:
    """Return the variables that hold text of the input as it is."""
    found: dict[str, int] = {}
    programs = {one.call: one for one in embedded_programs(code) if _IS_FREE.fullmatch(one.printed)}
    whole, taken = set[str](), dict[str, str]()
    for one in _ASSIGNED.finditer(code):
        name = one["name"]
        found[name] = found.get(name, 0) + 1
        if _ALL_OF_IT.match(code, one.end()):
            whole.add(name)
        elif value := _TAKEN.match(code, one.end()):
            taken[name] = value["piped"] or value["given"] or ""
        elif (begins := _BEFORE.match(code, one.end())) and begins.end() in programs:
            ends = _BEHIND.match(code, programs[begins.end()].behind)
            taken |= {name: begins["piped"] or ends["given"] or ""} if ends else {}
    named = whole | {name for name, source in taken.items() if not source or source in whole}
    named = {name for name in named if found[name] == 1}
    for one in _OTHERS.finditer(code) if named else ():
        named.discard(one["name"] or one["read"] or one["each"] or one["printed"])
    return named


def _looked_through(code: str, calls: list[tuple[str, int, str]]) -> set[str]:
    """Return the variables that a script changes or checks, apart from the code that it gives to programs."""
    rest, place = list[str](), 0
    for _, begin, given in sorted(calls, key=lambda call: call[1]):
        rest.append(code[place:begin])
        place = max(place, begin + len(given))
    lines = _PRESENT.sub("", "".join([*rest, code[place:]]).replace("\\\n", "  ")).splitlines()
    changed = {one["name"] for one in _CHANGED.finditer(code)}
    return changed.union(*(_VARIABLE.findall(line) for line in lines if _LOOKS.search(line)))
