"""
Gates of stops that ask `git diff` alone whether the agent changed anything: it does not see new files.

Nothing is said if any script of the hook asks Git, or the file system, in a way that shows new files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from pytest_hookharness.campaigns.arming.hook_roles import STOPS, role_of
from pytest_hookharness.campaigns.arming.project_texts import COMMENT_LINES
from pytest_hookharness.campaigns.check.lone_programs.lone_switches import refusals_of
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    LOADS,
    ShellScript,
    loaded_texts,
    shell_program,
    shell_script_of,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# Commands that show new files, or add them to Git.
_SEES_NEW = re.compile(
    r"\bgit\b[^\n]{0,80}\b(?:status|ls-files|add|stash|commit|write-tree|clean)\b"
    # An argument of `git`, and no key of the input, as in `data.get("status")`.
    r"|(?<!\.get\()(?<![\w)\]]\[)[\"'](?:status|ls-files|add|stash)[\"']"
    r"|\.status\(\)|\bjj\b|\bpygit2\b|\bdulwich\b"
    r"|--no-index|untracked|-newer|\bmtime|st_mtime|\bfind[ \t]+[\"'$./]|\bcheckpoint",
    re.IGNORECASE,
)
_ADDS = re.compile(r"\bgit\b[^\n]{0,40}[ \t]add\b|[\"']git[\"']\s*,\s*\[?\s*[\"']add[\"']")
# A question for changes against the last commit or the index; not one for what a branch changed.
_OPTIONS = r"(?:[ \t]+(?:--?[\w-]+(?:=[\w,.-]+)?|HEAD))*"
_GIT = r"\bgit(?:[ \t]+-C[ \t]+\S+|[ \t]+--no-pager)*[ \t]+diff"
_NAMES = rf"{_GIT}(?={_OPTIONS}[ \t]+--(?:name-only|name-status|stat|shortstat|quiet|exit-code)\b){_OPTIONS}"
# A path after it may be that of a file that is always there.
_END = r"(?:[ \t]+--)?[ \t]*(?:\d?>[ \t]*[^\s)|;]+[ \t]*)*"
_FILTERED = re.compile(r"--diff-filter=(?![^\s)]*[Ad])")
# Files of a kind, which may be new, and not one file of which the name is known.
_OF_KIND = re.compile(r"\bgrep[ \t]+(?:-\w+[ \t]+)*['\"](?:\\\.|\.\*\\\.)[\w(|)?]+\$?['\"]")
_QUIET = re.compile(
    rf"(?:^[ \t]*if[ \t]+|^[ \t]*){_GIT}(?={_OPTIONS}[ \t]+--(?:quiet|exit-code)\b){_OPTIONS}{_END}"
    rf"(?:&&[ \t]*{_GIT}{_OPTIONS}{_END})*(?:;|\n|&&)",
    re.MULTILINE,
)
_LISTED = re.compile(
    rf"^[ \t]*(?P<name>[A-Za-z_]\w*)=\"?\$\((?:[^\n]*?|[^\n)]*\n[^\n)]*){_NAMES}{_END}(?=[|)&;\n])",
    re.MULTILINE,
)
# Conditions under which a script ends because nothing changed.
_EMPTY = (
    r"-z[ \t]+[\"']?\$\{{?{0}\}}?[\"']?[ \t]*\]\]?|-n[ \t]+[\"']?\$\{{?{0}\}}?[\"']?[ \t]*\]\]?(?=[ \t]*\|\|)"
)
_LEAVES = re.compile(r"\bexit(?:[ \t]+0)?\b(?![ \t]+[1-9$])")
_IF = re.compile(r"[ \t]*(?:el)?if\b")
# What a list of files may hold beside the changes, and what a condition may test beside them.
_PART = re.compile(r"[ \t]*(?:\}[^\n]*|(?:\{[ \t]*)?(?:git|cd)\b[^\n]*|)[ \t]*")
_TESTS_FILE = re.compile(r"[ \t]-[defnrsx][ \t]|\$\(")
_OF_DIFF = re.compile(rf"^[ \t]*([A-Za-z_]\w*)=\"?\$\([^\n]*{_GIT}", re.MULTILINE)
# What an edit took away, which is never a new file.
_REMOVED = re.compile(r"\bgrep\b[^\n|;]*[\"']\^\(?-")
_FAILS = re.compile(r"(?:exit|return)[ \t]+1\b")
_MOST, _LONGEST = 20, 300


def overlooked_files(hook_set: HookSet, hook: Hook) -> tuple[str, int]:
    """Return the script of a gate that never sees new files, and the line of its question; or nothing."""
    if role_of(hook_set.host, hook.event) not in STOPS or hook.type != "command":
        return ("", 0)
    sources = hook_set.sources_of(hook) or [("", shell_program(hook_set, hook))]
    others = [other for _, text in sources for other in loaded_texts(hook_set, text)]
    if any(
        _SEES_NEW.search(COMMENT_LINES.sub("", text)) for text in (*others, *(text for _, text in sources))
    ):
        return ("", 0)
    # Another hook may make Git know each new file.
    if any(_ADDS.search(COMMENT_LINES.sub("", text)) for _, text in hook_set.sources):
        return ("", 0)
    if sum(len(LOADS.findall(text)) for _, text in sources) > len(others):
        return ("", 0)
    return next(((path, line) for path, text in sources if (line := question_for_changes(text))), ("", 0))


def question_for_changes(text: str) -> int:
    """Return the line in which a script that refuses asks `git diff` whether it has to; 0 for none."""
    script = shell_script_of(text) if "diff" in text else None
    if script is None:
        return 0
    refusals = [*islice(refusals_of(script), _MOST)]
    last = max(refusals, default=0)
    # What is refused above the question may be new files.
    first = min((one for one in refusals if not _FAILS.match(script.shown, one)), default=0)
    for place, end in _ends(script, last) if not _REMOVED.search(script.code) else ():
        if place < end < last and place < first:
            return script.line_of(place)
    return 0


def _ends(script: ShellScript, last: int) -> Iterator[tuple[int, int]]:
    """Yield the questions whose answer that nothing changed ends a script, and where it ends."""
    code = script.code
    for found in islice(_QUIET.finditer(code, 0, last), _MOST):
        other = "--cached" in found[0].split("&&")[0] or _FILTERED.search(found[0])
        if other or not script.is_code(found.end() - 1):
            continue
        if _LEAVES.search(_branch(code, found.end() - 2)):
            yield found.start(), found.end()
    for found in islice(_LISTED.finditer(code, 0, last), _MOST):
        names = "|".join(_names(code, found["name"], found.end()))
        empty = re.compile(_EMPTY.format(f"(?:{names})\\b")).search(code, found.end(), last)
        other = re.search(r"--(?:cached|staged)\b", found[0]) or _FILTERED.search(found[0])
        rest = code[found.end() : found.end() + _LONGEST].partition("\n")[0]
        one_file = "grep" in rest and not _OF_KIND.search(rest)
        more = _lists_more(code, found) or (empty and _tests_more(code, found, empty, names))
        if empty and not other and not one_file and not more and _LEAVES.search(_branch(code, empty.end())):
            yield found.start("name"), empty.end()


def _lists_more(code: str, found: re.Match[str]) -> bool:
    """Return whether a list holds more than what `git diff` prints."""
    begin = code.index("$(", found.start()) + 2
    parts = re.split(r"[;\n]|&&", code[begin : begin + _LONGEST].partition(")")[0])
    return not all(map(_PART.fullmatch, parts))


def _tests_more(code: str, found: re.Match[str], empty: re.Match[str], names: str) -> bool:
    """Return whether a condition is about more than changes, or its variable gets another value before it."""
    begin, end = code.rfind("\n", 0, empty.start()) + 1, code.find("\n", empty.end())
    condition = re.split(r"\bexit\b|\bthen\b", code[begin : end if end > 0 else None])[0]
    known = {*names.split("|"), *_OF_DIFF.findall(code)}
    others = {*re.findall(r"\$\{?(\w+)", condition)} - known
    again = re.search(rf"(?<![\w$])(?:{names})\+?=(?![=~])", code[found.end() : empty.start()])
    tested = _TESTS_FILE.search(condition.replace(empty[0], ""))
    return bool(others or tested or (again and found["name"] == names))


def _names(code: str, name: str, place: int) -> list[str]:
    """Return the variable of a list of files, and those that get the files of a kind."""
    given = rf"^[ \t]*([A-Za-z_]\w*)=\"?\$\((?:echo|printf)[ \t][^\n|]*\$\{{?{name}\b[^\n]*"
    part = rf"{given}\|[ \t]*{_OF_KIND.pattern}"
    return [name, *islice(re.compile(part, re.MULTILINE).findall(code, place), _MOST)]


def _branch(code: str, place: int) -> str:
    """Return what follows a condition if it holds: the rest of its line, or of an `if` up to its end."""
    line = code[place : place + _LONGEST].partition("\n")[0]
    whole = code[code.rfind("\n", 0, place) + 1 : place]
    if ("&&" in line or "||" in line) and not _IF.match(whole):
        return line
    return re.split(r"\n[ \t]*(?:fi|else|elif)\b", code[place : place + _LONGEST])[0]
