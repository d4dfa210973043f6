"""
Experiments: which perturbations of a state are probed, and what follows from the results.

Each perturbation is given to a function of the caller, which writes the state, plays a repetition from there,
and returns what it showed.

Parts with a known progression (counters, growing texts, growing numbers of files) move ahead together: the
state after ``n`` more repetitions is predicted and tried. Doubling ``n`` finds every threshold that stays
crossed once it is reached. A threshold that matters only at one exact value is searched at the numbers that
the hooks mention or read, for values and for all sizes that a hook may measure. Perturbing one part alone
shows whether it matters, but in a state that a real run may never reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness.judging.probing.limits import KnownNumbers
from pytest_hookharness.judging.probing.sizes import GrowingSize
from pytest_hookharness.judging.probing.thresholds import (
    MOST_CANDIDATES,
    MOST_REPETITIONS,
    Candidates,
    find_candidates,
)
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import (
    PartKind,
    Perturbation,
    PerturbationKind,
    ProbeEffect,
    ProbeResult,
    StatePart,
    UnknownDecisionError,
)

_NO_LIMITS, _NO_CANDIDATES = KnownNumbers(), Candidates()
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

Try: TypeAlias = Callable[[Perturbation], ProbeResult]
_BY_CHANCE = "an experiment went another way, but not each time that it was made: chance may decide"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentResult:
    """
    The result of all experiments.

    Attributes:
        perturbation: The smallest perturbation on the path of the run that made a difference; ``None`` if
            there is none.
        unclear: Why the experiments show nothing; empty if they do show something.
        alone: Indices of parts that make a difference only in states that the run is not known to reach.
        timeless: Whether they show nothing about time, because hooks use stored times as names.
        unpredictable: Whether a part changes by an unknown rule.
        untried: The exact limits, with those that were not tried.
    """

    perturbation: Perturbation | None = None
    seen: ProbeResult | None = None
    unclear: str = ""
    alone: tuple[int, ...] = ()
    timeless: bool = False
    unpredictable: bool = False
    untried: Candidates = _NO_CANDIDATES


def confirm(found: ExperimentResult, probe: Try) -> ExperimentResult:
    """
    Try a perturbation that made a difference twice more; return its result, or that chance may decide.

    Random numbers of the hooks may make a difference once, but hardly three times.
    """
    if found.perturbation is None or found.seen is None:
        return found
    for _ in range(2):
        again = probe(found.perturbation)
        if (again.reaction, again.allows_stop) != (found.seen.reaction, found.seen.allows_stop):
            return ExperimentResult(unclear=_BY_CHANCE)
    return found


def run_experiments(
    probe: Try,
    parts: Sequence[StatePart],
    *,
    sizes: Sequence[GrowingSize] = (),
    limits: KnownNumbers = _NO_LIMITS,
    most: int = MOST_CANDIDATES,
    time: bool = True,
    transcript: bool = False,
    pace: float = 0.0,
    counts: Sequence[GrowingSize] = (),
) -> ExperimentResult:
    """
    Probe one perturbation after the other, and return the result.

    The caller has already found that the unchanged state gives the same decisions again.

    Args:
        limits: Numbers that the hooks may compare with.
        most: How many of these are tried at most.
        time: Whether to probe passing time.
        transcript: Whether to probe a longer transcript, which no hook opened.
        pace: Seconds by which the hooks' clock advances per repetition; if set, no other time is probed.
        counts: What the host counts in the input of the hooks.
    """
    every = tuple(range(len(parts)))
    candidates = Candidates()
    if parts or pace or counts:
        candidates = find_candidates(parts, sizes, limits, most, counts)
        ahead = _ahead(probe, parts, candidates.repetitions, pace)
        if ahead is not None:
            return ahead
    alone = _each_alone(probe, parts)
    if isinstance(alone, ExperimentResult):
        return alone
    if transcript:
        seen = probe(Perturbation(parts=(), how=PerturbationKind.TRANSCRIPT))
        if seen.reaction is ProbeEffect.DECISION:
            return ExperimentResult(unclear=f"the length of the transcript matters: {seen.what}", seen=seen)
    if time and not pace:
        aged = _aged(probe, every)
        if aged is not None:
            return replace(aged, alone=alone, untried=candidates)
    return ExperimentResult(alone=alone, untried=candidates)


def _ahead(
    probe: Try, parts: Sequence[StatePart], candidates: Sequence[int], pace: float
) -> ExperimentResult | None:
    ahead = Perturbation(parts=tuple(range(len(parts))), how=PerturbationKind.AHEAD, pace=pace)
    farthest = min(MOST_REPETITIONS, int(AGE / pace)) if pace else MOST_REPETITIONS
    # Repetitions up to which nothing changed; -1, because 0 has not been probed yet.
    same = -1
    for repetitions in sorted({*_doubling(farthest), *candidates}):
        if repetitions > farthest:
            break
        seen = probe(replace(ahead, repetitions=repetitions))
        if seen.reaction is ProbeEffect.SAME:
            same = repetitions
            continue
        # The first difference lies between a perturbation without one and this one: bisect.
        low, high = same, repetitions
        while high - low > 1:
            middle = (low + high) // 2
            try:
                between = probe(replace(ahead, repetitions=middle))
            except UnknownDecisionError:
                # A result from further ahead stays valid.
                break
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


def _perturbed_alone(parts: Sequence[StatePart]) -> Iterator[Perturbation]:
    singles = range(min(len(parts), _MOST_ALONE)) if len(parts) > 1 else ()
    for place in singles:
        yield Perturbation(parts=(place,), how=PerturbationKind.OLDER)
    for place in singles:
        if parts[place].kind in _RISING:
            yield Perturbation(parts=(place,), how=PerturbationKind.AHEAD, repetitions=MOST_REPETITIONS)
    ids = tuple(place for place, part in enumerate(parts) if part.kind in _ANY)
    if ids:
        yield Perturbation(parts=ids, how=PerturbationKind.REPLACED)


def _each_alone(probe: Try, parts: Sequence[StatePart]) -> tuple[int, ...] | ExperimentResult:
    """
    Perturb each part alone.

    Returns:
        The indices of those that make a difference only in states that the run may never reach; the result,
        if one makes a difference in others.
    """
    alone: dict[int, None] = {}
    for perturbation in _perturbed_alone(parts):
        seen = probe(perturbation)
        # Another effect is normal here, because the perturbed part no longer matches the others. Only
        # another decision shows that the part matters.
        if seen.reaction is not ProbeEffect.DECISION:
            continue
        if all(parts[place].kind in PREDICTABLE for place in perturbation.parts):
            # A real run may never reach such a state, so no threshold follows; the report mentions it.
            alone |= dict.fromkeys(perturbation.parts)
            continue
        names = ", ".join(parts[place].place for place in perturbation.parts)
        return ExperimentResult(unclear=f"the value of {names} matters: {seen.what}", seen=seen)
    return tuple(alone)


def _aged(probe: Try, every: tuple[int, ...]) -> ExperimentResult | None:
    same = 0.0
    for passed in (HOUR, DAY, YEAR):
        seen = probe(_age(every, passed))
        if seen.reaction is not ProbeEffect.DECISION:
            same = passed
            continue
        if passed == HOUR and probe(_age(every, MOMENT)).reaction is ProbeEffect.DECISION:
            return _waited(probe)
        return _narrowed(probe, every, same, passed, seen)
    return None


def _age(every: tuple[int, ...], seconds: float) -> Perturbation:
    return Perturbation(parts=every, how=PerturbationKind.AGED, seconds=seconds)


def _waited(probe: Try) -> ExperimentResult:
    """Check by really waiting whether time decides, because making times older spoils those used as names."""
    perturbation = Perturbation(parts=(), how=PerturbationKind.WAITED, seconds=1.5 * MOMENT)
    seen = probe(perturbation)
    if seen.reaction is ProbeEffect.DECISION:
        return ExperimentResult(perturbation=perturbation, seen=seen)
    return ExperimentResult(timeless=True)


def _narrowed(
    probe: Try, every: tuple[int, ...], low: float, high: float, seen: ProbeResult
) -> ExperimentResult:
    while (middle := time_between(low, high)) is not None:
        try:
            between = probe(_age(every, middle))
        except UnknownDecisionError:
            break
        if between.reaction is ProbeEffect.DECISION:
            high, seen = middle, between
        else:
            low = middle
    return ExperimentResult(perturbation=_age(every, high), seen=seen)


def time_between(low: float, high: float) -> float | None:
    """Return the next time to try between two; ``None`` once they are a second or 2 % apart."""
    if high - low <= max(MOMENT, high * 0.02):
        return None
    # Far apart, the geometric mean narrows the range faster.
    return (low + high) / 2 if high < 2 * low or high < 60 else (max(low, 1.0) * high) ** 0.5
