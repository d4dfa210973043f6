"""
Reads of a shell script from its input: with jq, and with embedded programs in other languages.

The input is what ``cat`` put into a variable, or what a program reads to which nothing else is given.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from pytest_hookharness.campaigns.check.reads.javascript_reads import javascript_reads
from pytest_hookharness.campaigns.check.reads.key_meanings import KeyPath, KeyRead, join_reads
from pytest_hookharness.campaigns.check.reads.python_reads import python_reads
from pytest_hookharness.campaigns.check.shell_code.embedded_programs import embedded_programs
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import code_of, script_of
from pytest_hookharness.campaigns.check.shell_code.shell_wrappers import reads_by_wrappers

INPUT_VARIABLE = re.compile(
    r"(?<![\w$])(\w+)=\"?\$\(\s*(?:timeout\s+\S+\s+)?(?:cat(?:\s+(?:-|/dev/stdin)|\s*2>\s*/dev/null)*"
    r"(?:\s*\|\|[^)]*)?|<\s*/dev/stdin)\s*\)"
)
_GIVEN = re.compile(r"(?<![\w$])(\w+)=[\"']?\$\([^()]*$")
_PIPED = re.compile(
    r"(?:echo|printf)\s+(?:-\w+\s+|['\"]?%s(?:\\n)?['\"]?\s+)*[\"']?\$\{?(\w+)(?::?-(?:\{\})?)?\}?[\"']?\s*\|\s*$"
)
_CALL = re.compile(
    r"(?<![\w$./-])jq(?P<options>(?:\s+-[a-zA-Z]+|\s+--(?:raw-output|exit-status|compact-output|slurp|arg\s+\w+\s+\S+))*)"
    r"\s+(?:'(?P<plain>[^']*)'|\"(?P<quoted>(?:[^\"\\$]|\\.)*)\"|(?P<bare>\.[\w.]+))(?P<after>[^\n]*)"
)
_ASSIGNED = re.compile(r"(?<![\w$.-])(\w+)=")
_ENDS_IN_PIPE = re.compile(r"(?<!\|)\|[ \t]*(?:\\)?\n\Z")
# A group of commands that is open and may have another input, and one that replaces it for the rest.
_FED = re.compile(r"(?:^|[|;&\n])[ \t]*[({](?=\s)[^(){}]*\Z|\bexec[ \t]+<|\|[ \t]*\\?\n[ \t]*\Z")
_NEAR, _FAR = 9, 500
# Where a command ends that is not wrapped.
_WRAPPED = re.compile(r"(?<![|\s])[ \t]*\n")
_TO_STRING = re.compile(r"^\s*<<<\s*[\"']?\$\{?(\w+)(?::?-(?:\{\})?)?\}?[\"']?")
# What may follow where jq reads the input of the script itself.
_ALONE = re.compile(r"^\s*(?:2>\s*(?:/dev/null|&1)\s*)?(?:\)|\||;|&&|$)")
_BEGINS = re.compile(r"(?:\$\(|^|;|&&|\bif|\bthen)\s*$")
# A function that passes its first argument to jq as the program.
_WRAPS = re.compile(r"\bjq\s[^}]*?\"\$1[^\"]*\"")
_WORD = re.compile(r"\.([A-Za-z_]\w*)|\.?\[\s*\"(\w+)\"\s*\]|\.\"(\w+)\"")
_LITERAL = re.compile(r"[\s?]*(?:empty|null|true|false|-?\d+|\"[^\"]*\"|\[\s*\]|\{\s*\})?[\s)]*")
# Functions of jq in whose arguments `.` is another value.
_OTHER_INPUT = re.compile(
    r"\b(?:map|any|all|map_values|with_entries|reduce|foreach|sort_by|group_by|walk|path|del)\s*$"
)


def shell_reads(text: str) -> list[frozenset[KeyPath]]:
    """Return what a shell script reads from its input."""
    code = code_of(text)
    names = (name for name in INPUT_VARIABLE.findall(code) if not _is_another(name, text))
    inputs: dict[str, KeyPath] = dict.fromkeys(names, ())
    return [*join_reads(read for read in _all_reads(text, code, inputs) if _is_used(read.name, text))]


def _is_used(name: str, text: str) -> bool:
    return not name or bool(
        re.search(
            rf"\$\{{?[#!]?{name}\b|\b{name}\b\s*[-+*/<>%]|\(\([^)]*\b{name}\b|\[\[[^\]]*\b{name}\b", text
        )
    )


def _is_another(name: str, text: str) -> bool:
    """Return whether a variable with the input is given something else too, also in a function."""
    given = [*re.finditer(rf"(?<![\w$.-]){name}=(?!(?:[\"']\{{\}}[\"']|\"\"|'')(?:\W|$))", text)]
    return any(INPUT_VARIABLE.match(text, one.start()) is None for one in given)


def _all_reads(text: str, code: str, inputs: dict[str, KeyPath]) -> Iterator[KeyRead]:
    consumed = INPUT_VARIABLE.search(code) is not None
    script = script_of(text)
    assigned = Counter(_ASSIGNED.findall(text))
    for found in _CALL.finditer(text):
        if not code.startswith("jq", found.start()) or "n" in "".join(
            re.findall(r"\s-([a-zA-Z]+)", found["options"])
        ):
            continue
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        # What a pipe gives, also to a function, is no input of the hook.
        piped = _ENDS_IN_PIPE.search(text[: found.start() - len(line)][-_NEAR:]) is not None
        within = script.function_at(found.start()) is not None
        prefix = _source(line, found["after"], inputs, consumed=consumed or piped or within)
        if prefix is None:
            continue
        given = _GIVEN.search(line)
        program = found["plain"] or found["bare"] or (found["quoted"] or "").replace('\\"', '"')
        reads = [frozenset((*prefix, *path) for path in paths) for paths in jq_reads(program)]
        name = given[1] if given and len(reads) == 1 else ""
        yield from (KeyRead(paths, name) for paths in reads)
        if (
            name
            and assigned[name] == 1
            and len(reads[0]) == 1
            and name not in inputs
            and "|" not in found["after"].partition(")")[0]
        ):
            (inputs[name],) = reads[0]
    yield from _through_functions(text, inputs)
    yield from reads_by_wrappers(text, inputs)
    yield from _of_programs(text, inputs)


def _source(before: str, after: str, inputs: Mapping[str, KeyPath], *, consumed: bool) -> KeyPath | None:
    """Return which part of the input a call of jq reads; ``None`` if it reads something else."""
    if piped := _PIPED.search(before):
        return inputs.get(piped[1])
    if given := _TO_STRING.match(after):
        return inputs.get(given[1])
    return () if not consumed and _ALONE.match(after) and _BEGINS.search(before) else None


def _through_functions(text: str, inputs: Mapping[str, KeyPath]) -> Iterator[KeyRead]:
    for function, begin, end in script_of(text).functions:
        named = [inputs[name] for name in re.findall(r"\$\{?(\w+)", text[begin:end]) if name in inputs]
        if named != [()] or not _WRAPS.search(text, begin, end):
            continue
        for line in text.splitlines():
            for call in re.finditer(
                rf"(?<![\w$]){function}\s+(?:'([^']*)'|\"([^\"$]*)\"|(\.[\w.]+))(?!\s+[\"'$\w])", line
            ):
                given = _GIVEN.search(line[: call.start()])
                reads = [*jq_reads(call[1] or call[2] or call[3])]
                yield from (KeyRead(paths, given[1] if given and len(reads) == 1 else "") for paths in reads)


def _of_programs(text: str, inputs: Mapping[str, KeyPath]) -> Iterator[KeyRead]:
    """Yield what programs in Python and JavaScript read that stand in the script."""
    whole = {name for name, path in inputs.items() if not path}
    programs = embedded_programs(text)
    script = script_of(text)
    for one in programs:
        line = _WRAPPED.split(text[max(0, one.call - _FAR) : one.call].replace("\\\n", "  "))[-1]
        after = text[one.behind :].partition("\n")[0]
        # What a pipe gives, also to a function or a group, is no input of the hook.
        fed = _FED.search(text[: one.call]) is not None or script.function_at(one.call) is not None
        source = (
            None if one.document else _source(line.rstrip(" "), after, inputs, consumed=bool(inputs) or fed)
        )
        code = one.text if source else one.with_input(whole, text, alone=source is None)
        reads = python_reads(code) if one.language == "python" else javascript_reads(code)
        given = _GIVEN.search(line)
        for paths in reads:
            places = frozenset((*(source or ()), *path) for path in paths)
            yield KeyRead(places, given[1] if given and len(reads) == 1 else "")


def jq_reads(program: str) -> Iterator[frozenset[KeyPath]]:
    """Yield the paths that a program of jq reads from its input, those that replace each other together."""
    # For each open bracket, and for the program: whether `.` is the input there.
    levels, place, group, last = [True], 0, set[KeyPath](), 0
    while place < len(program):
        char = program[place]
        if char == '"' and not (place and program[place - 1] == "."):
            quoted = re.compile(r'"(?:[^"\\]|\\.)*"').match(program, place)
            place = quoted.end() if quoted else len(program)
            continue
        path, end = _path_at(program, place)
        if path and levels[-1]:
            if group and not re.fullmatch(
                rf"{_LITERAL.pattern}(?://{_LITERAL.pattern}\(*\s*)+", program[last:place]
            ):
                yield frozenset(group)
                group = set()
            group.add(path)
        if path:
            place = last = end
            continue
        if char in "([{":
            levels.append(levels[-1] and not _OTHER_INPUT.search(program[:place]))
        elif char in ")]}" and len(levels) > 1:
            levels.pop()
        elif char == "|" and program[place : place + 2] != "|=":
            levels[-1] = False
        elif char in ",;":
            # The next one begins with the same value as this one, unless a pipe is before all of them.
            levels[-1] = levels[-1] or (len(levels) > 1 and levels[-2])
        place += 1
    if group:
        yield frozenset(group)


def _path_at(program: str, place: int) -> tuple[KeyPath, int]:
    """Return the keys of the path that begins at a place, and the place after it."""
    if program[place] != "." or (place and re.match(r"[\w\])\"$.]", program[place - 1])):
        return (), place
    keys: list[str] = []
    while found := _WORD.match(program, place):
        keys.append(next(one for one in found.groups() if one))
        place = found.end()
        place += program.startswith("?", place)
    # What comes after belongs to the elements.
    rest = re.compile(r"(?:\[[^\]]*\]|\.\w+|\?)*").match(program, place)
    return tuple(keys), rest.end() if rest and keys else place
