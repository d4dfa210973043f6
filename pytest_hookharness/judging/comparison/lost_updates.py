"""
Losses: what fires side by side leave less of than one after the other.

Pure. What differs between two rounds one after the other (times, process numbers) says
nothing; only a measure that was the same in both is held against the fires side by side. A fire that leaves
the work to another one loses nothing: only what was written as often as one after the other can have lost
what was written.

Tallies: how many fires a file counts, and whether it is whole.

Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_hookharness.model.parallel import CountedIn
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


def tally(data: bytes | None, counted: CountedIn) -> Tally:
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


_NUMBER = re.compile(rb"(?<![\w.])\d{1,12}(?![\w.])")
_COUNT, _LINES = "files that changed", "lines"


@dataclass(frozen=True, slots=True)
class Weights:
    """
    What some fires left.

    Attributes:
        amounts: How much of it there is, by file and measure; what is no one file's is that of file "".
        writes: How often each file was written, and "" all of them.
    """

    amounts: Mapping[tuple[str, str], int]
    writes: Mapping[str, int]


def weigh(files: Mapping[str, bytes], writes: Mapping[str, int]) -> Weights:
    """
    The weights of some files.

    Args:
        files: What each of them holds.
        writes: How often each was written.
    """
    amounts = {("", _COUNT): len(files)}
    for path, data in files.items():
        amounts |= {(path, measure): amount for measure, amount in _measures(data).items()}
    return Weights(amounts, {**writes, "": sum(writes.values())})


def _measures(data: bytes) -> dict[str, int]:
    return {
        _LINES: data.count(b"\n"),
        "the sum of the numbers": sum(map(int, _NUMBER.findall(data))),
        "bytes": len(data),
    }


def losses(alone: Sequence[Weights], together: Weights) -> Iterator[str]:
    """
    What is less side by side than in every round one after the other, and was written as often, in words.
    """
    writes = alone[0].writes
    for (path, measure), told in _less(alone, together):
        if 0 < writes.get(path, 0) <= together.writes.get(path, 0):
            yield f"{measure} in {told}" if path else f"{measure}: {told}"


def doubts(alone: Sequence[Weights], together: Weights) -> Iterator[str]:
    """
    Files of which less is left, and of which nobody saw how often they were written.
    """
    for (path, _), _ in _less(alone, together):
        if path and not alone[0].writes.get(path, 0):
            yield path


def _less(alone: Sequence[Weights], together: Weights) -> Iterator[tuple[tuple[str, str], str]]:
    first, *others = alone
    # In a log with a line for each write, what a line says is up to its writer.
    logs = {path for path, times in first.writes.items() if first.amounts.get((path, _LINES)) == times}
    for (path, measure), amount in first.amounts.items():
        if path in logs and measure != _LINES:
            continue
        left = together.amounts.get((path, measure), 0)
        if left < amount and all(other.amounts.get((path, measure)) == amount for other in others):
            counted = f"{left} instead of {amount}"
            yield (path, measure), f"{path}: {counted}" if path else counted
