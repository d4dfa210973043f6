"""
This module is concerned with losses: what fires side by side leave less of than one after the other.

Middle floor: judging. Pure. What differs between two rounds one after the other (times, process numbers) says
nothing; only a measure that was the same in both is held against the fires side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

Weights = Mapping[str, int]
_NUMBER = re.compile(rb"(?<![\w.])\d{1,12}(?![\w.])")


def weigh(files: Mapping[str, bytes]) -> Weights:
    """
    Measures of some files, by words that name both file and measure.
    """
    return {"files that changed": len(files)} | {
        f"{measure} in {path}": amount
        for path, data in files.items()
        for measure, amount in _measures(data).items()
    }


def _measures(data: bytes) -> dict[str, int]:
    return {
        "lines": data.count(b"\n"),
        "the sum of the numbers": sum(map(int, _NUMBER.findall(data))),
        "bytes": len(data),
    }


def losses(alone: Sequence[Weights], together: Weights) -> Iterator[str]:
    """
    What is less side by side than in every round one after the other, in words.
    """
    first, *others = alone
    for measure, amount in first.items():
        left = together.get(measure, 0)
        if left < amount and all(other.get(measure) == amount for other in others):
            yield f"{measure}: {left} instead of {amount}"
