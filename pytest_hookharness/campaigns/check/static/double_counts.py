"""
Counts with two lines: ``grep -c`` prints 0 and fails where nothing matches, so its stand-in comes too.

Only a count that a script compares as a number, computes with, or writes into JSON or a file is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of

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
_KNOWS = (
    r"\$\{{{0}(?:[/%#]|:\d)|<<<\s*\"?\$\{{?{0}\b"
    r"|\b{0}=\"?\$\([^\n]*\$\{{?{0}\b|\$\{{?{0}\b\}}?\"?\s*=~|case\s+\"?\$\{{?{0}\b"
)
_TWO_LINES = (
    "`n=$(grep -c ... || echo 0)` has two lines where nothing matches, because grep prints 0 and fails"
)


def double_counts(text: str) -> Iterator[tuple[str, int]]:
    """Yield how a shell script counts in two lines, in words, with the line."""
    if not SHELL_SCRIPT.match(text):
        return
    code = code_of(text)
    for found in _COUNTED.finditer(code):
        name = found["name"]
        used = re.search(_AS_NUMBER.format(name), text) or re.search(_IN_TEXT.format(name), text)
        # A script that looks at its digits, or at one line of it, knows.
        knows = re.search(_KNOWS.format(name), text)
        if used and not knows:
            yield _TWO_LINES, text.count("\n", 0, found.start()) + 1
