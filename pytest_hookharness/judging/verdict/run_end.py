"""
What keeps changing: what differs between the last two turns of one kind.

Pure.

Durations: how long something takes, as people say it.

Pure.

How a run ended, and whether the hooks really let the agent go.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model import moves
from pytest_hookharness.model.moves import Move
from pytest_hookharness.model.protocol import Rule
from pytest_hookharness.model.trace import Change, Happened, HookEvent, Moved, State, Step, Trace

_UNITS = (("year", 365 * 86400.0), ("day", 86400.0), ("h", 3600.0), ("min", 60.0))


def duration(seconds: float) -> str:
    """
    A time in the unit that people would use.
    """
    for name, unit in _UNITS:
        if seconds >= unit:
            number = f"{seconds / unit:.3g}"
            return f"{number} {name}s" if name in ("year", "day") and number != "1" else f"{number} {name}"
    return f"{seconds:.3g} s"


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
    "threshold",
    "disagreed",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
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


def overridden(trace: Trace) -> tuple[Step, HookEvent] | None:
    """
    Where the guard first set a refusal aside.
    """
    return next(((step, hooked) for step, hooked in trace.hooked() if hooked.decision.overridden), None)


def not_let_go(trace: Trace, end: RunEnd) -> str:
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


def _tries_to_stop(move: moves.Move, end: RunEnd) -> bool:
    if isinstance(move, moves.Tools):
        return any(call.name in end.finishing for call in move.calls)
    return isinstance(move, moves.Stop)


def _refusal_stands(trace: Trace, end: RunEnd) -> bool:
    last = _last_move(trace)
    if last is None or not _tries_to_stop(last[1].move, end):
        return False
    for step in trace.steps[last[0] + 1 :]:
        if isinstance(step.exchange, Happened):
            break
        if isinstance(step.exchange, HookEvent) and step.exchange.decision.refused:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Difference:
    """
    Why the newest turn did not bring an earlier state back.

    Attributes:
        files: What differs in the covered roots.
        others: What else differs, in words.
        unknown: Why the newest state is not known completely; empty if it is.
    """

    files: tuple[Change, ...] = ()
    others: tuple[str, ...] = ()
    unknown: str = ""


def newest_difference(trace: Trace) -> Difference:
    """
    What differs between the newest turn and the last one before it that was like it.
    """
    if not trace.states:
        return Difference()
    newest = max(trace.states)
    unknown = trace.states[newest].opaque
    like = _like(trace, newest)
    if like is None:
        return Difference(unknown=unknown)
    difference = between(trace.states[like], trace.states[newest])
    return Difference(difference.files, difference.others, unknown)


def between(before: State, after: State) -> Difference:
    """
    What differs between two states.
    """
    return Difference(
        tuple(changes(before.files, after.files)), _others(before, after), before.opaque or after.opaque
    )


def _like(trace: Trace, newest: int) -> int | None:
    earlier = sorted((turn for turn in trace.states if turn < newest), reverse=True)
    position = trace.states[newest].agent
    moves = _moves(trace)
    # A position that counts never comes again; then the same kind of move is the next best likeness.
    by_place = [turn for turn in earlier if trace.states[turn].agent == position]
    by_move = [turn for turn in earlier if newest in moves and type(moves.get(turn)) is type(moves[newest])]
    return next(iter([*by_place, *by_move, *earlier]), None)


def _moves(trace: Trace) -> dict[int, Move]:
    return {step.turn: step.exchange.move for step in trace.steps if isinstance(step.exchange, Moved)}


def _others(before: State, after: State) -> tuple[str, ...]:
    names = sorted(before.visible.keys() | after.visible.keys())
    absent = object()
    words = [
        f"the host's {name}"
        for name in names
        if before.visible.get(name, absent) != after.visible.get(name, absent)
    ]
    if before.agent != after.agent:
        words.append("the agent's place in its script")
    if before.environment != after.environment:
        words.append("the environment of the hooks")
    return tuple(words)
