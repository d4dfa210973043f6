"""
Input that a shell script reads as plain text: values cut at the first quotation mark, and words anywhere.

A script that gives its input to another program is left out: that may decide, after this first look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.static.lone_answers import REFUSES_IN_JSON, without_comments
from pytest_hookharness.campaigns.check.static.shell_scripts import SHELL_SCRIPT, code_of

# The whole input, kept in a variable.
_KEPT = re.compile(
    r"\b(?P<name>[A-Za-z_]\w*)=[\"']?(?:\$\(\s*(?:cat(?:\s+(?:-|/dev/stdin))?|<\s*/dev/stdin)"
    r"(?:\s*2>\S+)?(?:\s*\|\|[^)\n]*)?\s*\)|`cat`)"
)
# What looks at the input as text.
_PRINTED = r"\b(?:echo(?:[ \t]+-\w+)*|printf[ \t]+[\"']?%s(?:\\n)?[\"']?)[ \t]+\"?\$\{{?{0}\}}?\"?\s*\|\s*"
_AS_TEXT = (
    rf"(?:{_PRINTED}(?:grep|egrep|sed|head|tr|wc|cut)\b"
    r"|\b(?:grep|sed)\b[^\n|;]*<<<[ \t]*\"?\$\{{?{0}\b"
    r"|\[\[?[ \t]+(?:![ \t]+)?(?:-[zn][ \t]+)?\"?\$\{{?{0}(?::-)?\}}?\"?(?=[ \t]))"
)
# A value without the letter that ends it where it is escaped. Quotation marks seldom stand in other values.
_CUT = (
    r"\$\{{?{0}\}}?\"?\s*\|\s*(?:grep|egrep|sed)\b[^\n]*?\\?\"(?P<key>KEYS)\\?\"[^\n]{{0,60}}?\[\^\\?\"\][*+]"
    r"|\[\[ \"?\$\{{?{0}\}}?\"? =~ [^\n]*?\\?\"(?P<other>KEYS)\\?\"[^\n]{{0,60}}?\[\^\\?\"\][*+]"
).replace("KEYS", "command|prompt|message|content|new_string|last_assistant_message|description|query")
# The input searched for words. A key in quotation marks, with its colon, is looked for on purpose.
_SEARCHED = (
    rf"(?:{_PRINTED}grep\s+(?P<options>(?:-\w+\s+)*)"
    r"(?:(?P<mark>[\"'])(?P<words>(?:(?!(?P=mark))[^\n])+)(?P=mark)|(?P<word>\w[\w-]*))"
    r"|\[\[\s+\"?\$\{{?{0}\}}?\"?\s+==?\s+\*[\"']?(?P<glob>[^\n\"'\]]+?)[\"']?\*\s+\]\])"
)
_OF_A_KEY = re.compile(r"\"\w+\\?\"|[:{}]\s*\\?\"")
_QUIET, _SILENT = re.compile(r"-\w*q|--quiet"), re.compile(r"\s*&?>\s*/dev/null")
_LETTERS = re.compile(r"[A-Za-z]{2}")
_REFUSES = re.compile(r"\bexit\s+2\b|\breturn\s+2\b")


_IS_CUT = '`{0}` is read up to the first quotation mark, so what follows `\\"` in it is never seen'
_COUNTS = (
    "words are looked for in the whole input, so they count in every value, such as a description or a path"
)


def cut_values(text: str) -> Iterator[tuple[str, int]]:
    """Yield which value of the input a shell script cuts at its first quotation mark, with the line."""
    code = without_comments(text)
    for name in _only_text(text, code):
        for found in re.finditer(_CUT.format(name), code):
            yield _IS_CUT.format(found["key"] or found["other"]), code.count("\n", 0, found.start()) + 1


def searched_input(text: str) -> Iterator[tuple[str, int]]:
    """Yield the words for which a shell script that refuses searches its whole input, with the line."""
    code = without_comments(text)
    if not (_REFUSES.search(code_of(text)) or REFUSES_IN_JSON.search(code)):
        return
    for name in _only_text(text, code):
        for found in re.finditer(_SEARCHED.format(name), code):
            words = found["words"] or found["word"] or found["glob"]
            quiet = found["glob"] or _QUIET.search(found["options"]) or _SILENT.match(code, found.end())
            if quiet and _LETTERS.search(words) and not _OF_A_KEY.search(words):
                yield _COUNTS, code.count("\n", 0, found.start()) + 1


def _only_text(text: str, code: str) -> Iterator[str]:
    """Yield the variables of a shell script that hold its input, and that only text tools get."""
    names = dict.fromkeys(found["name"] for found in _KEPT.finditer(code)) if SHELL_SCRIPT.match(text) else ()
    for name in names:
        uses = len(re.findall(rf"\$\{{?{name}\b", code))
        if uses == len(re.findall(_AS_TEXT.format(name), code)):
            yield name
