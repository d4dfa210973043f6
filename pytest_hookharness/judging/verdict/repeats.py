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


def was_cut(outcome: Outcome) -> bool:
    """Return whether a hook run was cut, so that another play shows nothing."""
    return any(
        run.run is not None and isinstance(run.run.ending, TimedOut) for _, run in outcome.trace.hook_runs()
    )


def differ(first: Outcome, repeats: Sequence[Outcome]) -> bool:
    """Return whether the last of some repeats of a session was decided otherwise than its first play."""
    return bool(repeats) and not was_cut(repeats[-1]) and _difference(first, repeats[-1])[1] != ""


def judge_repeats(outcome: Outcome, repeats: Sequence[Outcome]) -> Outcome:
    """
    Return an outcome with finding FLAKY if its session, played again, went otherwise.

    No hook was cut in the first play, and its hooks may draw numbers. Only the last further play may go
    otherwise.
    """
    if differ(outcome, repeats):
        turn, text = _difference(outcome, repeats[-1])
        return with_findings(outcome, name_chance((FLAKY.found(text, turn=turn),), outcome.chance))
    alike = sum(not was_cut(repeat) for repeat in repeats)
    alone, tried = (chance_was_drawn(outcome.chance, plays) for plays in (0, alike))
    known = (tried if sentence == alone else sentence for sentence in outcome.assumptions)
    return replace(outcome, assumptions=tuple(known))


def _difference(first: Outcome, again: Outcome) -> tuple[int, str]:
    """Return what differs between two plays, as a sentence, and in which turn; empty if nothing does."""
    pair = first.first_difference(again)
    ended = [isinstance(outcome.verdict, Terminated) for outcome in (again, first)]
    end, first_end = describe_end(again), describe_end(first, short=True)
    ends = f"Played again, it {end}, and the first time {first_end}."
    if pair is None:
        alike = ended[0] == ended[1] and (not all(ended) or first.iterations == again.iterations)
        return min(first.iterations, again.iterations), "" if alike else ends
    (turn, event, refused), other = pair
    if (turn, event) != other[:2]:
        return turn, f"Played again, it goes another way in turn {min(turn, other[0])}."
    unlike = ended[0] != ended[1] or first.iterations != again.iterations
    if unlike and turn and event == first.decided[-1][1] == again.decided[-1][1]:
        return turn, ends
    now, then = ("refused" if known else "allowed" for known in (other[2], refused))
    return turn, f"Played again, {event} was {now} in turn {turn}; the first time it was {then}."


def describe_end(outcome: Outcome, *, short: bool = False) -> str:
    """Return when the hooks of a play allowed the stop, as the words that follow "it" in a sentence."""
    turn = outcome.iterations
    if isinstance(outcome.verdict, Terminated):
        return f"in turn {turn}" if short else f"allowed the stop in turn {turn}"
    return f"not by turn {turn}" if short else f"had not allowed the stop by turn {turn}"
