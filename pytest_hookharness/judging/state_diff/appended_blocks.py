"""
Regions that are older than the laps that were seen: their earlier chunks.

Pure.

A chunk that was there before tells two things: where the fixed text ends, and one more value of each
count in a chunk, which makes its step sure.

Alignment: which token of a text was which token of the text one lap before.

Pure.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import assert_never

from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.progressions import Counting, motion_of_numbers
from pytest_hookharness.judging.state_diff.templates import (
    Item,
    Region,
    Template,
    TemplateSlot,
    newest_of,
)

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


# How far back one looks, in characters.
_REACH = 64 * 1024


def with_older_chunks(template: Template, clock: SessionClock) -> Template:
    """
    The same template, with the chunks next to its regions made part of them.
    """
    items = list(template.items)
    place = 0
    while place < len(items):
        region = items[place]
        if isinstance(region, Region):
            items, place = _widened(items, place, region, clock)
        place += 1
    return Template(tuple(items))


def _widened(items: list[Item], place: int, region: Region, clock: SessionClock) -> tuple[list[Item], int]:
    around = items[place + 1 :] if region.front else items[:place][::-1]
    beside: list[Item] = []
    reach = 0
    for item in around:
        if reach > _REACH or not (isinstance(item, str) or (isinstance(item, TemplateSlot) and item.quiet)):
            break
        beside.append(item)
        reach += len(newest_of(item))
    text = "".join(map(newest_of, beside if region.front else beside[::-1]))
    chunks = _leading(region.pattern, text) if region.front else _trailing(region.pattern, text)
    left = _without(beside, chunks, front=region.front)
    while left is None:
        chunks = chunks[:-1] if region.front else chunks[1:]
        left = _without(beside, chunks, front=region.front)
    if region.front:
        wider = replace(region, chunks=(*region.chunks, *chunks))
        return [*items[:place], _surer(wider, clock), *left, *items[place + 1 + len(beside) :]], place
    wider = replace(region, chunks=(*chunks, *region.chunks))
    before = [*items[: place - len(beside)], *left[::-1]]
    return [*before, _surer(wider, clock), *items[place + 1 :]], len(before)


def _leading(pattern: re.Pattern[str], text: str) -> list[str]:
    found, end = [], 0
    while (match := pattern.match(text, end)) is not None and match.end() > end:
        found.append(match[0])
        end = match.end()
    return found


def _trailing(pattern: re.Pattern[str], text: str) -> list[str]:
    found: list[str] = []
    end = 0
    for match in pattern.finditer(text):
        inside = match.start() > 0 and text[match.start() - 1].isalnum() and match[0][:1].isalnum()
        if match.start() != end or (not found and inside):
            found = []
        if not inside or found:
            found.append(match[0])
            end = match.end()
    return found if end == len(text) else []


def _without(beside: Sequence[Item], chunks: Sequence[str], *, front: bool) -> list[Item] | None:
    # Items are listed from the region outwards; a slot is taken as a whole or not at all.
    size = sum(map(len, chunks))
    left = list(beside)
    while size and left:
        text = newest_of(left[0])
        if len(text) <= size:
            left.pop(0)
            size -= len(text)
        elif isinstance(left[0], str):
            left[0] = text[size:] if front else text[: len(text) - size]
            size = 0
        else:
            return None
    return left


def _surer(region: Region, clock: SessionClock) -> Region:
    """
    A region whose counts were compared with the chunk before, if there is one.
    """
    chunks = region.chunks[::-1] if region.front else region.chunks
    if len(chunks) <= region.born:
        return region
    match = region.pattern.fullmatch(chunks[-region.born - 1])
    if match is None:
        return region
    older = iter(match.groups())
    return replace(
        region,
        shape=tuple(
            item if isinstance(item, str) else _surer_slot(item, next(older), clock) for item in region.shape
        ),
    )


def _surer_slot(slot: TemplateSlot, older: str, clock: SessionClock) -> TemplateSlot:
    if not isinstance(slot.motion, Counting) or slot.motion.sure or slot.motion.notation.base != 10:
        return slot
    texts = (older, *slot.texts)
    motion = motion_of_numbers(texts, clock, bare=slot.motion.notation.bare)
    return slot if motion is None else TemplateSlot(texts, motion)
