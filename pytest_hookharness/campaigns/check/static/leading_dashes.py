"""
Texts with a leading dash that ``printf`` or ``grep`` takes for an option, so that the call fails.

Bash and dash refuse a format such as ``- %s``, and GNU grep refuses a pattern such as ``--force``; a dash
alone is a text for both. Calls that end their options with ``--``, or give the pattern with ``-e``, work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.campaigns.short_texts import in_one_line

# Where a command begins, in code without quoted text.
_BEGINS = (
    r"(?:^|[\n;&|(`{!]|\b(?:then|do|else|if|elif|while|until|time)[ \t])[ \t]*"
    r"(?:[A-Za-z_]\w*=[^\s;|&\"']*[ \t]+)*"
)
_PRINTED = re.compile(_BEGINS + r"(?P<call>printf)[ \t]+(?P<mark>[\"'])(?=\S)")
# Options without a value, of which none gives the pattern.
_SEARCHED = re.compile(
    _BEGINS + r"(?P<call>[ef]?grep)(?:[ \t]+(?:-[a-dg-zA-Z]+|--(?:quiet|silent|extended-regexp|ignore-case"
    r"|fixed-strings|perl-regexp|only-matching|invert-match|word-regexp)))*[ \t]+(?P<mark>[\"'])"
)
# Options of GNU grep whose name may be cut, and that such a pattern might mean.
_LONG = frozenset({
    "after-context", "basic-regexp", "before-context", "binary", "binary-files", "byte-offset", "color",
    "colour", "context", "count", "dereference-recursive", "devices", "directories", "exclude",
    "exclude-dir", "exclude-from", "extended-regexp", "file", "files-with-matches",
    "files-without-match", "fixed-strings", "group-separator", "help", "ignore-case", "include",
    "initial-tab", "invert-match", "label", "line-buffered", "line-number", "line-regexp", "max-count",
    "no-filename", "no-group-separator", "no-ignore-case", "no-messages", "null", "null-data",
    "only-matching", "perl-regexp", "quiet", "recursive", "regexp", "silent", "text",
    "unix-byte-offsets", "version", "with-filename", "word-regexp",
})  # fmt: skip
_WITH_VALUE = re.compile(r"-v\b|-*$")
_ENDS = re.compile(r"[ \t]*(?:$|[\n;|&)}<>]|\d>)")
_LETTERS = re.compile(r"-[a-zA-Z]+")
_SHOWN = 40
_ZSH = re.compile(r"#!.*\bzsh\b")
# A script may have a function of this name.
_OWN = re.compile(
    r"^[ \t]*(?:(?:function|alias)[ \t]+)?(?:printf|[ef]?grep)[ \t]*(?:\(\)|=|\{)", re.MULTILINE
)


def texts_as_options(text: str) -> Iterator[tuple[str, int]]:
    """Yield how a shell script gives a text where an option is expected, in words, with the line."""
    told: dict[str, str] = {}
    is_known = SHELL_SCRIPT.match(text) and not _ZSH.match(text) and not _OWN.search(text)
    code = code_of(text) if is_known else ""
    for call, refused, effect in (
        (_PRINTED, _is_refused_format, "format"),
        (_SEARCHED, _is_refused_pattern, "pattern"),
    ):
        for found in call.finditer(code):
            end = code.find(found["mark"], found.end())
            given = text[found.end() : end]
            if end > 0 and refused(given, code[end + 1 :]):
                name, shown = found["call"], in_one_line(given, _SHOWN)
                words = f"`{name}` takes the {effect} `{shown}` for an option because of its dash, and fails"
                # One cause, however often it stands in the script.
                yield told.setdefault(name, words), text.count("\n", 0, found.end()) + 1


def _is_refused_format(given: str, _after: str) -> bool:
    return given.startswith("-") and not _WITH_VALUE.match(given) and "\n" not in given.partition("\\n")[0]


def _is_refused_pattern(given: str, after: str) -> bool:
    """Return whether GNU grep surely refuses a pattern: as an unknown option, or as no pattern is left."""
    if given.startswith("--"):
        name = given[2:].partition("=")[0]
        return bool(name) and not any(known.startswith(name) for known in _LONG)
    return _LETTERS.fullmatch(given) is not None and _ENDS.match(after) is not None
