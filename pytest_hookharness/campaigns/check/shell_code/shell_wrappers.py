"""
Functions of shell scripts that only call one program, or that read a key given as an argument.

For example ``field() { jq -r ".$1"; }``, and ``field() { printf '%s' "$1" | jq -r ".$2 // empty"; }``, called
as ``field "$INPUT" "command"``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_hookharness.campaigns.check.reads.key_meanings import KeyPath, KeyRead
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import ShellFunction, ShellScript, script_of

_ARGUMENT = re.compile(r"(?<![\w$])(?P<name>[A-Za-z_]\w*)=\"?\$\{?(?P<number>[1-9])\}?\"?(?=[\s;]|$)")
_WITH_KEY = re.compile(
    r"(?:\"?\$\{?(?P<given>\w+)\}?\"?[ \t]*\|[ \t]*)?jq[ \t]+(?:-\w+[ \t]+)*"
    r"\"\.\$\{?(?P<key>\w+)\}?(?:[ \t?]*//[^\"\n]*)?\""
    r"(?:[^\n]*?<<<[ \t]*\"?\$\{?(?P<fed>\w+)\}?\"?)?"
)
_WORDS = r"(?<![\w$./-]){0}(?P<words>(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s;|&()<>\"']+))+)"
_WORD = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|(\S+)")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_KEYS = re.compile(r"\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_ASSIGNED = re.compile(r"(?<![\w$])(\w+)=[\"']?\$\($")
_MOST = 20
_QUOTATION = re.compile(r"'[_\n]*'|\"[_\n]*\"")
# The body of such a function: variables, the program after a pipe or alone, and whether failure is ignored.
_WRAPS = (
    r"\s*(?:local[ \t][^\n;&|]*\n\s*)*(?:(?:echo|printf)[ \t][^\n;&|]*\|[ \t]*(?:\n[ \t]*)?)?"
    r"{0}[ \t][^\n;&|]*(?P<passed>\|\|[ \t]*(?:true|:|(?:echo|printf)[ \t]+(?:''|\"\"))[ \t]*)?;?\s*"
)
_CALLED = r"\$\((?:{0})(?![\w-])[^\n|&;()]*\)"


def reads_by_wrappers(text: str, inputs: Mapping[str, KeyPath]) -> Iterator[KeyRead]:
    """
    Yield what a script reads through functions that get the key as an argument.

    ``inputs`` are the variables that hold the input or a part of it, with the path of that part.
    """
    for function in script_of(text).functions[:_MOST]:
        found = _WITH_KEY.search(text, function.begin, function.end)
        arguments = _ARGUMENT.finditer(text, function.begin, function.end)
        numbers = {one["name"]: int(one["number"]) for one in arguments}
        if found is None:
            continue
        key = _number(found["key"], numbers)
        source = found["given"] or found["fed"] or ""
        if key:
            yield from _calls(text, function, key, _number(source, numbers), inputs.get(source), inputs)


def _number(name: str, numbers: Mapping[str, int]) -> int:
    """Return which argument of a function a variable is; 0 for none."""
    return int(name) if name.isdigit() else numbers.get(name, 0)


def _calls(
    text: str,
    function: ShellFunction,
    key: int,
    source: int,
    path: KeyPath | None,
    inputs: Mapping[str, KeyPath],
) -> Iterator[KeyRead]:
    for call in re.finditer(_WORDS.format(re.escape(function.name)), text):
        words = ["", *("".join(parts) for parts in _WORD.findall(call["words"]))]
        if function.begin <= call.start() < function.end or len(words) <= max(key, source):
            continue
        given = _VARIABLE.fullmatch(words[source]) if source else None
        whole = inputs.get(given[1]) if given else path
        if whole is not None and _KEYS.fullmatch(words[key]):
            line = text[text.rfind("\n", 0, call.start()) + 1 : call.start()]
            assigned = _ASSIGNED.search(line)
            keys = tuple(words[key].lstrip(".").split("."))
            yield KeyRead(frozenset([(*whole, *keys)]), assigned[1] if assigned else "")


def wrapping_functions(tool: str, script: ShellScript) -> Iterator[tuple[str, bool]]:
    """Yield the functions that only call a program, each with whether they ignore its failure."""
    whole = re.compile(_WRAPS.format(tool))
    for name, begin, end in script.functions[:_MOST]:
        if found := whole.fullmatch(_QUOTATION.sub("''", script.shown[begin:end])):
            yield name, found["passed"] is not None


def with_programs_in_place(text: str, tool: str) -> str:
    """Return a script in which values come from a program where a function called only this program."""
    for name, passed in wrapping_functions(tool, script_of(text)):
        called = f"$({tool} '.'{' || true' if passed else ''})"
        text = re.sub(_CALLED.format(re.escape(name)), called, text)
    return text
