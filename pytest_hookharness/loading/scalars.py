"""
This module is concerned with plain scalars: which of them are not texts, by the core rules of YAML 1.2.

Middle floor. ``on``, ``no``, ``12:30`` and dates are texts here, as a reader expects; PyYAML's own
rules are those of YAML 1.1, where they are not.
"""

from __future__ import annotations

import math
import re

FIRST = frozenset("+-.0123456789~nNtTfF")
WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
DECIMAL = re.compile(r"[-+]?[0-9]+")
OCTAL = re.compile(r"0o[0-7]+")
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
ENDLESS = re.compile(r"[-+]?(?:\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN")
MOST_DIGITS = 300


def resolve(text: str) -> bool | int | float | str | None:
    """
    The value of a scalar that stands without quotes.

    Raises:
        ValueError: It is a number that JSON cannot carry.
    """
    if text and text[0] not in FIRST:
        return text
    if text in WORDS:
        return WORDS[text]
    if ENDLESS.fullmatch(text):
        raise ValueError("is not a number that JSON can carry; put it in quotes for a text")
    number = _number(text)
    if number is None:
        return text
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError("is too large for a number; put it in quotes for a text")
    return number


def _number(text: str) -> int | float | None:
    for pattern, base in ((DECIMAL, 10), (OCTAL, 8), (HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            # Python itself refuses very long numbers, in words that help nobody here.
            return math.inf if len(text) > MOST_DIGITS else int(text, base)
    return float(text) if FLOAT.fullmatch(text) else None
