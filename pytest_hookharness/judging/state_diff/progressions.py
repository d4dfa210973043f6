"""
Motions: how one value goes from lap to lap.

Pure: what is random is drawn from a seed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import shake_256
from itertools import pairwise
from typing import assert_never

from pytest_hookharness.judging.state_diff import timestamps
from pytest_hookharness.judging.state_diff.number_formats import (
    FLOATING,
    UNSIGNED,
    Notation,
    SessionClock,
    hexadecimal_of,
    notation_of,
    read,
    write,
)
from pytest_hookharness.model.probes import PartKind

_DIGESTS = frozenset({32, 40, 56, 64, 96, 128})
_DIGITS, _LOWER, _UPPER = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Seconds between two times of their unit that can be told apart; others show it by their fraction.
_GRAINS = {"ns": 0.000001, "us": 0.000001, "ms": 0.001}
_VERSIONED = re.compile(r"[^-]{8}-[^-]{4}-[^-]{4}-[^-]{4}-[^-]{12}")


@dataclass(frozen=True, slots=True)
class Counting:
    """
    A number that moves by the same step each lap.

    Attributes:
        step: The step.
        notation: How it is written.
        sure: Whether the step was seen twice.
    """

    step: Fraction
    notation: Notation
    sure: bool


@dataclass(frozen=True, slots=True)
class Varying:
    """
    A number without a regular step.

    Attributes:
        step: Its mean step, if it never turned round; else 0.
        notation: How it is written.
        process: Whether its name says that it is the number of a process.
    """

    step: Fraction
    notation: Notation
    process: bool = False


@dataclass(frozen=True, slots=True)
class Stamped:
    """
    A moment near the clock.

    Attributes:
        unit: ``s``, ``ms``, ``us``, ``ns`` or ``text``.
    """

    unit: str


@dataclass(frozen=True, slots=True)
class TimestampProgression:
    """
    A text that says a time that is not near the clock.
    """


@dataclass(frozen=True, slots=True)
class Random:
    """
    Letters and digits without a rule.

    Attributes:
        alphabet: What they are drawn from.
        digest: Whether it looks like a hash of some content.
    """

    alphabet: str
    digest: bool = False


Motion = Counting | Varying | Stamped | TimestampProgression | Random


def motion_of_numbers(texts: Sequence[str], clock: SessionClock, *, bare: bool = False) -> Motion | None:
    """
    How a number moves; nothing if its values are not written alike.
    """
    units = {timestamps.unit_of(text, clock) for text in texts}
    if len(units) == 1 and "" not in units:
        return Stamped(units.pop())
    notation = notation_of(texts, bare=bare)
    if notation is None:
        # Numbers with zeros in front that grew wider are still numbers.
        notation = Notation(bare=bare) if max(map(len, texts)) < FLOATING else None
        return None if notation is None else Varying(Fraction(0), notation)
    values = [read(text, notation) for text in texts]
    step = _step(values)
    if step is not None:
        return Counting(step, notation, sure=len(values) > 2)
    turned = not _monotone(values)
    return Varying(Fraction(0) if turned else (values[-1] - values[0]) / (len(values) - 1), notation)


def motion_of_hexadecimals(texts: Sequence[str]) -> Counting | None:
    """
    How a hexadecimal number moves; nothing unless it counts.
    """
    notation = hexadecimal_of(texts)
    if notation is None:
        return None
    step = _step([read(text, notation) for text in texts])
    return None if step is None or len(texts) < 3 else Counting(step, notation, sure=True)


def motion_of_random(texts: Sequence[str]) -> Random | None:
    """
    The alphabet of some random texts; nothing if they look like words.
    """
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
    steps = [after - before for before, after in pairwise(values)]
    if all(step == steps[0] for step in steps):
        return steps[0]
    scale = max(1, *(abs(value) for value in values))
    floating = any(value.denominator > 10 ** (FLOATING - 2) for value in values)
    if floating and all(abs(step - steps[0]) < scale / 10**FLOATING for step in steps):
        return Fraction(round(steps[0] * 10**FLOATING), 10**FLOATING)
    return None


def _monotone(values: Sequence[Fraction]) -> bool:
    pairs = list(pairwise(values))
    return all(one <= other for one, other in pairs) or all(one >= other for one, other in pairs)


def relaxed(motion: Counting) -> Varying:
    """
    A number like another, of which no step is expected.
    """
    return Varying(Fraction(0), motion.notation)


def kind_of(motion: Motion) -> PartKind:
    """
    What a part is that moves so.
    """
    match motion:
        case Counting():
            return PartKind.COUNTER
        case Varying(process=process):
            return PartKind.PROCESS if process else PartKind.NUMBER
        case Stamped():
            return PartKind.STAMP
        case TimestampProgression():
            return PartKind.OTHER
        case Random(digest=digest):
            return PartKind.DIGEST if digest else PartKind.IDENTIFIER
        case _:
            assert_never(motion)


def expression_of(motion: Motion, text: str) -> str:
    """
    What matches any value of a motion, as a regular expression without groups.
    """
    match motion:
        case Counting(notation=notation) | Varying(notation=notation):
            return notation.expression
        case Stamped(unit=timestamps.TEXT) | TimestampProgression():
            return f"(?:{timestamps.EXPRESSION})"
        case Stamped():
            return rf"{UNSIGNED}(?:\.\d+)?" if "." in text else UNSIGNED
        case Random(alphabet=alphabet):
            hexadecimal = set(alphabet.lower()) <= set("0123456789abcdef")
            one = "[0-9a-fA-F]" if hexadecimal else "[0-9A-Za-z_]"
            return "-".join(f"{one}{{{len(run)}}}" for run in text.split("-"))
        case _:
            assert_never(motion)


def ahead(motion: Motion, text: str, repetitions: int, seed: str, pace: float = 0.0) -> str:
    """
    The value so many laps ahead; the present stays the present, or goes on at a pace in seconds for each lap.
    """
    match motion:
        case Counting(step=step, notation=notation) | Varying(step=step, notation=notation):
            moved = step * repetitions
            # A value that stays is not written anew, for it may be written as no other is.
            return write(read(text, notation) + moved, notation) if moved else text
        case Stamped(unit=unit) if pace and repetitions:
            return timestamps.aged(text, unit, -repetitions * pace)
        case Stamped() | TimestampProgression():
            return text
        case Random():
            return another(motion, text, f"{seed}:{repetitions}")
        case _:
            assert_never(motion)


def among(motion: Motion, text: str, repetition: int, of: int, seed: str, pace: float = 0.0) -> str:
    """
    The value in one of several additions that are made at once.

    No two additions of real laps have the same number or fine time, so hooks may count the different ones.
    Times lie in the past, the last one at the present; at a pace each is that much later than the one before.
    """
    match motion:
        case Stamped(unit=unit) if not pace:
            grain = _GRAINS.get(unit, 0.001 if "." in text else 0.0)
            return timestamps.aged(text, unit, (of - repetition) * grain) if grain else text
        case Varying(step=step, notation=notation) if not step:
            return write(read(text, notation) + repetition, notation)
        case _:
            return ahead(motion, text, repetition, seed, pace)


def another(motion: Random, text: str, seed: str) -> str:
    """
    Another random text of the same alphabet and length.
    """
    drawn = shake_256(f"{seed}:{text}".encode("utf-8", "surrogatepass")).digest(4 * len(text))
    numbers = [int.from_bytes(drawn[4 * place : 4 * place + 4], "big") for place in range(len(text))]
    letters = [motion.alphabet[number % len(motion.alphabet)] for number in numbers]
    # A UUID says its version and its variant.
    kept = (14, 19) if _VERSIONED.fullmatch(text) else ()
    new = "".join(old if old == "-" or place in kept else letters[place] for place, old in enumerate(text))
    return new if new != text else another(motion, text, f"{seed}+")


def lap_of(motion: Motion, newest: str, text: str) -> Fraction | None:
    """
    How many laps a count is ahead of its newest value; nothing for what does not count, or not for sure.
    """
    if not isinstance(motion, Counting) or not motion.sure:
        return None
    laps = (read(text, motion.notation) - read(newest, motion.notation)) / motion.step
    near = Fraction(round(laps))
    return near if motion.notation.most >= FLOATING and abs(laps - near) < Fraction(1, 10**6) else laps
