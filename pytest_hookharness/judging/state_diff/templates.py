"""
Templates: the form of a text in every repetition.

A template is fixed text with slots, whose values change, and appended blocks, which grow by one chunk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_hookharness.judging.state_diff.progressions import Progression, expression_of
from pytest_hookharness.model.fast_dataclass import dataclass

# How many chunks are given back to the text after a block, if that text does not match otherwise.
_TRIES = 50


@dataclass(frozen=True, slots=True)
class TemplateSlot:
    """
    A place whose value changes.

    Attributes:
        texts: Its values, oldest first.
        progression: How the value changes.
        quiet: Whether it did not change, and only may because it is near the clock.
    """

    texts: tuple[str, ...]
    progression: Progression
    quiet: bool = False

    @property
    def newest(self) -> str:
        """The value now."""
        return self.texts[-1]

    @property
    def expression(self) -> str:
        """A regular expression for any value."""
        return expression_of(self.progression, self.newest)


@dataclass(frozen=True, slots=True)
class AppendedBlock:
    """
    A place that grows by one chunk per repetition.

    Attributes:
        shape: The form of every chunk; its slots hold the values of the newest chunks.
        chunks: All chunks of the newest text, in the order of the text.
        observed: How many of them were added in the observed repetitions.
        prepended: Whether a new chunk comes before the others.
    """

    shape: tuple[str | TemplateSlot, ...]
    chunks: tuple[str, ...]
    observed: int
    prepended: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """A regular expression for one chunk, with a group for each slot."""
        return re.compile(
            "".join(
                re.escape(item) if isinstance(item, str) else f"({item.expression})" for item in self.shape
            )
        )

    @property
    def slots(self) -> tuple[TemplateSlot, ...]:
        """The slots of a chunk."""
        return tuple(item for item in self.shape if isinstance(item, TemplateSlot))

    @property
    def newest(self) -> str:
        """The chunk that was added last."""
        return self.chunks[0 if self.prepended else -1]

    def with_new(self, chunks: list[str]) -> str:
        """Return the text of the block with more chunks, the oldest of them first."""
        return "".join([*reversed(chunks), *self.chunks] if self.prepended else [*self.chunks, *chunks])

    @property
    def without_newest(self) -> str:
        """The text of the block one repetition earlier."""
        return "".join(self.chunks[1:] if self.prepended else self.chunks[:-1])


Item = str | TemplateSlot | AppendedBlock


@dataclass(frozen=True, slots=True)
class Values:
    """
    The values of a text at the places of a template.

    Attributes:
        slots: The value of each slot, by the slot's index in the items.
        chunks: The chunks of each block, oldest first, by the block's index in the items.
    """

    slots: Mapping[int, str]
    chunks: Mapping[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class TemplateMismatch:
    """
    A text that does not match a template.

    Attributes:
        offset: Where it stops matching, in characters.
    """

    offset: int


@dataclass(frozen=True, slots=True)
class Template:
    """
    The form of a text in every repetition.

    Attributes:
        items: Fixed texts, slots and blocks, in order.
    """

    items: tuple[Item, ...]

    @property
    def text(self) -> str:
        """The newest text."""
        return self.written({})

    def written(self, changed: Mapping[int, str]) -> str:
        """Return the newest text with some items replaced."""
        return "".join(changed.get(place, newest_text(item)) for place, item in enumerate(self.items))

    def values(self, text: str) -> Values | TemplateMismatch:
        """Return the values of a text at the places of this template."""
        return _read(self.items, text, 0, 0)


def newest_text(item: Item) -> str:
    """Return the newest text of an item."""
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
            return _read_block(items, text, number, offset, slots)
    return Values(slots, {}) if offset == len(text) else TemplateMismatch(offset)


def _read_block(
    items: tuple[Item, ...], text: str, place: int, offset: int, slots: dict[int, str]
) -> Values | TemplateMismatch:
    block = items[place]
    assert isinstance(block, AppendedBlock)  # noqa: S101  # said to the type checker
    ends = [offset]
    pattern = block.pattern
    while (match := pattern.match(text, ends[-1])) is not None and match.end() > ends[-1]:
        ends.append(match.end())
    furthest = TemplateMismatch(offset)
    # The text after a block may look like a chunk itself, so shorter blocks are tried as well.
    for count in range(len(ends) - 1, max(-1, len(ends) - 1 - _TRIES), -1):
        rest = _read(items, text, place + 1, ends[count])
        if isinstance(rest, Values):
            chunks = [text[ends[number] : ends[number + 1]] for number in range(count)]
            ordered = tuple(reversed(chunks) if block.prepended else chunks)
            return Values({**slots, **rest.slots}, {place: ordered, **rest.chunks})
        furthest = max(furthest, rest, key=lambda mismatch: mismatch.offset)
    return furthest


def _common(one: str, other: str) -> int:
    return next(
        (place for place, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs),
        min(len(one), len(other)),
    )
