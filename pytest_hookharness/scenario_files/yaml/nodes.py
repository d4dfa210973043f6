"""
Elements: values as they were written, with their positions, before any check.

An element of a file has a line and a column, both from 1; an element of plain data has 0 and 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
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


def children(element: Element, path: str) -> Iterator[tuple[str, Element]]:
    """Yield the direct children of an element with their key paths."""
    match element:
        case TableNode():
            for entry in element.entries:
                yield join(path, entry.key), entry.value
        case ListNode():
            for index, item in enumerate(element.items):
                yield join(path, index), item
        case ScalarNode() | RefusedNode():
            return
        case _:
            assert_never(element)


def marks(element: Element, path: str = "") -> dict[str, tuple[int, int]]:
    """Return line and column of each value, by key path; empty for plain data."""
    found: dict[str, tuple[int, int]] = {}
    waiting = [(path, element)] if element.line else []
    while waiting:
        path, element = waiting.pop()
        if path:
            found[path] = (element.line, element.column)
        waiting.extend(reversed(list(children(element, path))))
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
