"""
Progressions: how one value changes from repetition to repetition.

A progression also writes values of later repetitions. Random values are derived from a seed, so the same
probe always writes the same files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from hashlib import shake_256
from itertools import pairwise
from typing import assert_never

from pytest_hookharness.judging.state_diff import timestamps
from pytest_hookharness.judging.state_diff.number_formats import (
    FLOATING,
    UNSIGNED,
    Notation,
    SessionClock,
    format_number,
    hexadecimal_notation_of,
    notation_of,
    parse_number,
)
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import PartKind

_DIGESTS = frozenset({32, 40, 56, 64, 96, 128})
_DIGITS, _LOWER, _UPPER = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# The smallest difference of two times in a unit, in seconds; other units show it by their decimals.
_GRAINS = {"ns": 0.000001, "us": 0.000001, "ms": 0.001}
_DASH = re.compile("-")
_VERSIONED = re.compile(r"[^-]{8}-[^-]{4}-[^-]{4}-[^-]{4}-[^-]{12}")


@dataclass(frozen=True, slots=True)
class Counting:
    """A number that changes by the same step in each repetition; ``confirmed`` if that was seen twice."""

    step: Fraction
    notation: Notation
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Varying:
    """A number, perhaps of a process, without a regular step; its mean step if it is monotone, else 0."""

    step: Fraction
    notation: Notation
    process: bool = False


@dataclass(frozen=True, slots=True)
class CurrentTime:
    """A time near the clock, in ``s``, ``ms``, ``us`` or ``ns``, or as ``text``."""

    unit: str


@dataclass(frozen=True, slots=True)
class OtherTime:
    """A time that is not near the clock, written as text."""


@dataclass(frozen=True, slots=True)
class Random:
    """Letters and digits of an alphabet without a rule; ``digest`` if it looks like a content hash."""

    alphabet: str
    digest: bool = False


Progression = Counting | Varying | CurrentTime | OtherTime | Random


def of_numbers(
    texts: Sequence[str], clock: SessionClock, *, bare: bool = False
) -> Counting | Varying | CurrentTime | None:
    """Return how a number changes; ``None`` if its values have no common notation."""
    units = {timestamps.unit_of(text, clock) for text in texts}
    if len(units) == 1 and "" not in units:
        return CurrentTime(units.pop())
    notation = notation_of(texts, bare=bare)
    if notation is None:
        # Numbers with leading zeros that became longer are still numbers.
        notation = Notation(bare=bare) if max(map(len, texts)) < FLOATING else None
        return None if notation is None else Varying(Fraction(0), notation)
    values = [parse_number(text, notation) for text in texts]
    step = _step(values)
    if step is not None:
        return Counting(step, notation, confirmed=len(values) > 2)
    turned = not _monotone(values)
    return Varying(Fraction(0) if turned else (values[-1] - values[0]) / (len(values) - 1), notation)


def of_hexadecimals(texts: Sequence[str]) -> Counting | None:
    """Return how a hexadecimal number changes; ``None`` unless it counts."""
    notation = hexadecimal_notation_of(texts)
    if notation is None:
        return None
    # Two hexadecimal texts may be random; a third one with an equal step shows a counter.
    step = _step([parse_number(text, notation) for text in texts])
    return None if step is None or len(texts) < 3 else Counting(step, notation, confirmed=True)


def of_random(texts: Sequence[str]) -> Random | None:
    """Return the alphabet of random texts; ``None`` if they look like words."""
    letters = "".join(texts).replace("-", "")
    if len(set(map(len, texts))) > 1 or not any(map(_looks_random, texts)):
        return None
    if re.fullmatch("[0-9a-f]+|[0-9A-F]+", letters):
        alphabet = _DIGITS + ("abcdef" if letters == letters.lower() else "ABCDEF")
        return Random(alphabet, digest=len(texts[0]) in _DIGESTS)
    classes = [kind for kind in (_DIGITS, _LOWER, _UPPER, "_") if set(kind) & set(letters)]
    return Random("".join(classes))


def _looks_random(text: str) -> bool:
    digits = any(letter.isdigit() for letter in text)
    return (digits and not text.isdecimal()) or re.search("[a-z][A-Z]", text) is not None


def _step(values: Sequence[Fraction]) -> Fraction | None:
    """Return the step of regular numbers; ``None`` if there is none, or none that is not 0."""
    steps = [after - before for before, after in pairwise(values)]
    if all(step == steps[0] for step in steps):
        return steps[0] or None
    # Sums of floating-point numbers have only nearly equal steps.
    scale = max(1, *(abs(value) for value in values))
    floating = any(value.denominator > 10 ** (FLOATING - 2) for value in values)
    if floating and all(abs(step - steps[0]) < scale / 10**FLOATING for step in steps):
        return Fraction(round(steps[0] * 10**FLOATING), 10**FLOATING) or None
    return None


def _monotone(values: Sequence[Fraction]) -> bool:
    pairs = list(pairwise(values))
    return all(one <= other for one, other in pairs) or all(one >= other for one, other in pairs)


def without_step(progression: Counting) -> Varying:
    """Return a progression with the same notation that expects no step."""
    return Varying(Fraction(0), progression.notation)


def kind_of(progression: Progression) -> PartKind:
    """Return the kind of part that a progression makes."""
    match progression:
        case Counting():
            return PartKind.COUNTER
        case Varying(process=process):
            return PartKind.PROCESS if process else PartKind.NUMBER
        case CurrentTime():
            return PartKind.STAMP
        case OtherTime():
            return PartKind.OTHER
        case Random(digest=digest):
            return PartKind.DIGEST if digest else PartKind.IDENTIFIER
        case _:
            assert_never(progression)


def expression_of(progression: Progression, text: str) -> str:
    """Return a regular expression, without groups, for any value of a progression."""
    match progression:
        case Counting(notation=notation) | Varying(notation=notation):
            return notation.expression
        case CurrentTime(unit=timestamps.TEXT) | OtherTime():
            return f"(?:{timestamps.EXPRESSION})"
        case CurrentTime():
            return rf"{UNSIGNED}(?:\.\d+)?" if "." in text else UNSIGNED
        case Random(alphabet=alphabet):
            hexadecimal = set(alphabet.lower()) <= set("0123456789abcdef")
            one = "[0-9a-fA-F]" if hexadecimal else "[0-9A-Za-z_]"
            return "-".join(f"{one}{{{len(run)}}}" for run in text.split("-"))
        case _:
            assert_never(progression)


def extrapolate(progression: Progression, text: str, repetitions: int, seed: str, pace: float = 0.0) -> str:
    """Return the value some repetitions later; a current time advances by ``pace`` seconds in each."""
    match progression:
        case Counting(step=step, notation=notation) | Varying(step=step, notation=notation):
            moved = step * repetitions
            # An unchanged value keeps its own text, which no notation may reproduce exactly.
            return format_number(parse_number(text, notation) + moved, notation) if moved else text
        case CurrentTime(unit=unit) if pace and repetitions:
            return timestamps.age(text, unit, -repetitions * pace)
        case CurrentTime() | OtherTime():
            return text
        case Random():
            return another_random(progression, text, f"{seed}:{repetitions}")
        case _:
            assert_never(progression)


def extrapolate_in_batch(
    progression: Progression, text: str, repetition: int, of: int, seed: str, pace: float = 0.0
) -> str:
    """
    Return the value in one of several additions that a probe makes at once.

    Real repetitions never write the same process number or fine-grained time twice, and hooks may count
    different values, so these differ here as well. Times lie in the past, the last one at the present; with a
    pace each one is that many seconds after the one before.
    """
    match progression:
        case CurrentTime(unit=unit) if not pace:
            grain = _GRAINS.get(unit, 0.001 if "." in text else 0.0)
            return timestamps.age(text, unit, (of - repetition) * grain) if grain else text
        case Varying(step=step, notation=notation) if not step:
            return format_number(parse_number(text, notation) + repetition, notation)
        case _:
            return extrapolate(progression, text, repetition, seed, pace)


@cache
def _letters(alphabet: str) -> bytes:
    """Return the letter for each value of a random byte. A probe draws many texts, so this is a table."""
    return bytes(ord(alphabet[value % len(alphabet)]) for value in range(256))


def another_random(progression: Random, text: str, seed: str) -> str:
    """Return another random text with the same alphabet and length."""
    drawn = shake_256(f"{seed}:{text}".encode("utf-8", "surrogatepass")).digest(len(text))
    letters = bytearray(drawn.translate(_letters(progression.alphabet)))
    # These characters of a UUID are its version and its variant.
    kept = (14, 19) if _VERSIONED.fullmatch(text) else ()
    for place in (*(dash.start() for dash in _DASH.finditer(text)), *kept):
        letters[place] = ord(text[place])
    new = letters.decode("ascii")
    return new if new != text else another_random(progression, text, f"{seed}+")


def repetitions_ahead(progression: Progression, newest: str, text: str) -> Fraction | None:
    """Return how many repetitions a count is ahead of its newest value; ``None`` without a confirmed step."""
    if not isinstance(progression, Counting) or not progression.confirmed:
        return None
    count = (
        parse_number(text, progression.notation) - parse_number(newest, progression.notation)
    ) / progression.step
    near = Fraction(round(count))
    return near if progression.notation.most >= FLOATING and abs(count - near) < Fraction(1, 10**6) else count
