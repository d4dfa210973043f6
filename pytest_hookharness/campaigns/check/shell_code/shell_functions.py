"""The functions of shell scripts, found by their texts: where the body of each begins and ends."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

_MOST = 100
_FUNCTION = re.compile(r"^(?:function[ \t]+)?(?P<name>[\w-]+)[ \t]*\(\)[ \t]*\{", re.MULTILINE)
_FUNCTION_END = re.compile(r"\n\}")
# A whole function in one line.
_ONE_LINE = re.compile(r"[^\n]*[;&\s](?=\}[ \t]*(?:#[^\n]*)?$)", re.MULTILINE)


class ShellFunction(NamedTuple):
    """
    A function of a shell script.

    Attributes:
        name: Its name.
        begin: Where its body begins in the script.
        end: Where its body ends.
    """

    name: str
    begin: int
    end: int


def functions_of(code: str) -> Iterator[ShellFunction]:
    """Yield the functions of a shell script without comment lines."""
    ends = [found.start() for found in _FUNCTION_END.finditer(code)]
    for found in islice(_FUNCTION.finditer(code), _MOST):
        place = bisect_left(ends, found.end())
        whole = _ONE_LINE.match(code, found.end())
        end = whole.end() if whole else ends[place] if place < len(ends) else len(code)
        yield ShellFunction(found["name"], found.end(), end)


def is_within(place: int, functions: Iterable[ShellFunction]) -> bool:
    """Return whether a place of a script stands in the body of one of its functions."""
    return any(one.begin <= place < one.end for one in functions)
