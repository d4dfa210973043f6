"""
Explorations in a report: how an agent is locked in, and how it gets out.

Written for readers who do not know what a state graph is.
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
from pytest_hookharness.reports.safe_text import columns, fit, fold_line, plain, without_runner_command
from pytest_hookharness.reports.terminal.phrases import (
    and_more,
    describe_move,
    text_of_command,
    text_of_reason,
)
from pytest_hookharness.reports.terminal.turns import render_turns

_LABEL = 40
_MOST_MOVES = 12
_REMEDIES = {
    LATE: "allow more with --time, or `time` under `explore`; --budget bounds it too",
    BEYOND: "allow more with --states, or `states` under `explore`",
    LEFT: "name those that matter under `explore`, as `moves`",
}


def render_trap(
    outcome: Outcome, explored: Exploration, trap: TrapState, width: int, *, verbose: bool = False
) -> list[str]:
    """Return the path into a lock-out, and what each move leads to there."""
    lines = render_turns(replace(outcome, trace=trap.trace), width, verbose=verbose)
    lines.append("  from then on, whatever the agent does:")
    words = [describe_move(move) for move in explored.candidates[:_MOST_MOVES]]
    label = min(_LABEL, max(map(columns, words), default=0))
    for said, successor in zip(words, trap.met, strict=False):
        line = f"    {fit(said, label)}  {_met(successor, trap)}"
        lines += map(without_runner_command, fold_line(line, width, " " * (label + 6)))
    return [*lines, *and_more(len(explored.candidates) - len(words), "move", "    ")]


def describe_exploration(explored: Exploration) -> Iterator[str]:
    """Describe what was explored and what it showed, in sentences."""
    states, moves = counted(explored.states, "state"), counted(len(explored.candidates), "move")
    made = counted(explored.tried, "time")
    yield f"explored: {states}, {moves} tried in each, {made} in all"
    if explored.trap is not None:
        inside = counted(explored.trap.states, "state")
        yield f"  {inside} can be reached from there; a simulated year later all moves give the same"
    elif explored.covered:
        yield "  from every state some of these moves lead to a stop that the hooks allow"
    else:
        yield f"  a path to a stop is known from {explored.stopping} of them"
    for why, number in explored.open.items():
        remedy = f" ({_REMEDIES[why]})" if why in _REMEDIES else ""
        yield f"  unknown: {counted(number, 'move')}, {plain(why, 120)}{remedy}"
    if explored.since is not None and explored.trap is None:
        yield f"  {_describe_escape(explored)}"
    yield f"  moves: {', '.join(describe_move(move) for move in explored.candidates)}"


def conclusion_of(explored: Exploration | None) -> str:
    """Return the result of an exploration in one sentence."""
    if explored is None:
        return "nothing was explored, because the session itself did not end"
    if explored.trap is not None:
        return "a lock-out: from the state above none of these moves leads to a stop"
    if explored.covered:
        return "no lock-out: from every state some move leads to a stop that the hooks allow"
    why = "it was interrupted" if INTERRUPTED in explored.open else "some results are unknown (see above)"
    return f"inconclusive: {why}"


def describe_path(moves: Sequence[Move]) -> str:
    """Describe moves in order."""
    return ", then ".join(map(describe_move, moves))


def _describe_escape(explored: Exploration) -> str:
    if not explored.escape:
        return "none of these moves leads out of the loop"
    return f"out of the loop: after turn {explored.since} the agent {describe_path(explored.escape)}"


def _met(successor: Successor, trap: TrapState) -> str:
    for run in successor.refusals:
        return f"{plain(run.hook.event, 20)}  {text_of_command(run)} -> block {text_of_reason(run)}"
    if successor.fate == "held":
        return plain(successor.why, 120)
    return (
        "changes nothing" if successor.digest == trap.digest else "leads to a state without a path to a stop"
    )
