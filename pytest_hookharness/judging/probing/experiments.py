"""
The experiment plan: which perturbations of a state are probed, and what follows from the results.

The plan yields one perturbation after the other and receives what one repetition from there showed. The
caller writes the states and plays the repetitions.

Parts with a known progression (counters, growing texts, growing numbers of files) move ahead together: the
state after ``n`` more repetitions is predicted and tried. Doubling ``n`` finds every threshold that stays
crossed once it is reached. A threshold that matters only at one exact value is searched at the numbers in
the hooks' own source, for values and for all sizes that a hook may measure. Perturbing one part alone shows
whether it matters, but in a state that a real run may never reach.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import PurePosixPath
from typing import Any

from pytest_hookharness.judging.state_diff import Files
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import (
    PartKind,
    Perturbation,
    PerturbationKind,
    ProbeEffect,
    ProbeReport,
    ProbeResult,
    StatePart,
)


@dataclass(frozen=True, slots=True)
class GrowingSize:
    """
    A size that grows.

    Attributes:
        now: The size now.
        step: The growth per repetition.
    """

    now: int
    step: int


def find_growing_sizes(before: Files, after: Files, paths: Collection[str]) -> tuple[GrowingSize, ...]:
    """Return the sizes that changed in the last repetition, from the files that differ and all paths now."""
    found = [
        GrowingSize(size, size - earlier[name])
        for path in after.keys() & before.keys()
        for earlier in [_sizes(before[path] or b"")]
        for name, size in _sizes(after[path] or b"").items()
        if name in earlier and size != earlier[name]
    ]
    folders = Counter(str(PurePosixPath(path).parent) for path in paths)
    steps = Counter(_folders(after)) - Counter(_folders(before))
    found += [GrowingSize(folders[folder], step) for folder, step in steps.items()]
    return tuple(dict.fromkeys(found))


def _folders(files: Files) -> Iterator[str]:
    return (str(PurePosixPath(path).parent) for path, content in files.items() if content is not None)


def _sizes(content: bytes) -> dict[str, int]:
    sizes = {"bytes": len(content), "lines": content.count(b"\n"), "text": len(content.rstrip(b"\n"))}
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return sizes
    return sizes | dict(_lengths(document, "$"))


def _lengths(value: Any, path: str) -> Iterator[tuple[str, int]]:
    match value:
        case Mapping():
            yield path, len(value)
            for key, item in value.items():
                yield from _lengths(item, f"{path}.{key}")
        case list():
            yield path, len(value)
        case _:
            pass


# The largest number of repetitions that a counter is moved ahead.
MOST_REPETITIONS = 1_000_000
HOUR, DAY, YEAR = 3600.0, 86400.0, 365 * 86400.0
# The longest time that a clock is moved ahead, in seconds.
AGE = 5 * YEAR
# If already this many seconds make a difference, it is checked by really waiting.
MOMENT = 1.0
# Three repetitions show how these continue; the next values of the other kinds are unknown.
PREDICTABLE = frozenset({PartKind.COUNTER, PartKind.GROWTH, PartKind.FILES})
_RISING = PREDICTABLE | {PartKind.NUMBER, PartKind.PROCESS}
_ANY = frozenset({PartKind.IDENTIFIER, PartKind.DIGEST, PartKind.OTHER, PartKind.PROCESS})
_MOST_ALONE = 6
_MOST_NUMBERS = 24

ExperimentPlan = Generator[Perturbation, ProbeResult, "ExperimentResult"]
# One group of experiments; without a result the plan goes on.
_Group = Generator[Perturbation, ProbeResult, "ExperimentResult | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentResult:
    """
    What an experiment plan found out.

    Attributes:
        perturbation: The smallest perturbation on the path of the run that made a difference; ``None`` if
            there is none.
        seen: What it showed.
        unclear: Why nothing follows; empty if something does.
        alone: Indices of parts that make a difference only in states that the run is not known to reach.
        timeless: Whether nothing was learnt about time, because hooks use stored times as names.
        unpredictable: Whether a part changes by an unknown rule.
    """

    perturbation: Perturbation | None = None
    seen: ProbeResult | None = None
    unclear: str = ""
    alone: tuple[int, ...] = ()
    timeless: bool = False
    unpredictable: bool = False


def plan_experiments(
    parts: Sequence[StatePart],
    *,
    sizes: Sequence[GrowingSize] = (),
    numbers: Sequence[int] = (),
    time: bool = True,
    transcript: bool = False,
    pace: float = 0.0,
) -> ExperimentPlan:
    """
    Yield the perturbations to probe, one after the other, and return the result.

    That the unchanged state gives the same decisions again is already known to the caller.

    Args:
        parts: What differs from repetition to repetition.
        sizes: The sizes that grow.
        numbers: Whole numbers in the hooks' own source.
        time: Whether to probe passing time.
        transcript: Whether to probe a longer transcript, which no hook opened.
        pace: Seconds by which the hooks' clock advances per repetition; if set, no other time is probed.
    """
    every = tuple(range(len(parts)))
    alone: list[int] = []
    if parts or pace:
        ahead = yield from _ahead(parts, sizes, numbers, pace)
        if ahead is not None:
            return ahead
    if parts:
        unclear = yield from _each_alone(parts, alone)
        if unclear is not None:
            return unclear
    if transcript:
        seen = yield Perturbation(parts=(), how=PerturbationKind.TRANSCRIPT)
        if seen.reaction is ProbeEffect.DECISION:
            return ExperimentResult(unclear=f"the length of the transcript matters: {seen.what}", seen=seen)
    if time and not pace:
        aged = yield from _aged(every)
        if aged is not None:
            return replace(aged, alone=tuple(alone))
    return ExperimentResult(alone=tuple(alone))


def shows_no_time(report: ProbeReport) -> bool:
    """Return whether the clock was moved, and made no difference."""
    return report.inert and any(probe.kind is PerturbationKind.CLOCK for probe in report.probes)


def _ahead(
    parts: Sequence[StatePart], sizes: Sequence[GrowingSize], numbers: Sequence[int], pace: float
) -> _Group:
    ahead = Perturbation(parts=tuple(range(len(parts))), how=PerturbationKind.AHEAD, pace=pace)
    farthest = min(MOST_REPETITIONS, int(AGE / pace)) if pace else MOST_REPETITIONS
    # Repetitions up to which nothing changed; -1, because 0 has not been probed yet.
    same = -1
    for repetitions in sorted({*_doubling(farthest), *_threshold_candidates(parts, sizes, numbers)}):
        if repetitions > farthest:
            break
        perturbation = replace(ahead, repetitions=repetitions)
        seen = yield perturbation
        if seen.reaction is ProbeEffect.SAME:
            same = repetitions
            continue
        # The first difference lies between a perturbation without one and this one: bisect.
        low, high = same, repetitions
        while high - low > 1:
            middle = (low + high) // 2
            between = yield replace(ahead, repetitions=middle)
            if between.reaction is ProbeEffect.SAME:
                low = middle
            else:
                high, seen = middle, between
        return ExperimentResult(perturbation=replace(ahead, repetitions=high), seen=seen)
    return None


def _doubling(farthest: int) -> Iterator[int]:
    # 0 is the next repetition, which has not been played yet either; 1 is the one after it.
    yield 0
    repetitions = 1
    while repetitions < farthest:
        yield repetitions
        repetitions *= 2
    yield farthest


def _threshold_candidates(
    parts: Sequence[StatePart], sizes: Sequence[GrowingSize], numbers: Sequence[int]
) -> Iterator[int]:
    """
    Yield the numbers of repetitions after which a counter or size is at or next to a number, or two meet.
    """
    starts = ((_value(part), part.step) for part in parts)
    counters = [(start, step) for start, step in starts if start is not None and step]
    # Each entry is a start, a step and the value to reach. A countdown reaches 0, even without a 0 in
    # the source.
    lines: list[tuple[float, float, float]] = [
        (start, step, number) for start, step in counters for number in (0, *numbers)
    ]
    lines += [(size.now, size.step, number) for size in sizes for number in numbers]
    lines += [
        (one, step - stride, other)
        for (one, step), (other, stride) in combinations(counters, 2)
        if step != stride
    ]
    # A hook may compare the sum of two counts.
    lines += [
        (one + other, step + stride, number)
        for (one, step), (other, stride) in combinations(counters, 2)
        for number in numbers
        if step + stride
    ]
    found: set[int] = set()
    for start, step, number in lines:
        repetitions = round((number - start) / step)
        # The hook may compare before or after it counts.
        found |= {around for around in (repetitions - 1, repetitions) if 0 <= around <= MOST_REPETITIONS}
    yield from sorted(found)[:_MOST_NUMBERS]


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


def _each_alone(parts: Sequence[StatePart], alone: list[int]) -> _Group:
    """Perturb each part alone; note those that make a difference in states that the run may never reach."""
    singles = range(min(len(parts), _MOST_ALONE)) if len(parts) > 1 else ()
    tried = [Perturbation(parts=(place,), how=PerturbationKind.OLDER) for place in singles]
    tried += [
        Perturbation(parts=(place,), how=PerturbationKind.AHEAD, repetitions=MOST_REPETITIONS)
        for place in singles
        if parts[place].kind in _RISING
    ]
    ids = tuple(place for place, part in enumerate(parts) if part.kind in _ANY)
    tried += [Perturbation(parts=ids, how=PerturbationKind.REPLACED)] if ids else []
    for perturbation in tried:
        seen = yield perturbation
        # Another effect is normal here, because the perturbed part no longer matches the others. Only
        # another decision shows that the part matters.
        if seen.reaction is not ProbeEffect.DECISION:
            continue
        if all(parts[place].kind in PREDICTABLE for place in perturbation.parts):
            # A real run may never reach such a state, so no threshold follows; the report mentions it.
            alone += [place for place in perturbation.parts if place not in alone]
            continue
        names = ", ".join(parts[place].place for place in perturbation.parts)
        return ExperimentResult(unclear=f"the value of {names} matters: {seen.what}", seen=seen)
    return None


def _aged(every: tuple[int, ...]) -> _Group:
    same = 0.0
    for passed in (HOUR, DAY, YEAR):
        seen = yield _age(every, passed)
        if seen.reaction is not ProbeEffect.DECISION:
            same = passed
            continue
        if passed == HOUR:
            soon = yield _age(every, MOMENT)
            if soon.reaction is ProbeEffect.DECISION:
                return (yield from _waited())
        return (yield from _narrowed(every, same, passed, seen))
    return None


def _age(every: tuple[int, ...], seconds: float) -> Perturbation:
    return Perturbation(parts=every, how=PerturbationKind.AGED, seconds=seconds)


def _waited() -> ExperimentPlan:
    """Check by really waiting whether time decides, because making times older spoils those used as names."""
    perturbation = Perturbation(parts=(), how=PerturbationKind.WAITED, seconds=1.5 * MOMENT)
    seen = yield perturbation
    if seen.reaction is ProbeEffect.DECISION:
        return ExperimentResult(perturbation=perturbation, seen=seen)
    return ExperimentResult(timeless=True)


def _narrowed(every: tuple[int, ...], low: float, high: float, seen: ProbeResult) -> ExperimentPlan:
    while high - low > max(MOMENT, high * 0.02):
        # Far apart, the geometric mean narrows the range faster.
        middle = (low + high) / 2 if high < 2 * low or high < 60 else (max(low, 1.0) * high) ** 0.5
        between = yield _age(every, middle)
        if between.reaction is ProbeEffect.DECISION:
            high, seen = middle, between
        else:
            low = middle
    return ExperimentResult(perturbation=_age(every, high), seen=seen)
