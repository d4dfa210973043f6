"""
This module is concerned with alignment: which token of a text was which token of the text one lap before.

Middle floor: judging. Pure.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import assert_never

# For each token of the newer text its place in the older one; nothing for one that was inserted.
Places = list[int | None]

# What comparing everything with everything may cost.
_BOUND = 4_000_000


class Manner(enum.Enum):
    """
    What is tried first: equal beginnings, equal ends, or equal values.
    """

    BEGINNING = "beginning"
    END = "end"
    VALUES = "values"


def align(
    older: Sequence[Hashable],
    newer: Sequence[Hashable],
    values: tuple[Sequence[str], Sequence[str]],
    manner: Manner,
) -> Places | None:
    """
    Where the tokens of a text were before; nothing if some were taken away or changed their shape.

    Args:
        older: The shapes of the older text.
        newer: The shapes of the newer text.
        values: The tokens of both texts.
        manner: What is tried first.
    """
    if len(older) > len(newer):
        return None
    match manner:
        case Manner.BEGINNING:
            return _from_ends(older, newer, beginning=True)
        case Manner.END:
            return _from_ends(older, newer, beginning=False)
        case Manner.VALUES:
            return _by_values(older, newer, values)
        case _:
            assert_never(manner)


def _from_ends(older: Sequence[Hashable], newer: Sequence[Hashable], *, beginning: bool) -> Places | None:
    if beginning:
        head = _common(older, newer, len(older))
        tail = _common(older[::-1], newer[::-1], len(older) - head)
    else:
        tail = _common(older[::-1], newer[::-1], len(older))
        head = _common(older, newer, len(older) - tail)
    if head + tail < len(older):
        # There are several insertions. The other end may be part of one of them.
        head, tail = (head, 0) if beginning else (0, tail)
    between = _inserted(older[head : len(older) - tail], newer[head : len(newer) - tail])
    if between is None:
        return None
    return [
        *range(head),
        *(None if place is None else place + head for place in between),
        *range(len(older) - tail, len(older)),
    ]


def _common(one: Sequence[Hashable], other: Sequence[Hashable], most: int) -> int:
    for index in range(most):
        if one[index] != other[index]:
            return index
    return most


def _inserted(older: Sequence[Hashable], newer: Sequence[Hashable]) -> Places | None:
    places: Places = [None] * len(newer)
    if not older:
        return places
    if len(older) * len(newer) > _BOUND:
        return None
    for tag, start, end, first, _ in SequenceMatcher(None, older, newer, autojunk=False).get_opcodes():
        if tag == "equal":
            places[first : first + end - start] = range(start, end)
        elif tag != "insert":
            return None
    return places


def _by_values(
    older: Sequence[Hashable], newer: Sequence[Hashable], values: tuple[Sequence[str], Sequence[str]]
) -> Places | None:
    if len(older) * len(newer) > _BOUND:
        return None
    places: Places = [None] * len(newer)
    for tag, start, end, first, last in SequenceMatcher(None, *values, autojunk=False).get_opcodes():
        if tag == "equal":
            places[first:last] = range(start, end)
        elif tag != "insert":
            if end - start > last - first:
                return None
            between = _from_ends(older[start:end], newer[first:last], beginning=True)
            if between is None:
                return None
            places[first:last] = [None if place is None else place + start for place in between]
    return places
