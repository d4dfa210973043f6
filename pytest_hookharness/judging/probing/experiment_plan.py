"""
The inquiry: which experiments are made on a state, and what follows from them.

Pure: it yields one change of the state after the other and is told what a lap from
there showed. Whoever runs it makes the changes and the laps.

What moves by a law of its own (counters, growing texts, growing numbers of files) moves on together: the
state ``n`` laps from now is foretold, and tried. Walking n by doubling finds every limit that stays
crossed; a limit that is met exactly or not at all is looked for at the numbers that stand in the hooks'
own source. A part pushed alone tells whether it matters, but leads to states that no run may ever reach.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from pytest_hookharness.judging.probing.sizes import Measure
from pytest_hookharness.model.probes import (
    PartKind,
    Perturbation,
    PerturbationKind,
    ProbeEffect,
    ProbeResult,
    StatePart,
)

# Laps: beyond a million no counter is pushed.
FARTHEST = 1_000_000
HOUR, DAY, YEAR = 3600.0, 86400.0, 365 * 86400.0
# Seconds: beyond that no clock is put ahead.
AGE = 5 * YEAR
# What makes a difference after so little time is made sure of by waiting.
MOMENT = 1.0
# The law of these is known from three laps; what the others will be next is not.
LAWFUL = frozenset({PartKind.COUNTER, PartKind.GROWTH, PartKind.FILES})
_RISING = LAWFUL | {PartKind.NUMBER, PartKind.PROCESS}
_ANY = frozenset({PartKind.IDENTIFIER, PartKind.DIGEST, PartKind.OTHER, PartKind.PROCESS})
_MOST_ALONE = 6
_MOST_NUMBERS = 24

Experiment = Generator[Perturbation, ProbeResult, "ExperimentResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentResult:
    """
    What an inquiry comes to.

    Attributes:
        push: The smallest change that was seen to make a difference on the way that the run goes;
            ``None`` if there is none.
        seen: What it showed.
        unclear: Why nothing follows; empty if something does.
        alone: Parts that make a difference only where no run is seen to lead, as places.
        timeless: Whether nothing could be learnt about time, because stored times are names to the hooks.
        unpredictable: Whether a part moves on by a rule that is not seen.
    """

    push: Perturbation | None = None
    seen: ProbeResult | None = None
    unclear: str = ""
    alone: tuple[int, ...] = ()
    timeless: bool = False
    unpredictable: bool = False


def inquire(
    parts: Sequence[StatePart],
    *,
    sizes: Sequence[Measure] = (),
    numbers: Sequence[int] = (),
    time: bool = True,
    transcript: bool = False,
    pace: float = 0.0,
) -> Experiment:
    """
    The experiments on a state, one after the other; that the same state gives the same is known already.

    Args:
        parts: What differs from lap to lap.
        sizes: How large is what grows.
        numbers: Whole numbers that stand in the hooks' own source.
        time: Whether to ask what happens once time has passed.
        transcript: Whether to ask what happens once the transcript, which nobody opened, is longer.
        pace: Seconds that the clock of the hooks goes on with each lap; then no other time is asked about.
    """
    every = tuple(range(len(parts)))
    alone: list[int] = []
    if parts or pace:
        ahead = yield from _ahead(parts, sizes, numbers, pace)
        if ahead is not None:
            return ahead
    if parts:
        strange = yield from _each(parts, alone)
        if strange is not None:
            return strange
    if transcript:
        seen = yield Perturbation(parts=(), how=PerturbationKind.TRANSCRIPT)
        if seen.reaction is ProbeEffect.DECISION:
            return ExperimentResult(unclear=f"it matters how long the transcript is: {seen.what}", seen=seen)
    if time and not pace:
        aged = yield from _aged(every)
        if aged is not None:
            return replace(aged, alone=tuple(alone))
    return ExperimentResult(alone=tuple(alone))


def _ahead(
    parts: Sequence[StatePart], sizes: Sequence[Measure], numbers: Sequence[int], pace: float
) -> Generator[Perturbation, ProbeResult, ExperimentResult | None]:
    ahead = Perturbation(parts=tuple(range(len(parts))), how=PerturbationKind.AHEAD, pace=pace)
    farthest = min(FARTHEST, int(AGE / pace)) if pace else FARTHEST
    same = -1
    for laps in sorted({*_doubling(farthest), *_meeting(parts, sizes, numbers)}):
        if laps > farthest:
            break
        push = replace(ahead, repetitions=laps)
        seen = yield push
        if seen.reaction is ProbeEffect.SAME:
            same = laps
            continue
        low, high = same, laps
        while high - low > 1:
            middle = (low + high) // 2
            between = yield replace(ahead, repetitions=middle)
            if between.reaction is ProbeEffect.SAME:
                low = middle
            else:
                high, seen = middle, between
        return ExperimentResult(push=replace(ahead, repetitions=high), seen=seen)
    return None


def _doubling(farthest: int) -> Iterator[int]:
    # The very next lap, which has not been played either, and the one after it.
    yield 0
    laps = 1
    while laps < farthest:
        yield laps
        laps *= 2
    yield farthest


def _meeting(parts: Sequence[StatePart], sizes: Sequence[Measure], numbers: Sequence[int]) -> Iterator[int]:
    """
    After how many laps a counter or a size stands at, or beside, a number, or one counter at another.
    """
    starts = ((_value(part), part.step) for part in parts)
    counters = [(start, step) for start, step in starts if start is not None and step]
    # A count down comes to 0, wherever that stands.
    meetings: list[tuple[float, float, float]] = [
        (start, step, number) for start, step in counters for number in (0, *numbers)
    ]
    meetings += [(size.now, size.step, number) for size in sizes for number in numbers]
    meetings += [
        (one, step - stride, other)
        for (one, step), (other, stride) in combinations(counters, 2)
        if step != stride
    ]
    # Two counts may be compared together.
    meetings += [
        (one + other, step + stride, number)
        for (one, step), (other, stride) in combinations(counters, 2)
        for number in numbers
        if step + stride
    ]
    found: set[int] = set()
    for start, step, number in meetings:
        laps = round((number - start) / step)
        # The hook compares before it counts, or after.
        found |= {around for around in (laps - 1, laps) if 0 <= around <= FARTHEST}
    yield from sorted(found)[:_MOST_NUMBERS]


def _value(part: StatePart) -> float | None:
    """
    Where a counter stands; ``None`` if it cannot be told in which notation.
    """
    if part.kind is not PartKind.COUNTER or not part.step:
        return None
    for read in (float, _hexadecimal):
        try:
            before, after = read(part.before), read(part.after)
        except ValueError:
            continue
        if math.isclose(after - before, part.step):
            return after
    return None


def _hexadecimal(text: str) -> float:
    return float(int(text, 16))


def _each(
    parts: Sequence[StatePart], alone: list[int]
) -> Generator[Perturbation, ProbeResult, ExperimentResult | None]:
    """
    Each part for itself; those that make a difference where no run leads are noted.
    """
    singles = range(min(len(parts), _MOST_ALONE)) if len(parts) > 1 else ()
    tried = [Perturbation(parts=(place,), how=PerturbationKind.OLDER) for place in singles]
    tried += [
        Perturbation(parts=(place,), how=PerturbationKind.AHEAD, repetitions=FARTHEST)
        for place in singles
        if parts[place].kind in _RISING
    ]
    ids = tuple(place for place, part in enumerate(parts) if part.kind in _ANY)
    tried += [Perturbation(parts=ids, how=PerturbationKind.REPLACED)] if ids else []
    for push in tried:
        seen = yield push
        # Another effect is no wonder: what was pushed no longer fits the rest.
        if seen.reaction is not ProbeEffect.DECISION:
            continue
        if all(parts[place].kind in LAWFUL for place in push.parts):
            alone += [place for place in push.parts if place not in alone]
            continue
        names = ", ".join(parts[place].place for place in push.parts)
        return ExperimentResult(unclear=f"it matters what {names} is: {seen.what}", seen=seen)
    return None


def _aged(every: tuple[int, ...]) -> Generator[Perturbation, ProbeResult, ExperimentResult | None]:
    same = 0.0
    for passed in (HOUR, DAY, YEAR):
        seen = yield _age(every, passed)
        if seen.reaction is not ProbeEffect.DECISION:
            same = passed
            continue
        if passed == HOUR:
            moment = yield _age(every, MOMENT)
            if moment.reaction is ProbeEffect.DECISION:
                return (yield from _waited())
        return (yield from _narrowed(every, same, passed, seen))
    return None


def _age(every: tuple[int, ...], seconds: float) -> Perturbation:
    return Perturbation(parts=every, how=PerturbationKind.AGED, seconds=seconds)


def _waited() -> Generator[Perturbation, ProbeResult, ExperimentResult]:
    """
    Whether it is really the time: a hook may also take a stored time for a name, which ageing spoils.
    """
    push = Perturbation(parts=(), how=PerturbationKind.WAITED, seconds=1.5 * MOMENT)
    seen = yield push
    if seen.reaction is ProbeEffect.DECISION:
        return ExperimentResult(push=push, seen=seen)
    return ExperimentResult(timeless=True)


def _narrowed(
    every: tuple[int, ...], low: float, high: float, seen: ProbeResult
) -> Generator[Perturbation, ProbeResult, ExperimentResult]:
    while high - low > max(MOMENT, high * 0.02):
        middle = (low + high) / 2 if high < 2 * low or high < 60 else (max(low, 1.0) * high) ** 0.5
        between = yield _age(every, middle)
        if between.reaction is ProbeEffect.DECISION:
            high, seen = middle, between
        else:
            low = middle
    return ExperimentResult(push=_age(every, high), seen=seen)
