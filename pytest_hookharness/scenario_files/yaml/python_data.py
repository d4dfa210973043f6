"""Turn plain Python data, given instead of a file, into elements."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from pytest_hookharness.scenario_files.yaml.errors import Problems
from pytest_hookharness.scenario_files.yaml.nodes import (
    Element,
    ListNode,
    RefusedNode,
    ScalarNode,
    TableEntry,
    TableNode,
    join,
    shown,
)
from pytest_hookharness.scenario_files.yaml.parser import MAX_DEPTH, UNPRINTABLE


def elements_of(data: object, problems: Problems, path: str = "", depth: int = 0) -> Element:
    """Return the elements of a value; a value that JSON does not have becomes a problem."""
    match data:
        case str():
            return _text(data, problems, path)
        case None | bool() | int():
            return ScalarNode(value=data)
        case float():
            return _number(data, problems, path)
        case os.PathLike():
            path_text = os.fsdecode(cast("os.PathLike[str]", data))
            return ScalarNode(value=path_text, text=path_text, trusted=True)
        case Mapping() | Sequence() if depth >= MAX_DEPTH:
            problems.add((0, 0), path, f"nested more than {MAX_DEPTH} levels deep")
        case bytes() | bytearray():
            problems.add((0, 0), path, "bytes are not allowed; decode them to a text")
        case Mapping():
            return TableNode(
                entries=tuple(_entries(cast("Mapping[object, object]", data), problems, path, depth))
            )
        case Sequence():
            items = enumerate(cast("Sequence[object]", data))
            return ListNode(items=tuple(elements_of(x, problems, join(path, n), depth + 1) for n, x in items))
        case _:
            kind = type(data).__name__
            problems.add((0, 0), path, f"a value of type {kind} is not allowed", allowed=("JSON values",))
    return RefusedNode()


def _entries(
    data: Mapping[object, object], problems: Problems, path: str, depth: int
) -> Iterator[TableEntry]:
    for key, value in data.items():
        if isinstance(key, str):
            yield TableEntry(key=key, value=elements_of(value, problems, join(path, key), depth + 1))
        else:
            message = f"expected a text as key, got {type(key).__name__}"
            problems.add((0, 0), path, message, seen=repr(key)[:60])


def _text(text: str, problems: Problems, path: str) -> Element:
    if text.isprintable():
        return ScalarNode(value=str(text), text=str(text))
    # Half a surrogate pair cannot be encoded, so it cannot be written to a file or pipe.
    halves = [bad for bad in UNPRINTABLE.findall(text) if "\ud800" <= bad <= "\udfff"]
    if halves:
        problems.add((0, 0), path, f"{shown(text)} contains half a surrogate pair, which no file can contain")
        return RefusedNode()
    return ScalarNode(value=str(text), text=str(text))


def _number(number: float, problems: Problems, path: str) -> Element:
    if math.isfinite(number):
        return ScalarNode(value=number)
    problems.add((0, 0), path, f"{number} is not a number that JSON has")
    return RefusedNode()
