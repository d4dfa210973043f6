"""
Quantities: times and whole numbers, as people write them in options.
"""

from __future__ import annotations

import re

import pytest

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str, where: str) -> float:
    """
    Read a time such as ``500ms``, ``10s``, ``2m`` or ``10``.

    Raises:
        pytest.UsageError: It is no time; the message names ``where`` it was written.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None or float(found[1]) == 0:
        raise pytest.UsageError(f"{where}: {text!r} is not a time above zero; write 500ms, 10s, 2m or 1h")
    return float(found[1]) * _UNITS[found[2] or "s"]


def whole(text: str, where: str, least: int) -> int:
    """
    Read a whole number.

    Raises:
        pytest.UsageError: It is none, or less than ``least``; the message names ``where`` it was written.
    """
    if not re.fullmatch(r"-?\d+", text.strip()) or int(text) < least:
        raise pytest.UsageError(f"{where}: {text!r} is not a whole number of {least} or more")
    return int(text)
