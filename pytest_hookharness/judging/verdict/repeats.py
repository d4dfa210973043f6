"""Repeats: a session whose hooks draw random numbers, played again, and what follows for its outcome."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness.judging.expectations.check_expectations import with_findings
from pytest_hookharness.judging.findings.finding_catalogue import FLAKY
from pytest_hookharness.judging.verdict.assumptions import chance_was_drawn
from pytest_hookharness.judging.verdict.conclusion import name_chance
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import TimedOut
from pytest_hookharness.model.verdicts import Terminated


def differ(first: Outcome, repeats: Sequence[Outcome]) -> bool:
    """Return whether the last of some repeats of a session was decided otherwise than its first play."""
    return bool(repeats) and _difference(first, repeats[-1]) != ""


def judge_repeats(outcome: Outcome, repeats: Sequence[Outcome]) -> Outcome:
    """
    Return an outcome with finding FLAKY if its session, played again, went otherwise.

    Args:
        outcome: The outcome of the first play, whose hooks draw random numbers.
        repeats: The further plays; only the last one may go otherwise.
    """
    text = _difference(outcome, repeats[-1]) if repeats else ""
    if text:
        finding = FLAKY.found(text, turn=min(outcome.iterations, repeats[-1].iterations))
        return with_findings(outcome, name_chance((finding,), outcome.chance))
    alone, tried = (chance_was_drawn(outcome.chance, plays) for plays in (0, len(repeats)))
    known = (tried if sentence == alone else sentence for sentence in outcome.assumptions)
    return replace(outcome, assumptions=tuple(known))


def _difference(first: Outcome, again: Outcome) -> str:
    """Return what differs between two plays, as a sentence; empty if nothing, or if a hook was cut."""
    if any(_was_cut(outcome) for outcome in (first, again)):
        return ""
    ended = [isinstance(outcome.verdict, Terminated) for outcome in (again, first)]
    if ended[0] != ended[1] or (all(ended) and first.iterations != again.iterations):
        return f"Played again, it {_end(again)}, and the first time {_end(first, short=True)}."
    # The two plays may have been ended after different numbers of turns.
    for (turn, event, refused), other in zip(first.decided, again.decided, strict=False):
        if (turn, event) != other[:2]:
            return f"Played again, it goes another way in turn {min(turn, other[0])}."
        if refused != other[2]:
            now, then = ("refused" if one else "allowed" for one in (other[2], refused))
            return f"Played again, {event} was {now} in turn {turn}; the first time it was {then}."
    return ""


def _was_cut(outcome: Outcome) -> bool:
    return any(
        run.run is not None and isinstance(run.run.ending, TimedOut) for _, run in outcome.trace.hook_runs()
    )


def _end(outcome: Outcome, *, short: bool = False) -> str:
    turn = outcome.iterations
    if isinstance(outcome.verdict, Terminated):
        return f"in turn {turn}" if short else f"allowed the stop in turn {turn}"
    return f"not by turn {turn}" if short else f"had not allowed the stop by turn {turn}"
