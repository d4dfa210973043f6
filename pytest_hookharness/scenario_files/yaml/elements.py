"""
Elements: values as they were written, with their positions; and the problems that are found in them.

An element of a file has a line and a column, both from 1; an element of plain data has 0 and 0.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path
from typing import TypeAlias, assert_never

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json

LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarNode:
    """
    A single value.

    Attributes:
        value: Its value by the rules of YAML 1.2, or the value from Python code.
        text: Its text as written, without quotes; empty for plain data that is not a text.
        trusted: Whether it is a path object from Python code, which a file cannot contain.
    """

    value: bool | int | float | str | None
    text: str = ""
    trusted: bool = False
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListNode:
    """A list."""

    items: tuple[Element, ...]
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableEntry:
    """One key of a mapping and its value; the position is that of the key."""

    key: str
    value: Element
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableNode:
    """A mapping, in the written order."""

    entries: tuple[TableEntry, ...]
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedNode:
    """An invalid element that was reported already."""

    line: int = 0
    column: int = 0


Element: TypeAlias = ScalarNode | ListNode | TableNode | RefusedNode
Place: TypeAlias = Element | TableEntry


def join(path: str, step: str | int) -> str:
    """Return the key path of a key or index below a path."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    return f"{path}.{step}" if path else step


def marks(element: Element, path: str = "") -> dict[str, tuple[int, int]]:
    """Return line and column of each value, by key path; empty for plain data."""
    found: dict[str, tuple[int, int]] = {}
    waiting = [(path, element)] if element.line else []
    while waiting:
        path, element = waiting.pop()
        if path:
            found[path] = (element.line, element.column)
        match element:
            case TableNode(entries=entries):
                waiting += [(join(path, entry.key), entry.value) for entry in reversed(entries)]
            case ListNode(items=items):
                waiting += reversed([(join(path, index), item) for index, item in enumerate(items)])
            case ScalarNode() | RefusedNode():
                continue
            case _:
                assert_never(element)
    return found


def plain_value(element: Element) -> Json:
    """Return the value of an element as JSON."""
    match element:
        case ScalarNode():
            return element.value
        case ListNode():
            return [plain_value(item) for item in element.items]
        case TableNode():
            return {entry.key: plain_value(entry.value) for entry in element.entries}
        case RefusedNode():
            return None
        case _:
            assert_never(element)


def shown(word: str) -> str:
    """Return a text in quotes, shortened for a message."""
    cut = word if len(word) <= LONGEST_SHOWN else word[: LONGEST_SHOWN - 3] + "..."
    return json.dumps(cut, ensure_ascii=not cut.isprintable())


def seen(element: Element) -> str:
    """Return an element in a few words, for messages."""
    match element:
        case ScalarNode(value=None):
            return "an empty value"
        case ScalarNode(value=str() as value):
            return shown(value)
        case ScalarNode(value=bool() as value):
            return f"{str(value).lower()} (a boolean)"
        case ScalarNode(value=value):
            return f"{element.text or value} (a number)"
        case ListNode():
            return "a list" if element.items else "an empty list"
        case TableNode():
            return "a mapping" if element.entries else "an empty mapping"
        case RefusedNode():
            return "an unreadable value"
        case _:
            assert_never(element)


# More problems are not recorded: nobody reads them, and it limits the cost of a hostile file.
MAX_PROBLEMS = 100
LONGEST_COMPARED = 100
MAX_ALLOWED = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioProblem:
    """
    One problem of a scenario.

    Attributes:
        file: The scenario file; ``None`` for plain data.
        line: Line from 1; 0 for plain data, or for the file as a whole.
        column: Column from 1, in characters; 0 likewise.
        path: Key path; empty for the scenario as a whole.
        allowed: The allowed values.
        nearest: The allowed word that was probably meant; ``None`` if none is close.
    """

    file: Path | None = None
    line: int = 0
    column: int = 0
    path: str = ""
    message: str
    allowed: tuple[str, ...] = ()
    nearest: str | None = None

    def __str__(self) -> str:
        place = str(self.file) if self.file is not None else ""
        if self.line:
            place += f":{self.line}:{self.column}"
        path = self.path if len(self.path) <= 4 * LONGEST_SHOWN else self.path[: 4 * LONGEST_SHOWN] + "..."
        where = " ".join(part for part in (place, path) if part)
        text = f"{where}: {self.message}" if where else self.message
        if self.nearest is not None:
            text += f"; did you mean {shown(self.nearest)}?"
        if self.allowed:
            more = ", ..." if len(self.allowed) > MAX_ALLOWED else ""
            text += "; " if self.nearest is None else " "
            text += f"allowed: {', '.join(self.allowed[:MAX_ALLOWED])}{more}"
        return text


class ScenarioErrors(ValueError):
    """All problems of one scenario."""

    def __init__(self, problems: Sequence[ScenarioProblem]) -> None:
        super().__init__(tuple(problems))
        self.problems: tuple[ScenarioProblem, ...] = tuple(problems)

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        if len(lines) >= MAX_PROBLEMS:
            lines.append(f"Only the first {MAX_PROBLEMS} problems are listed.")
        return "\n".join(lines)


@dataclass(slots=True)
class Problems:
    """The problems found so far in a scenario file, or in plain data without one."""

    file: Path | None = None
    found: list[ScenarioProblem] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """Whether no more are recorded."""
        return len(self.found) >= MAX_PROBLEMS

    def add(
        self,
        place: Place | tuple[int, int],
        path: str,
        message: str,
        *,
        allowed: Iterable[str] = (),
        near: str | None = None,
        meant: str | None = None,
    ) -> None:
        """Record a problem, with the suggestion ``meant``, or else the allowed word nearest to ``near``."""
        if self.full:
            return
        line, column = place if isinstance(place, tuple) else (place.line, place.column)
        words = tuple(allowed)
        self.found.append(
            ScenarioProblem(
                file=self.file,
                line=line,
                column=column,
                path=path,
                message=message,
                allowed=words,
                nearest=meant if meant or near is None else nearest(near, words),
            )
        )

    def raise_if_any(self) -> None:
        """Raise ``ScenarioErrors`` with all problems, in the order of the file, if there are any."""
        if self.found:
            raise ScenarioErrors(sorted(self.found, key=lambda problem: (problem.line, problem.column)))


def nearest(word: str, words: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the word that was probably meant; ``None`` if none is as close as the cutoff, from 0 to 1."""
    if len(word) > LONGEST_COMPARED:
        return None
    folded = {known.casefold(): known for known in words}
    close = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


MAX_DEPTH = 64

Spot: TypeAlias = tuple[int, int]

FIRST = frozenset("+-.0123456789~nNtTfF")
WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
DECIMAL = re.compile(r"[-+]?[0-9]+")
OCTAL = re.compile(r"0o[0-7]+")
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
ENDLESS = re.compile(r"[-+]?(?:\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN")
MAX_DIGITS = 300


def resolve(text: str) -> bool | int | float | str | None:
    """
    Return the value of a scalar without quotes, by the core schema of YAML 1.2.

    There ``on``, ``no``, ``12:30`` and dates are texts, as most readers expect; PyYAML has the rules of YAML
    1.1.

    Raises:
        ValueError: It is a number that JSON does not have.
    """
    if text and text[0] not in FIRST:
        return text
    if text in WORDS:
        return WORDS[text]
    if ENDLESS.fullmatch(text):
        raise ValueError("is not a number that JSON has; put it in quotes for a text")
    number = _number(text)
    if number is None:
        return text
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError("is too large for a number; put it in quotes for a text")
    return number


def _number(text: str) -> int | float | None:
    for pattern, base in ((DECIMAL, 10), (OCTAL, 8), (HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            # Python refuses very long numbers with a message that would not help here.
            return math.inf if len(text) > MAX_DIGITS else int(text, base)
    return float(text) if FLOAT.fullmatch(text) else None


def place_of(text: str, index: int) -> Spot:
    """Return line and column of a character."""
    before = text[:index]
    return before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1
