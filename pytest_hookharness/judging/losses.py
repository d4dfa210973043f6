"""
This module is concerned with losses: what fires side by side leave less of than one after the other.

Middle floor: judging. Pure. What differs between two rounds one after the other (times, process numbers) says
nothing; only a measure that was the same in both is held against the fires side by side. A fire that leaves
the work to another one loses nothing: only what was written as often as one after the other can have lost
what was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
