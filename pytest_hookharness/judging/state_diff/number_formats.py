"""Numbers as they are written in files, and the clock of a session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from pytest_hookharness.model.fast_dataclass import dataclass

# A longer number counts nothing, and Python refuses to parse very long ones.
LONGEST = 300
# Decimals that are compared; sums of floating point numbers are wrong in their last digits.
FLOATING = 12

SIGNED = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]\d{1,3}(?!\d))?"
UNSIGNED = r"\d+"
_HEXADECIMAL = re.compile(r"(0[xX])?([0-9a-f]+|[0-9A-F]+)")


@dataclass(frozen=True, slots=True)
class Notation:
    """
    How a number is written.

    Attributes:
        width: Digits (with sign) up to which zeros fill it; 0 without such zeros.
        least: Its smallest number of decimals.
        most: Its largest number of decimals.
        base: 10 or 16.
        prefix: What it starts with, such as ``0x``.
        plus: Whether positive numbers have a sign.
        bare: Whether it has digits only, because letters stand next to it.
    """

    width: int = 0
    least: int = 0
    most: int = 0
    base: int = 10
    prefix: str = ""
    upper: bool = False
    plus: bool = False
    bare: bool = False

    @property
    def expression(self) -> str:
        """A regular expression for a number in this notation."""
        if self.base != 10:
            return re.escape(self.prefix) + "[0-9a-fA-F]+"
        return UNSIGNED if self.bare else SIGNED


def parse_number(text: str, notation: Notation) -> Fraction:
    """Return the number that a text stands for."""
    if notation.base != 10:
        return Fraction(int(text.removeprefix(notation.prefix), notation.base))
    return Fraction(text)


def format_number(value: Fraction, notation: Notation) -> str:
    """Write a number in a notation."""
    scaled = round(abs(value) * 10**notation.most)
    whole, part = divmod(scaled, 10**notation.most)
    sign = "-" if value < 0 and scaled else "+" if notation.plus else ""
    form = "d" if notation.base == 10 else "X" if notation.upper else "x"
    digits = f"{whole:{form}}".zfill(notation.width - len(sign))
    decimals = f"{part:0{notation.most}d}" if notation.most else ""
    kept = decimals.rstrip("0")
    decimals = kept + "0" * (notation.least - len(kept))
    return f"{notation.prefix}{sign}{digits}" + (f".{decimals}" if decimals else "")


def notation_of(texts: Sequence[str], *, bare: bool = False) -> Notation | None:
    """Return the common notation of decimal numbers; ``None`` if they are written differently."""
    if any(len(text) > LONGEST for text in texts):
        return None
    places = [_places(text) for text in texts]
    width = _width([text.partition(".")[0].lstrip("+") for text in texts])
    if width is None:
        return None
    return Notation(
        width=width,
        least=min(*places, FLOATING),
        most=min(max(places), FLOATING),
        plus=all(text.startswith("+") for text in texts),
        bare=bare,
    )


def hexadecimal_notation_of(texts: Sequence[str]) -> Notation | None:
    """Return the common notation of hexadecimal numbers; ``None`` if one of them is none."""
    found = [_HEXADECIMAL.fullmatch(text) for text in texts]
    if any(len(text) > LONGEST for text in texts) or not all(found):
        return None
    prefixes = {match[1] or "" for match in found if match}
    width = _width([match[2] for match in found if match])
    if width is None or len(prefixes) != 1:
        return None
    digits = "".join(match[2] for match in found if match)
    return Notation(width=width, base=16, prefix=prefixes.pop(), upper=digits != digits.lower())


def _places(text: str) -> int:
    return FLOATING if "e" in text.lower() else len(text.partition(".")[2])


def _width(texts: Sequence[str]) -> int | None:
    padded = {len(text) for text in texts if text.lstrip("-").startswith("0") and len(text.lstrip("-")) > 1}
    if len(padded) > 1:
        return None
    return padded.pop() if padded else 0


# Seconds around a session in which a time still counts as one of it.
_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class SessionClock:
    """The time span of a session, from its beginning to the present, in seconds since 1970."""

    started: float
    now: float

    def spans(self, first: float, last: float | None = None) -> bool:
        """Return whether a time, or one in a span, lies in the session; 5 seconds outside are allowed."""
        return first <= self.now + _GRACE and (first if last is None else last) >= self.started - _GRACE
