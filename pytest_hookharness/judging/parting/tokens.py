"""
This module is concerned with tokens: the pieces of a text, and their shapes, which leave out the values.

Middle floor: judging. Pure. The tokens of a text, joined, are the text.
"""

from __future__ import annotations

import enum
import re
from typing import NamedTuple

from pytest_hookharness.judging.parting import stamps

# None of these is ever inside a longer token, so a text may be cut before and behind them.
BOUNDS = '\n"{}[]()=;|<>'


class Kind(enum.Enum):
    """
    What a token is by its looks.
    """

    TIME = "time"
    UUID = "uuid"
    NUMBER = "number"
    RUN = "run"
    OTHER = "other"


class Reading(enum.Enum):
    """
    How texts are cut and which tokens may stand for each other, from strict to lenient.

    ``PLAIN``: numbers for numbers, also inside words. ``RANDOM``: long runs of letters and digits for
    runs of one length. ``HEXADECIMAL``: hexadecimal numbers for one another. ``LETTERS``: nothing, and
    every character is a token.
    """

    PLAIN = "plain"
    RANDOM = "random"
    HEXADECIMAL = "hexadecimal"
    LETTERS = "letters"


class Token(NamedTuple):
    """
    A piece of a text.

    Attributes:
        kind: What it is by its looks.
        text: The piece.
    """

    kind: Kind
    text: str


def _expression(word: str) -> re.Pattern[str]:
    uuid = r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z])"
    sign = r"(?:(?<![\w)\]\"'.+-])[-+])?"
    number = rf"{sign}\d+(?:\.\d+)?(?:[eE][-+]\d{{1,3}})?(?![{word}])"
    return re.compile(
        rf"(?P<time>(?=[0-9MTWFS])(?:{stamps.EXPRESSION}))|(?P<uuid>{uuid})|(?P<number>{number})"
        rf"|(?P<run>[{word}]+)|(?P<other>\r\n|[ \t]+|[^\x00-\x7f]+|[\x00-\x7f])",
        re.ASCII,
    )


_CUT = {
    # An underscore joins words, but may be part of what is random.
    Reading.PLAIN: _expression("A-Za-z0-9"),
    Reading.HEXADECIMAL: _expression("A-Za-z0-9"),
    Reading.RANDOM: _expression("A-Za-z0-9_"),
}
_KINDS = {kind.value: kind for kind in Kind}
_DIGITS = re.compile(r"[0-9]+")
_HEXADECIMAL = re.compile(r"(?:0[xX])?[0-9a-fA-F]+")
_LONG = 6


def cut(text: str, reading: Reading) -> list[Token]:
    """
    The tokens of a text.
    """
    if reading is Reading.LETTERS:
        return [Token(Kind.OTHER, letter) for letter in text]
    return [Token(_KINDS[match.lastgroup or ""], match.group()) for match in _CUT[reading].finditer(text)]


def shape(token: Token, reading: Reading) -> str:
    """
    What two tokens have in common if one may stand for the other.
    """
    kind, text = token
    if kind is Kind.OTHER:
        return text
    if kind is Kind.TIME or kind is Kind.UUID:
        return f"\0{kind.value}"
    if reading is Reading.RANDOM and len(text) >= _LONG and (kind is Kind.RUN or len(text) > _LONG):
        # Chance may make a run of digits alone, and then it looks like a number.
        if kind is Kind.RUN or text.isdecimal():
            return f"\0{len(text)}"
    elif reading is Reading.HEXADECIMAL and _HEXADECIMAL.fullmatch(text):
        return "\0hexadecimal"
    return f"\0{kind.value}" if kind is Kind.NUMBER else _DIGITS.sub("\0", text)
