"""A shell script with its parts: what of it is code, its functions, and the conditions of its places."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from pytest_hookharness.campaigns.check.shell_code.shell_conditions import Condition, conditions_at
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    without_comment_lines,
)
from pytest_hookharness.model.fast_dataclass import dataclass

_MOST = 100
_FUNCTION = re.compile(
    r"^(?P<word>function[ \t]+)?(?P<name>[\w-]+)[ \t]*(?(word)(?:\(\))?|\(\))[ \t]*\{", re.MULTILINE
)
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


@dataclass(frozen=True, slots=True)
class ShellScript:
    """
    A shell script in two forms of the same length, so that a place of it is the same in both.

    Attributes:
        code: The script without comment lines.
        shown: The script without quoted text, as ``code_of`` returns it.
        functions: Its functions.
    """

    code: str
    shown: str
    functions: tuple[ShellFunction, ...]

    def line_of(self, place: int) -> int:
        """Return the number of the line of a place."""
        return self.code.count("\n", 0, place) + 1

    def is_code(self, place: int) -> bool:
        """Return whether a place is code, and no quoted text."""
        return self.shown[place] == self.code[place]

    def function_at(self, place: int) -> ShellFunction | None:
        """Return the function in whose body a place stands; ``None`` for none."""
        return next((one for one in self.functions if one.begin <= place < one.end), None)

    def conditions_at(self, place: int) -> list[Condition]:
        """Return the conditions that surely hold where a place is reached."""
        return conditions_at(self.shown, place)

    def is_outermost(self, place: int) -> bool:
        """Return whether a place stands in no function and below no condition."""
        return self.function_at(place) is None and not self.conditions_at(place)


@lru_cache(maxsize=64)
def script_of(text: str) -> ShellScript:
    """Return a shell script with its parts."""
    code = without_comment_lines(text)
    return ShellScript(code, code_of(text), tuple(_functions_of(code)))


def shell_script_of(text: str) -> ShellScript | None:
    """Return a script with its parts if its first line is one for a shell; else ``None``."""
    return script_of(text) if SHELL_SCRIPT.match(text) else None


def _functions_of(code: str) -> Iterator[ShellFunction]:
    ends = [found.start() for found in _FUNCTION_END.finditer(code)]
    for found in islice(_FUNCTION.finditer(code), _MOST):
        place = bisect_left(ends, found.end())
        whole = _ONE_LINE.match(code, found.end())
        end = whole.end() if whole else ends[place] if place < len(ends) else len(code)
        yield ShellFunction(found["name"], found.end(), end)
