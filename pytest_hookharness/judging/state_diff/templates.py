"""
Templates: the form of a text in every repetition.

A template is fixed text with slots, whose values change, and appended blocks, which grow by one chunk. The
values of one token in consecutive texts give the progression of its slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from posixpath import commonprefix

from pytest_hookharness.judging.state_diff import progressions, timestamps
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.timestamps import Token, TokenKind
from pytest_hookharness.model.fast_dataclass import dataclass

# How many chunks are given back to the text after a block, if that text does not match otherwise.
_TRIES = 50


@dataclass(frozen=True, slots=True)
class TemplateSlot:
    """
    A place whose value changes.

    Attributes:
        texts: Its values, oldest first.
        quiet: Whether it did not change, and only may because it is near the clock.
    """

    texts: tuple[str, ...]
    progression: progressions.Progression
    quiet: bool = False

    @property
    def newest(self) -> str:
        """The value now."""
        return self.texts[-1]

    @property
    def expression(self) -> str:
        """A regular expression for any value."""
        return progressions.expression_of(self.progression, self.newest)


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
    """The values of slots, and the chunks of blocks (oldest first), by their index in a template."""

    slots: Mapping[int, str]
    chunks: Mapping[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class TemplateMismatch:
    """The place, in characters, from which a text does not match a template."""

    offset: int


@dataclass(frozen=True, slots=True)
class Template:
    """The form of a text in every repetition."""

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
                return TemplateMismatch(offset + len(commonprefix([item, text[offset : offset + len(item)]])))
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


_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]\d{1,3})?", re.ASCII)
_DIGITS = re.compile(r"(\d+)", re.ASCII)
_PROCESS = re.compile(r"(?i)p?pid\W{0,4}$|process[_ ]?id\W{0,4}$")

Piece = str | TemplateSlot


def infer_pieces(tokens: Sequence[Token], clock: SessionClock, before: str) -> list[Piece] | None:
    """
    Return fixed text and slots for one token in consecutive texts; ``None`` if it changes by no known rule.

    A name in the text before the token may say what a number is.
    """
    texts = tuple(token.text for token in tokens)
    if len(set(texts)) == 1:
        return list(fixed_pieces(texts[0], clock, repetitions=len(texts)))
    if all(token.kind is TokenKind.TIME for token in tokens):
        near = all(timestamps.is_near(text, clock) for text in texts)
        return [
            TemplateSlot(
                texts, progressions.CurrentTime(timestamps.TEXT) if near else progressions.OtherTime()
            )
        ]
    if all(token.kind is TokenKind.UUID for token in tokens):
        random = progressions.of_random(texts)
        return None if random is None else [TemplateSlot(texts, random)]
    if all(map(_NUMBER.fullmatch, texts)):
        progression = progressions.of_numbers(texts, clock)
        if isinstance(progression, progressions.Counting | progressions.Varying) and _PROCESS.search(before):
            progression = progressions.Varying(Fraction(0), progression.notation, process=True)
        return None if progression is None else [TemplateSlot(texts, progression)]
    return _pieces_of_runs(texts, clock)


def fixed_pieces(text: str, clock: SessionClock, repetitions: int) -> Iterator[Piece]:
    """
    Yield fixed text, with a quiet slot for each time near the clock.

    Such a time did not change only because all repetitions took place in the same second.
    """
    last = 0
    for timestamp in timestamps.timestamps_in(text, clock):
        if timestamp.start > last:
            yield text[last : timestamp.start]
        yield TemplateSlot(
            (text[timestamp.start : timestamp.end],) * repetitions,
            progressions.CurrentTime(timestamp.unit),
            quiet=True,
        )
        last = timestamp.end
    if last < len(text):
        yield text[last:]


def _pieces_of_runs(texts: tuple[str, ...], clock: SessionClock) -> list[Piece] | None:
    prefixed = all(text.startswith(("0x", "0X")) for text in texts)
    counted = None if prefixed else _numbers_inside(texts, clock)
    # A number at one place of a word is a counter; at several places the word is rather random.
    if counted is not None and sum(isinstance(piece, TemplateSlot) for piece in counted) < 2:
        return counted
    hexadecimal = progressions.of_hexadecimals(texts)
    if hexadecimal is not None:
        return [TemplateSlot(texts, hexadecimal)]
    prefix = commonprefix(texts)
    # One common letter may be chance, and hexadecimal texts have no name as a prefix.
    if len(prefix) < 2 or len(texts[0]) - len(prefix) < 4 or _is_hexadecimal(texts):
        prefix = ""
    rests = tuple(text.removeprefix(prefix) for text in texts)
    random = progressions.of_random(rests) if len(texts[0]) >= 6 else None
    if random is None:
        return counted
    return [*([prefix] if prefix else []), TemplateSlot(rests, random)]


def _is_hexadecimal(texts: tuple[str, ...]) -> bool:
    return all(re.fullmatch("[0-9a-f]{8,}|[0-9A-F]{8,}", text) for text in texts)


def _numbers_inside(texts: tuple[str, ...], clock: SessionClock) -> list[Piece] | None:
    split = [_DIGITS.split(text) for text in texts]
    if len(set(map(len, split))) > 1:
        return None
    pieces: list[Piece] = []
    for place, values in enumerate(zip(*split, strict=True)):
        if len(set(values)) == 1:
            pieces += [values[0]] if values[0] else []
        elif place % 2 == 0:
            return None
        else:
            progression = progressions.of_numbers(values, clock, bare=True)
            if progression is None or isinstance(progression, progressions.Random):
                return None
            pieces.append(TemplateSlot(values, progression))
    return pieces
