"""Slots: from the values of one token in consecutive texts to its progression."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from pytest_hookharness.judging.state_diff import timestamps
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.progressions import (
    Counting,
    CurrentTime,
    OtherTime,
    Random,
    Varying,
    progression_of_hexadecimals,
    progression_of_numbers,
    progression_of_random,
)
from pytest_hookharness.judging.state_diff.templates import TemplateSlot
from pytest_hookharness.judging.state_diff.timestamps import Token, TokenKind

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]\d{1,3})?", re.ASCII)
_DIGITS = re.compile(r"(\d+)", re.ASCII)
_PROCESS = re.compile(r"(?i)p?pid\W{0,4}$|process[_ ]?id\W{0,4}$")

Piece = str | TemplateSlot


def infer_pieces(tokens: Sequence[Token], clock: SessionClock, before: str) -> list[Piece] | None:
    """
    Return fixed text and slots for one token that was followed through several texts.

    Args:
        tokens: The token in each text, oldest first.
        clock: The clock of the session.
        before: The text before the token; a name in it may say what a number is.

    Returns:
        The pieces in order; ``None`` if a value changes without a recognised progression.
    """
    texts = tuple(token.text for token in tokens)
    if len(set(texts)) == 1:
        return list(fixed_pieces(texts[0], clock, repetitions=len(texts)))
    if all(token.kind is TokenKind.TIME for token in tokens):
        near = all(timestamps.is_near(text, clock) for text in texts)
        return [TemplateSlot(texts, CurrentTime(timestamps.TEXT) if near else OtherTime())]
    if all(token.kind is TokenKind.UUID for token in tokens):
        random = progression_of_random(texts)
        return None if random is None else [TemplateSlot(texts, random)]
    if all(map(_NUMBER.fullmatch, texts)):
        progression = progression_of_numbers(texts, clock)
        if isinstance(progression, Counting | Varying) and _PROCESS.search(before):
            progression = Varying(Fraction(0), progression.notation, process=True)
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
            (text[timestamp.start : timestamp.end],) * repetitions, CurrentTime(timestamp.unit), quiet=True
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
    hexadecimal = progression_of_hexadecimals(texts)
    if hexadecimal is not None:
        return [TemplateSlot(texts, hexadecimal)]
    prefix = _common(texts)
    # One common letter may be chance, and hexadecimal texts have no name as a prefix.
    if len(prefix) < 2 or len(texts[0]) - len(prefix) < 4 or _is_hexadecimal(texts):
        prefix = ""
    rests = tuple(text.removeprefix(prefix) for text in texts)
    random = progression_of_random(rests) if len(texts[0]) >= 6 else None
    if random is None:
        return counted
    return [*([prefix] if prefix else []), TemplateSlot(rests, random)]


def _common(texts: tuple[str, ...]) -> str:
    pairs = enumerate(zip(*texts, strict=False))
    return texts[0][: next((place for place, letters in pairs if len(set(letters)) > 1), 0)]


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
            progression = progression_of_numbers(values, clock, bare=True)
            if progression is None or isinstance(progression, Random):
                return None
            pieces.append(TemplateSlot(values, progression))
    return pieces
