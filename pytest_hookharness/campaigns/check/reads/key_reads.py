"""A read of the input, in any language, and how several reads that replace each other are one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass

# The keys that lead to a value of the input, from the top.
KeyPath: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyRead:
    """
    One value that a script takes from its input.

    Attributes:
        paths: Where it looks for the value, each of them in the place of the others.
        name: The variable that gets the value; empty if there is none, or if that is unknown.
        line: Its line in the script, from 1; 0 if that is unknown.
    """

    paths: frozenset[KeyPath]
    name: str = ""
    line: int = 0


def join_reads(reads: Iterable[KeyRead]) -> Iterator[frozenset[KeyPath]]:
    """Yield the places of values: those for one variable together, as later ones stand in for nothing."""
    named: dict[str, frozenset[KeyPath]] = {}
    alone: list[frozenset[KeyPath]] = []
    for read in reads:
        if read.name:
            named[read.name] = named.get(read.name, frozenset()) | read.paths
        else:
            alone.append(read.paths)
    found = {paths: None for paths in (*named.values(), *alone) if paths}
    # What a function returns may be part of a larger expression.
    yield from (paths for paths in found if not any(paths < other for other in found))
