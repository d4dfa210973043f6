"""
This module is concerned with lock-outs: what an exploration means for termination.

Middle floor: judging. Pure. A lock-out is said of the moves that were given and of no others.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.judging.assumptions import CLOCKS, gather
from pytest_hookharness.judging.promises import with_verdict
from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.exploration import Exploration
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Capped, Lockout, Terminated, Undecided, Verdict

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
        return Lockout(turn=len(explored.trap.way), moves=explored.menu)
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
