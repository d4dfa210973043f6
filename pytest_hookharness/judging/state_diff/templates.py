"""
Templates: what a text looks like at any lap.

Pure. A template is fixed text with slots, whose values move, and regions, which
get one chunk more each lap.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_hookharness.judging.state_diff.progressions import Motion, expression_of

# How far from its greatest length a region is looked for.
_TRIES = 50


@dataclass(frozen=True, slots=True)
class TemplateSlot:
    """
    A place whose value moves.

    Attributes:
        texts: Its values, oldest first.
        motion: How it moves.
        quiet: Whether it has not moved, and only may because it is near the clock.
    """

    texts: tuple[str, ...]
    motion: Motion
    quiet: bool = False

    @property
    def newest(self) -> str:
        """
        The value now.
        """
        return self.texts[-1]

    @property
    def expression(self) -> str:
        """
        What matches any value.
        """
        return expression_of(self.motion, self.newest)


@dataclass(frozen=True, slots=True)
class Region:
    """
    A place that gets one chunk more each lap.

    Attributes:
        shape: What every chunk looks like; the values of its slots are those of the newest chunks.
        chunks: All chunks there are now, as they stand in the text.
        born: How many of them came in the laps that were seen.
        front: Whether a new chunk comes before the others.
    """

    shape: tuple[str | TemplateSlot, ...]
    chunks: tuple[str, ...]
    born: int
    front: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """
        What matches one chunk; a group for each slot.
        """
        return re.compile(
            "".join(
                re.escape(item) if isinstance(item, str) else f"({item.expression})" for item in self.shape
            )
        )

    @property
    def slots(self) -> tuple[TemplateSlot, ...]:
        """
        The slots of a chunk.
        """
        return tuple(item for item in self.shape if isinstance(item, TemplateSlot))

    @property
    def newest(self) -> str:
        """
        The chunk that came last.
        """
        return self.chunks[0 if self.front else -1]

    def with_new(self, chunks: list[str]) -> str:
        """
        The text of the region with more chunks, the oldest of them first.
        """
        return "".join([*reversed(chunks), *self.chunks] if self.front else [*self.chunks, *chunks])

    @property
    def without_newest(self) -> str:
        """
        The text of the region one lap ago.
        """
        return "".join(self.chunks[1:] if self.front else self.chunks[:-1])


Item = str | TemplateSlot | Region


@dataclass(frozen=True, slots=True)
class Values:
    """
    What a text has in the places of a template.

    Attributes:
        slots: The value of each slot, by the place of the slot among the items.
        chunks: The chunks of each region, the oldest first.
    """

    slots: Mapping[int, str]
    chunks: Mapping[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class TemplateMismatch:
    """
    Where a text stops to fit a template.

    Attributes:
        offset: The place.
    """

    offset: int


@dataclass(frozen=True, slots=True)
class Template:
    """
    What a text looks like at any lap.

    Attributes:
        items: Fixed texts, slots and regions, in their order.
    """

    items: tuple[Item, ...]

    @property
    def text(self) -> str:
        """
        The newest text.
        """
        return self.written({})

    def written(self, changed: Mapping[int, str]) -> str:
        """
        The newest text, with some items replaced.
        """
        return "".join(changed.get(place, newest_of(item)) for place, item in enumerate(self.items))

    def values(self, text: str) -> Values | TemplateMismatch:
        """
        What a text has in the places of the template.
        """
        return _read(self.items, text, 0, 0)


def newest_of(item: Item) -> str:
    """
    The text of an item now.
    """
    if isinstance(item, str):
        return item
    return item.newest if isinstance(item, TemplateSlot) else "".join(item.chunks)


def _read(items: tuple[Item, ...], text: str, place: int, offset: int) -> Values | TemplateMismatch:
    slots: dict[int, str] = {}
    for number in range(place, len(items)):
        item = items[number]
        if isinstance(item, str):
            if not text.startswith(item, offset):
                return TemplateMismatch(offset + _common(item, text[offset : offset + len(item)]))
            offset += len(item)
        elif isinstance(item, TemplateSlot):
            match = re.compile(item.expression).match(text, offset)
            if match is None:
                return TemplateMismatch(offset)
            slots[number] = match[0]
            offset = match.end()
        else:
            return _read_region(items, text, number, offset, slots)
    return Values(slots, {}) if offset == len(text) else TemplateMismatch(offset)


def _read_region(
    items: tuple[Item, ...], text: str, place: int, offset: int, slots: dict[int, str]
) -> Values | TemplateMismatch:
    region = items[place]
    assert isinstance(region, Region)  # noqa: S101  # said to the type checker
    ends = [offset]
    pattern = region.pattern
    while (match := pattern.match(text, ends[-1])) is not None and match.end() > ends[-1]:
        ends.append(match.end())
    furthest = TemplateMismatch(offset)
    # What follows may look like a chunk itself.
    for count in range(len(ends) - 1, max(-1, len(ends) - 1 - _TRIES), -1):
        rest = _read(items, text, place + 1, ends[count])
        if isinstance(rest, Values):
            chunks = [text[ends[number] : ends[number + 1]] for number in range(count)]
            ordered = tuple(reversed(chunks) if region.front else chunks)
            return Values({**slots, **rest.slots}, {place: ordered, **rest.chunks})
        furthest = max(furthest, rest, key=lambda mismatch: mismatch.offset)
    return furthest


def _common(one: str, other: str) -> int:
    return next(
        (place for place, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs),
        min(len(one), len(other)),
    )
