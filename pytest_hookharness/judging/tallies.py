"""
This module is concerned with tallies: how many fires a file counts, and whether it is whole.

Middle floor: judging. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_hookharness.model.parallels import Counted
from pytest_hookharness.model.protocol import Json

_VARIES = re.compile(rb"[0-9A-Fa-f]*[0-9][0-9A-Fa-f]*")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Tally:
    """
    What a file says of the fires that wrote to it.

    Attributes:
        amount: How many it counts; ``None`` if that cannot be read.
        torn: Why it is not whole, in words; empty if it is.
        shapes: Its lines with all that varies from one to the next made alike, where lines count.
        half: Whether its last line has no end.
    """

    amount: int | None
    torn: str = ""
    shapes: frozenset[bytes] = frozenset()
    half: bool = False


def tally(data: bytes | None, counted: Counted) -> Tally:
    """
    What the content of a file says; one that is not there counts nothing.
    """
    if data is None:
        return Tally(0)
    if not counted.json:
        lines = data.splitlines()
        shapes = frozenset(_VARIES.sub(b"0", line) for line in lines)
        return Tally(len(lines), shapes=shapes, half=bool(data) and not data.endswith(b"\n"))
    try:
        value: Json = json.loads(data)
    except (ValueError, RecursionError):
        return Tally(None, torn=f"it is no JSON: {_shown(data)}")
    return Tally(_amount(value, counted.json))


def _amount(value: Json, keys: str) -> int | None:
    for key in keys.split(".") if keys != "." else ():
        value = value.get(key) if isinstance(value, dict) else None
    match value:
        case bool() | None | str():
            return None
        case int() | float():
            return int(value)
        case _:
            return len(value)


def find_lost(alone: Sequence[Tally], together: Tally) -> str:
    """
    How many fires are missing, in words; empty if none is.

    Args:
        alone: What was counted after the same fires one after the other, each time that was tried.
        together: What was counted after they were fired side by side.
    """
    amounts = {one.amount for one in alone}
    usual = next(iter(amounts))
    if len(amounts) > 1 or usual is None or together.amount is None or together.amount >= usual:
        return ""
    return f"{together.amount} instead of {usual}"


def find_torn(alone: Sequence[Tally], together: Tally) -> str:
    """
    What is not whole, in words; empty if all is, or if nobody can tell.
    """
    if any(one.torn for one in alone):
        return ""
    if together.torn:
        return together.torn
    if together.half and not any(one.half for one in alone):
        return "its last line has no end"
    # Lines that differ in more than numbers from time to time are no measure for others.
    shapes = {one.shapes for one in alone}
    strange = sorted(together.shapes - next(iter(shapes))) if len(shapes) == 1 else []
    return f"none that is alone writes the line {_shown(strange[0])}" if strange else ""


def _shown(data: bytes) -> str:
    text = data[:_SHOWN].decode("utf-8", "backslashreplace")
    return repr(text) + ("..." if len(data) > _SHOWN else "")
