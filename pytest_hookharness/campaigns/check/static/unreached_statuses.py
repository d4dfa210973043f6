"""
Statuses that a strict shell script asks for in vain, as it has ended there, and pipes that end it.

Under ``set -e`` a program that fails ends the script before the next line keeps its status. With
``pipefail``, ``head`` ends the script where the program before it prints more than a pipe holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.shell_code.shell_functions import functions_of, is_within
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import code_of, without_comment_lines
from pytest_hookharness.campaigns.check.static.ended_searches import strict_part

# A program alone in its line, perhaps with its output kept, and its status behind it.
_ASKED = re.compile(
    r"^[ \t]*+(?!(?:if|elif|else|then|fi|for|while|until|do|done|case|esac|local|declare|readonly|export|set"
    r"|return|exit|trap|echo|printf|true|false|wait|eval|test)\b|[!({\[}):]|\w+=(?!\"?\$\())"
    r"(?P<program>[^\n;|&]+?)[ \t]*(?:;|\n)[ \t]*"
    r"(?:(?P<name>[A-Za-z_]\w*)=\$\?[ \t_]*(?:;|$)|(?:if|elif)[ \t]+\[\[?[ \t]+\$\?[ \t])",
    re.MULTILINE,
)
# What a script does with a status that is not 0.
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
    "`set -e` ends the script where the program fails, so what the next line makes of its status is not "
    "reached"
)
_ENDED = (
    "with `set -e` and `pipefail`, `| head` ends the script with 141 where `{program}` prints more than a "
    "pipe holds (64 KiB)"
)


def unreached_statuses(text: str) -> Iterator[tuple[str, int]]:
    """Yield the lines of a strict shell script that ask for a status which is 0 there, with the line."""
    # Keep `"$?"`, which is code although it is quoted.
    shown = code_of(text.replace("2>&1", " " * 4).replace('"$?"', " $? "))
    begun, until = strict_part(text, shown)
    functions = [*functions_of(without_comment_lines(text))]
    for found in _ASKED.finditer(shown, begun, until):
        tested = not found["name"] or re.compile(_TESTED.format(found["name"])).search(shown, found.end())
        # The status does not end a function that is called in a condition.
        if tested and not is_within(found.start("program"), functions):
            yield _UNREACHED, text.count("\n", 0, found.start("program")) + 1


def broken_pipes(text: str) -> Iterator[tuple[str, int]]:
    """Yield the pipes to ``head`` that end a strict shell script, with the line."""
    code, shown = without_comment_lines(text), code_of(text)
    begun, until = strict_part(text, shown)
    piped = _PIPEFAIL.search(shown)
    functions = [*functions_of(code)]
    for found in _HEADED.finditer(shown, max(begun, piped.end()), until) if piped and until else ():
        place = found.start("program")
        if not _FEW.search(found["words"]) and not is_within(place, functions):
            program = " ".join(found["program"].split())
            yield _ENDED.format(program=program), text.count("\n", 0, place) + 1
