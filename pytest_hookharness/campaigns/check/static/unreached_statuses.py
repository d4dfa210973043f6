"""
Exit statuses that a ``set -e`` script tests too late, and pipes to ``head`` that end it.

Under ``set -e`` a failing program ends the script before the next line can read its status. With ``pipefail``
too, ``program | head`` ends the script if the program prints more than a pipe holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.shell_code.script_parts import script_of
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import code_of
from pytest_hookharness.campaigns.check.static.ended_searches import PIPEFAIL, STRICT, strict_part

# A program on its own line (or `name=$(program)`), followed by a read of `$?`.
_ASKED = re.compile(
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
# What a pipe, a list, a substitution or a function makes of a failure; then nothing is said.
_CONTINUES = re.compile(r"(?:\\|&&|\|\|?)[ \t]*\n[ \t]*$")
_FORGIVES = re.compile(r"^[ \t]*[})][ \t]*(?:\|\||&&)|\bshopt[ \t]+-uo", re.MULTILINE)
_OTHER_FUNCTION = re.compile(
    r"^[ \t]*function[ \t]|^[ \t]+[\w-]+[ \t]*\(\)|^[\w-]+[ \t]*\(\)[ \t]*\n", re.MULTILINE
)


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
    for found in _ASKED.finditer(shown, begun, until) if _is_plain(shown) else ():
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
