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
    "probed",
    "valve",
    "disagreed",
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
            ``lasso``: a lasso was closed and gone round once more. ``probed``: turns are alike, and by
            experiment nothing that differs between them decides. ``valve``: by experiment something else
            would happen, at a place that cannot be reached. ``disagreed``: such a place was reached, and
            it did not happen.
        turn: The last turn that was played.
        why: One sentence about it, empty if ``how`` says it all.
        rule: The host's rule behind it, if there is one.
        status: The host's own word for it, if it has one.
        finishing: Tools whose call is an attempt to stop.
    """

    how: How
    turn: int
    why: str = ""
    rule: Rule | None = None
    status: str = ""
    finishing: tuple[str, ...] = ()


def overridden(trace: Trace) -> tuple[Step, Hooked] | None:
    """
    Where the guard first set a refusal aside.
    """
    return next(((step, hooked) for step, hooked in trace.hooked() if hooked.decision.overridden), None)


def not_let_go(trace: Trace, end: End) -> str:
    """
    Why the end of this run is not the hooks' own decision to let the agent stop; empty if it is.

    Two ends are their decision: the last stop was let through; or the host says that a hook halted the
    turn or refused its prompt, so that nothing could go on. Neither undoes a refusal that still stood.
    What hooks of other events say once the turn is over ends nothing.
    """
    if _refusal_stands(trace, end):
        return "the session ended while the refusal of the last stop still stood"
    if end.how == "halted":
        return ""
    last = _last_move(trace)
    if last is None:
        return "the session ended before the agent made a move"
    if end.how == "idle" or not _tries_to_stop(last[1].move, end):
        return "the session ended before the agent tried to stop"
    return ""


def _last_move(trace: Trace) -> tuple[int, Moved] | None:
    found = [(place, step.exchange) for place, step in enumerate(trace.steps)]
    return next(((place, item) for place, item in reversed(found) if isinstance(item, Moved)), None)


def _tries_to_stop(move: moves.Move, end: End) -> bool:
    if isinstance(move, moves.Tools):
        return any(call.name in end.finishing for call in move.calls)
    return isinstance(move, moves.Stop)


def _refusal_stands(trace: Trace, end: End) -> bool:
    last = _last_move(trace)
    if last is None or not _tries_to_stop(last[1].move, end):
        return False
    for step in trace.steps[last[0] + 1 :]:
        if isinstance(step.exchange, Happened):
            break
        if isinstance(step.exchange, Hooked) and step.exchange.decision.refused:
            return True
    return False
