"""
Exit statuses that a ``set -e`` script tests too late, and pipes to ``head`` that end it.

Under ``set -e`` a failing program ends the script before the next line can read its status. With ``pipefail``
too, ``program | head`` ends the script if the program prints more than a pipe holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.shell_code.shell_functions import functions_of, is_within
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import code_of, without_comment_lines
from pytest_hookharness.campaigns.check.static.ended_searches import strict_part

# A program on its own line (or `name=$(program)`), followed by a read of `$?`.
_ASKED = re.compile(
    r"^[ \t]*+(?!(?:if|elif|else|then|fi|for|while|until|do|done|case|esac|local|declare|readonly|export|set"
    r"|return|exit|trap|echo|printf|true|false|wait|eval|test)\b|[!({\[}):]|\w+=(?!\"?\$\())"
    r"(?P<program>[^\n;|&]+?)[ \t]*(?:;|\n)[ \t]*"
    r"(?:(?P<name>[A-Za-z_]\w*)=\$\?[ \t_]*(?:;|$)|(?:if|elif)[ \t]+\[\[?[ \t]+\$\?[ \t])",
    re.MULTILINE,
)
# A test of the variable that holds the status.
_TESTED = r"(?:\[\[?[ \t]+|\(\([ \t]*|case[ \t]+)\"?\$?\{{?{0}\b"
_PIPEFAIL = re.compile(r"^[ \t]*set[ \t]+-[^\n]*\bpipefail\b", re.MULTILINE)
_HEADED = re.compile(
    r"^[ \t]*(?:[A-Za-z_]\w*=\"?\$\()?[ \t]*"
    r"(?P<program>git[ \t]+(?:status|diff|log|ls-files)|find|grep[ \t]+-\w*[rR]\w*|rg|tree)\b"
    r"(?P<words>[^\n|;&]*)\|(?!\|)(?:[^\n|;&]*\|(?!\|))*[ \t]*head\b[^\n|;&]*(?:\|(?!\|)[^\n|;&]*)*$",
    re.MULTILINE,
)
_FEW = re.compile(r"[ \t]-(?:\d+|n[ \t]*\d+|name|iname)\b|--max-count|-maxdepth[ \t]+[01]\b|-m[ \t]*\d")
_UNREACHED = (
    "`set -e` ends the script when this program fails, so the line that tests its exit status never "
    "runs after a failure"
)
_ENDED = (
    "`{program} | head` ends the script with exit status 141 (SIGPIPE) if `{program}` prints more "
    "than 64 KiB, because `set -e` and `pipefail` are on"
)


def unreached_statuses(text: str) -> Iterator[tuple[str, int]]:
    """Yield a message and the line number for each program whose exit status a script tests too late."""
    # Keep `"$?"`, which is code although it is quoted.
    shown = code_of(text.replace("2>&1", " " * 4).replace('"$?"', " $? "))
    begun, until = strict_part(text, shown)
    functions = [*functions_of(without_comment_lines(text))]
    for found in _ASKED.finditer(shown, begun, until):
        tested = not found["name"] or re.compile(_TESTED.format(found["name"])).search(shown, found.end())
        # Shells ignore `set -e` in a function that is called in a condition.
        if tested and not is_within(found.start("program"), functions):
            yield _UNREACHED, text.count("\n", 0, found.start("program")) + 1


def broken_pipes(text: str) -> Iterator[tuple[str, int]]:
    """Yield a message and the line number for each pipe to ``head`` that may end a strict script."""
    code, shown = without_comment_lines(text), code_of(text)
    begun, until = strict_part(text, shown)
    piped = _PIPEFAIL.search(shown)
    functions = [*functions_of(code)]
    for found in _HEADED.finditer(shown, max(begun, piped.end()), until) if piped and until else ():
        place = found.start("program")
        if not _FEW.search(found["words"]) and not is_within(place, functions):
            program = " ".join(found["program"].split())
            yield _ENDED.format(program=program), text.count("\n", 0, place) + 1
