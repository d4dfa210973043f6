"""
Values of scalars without quotes, and places in a text; scenarios from Python data need no more of YAML.

The values follow the core schema of YAML 1.2: ``on``, ``no``, ``12:30`` and dates are texts, as most readers
expect. PyYAML's own rules are those of YAML 1.1, where they are not.
"""

from __future__ import annotations

import math
import re
from typing import TypeAlias

MAX_DEPTH = 64

Spot: TypeAlias = tuple[int, int]

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
MAX_DIGITS = 300


def resolve(text: str) -> bool | int | float | str | None:
    """
    Return the value of a scalar without quotes.

    Raises:
        ValueError: It is a number that JSON does not have.
    """
    if text and text[0] not in FIRST:
        return text
    if text in WORDS:
        return WORDS[text]
    if ENDLESS.fullmatch(text):
        raise ValueError("is not a number that JSON has; put it in quotes for a text")
    number = _number(text)
    if number is None:
        return text
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError("is too large for a number; put it in quotes for a text")
    return number


def _number(text: str) -> int | float | None:
    for pattern, base in ((DECIMAL, 10), (OCTAL, 8), (HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            # Python refuses very long numbers with a message that would not help here.
            return math.inf if len(text) > MAX_DIGITS else int(text, base)
    return float(text) if FLOAT.fullmatch(text) else None


def place_of(text: str, index: int) -> Spot:
    """Return line and column of a character."""
    before = text[:index]
    return before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1
