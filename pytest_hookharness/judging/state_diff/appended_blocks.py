"""
Alignment of consecutive texts, and chunks that are older than the observed repetitions.

Older chunks show where the fixed text ends, and add one more value to each count in a chunk, which confirms
its step.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import assert_never

from pytest_hookharness.judging.state_diff import progressions
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.templates import (
    AppendedBlock,
    Item,
    Template,
    TemplateSlot,
    newest_text,
)

# For each token of the newer text its index in the older one; None for one that was inserted.
Alignment = list[int | None]

# The largest comparison of two token lists, as the product of their lengths.
_BOUND = 4_000_000


class AlignFirst(enum.Enum):
    """What is aligned first: equal beginnings, equal ends, or equal values."""

    BEGINNING = "beginning"
    END = "end"
    VALUES = "values"


def align(
    older: Sequence[Hashable],
    newer: Sequence[Hashable],
    values: tuple[Sequence[str], Sequence[str]],
    first: AlignFirst,
) -> Alignment | None:
    """Return where tokens, given by shape and value, were before; ``None`` if one was removed or reshaped."""
    if len(older) > len(newer):
        return None
    match first:
        case AlignFirst.BEGINNING:
            return _from_ends(older, newer, beginning=True)
        case AlignFirst.END:
            return _from_ends(older, newer, beginning=False)
        case AlignFirst.VALUES:
            return _by_values(older, newer, values)
        case _:
            assert_never(first)


def _from_ends(older: Sequence[Hashable], newer: Sequence[Hashable], *, beginning: bool) -> Alignment | None:
    if beginning:
        head = _common(older, newer, len(older))
        tail = _common(older[::-1], newer[::-1], len(older) - head)
    else:
        tail = _common(older[::-1], newer[::-1], len(older))
        head = _common(older, newer, len(older) - tail)
    if head + tail < len(older):
        # There are several insertions, and the other end may be part of one of them.
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


def _inserted(older: Sequence[Hashable], newer: Sequence[Hashable]) -> Alignment | None:
    places: Alignment = [None] * len(newer)
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
) -> Alignment | None:
    if len(older) * len(newer) > _BOUND:
        return None
    places: Alignment = [None] * len(newer)
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


# How far from a block older chunks are searched, in characters.
_REACH = 64 * 1024


def with_older_chunks(template: Template, clock: SessionClock) -> Template:
    """Return the template with the chunks next to its blocks made part of them."""
    items = list(template.items)
    place = 0
    while place < len(items):
        block = items[place]
        if isinstance(block, AppendedBlock):
            items, place = _widened(items, place, block, clock)
        place += 1
    return Template(tuple(items))


def _widened(
    items: list[Item], place: int, block: AppendedBlock, clock: SessionClock
) -> tuple[list[Item], int]:
    around = items[place + 1 :] if block.prepended else items[:place][::-1]
    beside: list[Item] = []
    reach = 0
    for item in around:
        if reach > _REACH or not (isinstance(item, str) or (isinstance(item, TemplateSlot) and item.quiet)):
            break
        beside.append(item)
        reach += len(newest_text(item))
    text = "".join(map(newest_text, beside if block.prepended else beside[::-1]))
    chunks = _leading(block.pattern, text) if block.prepended else _trailing(block.pattern, text)
    left = _without(beside, chunks, prepended=block.prepended)
    # A quiet slot may cross the edge of the oldest chunk; then that chunk stays outside of the block.
    while left is None:
        chunks = chunks[:-1] if block.prepended else chunks[1:]
        left = _without(beside, chunks, prepended=block.prepended)
    if block.prepended:
        wider = replace(block, chunks=(*block.chunks, *chunks))
        return [*items[:place], _confirm_steps(wider, clock), *left, *items[place + 1 + len(beside) :]], place
    wider = replace(block, chunks=(*chunks, *block.chunks))
    before = [*items[: place - len(beside)], *left[::-1]]
    return [*before, _confirm_steps(wider, clock), *items[place + 1 :]], len(before)


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
        # A match that starts in the middle of a word is no chunk.
        inside = match.start() > 0 and text[match.start() - 1].isalnum() and match[0][:1].isalnum()
        if match.start() != end or (not found and inside):
            found = []
        if not inside or found:
            found.append(match[0])
            end = match.end()
    return found if end == len(text) else []


def _without(beside: Sequence[Item], chunks: Sequence[str], *, prepended: bool) -> list[Item] | None:
    # Items are listed from the block outwards. A slot is moved into a chunk as a whole or not at all.
    size = sum(map(len, chunks))
    left = list(beside)
    while size and left:
        text = newest_text(left[0])
        if len(text) <= size:
            left.pop(0)
            size -= len(text)
        elif isinstance(left[0], str):
            left[0] = text[size:] if prepended else text[: len(text) - size]
            size = 0
        else:
            return None
    return left


def _confirm_steps(block: AppendedBlock, clock: SessionClock) -> AppendedBlock:
    """Return a block whose counts were compared with the last chunk before the observed repetitions."""
    chunks = block.chunks[::-1] if block.prepended else block.chunks
    if len(chunks) <= block.observed:
        return block
    match = block.pattern.fullmatch(chunks[-block.observed - 1])
    if match is None:
        return block
    older = iter(match.groups())
    return replace(
        block,
        shape=tuple(
            item if isinstance(item, str) else _confirm_step(item, next(older), clock) for item in block.shape
        ),
    )


def _confirm_step(slot: TemplateSlot, older: str, clock: SessionClock) -> TemplateSlot:
    if (
        not isinstance(slot.progression, progressions.Counting)
        or slot.progression.confirmed
        or slot.progression.notation.base != 10
    ):
        return slot
    texts = (older, *slot.texts)
    progression = progressions.of_numbers(texts, clock, bare=slot.progression.notation.bare)
    return slot if progression is None else TemplateSlot(texts, progression)
