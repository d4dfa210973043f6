"""
Files that a script reads, adds something to and writes anew: calls side by side lose what one of them added.

Only a file is named that is read and written by one path, without a lock. In Python and JavaScript it holds
JSON, which a function of the script may read or write for all of it. In a shell it also holds a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, without_comment_lines
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook

_LOCKS = re.compile(
    r"fcntl|msvcrt|O_EXCL|(?<![bc])lock|[\"']w?x[\"']|\blck\b|\.lck|noclobber|set\s+-C\b|tool_?use_?id|getpid"
    r"|process\.pid|mutex|(?-i:EXCLUSIVE)|semaphore|\bsem\s|transaction|FileExistsError|EEXIST|uuid"
    r"|\buntil\s+(?:mkdir|ln|\()|\bmkdir\s[^\n]*(?:&&|\|\|)\s*(?:break|continue|exit|sleep)"
    r"|mkdirSync\([^\n]*\}\s*catch",
    re.IGNORECASE,
)
_PATH = r"(?P<path>[A-Za-z_][\w.]*)"
_GETS = r"(?:(?P<name>[A-Za-z_$]\w*)\s*(?::[^=\n]+)?=|return)\s*(?:await\s+)?"
_READS = (
    re.compile(
        rf"\bopen\(\s*{_PATH}\s*(?:,\s*(?:mode\s*=\s*)?[\"']r\w*[\"'])?\s*(?:,[^()\n]*)?\)\s*as\s+(?P<file>\w+)\s*:"
        rf"(?:[^\n]*\n){{0,3}}?[^\n]*?{_GETS}json\.load\(\s*(?P=file)\s*\)"
    ),
    re.compile(rf"{_GETS}json\.loads\(\s*{_PATH}\.read_text\("),
    re.compile(rf"{_GETS}JSON\.parse\(\s*(?:fs\.)?readFileSync\(\s*{_PATH}\s*[,)]"),
)
_VALUE = r"(?P<name>[A-Za-z_$]\w*)"
_WRITES = (
    re.compile(
        rf"\bopen\(\s*{_PATH}\s*,\s*(?:mode\s*=\s*)?[\"']w[\w+]*[\"'][^\n]*\n(?:[^\n]*\n){{0,2}}?[^\n]*json\.dump\(\s*{_VALUE}"
    ),
    re.compile(rf"(?<![\w.]){_PATH}\.write_text\(\s*json\.dumps\(\s*{_VALUE}"),
    re.compile(rf"writeFileSync\(\s*{_PATH}\s*,\s*JSON\.stringify\(\s*{_VALUE}"),
    # By way of another file, which takes its place.
    re.compile(
        rf"\bjson\.dumps?\(\s*{_VALUE}(?:[^\n]*\n){{1,6}}?[^\n]*(?:\.replace\(|\bos\.(?:replace|rename)\(\s*\w+\s*,)\s*{_PATH}\s*\)"
    ),
    re.compile(
        rf"JSON\.stringify\(\s*{_VALUE}(?:[^\n]*\n){{1,6}}?[^\n]*renameSync\(\s*\w+\s*,\s*{_PATH}\s*\)"
    ),
)
_FUNCTION = re.compile(
    r"^(?P<indent>[ \t]*)(?:export\s+)?(?:async\s+)?(?:def|function)\s+(?P<name>\w+)\s*\((?P<given>[^()]*)\)",
    re.MULTILINE,
)
_ADDS = (
    r"(?<![\w.]){0}(?:[\w.\[\]\"']*\.(?:append|push|unshift|insert)\("
    r"|[^\n=]{{0,80}}(?:\+=|\+\+|=[^\n=]{{0,200}}(?<![\w.]){0}\b[^\n=]{{0,200}}\+\s*1\b))"
)
_SAID = (
    "it reads a file, adds something and writes all of it anew, so of calls side by side one may overwrite "
    "what another has added"
)
# A changed copy that a shell puts into the place of a file, and a number that it reads from a file.
_MOVED = re.compile(
    r"(?<![\w./$-])mv[ \t]+(?:-\w+[ \t]+)*(?P<copy>\"?[\w$\{}./~-]+\"?)[ \t]+(?P<path>\"?[\w$\{}./~-]+\"?)"
)
_COPIED = r"{0}\"?\s*(?:2>\s*/dev/null\s*)?>\s*\"?{1}\"?\s*(?:2>\s*/dev/null\s*)?(?:&&|\|\||;|$)"
_COUNTED = re.compile(
    r"(?<!\w)(?P<name>\w+)=\"?\$\((?:cat[ \t]+|<[ \t]*)(?P<path>\"?\$\{?\w+\}?\"?)[^\n)]*\)"
)
_WRITTEN = (
    r"(?:echo|printf[ \t]+['\"]?%[sd](?:\\n)?['\"]?)[ \t]+\"?\$(?:\{{?(?P<value>\w+)\}}?"
    r"|\(\([ \t]*\$?{0}[ \t]*\+[ \t]*1[ \t]*\)\))\"?[ \t]*>[ \t]*\"?{1}\"?[ \t]*$"
)
_GROWN = r"(?<!\w){1}=\$\(\([ \t]*\$?\{{?{0}\}}?[ \t]*\+[ \t]*1[ \t]*\)\)"
_REFUSES = re.compile(r"\bexit[ \t]+2\b|[\"'\\](?:deny|block)[\"'\\]")
_OF_JSON = re.compile(r"(?<![\w./$-])jq[ \t]")
_GROWS = re.compile(r"\+=|(?<!now)(?<!now )\+[ \t]*(?:1\b|\[|\$)(?![^\n]*\bunique)")
_OF_ITS_OWN = r"(?<!\w){0}=\"?\$\(mktemp\b"
# Part of a script may be for another event, after which a host starts the next hook.
_OTHER_EVENTS = re.compile(
    r"hook_event_name|[\"'](?:Stop|SessionStart|SessionEnd|UserPromptSubmit|SubagentStop)[\"']|^[ \t]*Stop\)",
    re.MULTILINE,
)
_FAR, _MOST = 1500, 40
# An agent waits for these calls, one by one.
_ASKS_PERSON = re.compile(r"\^?(?:(?:Enter|Exit)PlanMode|AskUserQuestion|TodoWrite|\|)+\$?")
_TOOLS = frozenset({hosts.Role.BEFORE_TOOL, hosts.Role.AFTER_TOOL, hosts.Role.TOOL_FAILED})


@dataclass(frozen=True, slots=True)
class _Use:
    """Where a script reads or writes a file: its path, the variable with the content, and the function."""

    path: str
    name: str
    place: int
    function: str


def rewritten_records(text: str) -> Iterator[tuple[str, int]]:
    """Yield that a script writes a file anew that it has read and added something to, with the line."""
    if _LOCKS.search(text):
        return
    if SHELL_SCRIPT.match(text):
        for place in islice(_in_shell(without_comment_lines(text)), 1):
            yield _SAID, text.count("\n", 0, place) + 1
        return
    functions = [*_FUNCTION.finditer(text)]
    written = [*_uses(text, _WRITES, functions)]
    for read in _uses(text, _READS, functions) if written else ():
        adds = re.compile(_ADDS.format(re.escape(read.name)))
        ends = (one.place for one in written if one == replace(read, place=one.place))
        if any(
            _name(_around(text, found.start(), functions)) == read.function
            for found in islice(adds.finditer(text, read.place, max(ends, default=0)), _MOST)
        ):
            yield _SAID, text.count("\n", 0, read.place) + 1


def _uses(
    text: str, patterns: Sequence[re.Pattern[str]], functions: Sequence[re.Match[str]]
) -> Iterator[_Use]:
    """Yield the reads or writes of files, those by a function where it is called."""
    for pattern in patterns:
        for found in islice(pattern.finditer(text), _MOST):
            place = found.start("path")
            around = _around(text, place, functions)
            given = _parameters(around)
            if found["name"] and found["name"] not in given:
                yield _Use(found["path"], found["name"], place, _name(around))
            elif around and found["path"] not in given:
                number = given.index(found["name"]) if found["name"] else -1
                yield from _calls(text, around, number, found["path"], functions)


def _calls(
    text: str, function: re.Match[str], number: int, path: str, functions: Sequence[re.Match[str]]
) -> Iterator[_Use]:
    """Yield the calls of a function with the variable that it gets at a place, or that gets its result."""
    name = re.escape(function["name"])
    called = re.compile(
        rf"(?<![\w.])(?:(?P<gets>[A-Za-z_$]\w*)\s*(?::[^=\n]+)?=\s*(?:await\s+)?)?{name}\((?P<given>[^()\n]*)\)"
    )
    for found in islice(called.finditer(text), _MOST):
        words = [word.strip() for word in found["given"].split(",")]
        value = found["gets"] if number < 0 else words[number] if number < len(words) else ""
        if value:
            yield _Use(path, value, found.start(), _name(_around(text, found.start(), functions)))


def _around(text: str, place: int, functions: Sequence[re.Match[str]]) -> re.Match[str] | None:
    """Return the function around a place, as far as the indents show."""
    line = text.rfind("\n", 0, place) + 1
    indent = len(text[line:place]) - len(text[line:place].lstrip())
    before = (one for one in reversed(functions) if one.start() < place)
    return next((one for one in islice(before, _MOST) if len(one["indent"].strip("\n")) < indent), None)


def _name(function: re.Match[str] | None) -> str:
    return function["name"] if function else ""


def _parameters(function: re.Match[str] | None) -> list[str]:
    given = function["given"].split(",") if function else []
    return [re.split(r"[:=]", one.strip())[0].strip() for one in given]


def _in_shell(code: str) -> Iterator[int]:
    """Yield where a shell script adds to a file of JSON by a copy, and where a guard counts in a file."""
    for found in islice(_MOVED.finditer(code), _MOST):
        near = code[max(0, found.start() - _FAR) : found.start()]
        path, copy = (re.escape(found[key].strip('"')) for key in ("path", "copy"))
        made = re.search(_COPIED.format(path, copy), near, re.MULTILINE)
        calls = [*_OF_JSON.finditer(near, 0, made.start())] if made else []
        own = re.search(_OF_ITS_OWN.format(path.strip("\\${}")), code)
        if made and calls and not own and _GROWS.search(near, calls[-1].end(), made.start()):
            yield found.start()
    for found in islice(_COUNTED.finditer(code), _MOST) if _REFUSES.search(code) else ():
        name, path = found["name"], re.escape(found["path"].strip('"'))
        written = re.compile(_WRITTEN.format(name, path), re.MULTILINE)
        for one in written.finditer(code, found.end(), found.end() + _FAR):
            grown = _GROWN.format(name, one["value"])
            if not one["value"] or re.search(grown, code[found.end() : one.start()]):
                yield found.start()


def may_wait(text: str) -> bool:
    """Return whether a text may have a lock by which calls wait, or code for other events too."""
    return _LOCKS.search(text) is not None or _OTHER_EVENTS.search(text) is not None


def runs_beside_itself(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a host may run a hook beside itself, for calls that it makes at once."""
    asks_person = _ASKS_PERSON.fullmatch(hook.matcher or "")
    of_tools = role_of(hook_set.host, hook.event) in _TOOLS
    return of_tools and not asks_person and not _LOCKS.search(hook.command)
