"""Thresholds: after how many repetitions a count or a size reaches a value that a hook may compare with."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from pytest_hookharness.judging.probing.limits import KnownNumbers, Remainder
from pytest_hookharness.judging.probing.sizes import GrowingSize
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import PartKind, StatePart

# The largest number of repetitions that a counter is moved ahead.
MOST_REPETITIONS = 1_000_000
# Candidates that are tried where there is time for all.
MOST_CANDIDATES = 200

# The value of something that grows now, and its growth per repetition.
_Line: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Numbers of repetitions after which a hook may decide differently: tried and not tried, ascending."""

    repetitions: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


def find_candidates(
    parts: Sequence[StatePart],
    sizes: Sequence[GrowingSize],
    limits: KnownNumbers,
    most: int,
    counts: Sequence[GrowingSize] = (),
) -> Candidates:
    """
    Return the repetitions after which a count or size is at or next to a limit, or two counts meet.

    The likeliest limits come first, and of those the ones that are reached soonest.

    Args:
        limits: The numbers that the hooks may compare with.
        most: How many are tried at most.
        counts: What the host counts in the input of the hooks.
    """
    starts = ((_value(part), part.step) for part in parts)
    counters = [(start, float(step)) for start, step in starts if start is not None and step]
    counters += [(float(count.now), float(count.step)) for count in counts]
    # A hook may compare the sum of two counts.
    lines = [*counters, *((float(size.now), float(size.step)) for size in sizes)]
    lines += [
        (one + other, step + stride)
        for (one, step), (other, stride) in combinations(counters, 2)
        if step + stride
    ]
    first = [*_meetings(counters), *_remainders(lines, limits)]
    chosen: dict[int, None] = {}
    left: set[int] = set()
    for numbers in limits.ranks():
        found = {*first, *_crossings(dict.fromkeys(lines), numbers)} - chosen.keys()
        first = []
        ordered = sorted(found)
        room = max(0, most - len(chosen))
        chosen |= dict.fromkeys(ordered[:room])
        left |= {*ordered[room:]}
    return Candidates(tuple(sorted(chosen)), tuple(sorted(left)))


def _crossings(lines: Collection[_Line], numbers: Collection[int]) -> Iterator[int]:
    for start, step in lines:
        for number in numbers:
            yield from _around((number - start) / step)


def _around(repetitions: float) -> Iterator[int]:
    # The hook may compare before or after it counts.
    for near in (round(repetitions) - 1, round(repetitions)):
        if 0 <= near <= MOST_REPETITIONS:
            yield near


def _meetings(counters: Sequence[_Line]) -> Iterator[int]:
    for (one, step), (other, stride) in combinations(counters, 2):
        if step != stride:
            yield from _around((other - one) / (step - stride))


def _remainders(lines: Sequence[_Line], limits: KnownNumbers) -> Iterator[int]:
    """Yield the first repetitions after which a remainder is one of the numbers of the source."""
    for start, step in lines:
        if start.is_integer() and step.is_integer():
            for remainder in limits.remainders:
                for wanted in limits.written | {0}:
                    if wanted < remainder.modulus:
                        yield from _first_with(int(start), int(step), remainder, wanted)


def _first_with(start: int, step: int, remainder: Remainder, wanted: int) -> Iterator[int]:
    factor, modulus = remainder.factor * step, remainder.modulus
    missing, common = wanted - start * remainder.factor, math.gcd(factor, modulus)
    if missing % common == 0:
        cycle = modulus // common
        first = missing // common * pow(factor // common, -1, cycle) % cycle if cycle > 1 else 0
        yield from _around(first)
        yield from _around(first + cycle)


def _value(part: StatePart) -> float | None:
    """Return the value of a counter; ``None`` if its notation is unclear."""
    if part.kind is not PartKind.COUNTER or not part.step:
        return None
    for read in (float, lambda text: float(int(text, 16))):
        try:
            before, after = read(part.before), read(part.after)
        except ValueError:
            continue
        if math.isclose(after - before, part.step):
            return after
    return None
