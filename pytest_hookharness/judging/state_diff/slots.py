"""
Slots: what the values of one token, lap by lap, tell of its motion.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from pytest_hookharness.judging.state_diff import timestamps
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.progressions import (
    Random,
    Stamped,
    TimestampProgression,
    Varying,
    motion_of_hexadecimals,
    motion_of_numbers,
    motion_of_random,
)
from pytest_hookharness.judging.state_diff.templates import TemplateSlot
from pytest_hookharness.judging.state_diff.timestamps import TimestampKind, Token

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]\d{1,3})?", re.ASCII)
_DIGITS = re.compile(r"(\d+)", re.ASCII)
_PROCESS = re.compile(r"(?i)p?pid\W{0,4}$|process[_ ]?id\W{0,4}$")

Piece = str | TemplateSlot


def pieces_of(tokens: Sequence[Token], clock: SessionClock, before: str) -> list[Piece] | None:
    """
    A token that was followed over some laps as fixed text and slots; nothing if no motion is seen in it.

    Args:
        tokens: The token at each lap, oldest first.
        clock: The clock of the session.
        before: The text before it, for names that say what a number is.
    """
    texts = tuple(token.text for token in tokens)
    if len(set(texts)) == 1:
        return list(still(texts[0], clock, repetitions=len(texts)))
    if all(token.kind is TimestampKind.TIME for token in tokens):
        near = all(timestamps.is_near(text, clock) for text in texts)
        return [TemplateSlot(texts, Stamped(timestamps.TEXT) if near else TimestampProgression())]
    if all(token.kind is TimestampKind.UUID for token in tokens):
        random = motion_of_random(texts)
        return None if random is None else [TemplateSlot(texts, random)]
    if all(map(_NUMBER.fullmatch, texts)):
        motion = motion_of_numbers(texts, clock)
        if motion is not None and not isinstance(motion, Stamped) and _PROCESS.search(before):
            varying = motion if isinstance(motion, Varying) else Varying(Fraction(0), motion.notation)  # type: ignore[union-attr]
            motion = replace(varying, step=Fraction(0), process=True)
        return None if motion is None else [TemplateSlot(texts, motion)]
    return _pieces_of_runs(texts, clock)


def still(text: str, clock: SessionClock, repetitions: int) -> Iterator[Piece]:
    """
    Fixed text, with quiet slots for what is near the clock: it may have been written anew in the same second.
    """
    last = 0
    for stamp in timestamps.stamps_in(text, clock):
        if stamp.start > last:
            yield text[last : stamp.start]
        yield TemplateSlot((text[stamp.start : stamp.end],) * repetitions, Stamped(stamp.unit), quiet=True)
        last = stamp.end
    if last < len(text):
        yield text[last:]


def _pieces_of_runs(texts: tuple[str, ...], clock: SessionClock) -> list[Piece] | None:
    prefixed = all(text.startswith(("0x", "0X")) for text in texts)
    counted = None if prefixed else _numbers_inside(texts, clock)
    if counted is not None and sum(isinstance(piece, TemplateSlot) for piece in counted) < 2:
        return counted
    hexadecimal = motion_of_hexadecimals(texts)
    if hexadecimal is not None:
        return [TemplateSlot(texts, hexadecimal)]
    prefix = _common(texts)
    # One letter in common may be chance; of what is hexadecimal throughout nothing is a name.
    if len(prefix) < 2 or len(texts[0]) - len(prefix) < 4 or _is_hexadecimal(texts):
        prefix = ""
    rests = tuple(text.removeprefix(prefix) for text in texts)
    random = motion_of_random(rests) if len(texts[0]) >= 6 else None
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
            motion = motion_of_numbers(values, clock, bare=True)
            if motion is None or isinstance(motion, Random):
                return None
            pieces.append(TemplateSlot(values, motion))
    return pieces
