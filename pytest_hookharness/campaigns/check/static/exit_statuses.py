"""
Exit statuses that a shell script never sees or sees too late, and counts that have two lines.

A pipe, a declaration, ``fi`` or ``true`` replaces a status. The last program of a pipeline decides it, and
``tail``, ``head``, ``tee`` and ``cat`` succeed whatever is piped to them. ``local x=$(...)`` succeeds too, as
do an ``if`` whose condition failed and a list that ends in ``|| true``.

Under ``set -e`` a failing program ends the script before the next line can read its status. With ``pipefail``
too, ``program | head`` ends the script if the program prints more than a pipe holds.

``grep -c`` prints 0 and fails where nothing matches, so ``|| echo 0`` adds a second line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    script_of,
    without_comment_lines,
)
from pytest_hookharness.campaigns.check.static.ended_searches import PIPEFAIL, STRICT, strict_part

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
# A program on its own line (or `name=$(program)`), followed by a read of `$?`.
_READ_LATE = re.compile(
    r"^[ \t]*+(?!(?:if|elif|else|then|fi|for|while|until|do|done|case|esac|local|declare|readonly|export|set"
    r"|return|exit|trap|echo|printf|true|false|wait|eval|test)\b|[!({\[}):]|\w+=(?!\"?\$\())"
    r"(?P<program>[^\n;|&]+?)[ \t]*(?:;|\n)[ \t]*"
    r"(?:(?P<name>[A-Za-z_]\w*)=\$\?[ \t_]*(?:;|$)|(?:if|elif)[ \t]+\[\[?[ \t]+\$\?[ \t]+(?:-ne|-gt|!=))",
    re.MULTILINE,
)
# A test of the variable that holds the status.
_TESTED = r"(?:\[\[?[ \t]+|\(\([ \t]*|case[ \t]+)\"?\$?\{{?{0}\b"
_HEADED = re.compile(
    r"^[ \t]*(?:[A-Za-z_]\w*=\"?\$\()?[ \t]*"
    r"(?P<program>git[ \t]+(?:status|diff|log|ls-files)|find|grep[ \t]+-\w*[rR]\w*|tree)\b"
    r"(?P<words>[^\n|;&]*)\|(?!\|)[ \t]*head\b[^\n|;&\\]*(?:\|(?!\|)[^\n|;&\\]*)*$",
    re.MULTILINE,
)
_FEW = re.compile(
    r"[ \t]-(?:\d+|n[ \t]*\d+|name|iname)\b|--max-count|-maxdepth[ \t]+[01]\b|-m[ \t]*\d|-quit|-L|stat\b|\.\."
)
_UNREACHED = (
    "`set -e` ends the script when this program fails, so the line that tests its exit status never "
    "runs after a failure"
)
_ENDED = (
    "`{program} | head` ends the script with exit status 141 (SIGPIPE) if `{program}` prints more "
    "than 64 KiB, because `set -e` and `pipefail` are on"
)
# Pipes, lists, substitutions and functions that handle a failure; then nothing is reported.
_CONTINUES = re.compile(r"(?:\\|&&|\|\|?)[ \t]*\n[ \t]*$")
_FORGIVES = re.compile(r"^[ \t]*[})][ \t]*(?:\|\||&&)|\bshopt[ \t]+-uo", re.MULTILINE)
_OTHER_FUNCTION = re.compile(
    r"^[ \t]*function[ \t]|^[ \t]+[\w-]+[ \t]*\(\)|^[\w-]+[ \t]*\(\)[ \t]*\n", re.MULTILINE
)
_COUNTED = re.compile(
    r"(?<![\w$])(?P<name>[A-Za-z_]\w*)=\"?\$\((?P<program>[^\n(]*?\bgrep\s+(?:-[\w-]+\s+)*?"
    r"(?:-[a-zA-Z]*c[a-zA-Z]*|--count)\s[^\n|]*?)\|\|\s*(?:echo|printf)\s+(?:[\"'][^\"'][\"']|[^\"'\s)])\s*\)"
)
_AS_NUMBER = (
    r"\$\{{?{0}(?::-\w*)?\}}?\"?\s+-(?:eq|ne|gt|ge|lt|le)\b|-(?:eq|ne|gt|ge|lt|le)\s+\"?\$\{{?{0}\b"
    r"|\(\([^()\n]*(?<!\w){0}\b|--argjson\s+\w+\s+\"?\$\{{?{0}\b"
)
# In JSON, or in a line of a file.
_IN_TEXT = r"\\?\"\s*:\s*\$\{{?{0}\b|\becho\s+\"[^\"\n]*\$\{{?{0}\b[^\"\n]*\"\s*>>"
# `${n:-0}` changes nothing, as two lines are not empty.
_KNOWS_LINES = (
    r"\$\{{{0}(?:[/%#]|:\d)|<<<\s*\"?\$\{{?{0}\b"
    r"|\b{0}=\"?\$\([^\n]*\$\{{?{0}\b|\$\{{?{0}\b\}}?\"?\s*=~|case\s+\"?\$\{{?{0}\b"
)
_TWO_LINES = (
    "`n=$(grep -c ... || echo 0)` has two lines where nothing matches, because grep prints 0 and fails"
)


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
    """Yield the lines that ask for the status of a condition after its ``fi``, where that is always 0."""
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
            yield "after `fi`, `$?` is 0 where the condition failed, so the failure is missed", number


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
    """Return whether the first mention of a variable after the one that sets it uses its value."""
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


def _is_plain(shown: str) -> bool:
    """Return whether a script itself asks to end at failures, and nothing in it may forgive one."""
    return bool(STRICT.search(shown)) and not (_FORGIVES.search(shown) or _OTHER_FUNCTION.search(shown))


def _is_open(shown: str, place: int) -> bool:
    """Return whether a place stands in a substitution, or continues a line."""
    before = shown[:place]
    return before.count("$(") > before.count(")") or _CONTINUES.search(before) is not None


def unreached_statuses(text: str) -> Iterator[tuple[str, int]]:
    """Yield a message and the line number for each program whose exit status a script tests too late."""
    # Keep `"$?"`, which is code although it is quoted.
    shown = code_of(text.replace("2>&1", " " * 4).replace('"$?"', " $? "))
    begun, until = strict_part(text, shown)
    script = script_of(text)
    for found in _READ_LATE.finditer(shown, begun, until) if _is_plain(shown) else ():
        tested = not found["name"] or re.compile(_TESTED.format(found["name"])).search(
            script.code, found.end()
        )
        if not found["program"].strip("_ \t") or _is_open(shown, found.start()):
            continue
        # Shells ignore `set -e` in a function that is called in a condition.
        if tested and not script.function_at(found.start("program")):
            yield _UNREACHED, script.line_of(found.start("program"))


def broken_pipes(text: str) -> Iterator[tuple[str, int]]:
    """Yield a message and the line number for each pipe to ``head`` that may end a strict script."""
    script = script_of(text)
    shown = script.shown
    begun, until = strict_part(text, shown)
    piped = PIPEFAIL.search(shown)
    if piped is None or not until or not _is_plain(shown):
        return
    for found in _HEADED.finditer(shown, max(begun, piped.end()), until):
        place = found.start("program")
        if not (_FEW.search(found["words"]) or _is_open(shown, found.start()) or script.function_at(place)):
            program = " ".join(found["program"].split())
            yield _ENDED.format(program=program), script.line_of(place)


def double_counts(text: str) -> Iterator[tuple[str, int]]:
    """Yield how a shell script counts in two lines, in words, with the line."""
    if not SHELL_SCRIPT.match(text):
        return
    code = code_of(text)
    for found in _COUNTED.finditer(code):
        name = found["name"]
        used = re.search(_AS_NUMBER.format(name), text) or re.search(_IN_TEXT.format(name), text)
        # A script that tests the digits of the count, or takes one line of it, handles this.
        knows = re.search(_KNOWS_LINES.format(name), text)
        if used and not knows:
            yield _TWO_LINES, text.count("\n", 0, found.start()) + 1
