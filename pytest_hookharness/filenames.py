"""
This module is concerned with file names in the source of scripts: what is looked at, and what is made there.

Upper floor, below the menus. It reads how shells and Pythons write it; what a program computes is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# In shells: where a file is looked at, and where one is made.
_LOOKED_AT = re.compile(
    r"(?:\[ (?:! )?-[edfrswx]|\btest (?:! )?-[edfrswx]|\brm(?: -\w+)*)\s+[\"']?([\w.][\w./-]*)"
)
_MADE = re.compile(r"(?:\btouch\s|(?<![\d&<=])>>?)\s*[\"']?([\w.][\w./-]*)")
# In Pythons: the last words of a path that is put together, or the one that a call is given.
_QUOTED = r"[\"'][./-]*\w[\w./-]*[\"']"
_JOINED = re.compile(
    rf"\bpath\.join\([^\n]*?((?:,\s*{_QUOTED}\s*)+)\)"
    rf"|((?<=[\w)\]])(?:\s*/\s*{_QUOTED})+)"
    rf"|\b(?:exists|isfile|open|Path)\(\s*({_QUOTED})\s*[,)]"
)
_WORD = re.compile(r"[\"']([\w./-]+)[\"']")
_BOUND = re.compile(r"^\s*(\w+)\s*(?::[^=\n]*)?=(?!=)")
_WRITES = (
    r"open\(\s*(?:os\.)?{path}[^\n]*?,\s*(?:mode\s*=\s*)?[\"'][wax]"
    r"|{path}\)*\.(?:write_\w+|touch|mkdir|open\([\"'][wax])"
)


def looked_at(source: str) -> Iterator[str]:
    """
    The files that some source asks about, removes or opens, those that it makes among them.
    """
    yield from _LOOKED_AT.findall(source)
    yield from (path for path, _, _ in _joined(source))


def made(source: str) -> Iterator[str]:
    """
    The files that some source makes.
    """
    yield from _MADE.findall(source)
    for path, here, line in _joined(source):
        bound = _BOUND.match(line)
        place, where = (rf"\b{bound[1]}\b", source) if bound else (re.escape(here), line)
        if re.search(_WRITES.format(path=place), where):
            yield path


def _joined(source: str) -> Iterator[tuple[str, str, str]]:
    """
    Paths that are put together, each with its expression and the line that this stands in.
    """
    for line in source.splitlines():
        for found in _JOINED.finditer(line):
            words = _WORD.findall(found[1] or found[2] or found[3])
            yield "/".join(words), found[3] or found[0], line
