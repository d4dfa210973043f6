"""Doubts: what keeps a verdict open besides the end of the run itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_hookharness.judging.recurrence import cycle
from pytest_hookharness.judging.verdict.judge_input import JudgeInput
from pytest_hookharness.model.verdicts import Doubt, OpenReason


def join_doubts(doubts: Iterable[Doubt]) -> tuple[str, frozenset[OpenReason]]:
    """Return what several doubts say together, and all their reasons."""
    told = tuple(doubts)
    return "; ".join(one.why for one in told), frozenset().union(*(one.reasons for one in told))


def find_doubts(case: JudgeInput, conflict: cycle.Contradiction | None) -> Iterator[Doubt]:
    """Yield what states and experiments leave open; ``conflict`` is one state with two results."""
    two_results = frozenset[OpenReason](["two results"])
    threshold = case.probing.threshold if case.probing is not None else None
    if threshold is not None and threshold.seconds is not None and case.end.how == "turns":
        yield Doubt(f"a probe showed that something else happens after {threshold.at}")
    if case.probing is not None and (unclear := case.probing.unclear) not in ("", case.end.why):
        told = f"probes after turn {case.probing.turn} were inconclusive: {unclear}"
        cut = Doubt(unclear, frozenset(["time for turns"]))
        yield cut if case.probing.out_of_time else Doubt(told)
    if conflict is not None:
        yield Doubt(
            f"the same state led to two results in turn {conflict.second + 1}: "
            f"it was there after turn {conflict.first} and after turn {conflict.second}",
            two_results,
        )
        if case.masked:
            yield Doubt("a mask may hide what decides")
    elif case.flaky:
        yield Doubt(f"the same state led to two results in turn {case.end.turn}", two_results)
    elif case.lasso is not None and cycle.is_confirmed(case.lasso, case.trace.states) is None:
        repeated = case.lasso.stem + case.lasso.period
        yield Doubt(
            f"turn {repeated} repeated turn {case.lasso.stem}, but the confirming repetition is incomplete"
        )
