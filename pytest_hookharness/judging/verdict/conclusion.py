"""
The whole opinion on a run: verdict, findings and assumptions together.

Pure.

The verdict on several threads: the person's, and those of process hooks.

Pure. A run has terminated only if each of its threads has and nothing is left that
could start another one.

Lock-outs: what an exploration means for termination.

Pure. A lock-out is said of the moves that were given and of no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_hookharness.judging.expectations.check_expectations import with_verdict
from pytest_hookharness.judging.findings.find import find
from pytest_hookharness.judging.findings.settings_problem import ConfigurationProblem
from pytest_hookharness.judging.recurrence.cycle import Lasso
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.judging.verdict.verdict import CLOCKS, gather, judge
from pytest_hookharness.model.background import Denial
from pytest_hookharness.model.expectations import Expectation, counted
from pytest_hookharness.model.exploration import Exploration
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.probes import ProbeReport
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import (
    Cap,
    Capped,
    Conclusion,
    Hung,
    Limit,
    Lockout,
    Recursing,
    Terminated,
    Undecided,
    Verdict,
)

_WORST_FIRST = (Hung, Recursing, Undecided)


def judge_threads(
    verdicts: Sequence[Verdict], denials: Sequence[Denial], *, turn: int, unfinished: Sequence[str]
) -> Verdict:
    """
    The verdict on all threads together.

    Args:
        verdicts: That on each thread, the person's own first.
        denials: What was refused.
        turn: The last turn.
        unfinished: What might still have started a thread when the run was ended, in words.
    """
    stopped = next((denial for denial in denials if denial.stops), None)
    every: list[Verdict] = [*verdicts]
    if stopped is not None:
        every.append(Recursing(turn=turn, limit=stopped.reason, chain=stopped.chain))
    if unfinished:
        every.append(Undecided(turn=turn, why=f"it was ended while {'; '.join(unfinished)}"))
    for kind in _WORST_FIRST:
        for verdict in every:
            if isinstance(verdict, kind):
                return verdict
    # Left are verdicts on threads that came to an end, each by its own way.
    other = next((verdict for verdict in every if not isinstance(verdict, Terminated)), None)
    return other or Terminated(turn=turn)


_ASSUMED = (
    "The agent has no other moves than those that were given.",
    "What the host's guard would end is left aside.",
)
_MASKED = "What the scenario masks decides nothing."


def judge_explored(outcome: Outcome, explored: Exploration) -> Outcome:
    """
    An outcome with what was explored, and the verdict that follows from both.
    """
    outcome = replace(outcome, explored=explored, wall=outcome.wall + explored.wall)
    outcome = with_verdict(outcome, _verdict(outcome.verdict, explored))
    if explored.trap is None:
        return outcome
    masked = (_MASKED,) if outcome.scenario.masks else ()
    rests = (*_ASSUMED, *masked, *CLOCKS, *outcome.assumptions, *gather(explored.trap.trace))
    return replace(outcome, assumptions=tuple(dict.fromkeys(rests)))


def _verdict(played: Verdict, explored: Exploration) -> Verdict:
    """
    The verdict on the hooks, given that on the scenario's own agent.

    What that one ran into is proved, so an exploration that did not come to an end takes nothing from it; but
    that it could stop says nothing of others.
    """
    if explored.trap is not None:
        return Lockout(turn=len(explored.trap.way), moves=explored.candidates)
    if explored.open and isinstance(played, Terminated | Capped):
        return Undecided(turn=played.turn, why=_why(explored))
    return played


def _why(explored: Exploration) -> str:
    states = counted(explored.states, "state")
    number = sum(explored.open.values())
    reasons = "; ".join(f"{why}: {times}" for why, times in explored.open.items())
    return (
        f"no lock-out is known of, but of the moves in the {states} that were found {number} lead to what is "
        f"not known ({reasons})"
    )


_NOTHING_PROMISED = Expectation()


def form(
    trace: Trace,
    end: RunEnd,
    *,
    cap: Cap | None = None,
    limits: Sequence[Limit] = (),
    lasso: Lasso | None = None,
    flaky: bool = False,
    masked: frozenset[str] = frozenset(),
    assumptions: Sequence[str] = (),
    problems: Sequence[ConfigurationProblem] = (),
    configured: Sequence[str] | None = None,
    probing: ProbeReport | None = None,
    expect: Expectation = _NOTHING_PROMISED,
) -> Conclusion:
    """
    What the judge makes of a run; the arguments are those of `judge` and of `find`.
    """
    verdict = judge(
        trace,
        end,
        cap=cap,
        limits=limits,
        lasso=lasso,
        flaky=flaky,
        masked=masked,
        assumptions=assumptions,
        probing=probing,
    )
    if end.how == "interrupted":
        # Hooks that were not fired until then might have been.
        configured = None
    findings = find(trace, problems=problems, flaky=flaky, configured=configured, expect=expect)
    return Conclusion(verdict, findings, gather(trace, assumptions))
