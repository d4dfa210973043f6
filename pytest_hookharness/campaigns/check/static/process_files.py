"""
State that a shell script names after its own process: each run is another one, and never finds it again.

A file counts as state if the first thing that the script does with it is to look for it, and if it writes it
later and never removes it. A file that is used in any other way before may be a temporary one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    without_comment_lines,
)

_ASSIGNED = re.compile(
    r"^[ \t]*(?:local[ \t]+|readonly[ \t]+)?(?P<name>[A-Za-z_]\w*)=(?P<mark>[\"']?)"
    r"(?P<path>[^\n\"']{1,200}?)(?P=mark)[ \t]*$",
    re.MULTILINE,
)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_OF_PROCESS = re.compile(r"\$\$|\$\{?BASHPID\b")
# No host sets this variable, so its default counts. Any other variable may tell sessions apart.
_DEFAULT = re.compile(r"\$\{CLAUDE_SESSION_ID:?-(\$\$|\$\{?BASHPID\}?)\}")
# Names that tell sessions apart, and locks, which another process looks at.
_OF_SESSION = re.compile(r":-|ppid|session|sid\b|lock", re.IGNORECASE)
# A name that stands without `$` may be exported, or given to a function that writes the file.
_BARE = re.compile(r"(?<![\w${.-])[A-Za-z_]\w*")
_USED = re.compile(r"\$\{?(\w+)")
# What stands before a variable whose file is read, up to `$` or `${`.
_NEAR = 200
_TESTED = re.compile(r"(?:\[\[?|\btest)[ \t]+(?:![ \t]+)?-[efs][ \t]+[\"']?$")
_READ = re.compile(
    r"(?:\b(?:cat|source|jq|head|tail|wc|stat)\b(?:[ \t]+[^\s;|&<>]+)*[ \t]+"
    r"|\bgrep(?:[ \t]+-[^\s;|&<>]+)*[ \t]+[^-\s;|&<>][^\s;|&<>]*[ \t]+|(?<!<)<[ \t]*)[\"']?$"
)
_GIVEN = re.compile(r"[ \t]--?(?:arg\w*|e|regexp|format|c)[ \t]")
_ENDS = re.compile(r"\}?[\"']?[ \t]*(?:$|[\n;|&)\]]|\d?>)")
# A test asks for state only if the file is used in its branch, or ends the script without an error.
_BRANCH_END = re.compile(r"\n[ \t]*(?:fi|else|elif)\b|;[ \t]*(?:fi|else|elif)\b")
_LEFT = re.compile(r"\b(?:exit|return)[ \t]+0\b")
_FAILED = re.compile(r"\b(?:exit|return)\b(?![ \t]+0\b)|\bfalse\b")
_WRITTEN = re.compile(
    r"(?:>[>|]?[ \t]{0,20}|\btee[ \t]{1,20}(?:-a[ \t]{1,20})?|\btouch[ \t]{1,20}"
    r"|\bmv[ \t]{1,20}(?:-\w{1,20}[ \t]{1,20})?\S{1,200}[ \t]{1,20})[\"']?\$\{?(\w+)"
)
_REMOVING = re.compile(r"\b(?:rm|unlink|mktemp|mkfifo)\b[^\n]*")
# What removes files that it does not name one by one.
_SWEEPS = re.compile(r"\btrap\b|\bexec[ \t]+\"?\$0|[ \t]-(?:delete|exec)\b|\bxargs\b")
_OF_SEVERAL = re.compile(r"\*|[ \t]-\w*[rR]")
# A function that begins before a place and ends behind it.
_FUNCTION = re.compile(r"^[ \t]*(?:function[ \t]+)?[\w-]+[ \t]*\(\)[ \t]*\{", re.MULTILINE)
_FUNCTION_END = re.compile(r"\n\}")
# A loop comes back to its own file.
_LOOP = re.compile(r"^[ \t]*(?:for|while|until)\b", re.MULTILINE)
_LOOP_END = re.compile(r"(?:^[ \t]*|;[ \t]*)done\b", re.MULTILINE)

_SAID = "{0} is another file in each run, as each is another process, so it is never found again"


def files_of_processes(text: str) -> Iterator[tuple[str, int]]:
    """Yield the state that a shell script never finds again, in words, with the line of its name."""
    if not SHELL_SCRIPT.match(text) or not _OF_PROCESS.search(text):
        return
    code = without_comment_lines(text)
    named = [*_named_after_process(code)]
    if not named or _SWEEPS.search(code) or any(_OF_SEVERAL.search(one) for one in _REMOVING.findall(code)):
        return
    shown, sought = code_of(text), _looked_for(code)
    bare = Counter(_BARE.findall(code))
    for found, path in named:
        name = found["name"]
        is_code = shown.startswith(name, found.start("name"))
        if is_code and bare[name] == 1 and sought.get(name, 0) > found.end():
            yield _SAID.format(path), code.count("\n", 0, found.start("name")) + 1


def _named_after_process(code: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the assignments of files that only they name after the process, with the name of the file."""
    assigned = [*_ASSIGNED.finditer(code)]
    if len(_OF_PROCESS.findall(code)) != sum(len(_OF_PROCESS.findall(one["path"])) for one in assigned):
        return
    values = {found["name"]: found["path"] for found in assigned}
    for found in assigned:
        path = _DEFAULT.sub(r"\1", _VARIABLE.sub(lambda one: values.get(one[1], one[0]), found["path"]))
        if "/" in path and _OF_PROCESS.search(path) and not _OF_SESSION.search(f"{found['name']} {path}"):
            yield found, path


def _looked_for(code: str) -> dict[str, int]:
    """Return the files that a script looks for before it does anything else with them, with the places."""
    first: dict[str, int] = {}
    for used in _USED.finditer(code):
        first.setdefault(used[1], used.start())
    written = {found[1]: found.start() for found in _WRITTEN.finditer(code)}
    removed = {name for found in _REMOVING.finditer(code) for name in _USED.findall(found[0])}
    functions = [one.end() for one in _FUNCTION.finditer(code)]
    ends = [one.start() for one in _FUNCTION_END.finditer(code)]
    loops = [one.start() for one in _LOOP.finditer(code)]
    loop_ends = [one.start() for one in _LOOP_END.finditer(code)]

    def is_inside(place: int) -> bool:
        begun, ended = bisect_right(functions, place), bisect_right(ends, place)
        if bisect_right(loops, place) > bisect_right(loop_ends, place):
            return True
        return begun > 0 and (ended == 0 or ends[ended - 1] < functions[begun - 1])

    return {
        name: place
        for name, place in first.items()
        if written.get(name, 0) > place
        and name not in removed
        and not is_inside(place)
        and _is_read(name, place, code)
    }


def _is_read(name: str, place: int, code: str) -> bool:
    """Return whether a use of a variable reads the file of that name, or tests whether it is there."""
    behind = _USED.match(code, place)
    if behind is None or not _ENDS.match(code, behind.end()):
        return False
    near = code[max(code.rfind("\n", 0, place) + 1, place - _NEAR) : place]
    if not _TESTED.search(near):
        found = _READ.search(near)
        return found is not None and not _GIVEN.search(found[0])
    rest = code[behind.end() : behind.end() + 2 * _NEAR]
    whole = re.match(r"[ \t]*(?:if|elif)\b", near)
    end = _BRANCH_END.search(rest) if whole else re.search(r"\n", rest)
    branch = rest[: end.start()] if end else rest
    uses = re.search(rf"\$\{{?{name}\b", branch)
    return not _FAILED.search(branch) and bool(uses or _LEFT.search(branch))
