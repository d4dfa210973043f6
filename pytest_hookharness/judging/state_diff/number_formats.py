"""
The clock of a session: which times are near enough to be stamps of it.

Pure: the present is handed in.

Numerals: numbers as they are written in files, and how to write others alike.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

# A longer one is no count of anything, and Python refuses to read some of them.
LONGEST = 300
# Sums of floating point numbers are off in the last of their digits.
FLOATING = 12

SIGNED = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]\d{1,3}(?!\d))?"
UNSIGNED = r"\d+"
_HEXADECIMAL = re.compile(r"(0[xX])?([0-9a-f]+|[0-9A-F]+)")


@dataclass(frozen=True, slots=True)
class Notation:
    """
    How a number is written.

    Attributes:
        width: Digits (and sign) that zeros fill it up to; 0 if none do.
        least: Decimals it has at least.
        most: Decimals it has at most.
        base: 10 or 16.
        prefix: What leads it: ``0x``.
        upper: Whether hexadecimal digits are capitals.
        plus: Whether numbers above zero have a sign.
        bare: Whether it is nothing but digits, because letters stand beside it.
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
        """
        What matches a number that is written so.
        """
        if self.base != 10:
            return re.escape(self.prefix) + "[0-9a-fA-F]+"
        return UNSIGNED if self.bare else SIGNED


def read(text: str, notation: Notation) -> Fraction:
    """
    The number that a text says.
    """
    if notation.base != 10:
        return Fraction(int(text.removeprefix(notation.prefix), notation.base))
    return Fraction(text)


def write(value: Fraction, notation: Notation) -> str:
    """
    A number, written like its kin.
    """
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
    """
    How some decimal numbers are written; nothing if they are not written alike.
    """
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


def hexadecimal_of(texts: Sequence[str]) -> Notation | None:
    """
    How some hexadecimal numbers are written; nothing if one of them is none.
    """
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


_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class SessionClock:
    """
    The time that a session spans.

    Attributes:
        started: Its beginning, in seconds of the epoch.
        now: The present, in seconds of the epoch.
    """

    started: float
    now: float

    def spans(self, first: float, last: float | None = None) -> bool:
        """
        Whether a moment, or some moment of a span, lies within the session, with five seconds' grace.
        """
        return first <= self.now + _GRACE and (first if last is None else last) >= self.started - _GRACE
