"""
Explorations in a report: how an agent is locked in, and how it gets out.

Pure. Written for somebody who has never heard of states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.exploration import (
    BEYOND,
    INTERRUPTED,
    LATE,
    LEFT,
    Exploration,
    Successor,
    TrapState,
)
from pytest_hookharness.model.moves import Move
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.reports.safe_text import columns, fit, plain
from pytest_hookharness.reports.terminal.phrases import command_words, move_words, reason_words
from pytest_hookharness.reports.terminal.turns import write_turns

_LABEL = 40
_MOST_MOVES = 12
_REMEDIES = {
    LATE: "allow more with --time, or `time` under `explore`; --budget bounds it too",
    BEYOND: "allow more with --states, or `states` under `explore`",
    LEFT: "name those that matter under `explore`, as `moves`",
}


def write_trap(outcome: Outcome, explored: Exploration, trap: TrapState, width: int) -> list[str]:
    """
    The way into a lock-out, and what each move comes to there.
    """
    lines = write_turns(replace(outcome, trace=trap.trace), width)
    lines.append("  from then on, whatever the agent does:")
    words = [move_words(move) for move in explored.candidates[:_MOST_MOVES]]
    label = min(_LABEL, max(map(columns, words), default=0))
    for said, arrival in zip(words, trap.met, strict=False):
        lines.append(fit(f"    {fit(said, label)}  {_met(arrival, trap)}", width).rstrip())
    left = len(explored.candidates) - len(words)
    return [*lines, *([f"    and {counted(left, 'more move')}"] if left > 0 else [])]


def tell_explored(explored: Exploration) -> Iterator[str]:
    """
    What was explored and what it showed, in sentences.
    """
    states, moves = counted(explored.states, "state"), counted(len(explored.candidates), "move")
    made = counted(explored.tried, "time")
    yield f"explored: {states}, with {moves} in each; one of them was made {made} in all"
    if explored.trap is not None:
        inside = counted(explored.trap.states, "state")
        yield f"  {inside} can be reached from there; made again a year later, all moves came out the same"
    elif explored.covered:
        yield "  from every state some of these moves lead to a stop that the hooks allow"
    else:
        yield f"  from {explored.stopping} of them a way to a stop is known"
    for why, number in explored.open.items():
        remedy = f" ({_REMEDIES[why]})" if why in _REMEDIES else ""
        yield f"  not known: {counted(number, 'move')}, {plain(why, 120)}{remedy}"
    if explored.since is not None and explored.trap is None:
        yield f"  {_way_out(explored)}"
    yield f"  moves: {', '.join(move_words(move) for move in explored.candidates)}"


def conclude(explored: Exploration | None) -> str:
    """
    What an exploration came to, in one sentence for whoever reads nothing else.
    """
    if explored is None:
        return "nothing was explored, for the session itself came to no end"
    if explored.trap is not None:
        return "a lock-out: from the state above none of these moves leads to a stop"
    if explored.covered:
        return "no lock-out: from every state some move leads to a stop that the hooks allow"
    why = "it was interrupted" if INTERRUPTED in explored.open else "of what is not known (see above)"
    return f"it could not be told whether there is a lock-out, because {why}"


def way_words(way: Sequence[Move]) -> str:
    """
    Some moves one after the other.
    """
    return ", then ".join(map(move_words, way))


def _way_out(explored: Exploration) -> str:
    if not explored.escape:
        return "no way out of the loop was found among these moves"
    return f"the way out of the loop: after turn {explored.since} the agent {way_words(explored.escape)}"


def _met(arrival: Successor, trap: TrapState) -> str:
    for fire in arrival.refusals:
        return f"{plain(fire.hook.event, 20)}  {command_words(fire)} -> block {reason_words(fire)}"
    if arrival.fate == "held":
        return plain(arrival.why, 120)
    return "changes nothing" if arrival.digest == trap.digest else "leads to a state that is no better"
