"""
Exit statuses that a shell script never sees, because a pipe, a declaration, ``fi`` or ``true`` replaces them.

The last program of a pipeline decides its status, and ``tail``, ``head``, ``tee`` and ``cat`` succeed
whatever is piped to them. ``local x=$(...)`` succeeds too, and so do an ``if`` whose condition failed and a
list that ends in ``|| true``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    without_comment_lines,
)

_KNOWS = re.compile(r"\bpipefail\b|\bPIPESTATUS\b|\bpipestatus\b")
# A pipe to a program that always succeeds, up to the end of the pipeline.
_PIPED = r"(?<!\|)\|\s*(?P<last>tail|head|tee|cat)\b(?P<words>(?:\s+(?!&)[^\s|;&()<>`]+)*)\s*"
_CONDITION = re.compile(rf"^\s*(?:if|elif)\s+(?:!\s+)?(?P<program>[^|;&]+?)\s*{_PIPED};?\s*(?:then\b|$)")
_ASSIGNED = re.compile(rf"^\s*\w+=\"?\$\(\s*(?P<program>[^|;&]+?)\s*{_PIPED}\)\"?\s*;?\s*$")
_DECLARED = re.compile(
    r"^\s*(?P<last>local|declare|typeset|export|readonly)\s+\w+=\"?\$\((?P<program>.+)\)\"?\s*;?\s*$"
)
_ALONE = re.compile(rf"^\s*(?P<program>(?!if\b|elif\b|while\b|until\b|for\b)[^|;&]+?)\s*{_PIPED}$")
# A line that goes on in the next one, perhaps with a comment between them.
_CONTINUED = re.compile(r"\\$|(\||&&)[ \t_]*$")
# The status, looked at or kept.
_ASKED = re.compile(
    r"^\s*(?:(?:local\s+|declare\s+)?\w+=\"?\$\?\"?\s*(?:;|$)|(?:if|elif)\s+\[\[?\s+\"?\$\?\"?\s|\(\(\s*\$\?)"
)
# A whole `if` without `else`, in one line, and how a line ends that leaves the block which it ends.
_LEAVES = r"(?:^|;|\bthen)\s*(?:exit|return|continue|break)\b[^;&|]*"
_WHOLE = re.compile(rf"^\s*if\b(?!.*\b(?:else|elif)\b).*;\s*(?=then\b).*{_LEAVES};\s*fi\s*$")
# A list that never fails, and what follows it in the same line.
_FORCED = re.compile(
    r"^(?P<list>(?!\s*(?:if|elif|while|until)\b).*?)\|\|\s*(?P<last>true(?![\w-])|:(?=[\s;]|$))[\s_]*"
    r"(?:;(?P<rest>.*))?$"
)
_OF_LIST = r"\"?(?P<asked>\$\?|\$\{PIPESTATUS\[0\](?::-\$\?)?\})\"?"
_WANTED = re.compile(
    rf"^\s*(?:(?:(?:local|declare|readonly)\s+)?(?P<name>\w+)={_OF_LIST}[\s_]*(?:;|$)"
    rf"|(?:(?:if|elif)\s+)?\[\[?\s+{_OF_LIST.replace('asked', 'tested')}\s)"
)
_USE = re.compile(r"\$\{?$|\(\([^)]*$")
# A whole assignment, so that no pipe stands before it.
_TAKEN = re.compile(r"^\s*\w+=\"?\$\(.*\)\"?\s*$")
# What fails only if its input is missing, so that its status was not meant.
_PLAIN = re.compile(r"(?:echo|printf|cat|ls|sort|find|git (?:log|diff|status|ls-files|branch))\b")


def lost_statuses(text: str) -> Iterator[tuple[str, int]]:
    """Yield how a shell script loses the exit status of a program, in words, with the line."""
    if not SHELL_SCRIPT.match(text):
        return
    # Keep `"$?"`, which is code although it is quoted.
    lines = [*_lines(code_of(text.replace("2>&1", " " * 4).replace('"$?"', "$?")))]
    yield from _behind_ifs(lines)
    yield from _behind_true(lines, without_comment_lines(text).split("\n"))
    if _KNOWS.search(text):
        return
    for (number, line), (_, after) in pairwise([*lines, (0, "")]):
        found = _CONDITION.match(line)
        if found is None and _ASKED.match(after):
            found = _ASSIGNED.match(line) or _DECLARED.match(line) or _ALONE.match(line)
        if found and not _PLAIN.match(found["program"]):
            what = f"`| {found['last']}`" if "words" in found.groupdict() else f"`{found['last']} x=$(...)`"
            yield f"{what} replaces the exit status of the program, so its failure is missed", number


def _behind_ifs(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[str, int]]:
    """Yield the lines that ask for the status of a condition behind its ``fi``, where that is always 0."""
    # The last line of each open `if`; empty once another branch has begun.
    last: list[str | None] = []
    for (_, line), (number, after) in pairwise(lines):
        word = line.split(maxsplit=1)[0].rstrip(";")
        ends = _WHOLE.match(line) is not None
        if word == "fi" and last:
            ends = re.search(f"{_LEAVES}$", last.pop() or "") is not None
        elif word == "if" and not re.search(r"\bfi\b", line):
            last.append("")
        elif word in ("else", "elif") and last:
            last[-1] = None
        if last and last[-1] is not None:
            last[-1] = line
        if ends and _ASKED.match(after):
            yield "behind `fi`, `$?` is 0 where the condition failed, so the failure is missed", number


def _behind_true(lines: Sequence[tuple[int, str]], shown: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the lists that never fail, and whose status the script asks for and then uses."""
    for (number, line), (next_number, after) in pairwise([*lines, (0, "")]):
        found = _FORCED.match(line)
        same = found is not None and bool(found["rest"])
        wanted = _WANTED.match(found["rest"] if same else after) if found else None
        if found is None or wanted is None:
            continue
        # If a pipe succeeds, `true` does not run, and PIPESTATUS still has the statuses of its programs.
        of_pipe = "PIPESTATUS" in (wanted["asked"] or wanted["tested"]) and not _TAKEN.match(found["list"])
        behind = shown[(number if same else next_number) - 1 :]
        if not of_pipe and (not wanted["name"] or _is_used(wanted["name"], behind)):
            text = f"`|| {found['last']}` replaces the exit status of the program, so its failure is missed"
            yield text, number


def _is_used(name: str, lines: Iterable[str]) -> bool:
    """Return whether the first mention of a variable behind the one that sets it uses its value."""
    mention = re.compile(rf"(?<!\w){name}(?!\w)")
    mentions = ((line, found.start()) for line in lines for found in mention.finditer(line))
    line, begin = next(islice(mentions, 1, None), ("", 0))
    return _USE.search(line, 0, begin) is not None


def _lines(code: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with code, continued ones as one, each with the number of its first line."""
    first, joined = 0, ""
    for number, line in enumerate(code.split("\n"), 1):
        # Also the CR of a line end of Windows.
        if not line.strip().strip("_ \t"):
            continue
        more = _CONTINUED.search(line)
        first, joined = (
            first or number,
            joined + (f"{line[: more.start()]}{more[1] or ''} " if more else line),
        )
        if not more:
            yield first, joined
            first, joined = 0, ""
