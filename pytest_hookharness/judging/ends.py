"""
This module is concerned with how a run ended, and whether the hooks really let the agent go.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_hookharness.model import moves
from pytest_hookharness.model.protocol import Rule
from pytest_hookharness.model.trace import Happened, Hooked, Moved, Step, Trace

How: TypeAlias = Literal[
    "stopped",
    "idle",
    "capped",
    "halted",
    "waiting",
    "recursed",
    "turns",
    "wall",
    "interrupted",
    "lasso",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """
    How a run ended, as the host's session or the loop's budgets say it.

    Attributes:
        how: ``stopped``: the session is over. ``idle``: it is over and no turn was begun. ``capped``: the
            host's guard ended it. ``halted``: a hook said that nothing may go on. ``waiting``: the host
            waits for something that does not come. ``recursed``: fires caused fires beyond a limit.
            ``turns`` and ``wall``: a budget is used up. ``interrupted``: the person stopped the run.
            ``lasso``: a lasso was closed and gone round once more.
        turn: The last turn that was played.
        why: One sentence about it, empty if ``how`` says it all.
        rule: The host's rule behind it, if there is one.
    """

    how: How
    turn: int
    why: str = ""
    rule: Rule | None = None


def overridden(trace: Trace) -> tuple[Step, Hooked] | None:
    """
    Where the guard first set a refusal aside.
    """
    return next(((step, hooked) for step, hooked in trace.hooked() if hooked.decision.overridden), None)


def not_let_go(trace: Trace) -> str:
    """
    Why the end of this run is not the hooks' own decision to let the agent stop; empty if it is.

    Three ends are their decision: the agent wanted to stop after the last prompt and nobody refused;
    a hook halted everything; the prompt itself was refused, so that the agent never started.
    """
    steps = _since_last_prompt(trace)
    moved = [index for index, step in enumerate(steps) if isinstance(step.exchange, Moved)]
    tail = steps[moved[-1] + 1 :] if moved else steps
    decisions = [step.exchange.decision for step in tail if isinstance(step.exchange, Hooked)]
    if any(decision.halt is not None for decision in decisions):
        return ""
    if not moved:
        if any(decision.refused for decision in decisions):
            return ""
        return "the script ended the session before the agent made a move"
    last = steps[moved[-1]].exchange
    if not (isinstance(last, Moved) and isinstance(last.move, moves.Stop)):
        return "the script ended the session before the agent tried to stop"
    if any(decision.refused for decision in decisions):
        return "the script ended the session while the refusal of the last stop still stood"
    return ""


def _since_last_prompt(trace: Trace) -> tuple[Step, ...]:
    prompts = [
        index
        for index, step in enumerate(trace.steps)
        if isinstance(step.exchange, Happened) and isinstance(step.exchange.event, moves.Prompt)
    ]
    return trace.steps[prompts[-1] :] if prompts else trace.steps
