"""
Variables of shell scripts that stay empty, because an earlier command has read all of the input.

``T=$(jq -r .tool_name)`` reads standard input to its end, so ``F=$(jq -r .tool_input.file_path)`` behind it
gets nothing. Only assignments are read: the first one outside of conditions, and both outside of functions,
loops and groups, which may have another input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from pytest_hookharness.campaigns.check.reads.unknown_keys import has_another
from pytest_hookharness.campaigns.check.shell_code.shell_conditions import conditions_at
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.model.fast_dataclass import dataclass

_NAME = r"^[ \t]*(?:export[ \t]+|readonly[ \t]+)?(?P<name>[A-Za-z_]\w*)=\"?\$\([ \t]*"
_JQ = (
    r"jq(?P<options>(?:[ \t]+-{1,2}[a-zA-Z][a-zA-Z-]*)*)[ \t]+"
    r"(?:'(?P<plain>[^']*)'|\"(?P<quoted>(?:[^\"\\$]|\\.)*)\"|(?P<bare>\.[\w.]+))"
)
# A call without a file, and what may follow it: filters that print nothing for empty input, and a default.
_BEHIND = (
    r"[ \t]*(?:2>[ \t]*/dev/null[ \t]*)?(?:\|[ \t]*(?:tr|head|tail|sed|cut)\b[^|)\n]*)*"
    r"(?P<default>\|\|[^)\n]*)?\)\"?[ \t]*(?=$|\|\||&&|;|#)"
)
_TAKES = re.compile(rf"{_NAME}(?P<call>cat(?:[ \t]+-)?|(?:cat[ \t]*\|[ \t]*)?{_JQ}){_BEHIND}", re.MULTILINE)
# Options of jq with which it reads its input as usual, and functions that may leave some of it.
_USUAL = re.compile(
    r"(?:[ \t]+(?:-[rcjaSMCse]+|--(?:raw-output|compact-output|join-output|exit-status|slurp)))*"
)
_OTHER_INPUT = re.compile(r"\binputs?\b|\bhalt")
_FAILS_ON_NOTHING = re.compile(r"[ \t]-\w*[es]|--(?:exit-status|slurp)")
# What gives the script another input, or may give one to a part of it: functions, and commands that end so.
_REPLACED = re.compile(
    r"\bexec[ \t]+\d*<|/dev/tty|\bfunction\b|\w[ \t]*\(\)[ \t]*[\n({]|(?:\}|\)|\b(?:fi|done|esac))[ \t]*<"
)
# A group of commands that no end in its line closes, and a pipe that goes on in the next line.
_GROUP = re.compile(
    r"(?:^|[;&|\n])[ \t]*(?:\((?!\()[^)\n]*|\{[ \t][^}\n]*|\{)(?:\n|\Z)|\|[ \t]*\\?\n[ \t]*\Z"
)
_LOOP = re.compile(r"(?:^|[\n;&|])[ \t]*(?:for|while|until|select)(?![\w-])")
_DONE = re.compile(r"(?:^|[\n;&|])[ \t]*done(?![\w-])")
_MOST = 40


@dataclass(frozen=True, slots=True)
class _Take:
    """
    A variable that a command fills from standard input.

    Attributes:
        name: Its name.
        place: Its place in the script.
        is_empty: Whether it is empty if there is nothing to read.
    """

    name: str
    place: int
    is_empty: bool


def spent_inputs(text: str) -> Iterator[tuple[str, int]]:
    """Yield the variables of a shell script that get nothing of the input, in words, with the line."""
    code = code_of(text) if SHELL_SCRIPT.match(text) else ""
    if not code or _REPLACED.search(code):
        return
    takes = sorted(_takes(text, code), key=lambda one: one.place)
    takes = [one for one in islice(takes, _MOST) if _is_in_sequence(code, one.place)]
    first = next((one for one in takes if not conditions_at(code, one.place)), None)
    for one in takes if first else ():
        if first and one.place > first.place and one.is_empty and not has_another(text, one.name):
            line = text.count("\n", 0, first.place) + 1
            words = f"line {line} has read all of standard input, so `{one.name}` is always empty"
            yield words, text.count("\n", 0, one.place) + 1


def _takes(text: str, code: str) -> Iterator[_Take]:
    for found in _TAKES.finditer(text):
        program = found["plain"] or found["quoted"] or found["bare"] or ""
        usual = _USUAL.fullmatch(found["options"] or "") and not _OTHER_INPUT.search(program)
        if usual and code[found.start("call")] == text[found.start("call")]:
            fails = _FAILS_ON_NOTHING.search(found["options"] or "")
            yield _Take(found["name"], found.start("name"), not fails)


def _is_in_sequence(code: str, place: int) -> bool:
    """Return whether a place of a script has the script's own input."""
    before = code[:place]
    loops = len(_LOOP.findall(before)) - len(_DONE.findall(before))
    return loops == 0 and _GROUP.search(before) is None
