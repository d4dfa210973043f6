"""
Sizes of a file: a hook may compare a count with the number of its lines, or of the items of its lists.

A hook may allow the stop after as many turns as a plan has steps. No number in the plan says how many.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pytest_hookharness.model.protocol import Json

_LARGEST, _MOST = 1 << 20, 200


def find_sizes(text: bytes) -> frozenset[int]:
    """Return the numbers of lines, with and without empty ones, and JSON lengths; all without 0 and 1."""
    lines = text.count(b"\n")
    kept = sum(1 for line in text.splitlines() if line.strip())
    return frozenset({lines, kept, *_lengths(text)}) - {0, 1}


def _lengths(text: bytes) -> list[int]:
    if len(text) > _LARGEST or not text.lstrip().startswith((b"{", b"[")):
        return []
    try:
        found = _lengths_in(json.loads(text))
        return [length for length, _ in zip(found, range(_MOST), strict=False)]
    except (ValueError, RecursionError):
        return []


def _lengths_in(value: Json) -> Iterator[int]:
    if isinstance(value, Mapping):
        yield len(value)
        for item in value.values():
            yield from _lengths_in(item)
    elif isinstance(value, list):
        yield len(value)
        for item in value:
            yield from _lengths_in(item)
