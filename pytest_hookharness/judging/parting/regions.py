"""
This module is concerned with regions that are older than the laps that were seen: their earlier chunks.

Middle floor: judging. Pure.

A chunk that was there before tells two things: where the fixed text ends, and one more value of each
count in a chunk, which makes its step sure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pytest_hookharness.judging.parting.clock import Clock
from pytest_hookharness.judging.parting.motions import Counting, motion_of_numbers
from pytest_hookharness.judging.parting.templates import Item, Region, Slot, Template, newest_of

# How far back one looks, in characters.
_REACH = 64 * 1024


def with_older_chunks(template: Template, clock: Clock) -> Template:
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


def _widened(items: list[Item], place: int, region: Region, clock: Clock) -> tuple[list[Item], int]:
    around = items[place + 1 :] if region.front else items[:place][::-1]
    beside: list[Item] = []
    reach = 0
    for item in around:
        if reach > _REACH or not (isinstance(item, str) or (isinstance(item, Slot) and item.quiet)):
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


def _surer(region: Region, clock: Clock) -> Region:
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


def _surer_slot(slot: Slot, older: str, clock: Clock) -> Slot:
    if not isinstance(slot.motion, Counting) or slot.motion.sure or slot.motion.notation.base != 10:
        return slot
    texts = (older, *slot.texts)
    motion = motion_of_numbers(texts, clock, bare=slot.motion.notation.bare)
    return slot if motion is None else Slot(texts, motion)
