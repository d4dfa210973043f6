"""JSON as the parser of a host reads it: parsers differ in how large a number and how deep a value may be."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from pytest_hookharness.hosts.rules.replies import JsonParser
from pytest_hookharness.hosts.rules.settings import KeyPath
from pytest_hookharness.model.protocol import Json

# Levels of nesting that are kept. No host reads a key deeper down.
_KEPT_LEVELS = 64
# serde_json refuses the next one.
_RUST_LEVELS = 127
# More digits than these are no integer in any language but Python.
_LONG = 4000
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]|[^"\[\]{}]+|"', re.DOTALL)


def load(text: str, parser: JsonParser, *, accepts_nan: bool = False) -> Json:
    """
    Return the value of a JSON text; what is nested deeper than any host looks may be missing.

    Raises:
        ValueError: The host's parser refuses the text.
        RecursionError: Likewise.
    """
    constant = None if accepts_nan else _refuse_constant
    if parser is JsonParser.PYTHON:
        loaded: Json = json.loads(text, parse_constant=constant)
        return loaded
    rust = parser is JsonParser.RUST
    if text.count("[") + text.count("{") > _KEPT_LEVELS:
        text = _without_depths(text, _RUST_LEVELS if rust else None)
    value: Json = json.loads(
        text,
        parse_constant=constant,
        parse_int=_bounded_integer if rust else _any_integer,
        parse_float=_bounded if rust else float,
    )
    return value


def dig(answer: Json, path: KeyPath) -> Json:
    """Return the value at a key path; ``None`` for no value."""
    for key in path:
        if not isinstance(answer, Mapping):
            return None
        answer = answer.get(key)
    return answer


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _any_integer(text: str) -> int | float:
    return int(text) if len(text) < _LONG else float(text)


def _bounded_integer(text: str) -> int | float:
    return _bounded(_any_integer(text))


def _bounded(value: str | float) -> int | float:
    number = float(value) if isinstance(value, str) else value
    if math.isinf(number):
        raise ValueError("number out of range")
    return number


def _without_depths(text: str, limit: int | None) -> str:
    """
    Return a JSON text with ``null`` for what is nested deeper than any host looks; that is checked first.

    Raises:
        ValueError: It is not JSON there, or nested deeper than the limit.
    """
    levels: list[list[str]] = [[]]
    for found in _TOKEN.finditer(text):
        piece = found[0]
        if piece in "[{":
            levels.append([piece])
            if limit is not None and len(levels) - 1 > limit:
                raise ValueError("recursion limit exceeded")
        elif piece in "]}":
            if len(levels) == 1:
                raise ValueError(f"extra data: character {found.start()}")
            inner = "".join(levels.pop()) + piece
            if len(levels) > _KEPT_LEVELS:
                json.loads(inner, parse_int=_any_integer)
                inner = "null"
            levels[-1].append(inner)
        else:
            levels[-1].append(piece)
    # An unclosed value makes the rest invalid.
    return "".join(part for level in levels for part in level)
