"""
Texts that a shell script puts into its JSON as they are, so that a quotation mark in one breaks the answer.

Only a variable that holds free text for sure is named: what an agent or a person wrote, the subjects of
commits, or all that a program printed. One that the script changes on the way may be safe.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from pytest_hookharness.campaigns.check.answers.written_answers import DOCUMENT, ECHOED
from pytest_hookharness.campaigns.check.shell_code.shell_outputs import goes_elsewhere
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    PRINTS,
    ShellFunction,
    ShellScript,
    shell_script_of,
)
from pytest_hookharness.campaigns.check.static.pasted_code import texts_of_input

# Keys that some host reads in an answer.
_ANSWERS = re.compile(
    r"\"(?:decision|permission\w*|reason|user_?message|agent_?message|additional_context|additionalContext|systemMessage"
    r"|stopReason|followup_message|continue|hookSpecificOutput)\"\s*:"
)
_VARIABLE = re.compile(r"(?<!\\)\$(?:\{(?P<braced>\w+)\}|(?P<plain>\w+))")
_PROGRAM = re.compile(r"\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|`[^`]*`")
_QUOTATION = re.compile(r"(?<!\\)\"")
_SLOT = re.compile(r"%(?:s|(?P<other>[^s]))")
_ARGUMENT = re.compile(r"[ \t]+(?:\"(?P<text>(?:[^\"\\]|\\.)*)\"|(?P<other>'[^']*'|[^\s;&|\"']+))")
_ASSIGNED = re.compile(
    r"(?<![\w$.-])(?P<name>[A-Za-z_]\w*)\+?=(?P<value>(?P<mark>\"?)\$\((?P<pipe>[^\n]*)\)(?P=mark)"
    r"|\"(?P<text>(?:[^\"\\]|\\.)*)\"|'[^'\n]*'|[^\s;&|)]*)"
)
# Behind a text: a file or another program gets it.
_TO_OTHERS = re.compile(r"^[^;&|>]*(?:\|(?!\|)|1?>(?![ \t]*&[ \t]*1))")
# Code that changes a variable, or shows that it has only harmless letters.
_ELSEWHERE = (
    r"\bread\s[^\n;|]*\b{0}\b|\bfor\s+{0}\s+in\b|\bprintf\s+-v\s+{0}\b|\$\{{{0}[/%#@:^,]"
    r"|\$\{{?{0}\}}?\"?\s+-(?:eq|ne|lt|le|gt|ge)\b|\(\([^)\n]*\b{0}\b"
    r"|\$\{{?{0}\}}?\"?\s+=~\s+(?:\^[^\n]*\$\s+\]\]|\"?\$)|\bcase\s+\"?\$\{{?{0}\b|(?:\[|test)\s+\"?\$\{{?{0}\}}?\"?\s+==?\s+\"?\w"
    r"|\$\{{?{0}\}}?\"?\s*\|\s*grep\s+-\w*\s*[\"']\^\[[^\n]*\$[\"']"
    r"|^[ \t]*(?!export|local|readonly|declare|unset|read|return|echo|printf)\w+[ \t]+{0}[ \t]*$"
)
_OF_A_PATH = re.compile(r"\.(?:file_path|path|url)\b|[\"'](?:file_path|path|url)[\"']")
# Commands that print lines with any letters.
_SUBJECTS = re.compile(r"git[ \t]+(?:-C[ \t]+\S+[ \t]+)?(?:log|show)\b")
_LINES = re.compile(
    r"cat[ \t]+[^|;]*\.(?:md|log)\b|(?:head|tail)[ \t]+-(?:n[ \t]*)?(?:[2-9]|1\d)"
    r"|(?:cd[ \t]+[^\n;|&]+&&[ \t]*)?(?:timeout[ \t]+\d\w*[ \t]+)?\"?(?:[\w.${}-]*/)*"
    r"(?:npm|pnpm|yarn|npx|bunx?|cargo|pytest|python3? -m pytest|ruff|mypy|tsc|eslint|go (?:test|vet|build)"
    r"|make|uv run|just|gradle|mvn|dotnet|mix)\b[^\n]*\s2>&1"
)
# Commands of a pipe that remove no quotation marks.
_KEEPS = frozenset(["head", "tail", "grep", "sort", "uniq", "cat", "tr", "sed"])
_PIPED = re.compile(r"(?<!\|)\|(?!\|)\s*([A-Za-z_][\w.-]*)")
# Lines of another text, of which the script takes several.
_TAKES = re.compile(
    PRINTS + r"\"\$\{?(?P<of>\w+)\}?\"[ \t]*"
    r"(?P<pipe>\|(?!\|).+)"
)
_WHOLE_LINES = frozenset(["head", "tail", "grep", "egrep", "sort", "uniq", "cat"])
_SEVERAL = re.compile(r"\b(?:head|tail)[ \t]+-(?:n[ \t]*)?(?:[2-9]|[1-9]\d+)\b")
_SOUGHT = re.compile(r"grep[ \t]+(?:-(?!\w*v)[a-zA-Z]+[ \t]+)*(?P<words>'[^']*'|\"[^\"]*\"|\S+)")
# A word that stands in many lines, and not only in the number of errors.
_ERRORS = re.compile(r"(?!.*(?:\d|\\d|\^|digit)).*\b(?:error|ERROR|FAIL)\b")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_ONE = re.compile(r"[ \t]-(?:n[ \t]*|m[ \t]*)?1\b|-\w*m[ \t]*\d")
# Between two texts in single quotes: a variable, or all that a pipe prints of one.
_BETWEEN = re.compile(
    r"'\"(?:\$\{?(?P<name>\w+)\}?|\$\((?:echo|printf[ \t]+'%s(?:\\n)?')[ \t]+\"\$\{?(?P<piped>\w+)\}?\""
    r"(?P<pipe>(?:[ \t]*\|[ \t]*[^()\"'|]*)*)\))\"'"
)
# Stands in the place of its quotes.
_MARK = "\x01"
# Commands that may remove quotation marks, or print one number or one word.
_SAFE = re.compile(
    r"\b(?:awk|python[\d.]*|node|perl|base64|wc|cut|jq|printf|od|xxd)\b|\b(?:sed|tr)\b[^|]*(?:\"|\[\^|-c)"
    r"|grep[ \t]+(?:-\w+[ \t]+)*-\w*[coqlL]"
    r"|--(?:format|pretty)=[\"']?(?:t?format:)?%(?:h|H|D|c\w|a\w)(?:[\"' ]|$)"
    r"|--(?:show-current|count)\b"
    r"|\s-c\b|--(?:name|stat|shortstat|quiet|version)"
    r"|(?<!2)>[ \t]*/dev/null|rev-parse|\bdate\b"
)
_SAID = (
    "${0} is put into the answer as it is: with a quotation mark, a backslash or a line end in it, the "
    "answer is no JSON, and the host reads nothing of it"
)


def pasted_texts(text: str) -> Iterator[tuple[str, int]]:
    """Yield which free text a shell script puts into its answer as it is, with the line."""
    script = shell_script_of(text)
    if script is None or not (free := _free_texts(script.code)):
        return
    reported = set[str]()
    for place, names in _in_answers(script):
        for name in names:
            if name in free - reported and not _is_its_own(name, script, place, free):
                reported.add(name)
                yield _SAID.format(name), script.line_of(place)


def _free_texts(code: str) -> set[str]:
    """Return the variables that hold free text, at once or as a part of a longer text, and nothing else."""
    given: dict[str, list[re.Match[str]]] = {}
    for one in _ASSIGNED.finditer(code):
        given.setdefault(one["name"], []).append(one)
    inputs = texts_of_input(code)
    sources = {name: [one for one in values if one["pipe"] is not None] for name, values in given.items()}
    found = {
        name
        for name, values in sources.items()
        if values and all(_is_free(one["pipe"].strip(), of_input=name in inputs) for one in values)
    }
    # A text that is put together from free ones.
    joined = {
        name: {part for one in values if one["text"] for part in _variables(one["text"])}
        for name, values in given.items()
        if not sources[name] or name in found
    }

    def kept(names: Collection[str]) -> set[str]:
        return {
            name
            for name in names
            if not re.search(_ELSEWHERE.format(name), code, re.MULTILINE)
            and not any(_is_other(one, name) for one in given[name] if sources[name])
        }

    first = {*found}
    free = kept(first)
    found |= {name for name, values in sources.items() if values and all(_takes(one, free) for one in values)}
    while more := {name for name, parts in joined.items() if parts & found} - found:
        found |= more
    return free | kept(found - first)


def _takes(one: re.Match[str], free: Collection[str]) -> bool:
    """Return whether a pipe prints several lines of a text that is free, as they are."""
    found = _TAKES.match(one["pipe"].strip())
    if found is None or found["of"] not in free or _SAFE.search(found["pipe"]) or _ONE.search(found["pipe"]):
        return False
    errors = any(_ERRORS.match(sought["words"]) for sought in _SOUGHT.finditer(found["pipe"]))
    whole = _WHOLE_LINES.issuperset(_PIPED.findall(_QUOTED.sub("''", found["pipe"])))
    return whole and (errors or _SEVERAL.search(found["pipe"]) is not None)


def _is_its_own(name: str, script: ShellScript, place: int, free: set[str]) -> bool:
    """Return whether a name is a local one of the function at a place, which gives it no free text."""
    around = script.function_at(place)
    body = script.code[around.begin : around.end] if around else ""
    if not re.search(rf"\blocal\b[^\n;]*\b{name}\b", body):
        return False
    given = [one for one in _ASSIGNED.finditer(body) if one["name"] == name]
    parts = {part for one in given for part in _variables(one["text"] or "")}
    return not parts & free and all(one["pipe"] is None for one in given)


def _is_other(one: re.Match[str], name: str) -> bool:
    """Return whether a variable that a pipe gave a value gets another one, which may be safe."""
    text = one["text"]
    return one["pipe"] is None and one["value"] not in ('""', "''", "") and name not in _variables(text or "")


def _is_free(pipe: str, *, of_input: bool) -> bool:
    """Return whether a pipe prints free text; ``of_input`` says that it prints a field of the input."""
    printed = (_SUBJECTS.match(pipe) or _LINES.match(pipe)) and not _SAFE.search(pipe)
    printed = printed and _KEEPS.issuperset(_PIPED.findall(pipe))
    return bool(printed) or (of_input and not _OF_A_PATH.search(pipe))


def _in_answers(script: ShellScript) -> Iterator[tuple[int, list[str]]]:
    """Yield the variables that stand in texts of answers, with the place of each answer."""
    for place, written in _written(script.code):
        # Not what the script shows or writes elsewhere.
        if script.is_code(place) and not goes_elsewhere(script.code, place):
            around = script.function_at(place)
            yield place, [*written, *(_given(script, around, written) if around else ())]


def _given(script: ShellScript, function: ShellFunction, names: list[str]) -> list[str]:
    """Return the variables in the texts that a function gets and puts into an answer."""
    code, body = script.code, script.code[function.begin : function.end]
    places = {name for name in names if name.isdigit()}
    for one in re.finditer(r"(?<![\w$])(\w+)=\"?\$(?:([1-9])\b|\{([1-9])\})\"?(?=[ \t]*(?:[;\n]|$))", body):
        once = len(re.findall(rf"(?<![\w$.-]){one[1]}\+?=", body)) == 1
        kept = once and not re.search(_ELSEWHERE.format(one[1]), body, re.MULTILINE)
        places |= {one[2] or one[3]} if one[1] in names and kept else set()
    found = list[str]()
    for call in re.finditer(rf"(?<![\w./$-]){re.escape(function.name)}(?=[ \t]+\")", code):
        if script.is_code(call.start()):
            end, number = call.end(), 0
            while argument := _ARGUMENT.match(code, end):
                end, number = argument.end(), number + 1
                if str(number) in places and argument["text"]:
                    found += _variables(argument["text"])
    return found


def _written(code: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the variables in the texts of the objects that a script prints, with the place of each."""
    for found in ECHOED.finditer(_joined(code)):
        source = found["plain"] or re.sub(r"\\([\"\\`])", r"\1", found["quoted"])
        if not _ANSWERS.search(source) or _TO_OTHERS.search(found["after"]):
            continue
        names = _quoted_variables(source) if found["quoted"] else _joined_variables(source)
        if found["call"] == "printf":
            names += _given_to_format(source, found["after"])
        yield found.start("call"), names
    for found in DOCUMENT.finditer(code):
        marked = re.match(r"cat[ \t]*<<-?[ \t]*['\"]", code[found.start("call") :])
        if not marked and _ANSWERS.search(found["text"]):
            yield found.start("call"), _quoted_variables(found["text"])


def _joined(code: str) -> str:
    """Return code, of the same length, in which texts with a variable between them are one text."""

    def joined(found: re.Match[str]) -> str:
        if found["piped"] and not _KEEPS.issuperset(_PIPED.findall(found["pipe"])):
            return found[0]
        name = found["name"] or found["piped"]
        return f"{_MARK}${{{name}}}".ljust(len(found[0]) - 1) + _MARK

    return _BETWEEN.sub(joined, code)


def _joined_variables(source: str) -> list[str]:
    """Return the variables between texts in single quotes that stand between quotation marks of an object."""
    return [
        found[1]
        for found in re.finditer(rf"{_MARK}\$\{{(\w+)\}} *{_MARK}", source)
        if _is_quoted(source, found.start())
    ]


def _quoted_variables(source: str) -> list[str]:
    """Return the variables that stand between quotation marks of an object."""
    source = _without_programs(source)
    return [
        one["braced"] or one["plain"] for one in _VARIABLE.finditer(source) if _is_quoted(source, one.start())
    ]


def _is_quoted(source: str, place: int) -> bool:
    """Return whether a place of an object is between quotation marks."""
    return len(_QUOTATION.findall(source, 0, place)) % 2 == 1


def _given_to_format(source: str, after: str) -> list[str]:
    """Return the variables that `printf` puts between quotation marks of an object."""
    arguments = list[str]()
    end = 0
    while argument := _ARGUMENT.match(after, end):
        arguments.append(argument["text"] or "")
        end = argument.end()
    slots = [one for one in _SLOT.finditer(source) if one["other"] != "%"]
    return [
        name
        for one, given in zip(slots, arguments, strict=False)
        if one["other"] is None and _is_quoted(source, one.start())
        for name in _variables(given)
    ]


def _variables(text: str) -> list[str]:
    return [one["braced"] or one["plain"] for one in _VARIABLE.finditer(_without_programs(text))]


def _without_programs(text: str) -> str:
    """Return a text without what programs print into it, which may be escaped, of the same length."""
    return _PROGRAM.sub(lambda found: " " * len(found[0]), text)
