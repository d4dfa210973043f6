"""
This module is concerned with what keeps changing: what differs between the last two turns of one kind.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_hookharness.judging.fingerprint import changes
from pytest_hookharness.model.moves import Move
from pytest_hookharness.model.trace import Change, Moved, State, Trace


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
