"""
The tests of a shell guard that look for words in the command of a call, and what each of them leads to.

Only tests of the whole command by `grep` or `[[ =~ ]]` are read, and of what follows only the straight way to
an `exit`. Anything else is a test that is not understood.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from pytest_hookharness.campaigns.check.command_guards.command_guard import (
    CaseArm,
    CommandGuard,
    CommandTest,
    case_arms,
)
from pytest_hookharness.campaigns.check.command_guards.patterns import (
    glob_source,
    looped_texts,
    pattern_of,
    plain,
    unescaped,
)
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    LOADS,
    PRINTS,
    ShellScript,
    ends_of_if,
    script_of,
)

_DENIES = re.compile(
    r"\b(?:decision|permissionDecision|permission)\\?[\"']?\s*[:=]\s*\\?[\"']?(?:block|deny)\b"
)
_ASSIGNED = re.compile(r"^[ \t]*(?:local[ \t]+)?(?P<name>[A-Za-z_]\w*)\+?=(?P<value>[^\n]*)", re.MULTILINE)
_ELSEWHERE = (
    r"\b(?:for|export|declare|typeset)[ \t][^\n]*\b{0}\b|\bread[ \t][^\n;|]*\b{0}\b|[;&|][ \t]*{0}\+?="
)
# A variable gets the command as it is, by a program that is given its key.
_REST = (
    r"(?:[ \t]*2>[ \t]*/dev/null)?(?:[ \t]*\|\|[ \t]*(?:true|(?:echo|printf)[ \t]+(?:\"\"|'')))?[ \t]*\)\"?"
    r"[ \t]*(?:\|\|[ \t]*(?:true|exit[ \t]+0)[ \t]*)?$"
)
_GIVEN = r"\"?\$\([ \t]*(?:" + PRINTS + r"\"\$\{?(?P<input>\w+)\}?\"[ \t]*\||cat[ \t]*\|)?[ \t]*"
_BY_JQ = re.compile(
    _GIVEN + r"jq[ \t]+(?:-\w+[ \t]+)*[\"']\.(?:tool_?[iI]nput|tool_?[aA]rgs|input)?\.?(?:command|cmd)"
    r"(?:[ \t]*//[ \t]*(?:\.command|empty|\\?\"\\?\"))*[\"'](?:[ \t]*<<<[ \t]*\"?\$\{?(?P<fed>\w+)\}?\"?)?"
    + _REST
)
_BY_PYTHON = re.compile(
    _GIVEN
    + r"python3?[ \t]+-c[ \t]+(?P<mark>[\"'])(?:(?!(?P=mark))[^\n]){0,300}?\bcommand\b"
    + r"(?:(?!(?P=mark)|\.split)[^\n]){0,300}(?P=mark)"
    + _REST
)
_SMALL = re.compile(
    r"\"?\$\(" + PRINTS + r"\"\$\{?(?P<one>\w+)\}?\"[ \t]*\|[ \t]*"
    r"tr[ \t]+[\"']?(?:\[:upper:\]|A-Z)[\"']?[ \t]+[\"']?(?:\[:lower:\]|a-z)[\"']?[ \t]*\)\"?[ \t]*$"
    r"|\"?\$\{(?P<other>\w+),,\}\"?[ \t]*$"
)
# Variables that hold the whole input, and uses of them that may look for words.
_INPUT = re.compile(
    r"\"?\$\((?:timeout[ \t]+\w+[ \t]+)?cat\b[^\n|;]*(?:\|\|[ \t]*true)?\)\"?[ \t]*(?:\|\|[^\n]*)?$"
)
_PART = re.compile(
    _GIVEN + r"jq[ \t]+(?:-\w+[ \t]+)*[\"']\.tool_?(?:[iI]nput|[aA]rgs)(?:[ \t]*//[^\"'\n|]*)?[\"']" + _REST
)
# Takes a part of the whole input by jq. What jq prints is looked at where its filter names the command.
_PIPED_TO_JQ = re.compile(r"\|[ \t]*jq\b|\bjq\b[^\n|]*<<<")
# How a script finds the command where there is no jq.
_FALLBACK = re.compile(_GIVEN + r"(?:sed|grep|python3?|node)\b[^\n]{0,200}?command[^\n]{0,200}\)\"?[ \t]*$")
_USED = r"\$\{{?{0}(?![\w])"
_PIPED = (
    PRINTS + r"\"\$\{?(?P<piped>\w+)\}?\"[ \t]*\|[ \t]*"
    r"grep[ \t]+(?P<flags>(?:-[\w-]+[ \t]+)+)(?P<mark>[\"'])(?P<pattern>[^\n]*?)(?P=mark)(?=[ \t;)\n]|$)"
)
_TESTED = r"\[\[[ \t]+\"?\$\{?(?P<tested>\w+)\}?\"?[ \t]+=~[ \t]+(?P<bare>[^\n\"'$`]+?)[ \t]+\]\]"
_GLOBBED = (
    r"\[\[[ \t]+\"?\$\{?(?P<compared>\w+)\}?\"?[ \t]+(?P<sign>==?|!=)[ \t]+"
    r"(?P<glob>(?:\"[^\"\n]*\"|'[^'\n]*'|\\.|[^\s\"'\]])+)[ \t]+\]\]"
)
_TEST = re.compile(f"(?:{_PIPED}|{_TESTED}|{_GLOBBED})")
_BEFORE = re.compile(r"(?P<word>(?:if|elif)[ \t]+)?(?P<not>![ \t]+)?$")
_BRANCH = re.compile(r"(?:[ \t]*>?[ \t]*2?>[ \t]*/dev/null)?[ \t]*(?:;[ \t]*|\n[ \t]*)then\b")
_LIST = re.compile(r"(?:[ \t]*2>[ \t]*/dev/null)?[ \t]*(?P<sign>\|\||&&)(?P<rest>[^\n]*)")
_MOST, _NEAR, _FAR = 100, 300, 2000
_ENDS, _WORD, _DEEPEST = re.compile(r"\b(?:exit|exec|kill|eval)\b"), re.compile(r"[\w-]+"), 3
# Code that ends the straight path from a test.
_TURN = re.compile(r"\b(?:if|elif|else|fi|case|esac|for|while|until|exit|return)\b|&&|\|\||\}")
_LEAVES = re.compile(r"\b(?:exit|return|break|continue)\b")
_FAILS = re.compile(r"\b(?:exit|return)[ \t]+(?:[1-9]|[\"$])")
_EXIT = re.compile(r"exit[ \t]+(?P<status>[02])\b")
_IS_SET = re.compile(
    r"\[\[?[ \t]+(?:![ \t]+)?(?:-[zn][ \t]+)?\"?\$\{?\w+(?::-)?\}?\"?[ \t]+(?:!?==?[ \t]+\"\"[ \t]+)?\]\]?"
)
_TELLS = re.compile(r"[ \t]*(?:echo|printf|log\w*|debug\w*|cat|deny|block|warn|jq)\b[^\n|]*$")


def read_guard(text: str) -> CommandGuard:
    """Return the tests of the command in a shell script; none if it changes the command first."""
    script = script_of(text)
    code, shown = script.code, script.shown
    names = _names(code)
    functions = _leaving(script)
    small = _lowered(code, names)
    both = [*names, *small]
    arms = [one for one in case_arms(code, shown, looped_texts(code)) if one.name in both]
    # A function that nothing calls decides nothing.
    words = Counter(_WORD.findall(shown))
    called = {name for name, often in words.items() if often > 1}
    plain_tests = [
        one
        for one in _tests(script, both, functions)
        if (around := script.function_at(one.begin)) is None or around.name in called
    ]
    found = (*plain_tests, *(_arm_test(one, script, functions) for one in arms))
    tests = tuple(sorted(found, key=lambda one: one.begin))
    spans = [*((one.begin, one.end) for one in plain_tests), *((one.begin, one.body) for one in arms)]
    others = [
        found.start()
        for name in (*names, *small)
        for found in re.finditer(_USED.format(name), code)
        if not any(begin <= found.start() < end for begin, end in spans)
        and not _is_plain(found, code)
        and not _SMALL.match(_value_at(found, code))
    ]
    # The command stands in the whole input too, and loaded functions see all variables.
    uses = (found for name in _inputs(code) for found in re.finditer(_USED.format(name), code))
    others += [found.start() for found in uses if not _is_part(found, code) and not _is_plain(found, code)]
    others += [found.start() for found in LOADS.finditer(shown)]
    others += [
        found.start()
        for found in re.finditer(r"\.command\b|[\"']command[\"']", code)
        if not _is_way(_value_at(found, code))
    ]
    refusing = [(begin, end) for name, begin, end in script.functions if functions.get(name)]
    return CommandGuard(tests, tuple(sorted(others)), _is_whole(tests, script, refusing))


def _leaving(script: ShellScript) -> dict[str, bool]:
    """Return the functions that may end a script, each with whether it surely refuses."""
    shown, bodies = script.shown, script.functions
    found = {name: _leads(script, begin, {})[0] == "refuses" for name, begin, _ in bodies}
    ending = {name for name, begin, end in bodies if found[name] or _ENDS.search(shown, begin, end)}
    # Whatever calls one of them may end the script too.
    words = [(name, {*_WORD.findall(shown, begin, end)}) for name, begin, end in bodies]
    for _ in bodies[:_DEEPEST]:
        ending |= {name for name, called in words if not ending.isdisjoint(called)}
    return {name: refuses for name, refuses in found.items() if name in ending}


def _is_whole(
    tests: Sequence[CommandTest], script: ShellScript, functions: Sequence[tuple[int, int]]
) -> bool:
    """Return whether a script refuses only where tests of the command lead, and does so somewhere."""
    found = [*_DENIES.finditer(script.code), *_FAILS.finditer(script.shown)]
    places = sorted(one.start() for one in found)
    within = [*((one.end, one.until) for one in tests if one.leads == "refuses"), *functions]
    left = {*places}
    for begin, end in within:
        left -= {*places[bisect_left(places, begin) : bisect_right(places, end)]}
    return bool(places) and not left


def _value_at(found: re.Match[str], code: str) -> str:
    """Return what is assigned in the line of a match; empty for no assignment."""
    assigned = _ASSIGNED.match(_line_of(found, code)[1])
    return assigned["value"] if assigned else ""


def _is_command(value: str, inputs: Collection[str]) -> bool:
    """Return whether a value is the command as it stands in the input of the hook."""
    found = _BY_JQ.match(value) or _BY_PYTHON.match(value)
    given = (
        {one for key, one in found.groupdict().items() if key in ("input", "fed") and one} if found else set()
    )
    return found is not None and given <= {*inputs}


def _is_way(value: str) -> bool:
    """Return whether a value is the command as it is, or what stands for it where a program is missing."""
    return any(way.match(value) for way in (_BY_JQ, _BY_PYTHON, _FALLBACK))


def _line_of(found: re.Match[str], code: str) -> tuple[int, str]:
    """Return where the line of a match begins, and the line; of a long line only what is near."""
    first = max(0, found.start() - _NEAR)
    begin = code.rfind("\n", first, found.start()) + 1 or first
    end = code.find("\n", found.end(), found.end() + _NEAR)
    return begin, code[begin : end if end >= 0 else found.end() + _NEAR]


def _is_part(found: re.Match[str], code: str) -> bool:
    """Return whether a use of the input only takes a part of it by `jq`, or asks whether it is JSON."""
    _, line = _line_of(found, code)
    return _PIPED_TO_JQ.search(line) is not None or _is_way(_value_at(found, code))


def _is_plain(found: re.Match[str], code: str) -> bool:
    """Return whether a use decides nothing: it asks whether a variable is set, or stands in a message."""
    begin, line = _line_of(found, code)
    whole = begin == 0 or code[begin - 1] == "\n"
    return (whole and _TELLS.match(line) is not None) or any(
        begin + one.start() <= found.start() < begin + one.end() for one in _IS_SET.finditer(line)
    )


def _lowered(code: str, names: Collection[str]) -> set[str]:
    """Return the variables that hold the command in small letters."""
    return {
        found["name"]
        for found in _ASSIGNED.finditer(code)
        if (small := _SMALL.match(found["value"])) and (small["one"] or small["other"]) in names
    }


def _inputs(code: str) -> set[str]:
    """Return the variables that hold the whole input, or all that the tool is given."""
    values = [(found["name"], found["value"]) for found in _ASSIGNED.finditer(code)]
    whole = {name for name, value in values if _INPUT.match(value)}
    given = {name for name, value in values if (part := _PART.match(value)) and part["input"] in whole}
    return whole | given


def _names(code: str) -> list[str]:
    """Return the variables that hold the command as it is, and nothing else."""
    inputs = _inputs(code)
    values: dict[str, list[str]] = {}
    for found in _ASSIGNED.finditer(code):
        values.setdefault(found["name"], []).append(found["value"])
    return [
        name
        for name, found in values.items()
        if any(_is_command(one, inputs) for one in found)
        and all(_is_way(one) or one in ('""', "''") for one in found)
        and not re.search(_ELSEWHERE.format(name), code)
    ]


def _tests(
    script: ShellScript, names: Collection[str], functions: Mapping[str, bool]
) -> Iterator[CommandTest]:
    code, shown = script.code, script.shown
    looped = looped_texts(code)
    for found in islice(_TEST.finditer(code), _MOST):
        if (found["piped"] or found["tested"] or found["compared"]) not in names:
            continue
        line = code[code.rfind("\n", 0, found.start()) + 1 : found.start()].lstrip()
        before = _BEFORE.fullmatch(line)
        source, pattern = _looked_for(found, looped)
        branch, listed = _BRANCH.match(code, found.end()), _LIST.match(code, found.end())
        begins = branch.end() if branch else listed.start("rest") if listed else 0
        whole = before is not None and bool(before["word"]) is bool(branch) and begins > 0
        if before is None or pattern is None or not whole:
            yield CommandTest(begin=found.start(), end=begins or found.end())
            continue
        leads, until = _leads(script, begins, functions)
        positive = branch is not None or (listed is not None and listed["sign"] == "&&")
        turned, closed = ends_of_if(shown, begins) if branch else (until, until)
        yield CommandTest(
            begin=found.start(),
            end=begins,
            until=until,
            turned=turned,
            closed=closed,
            exits=_LEAVES.search(shown, begins, closed) is not None,
            source=source,
            pattern=pattern,
            fits=(positive is not bool(before["not"])) is (found["sign"] != "!="),
            leads=leads,
        )


def _arm_test(arm: CaseArm, script: ShellScript, functions: Mapping[str, bool]) -> CommandTest:
    """Return an arm of a `case` that compares the command as a test; the last one asks about all others."""
    leads, until = _leads(script, arm.body, functions, arm.end)
    return CommandTest(
        begin=arm.begin if arm.fits else arm.opened,
        end=arm.body,
        until=until,
        turned=arm.end if arm.fits else arm.opened,
        closed=arm.closed,
        exits=_LEAVES.search(script.shown, arm.body, arm.end) is not None,
        source=arm.source,
        pattern=re.compile(arm.source) if arm.source else None,
        fits=arm.fits,
        leads=leads,
    )


def _looked_for(
    found: re.Match[str], looped: Mapping[str, Sequence[str]]
) -> tuple[str, re.Pattern[str] | None]:
    """Return what a test looks for, and the same in the grammar of Python; ``None`` if that is unknown."""
    if found["glob"]:
        source = glob_source(found["glob"], looped)
        return source, re.compile(source) if source else None
    if found["bare"]:
        return found["bare"], pattern_of(found["bare"], "-qE")
    variable = re.fullmatch(r"\$\{?(\w+)\}?", found["pattern"])
    texts = looped.get(variable[1], ()) if variable else ()
    if texts and not {"E", "P", "F"} & {*found["flags"]}:
        return "", None
    source = "|".join(map(plain, texts) if "F" in found["flags"] else texts)
    source = source or unescaped(found["pattern"], found["mark"])
    flags = found["flags"].replace("F", "E") if texts else found["flags"]
    return source, pattern_of(source, flags)


def _leads(
    script: ShellScript, place: int, functions: Mapping[str, bool], last: int | None = None
) -> tuple[str, int]:
    """Return what a script does from a place on, as far as it goes straight on, and where that ends."""
    shown = script.shown[:last]
    turn = _TURN.search(shown, place, place + _FAR)
    until = turn.start() if turn else min(place + _FAR, len(shown))
    called = re.findall(r"(?:^|[;{\n])[ \t]*([\w-]+)", shown[place:until])
    if any(functions.get(name) for name in called):
        return "refuses", until
    exits = _EXIT.match(shown, until)
    if exits is None or any(name in functions for name in called):
        return "", until
    refuses = exits["status"] == "2" or _DENIES.search(script.code, place, until)
    return ("refuses" if refuses else "allows"), until
