"""What hooks refused in the sessions so far, and whether they write files: what later sessions try again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import Act, Edit, Read, RunCommand, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Moved

# The number of hooks of which a refused call is tried in other ways.
_MOST_REFUSED = 4


def is_asked_before(host: str, event: str) -> bool:
    """Return whether hooks of an event run before a tool call."""
    rule = hosts.find(host).events.get(event)
    return rule is not None and rule.role in (hosts.Role.BEFORE_TOOL, hosts.Role.PERMISSION)


def refused_moves(outcome: Outcome) -> Iterator[tuple[str, Act]]:
    """Yield the moves that hooks refused, each with the command of the refusing hook."""
    moves = {
        step.turn: step.exchange.move for step in outcome.trace.steps if isinstance(step.exchange, Moved)
    }
    for step, hooked in outcome.trace.hooked():
        move = moves.get(step.turn)
        if hooked.decision.refused and isinstance(move, RunCommand | Edit | Read | Tools):
            for hook_run in hooked.hook_runs:
                if hook_run.reply.ruling is hooked.decision.ruling:
                    yield hook_run.hook.command, move


def refused_calls(outcomes: Sequence[Outcome]) -> list[Act]:
    """Return a refused call of each hook that refused any, preferably a shell command; each call once."""
    found: dict[str, Act] = {}
    for outcome in outcomes:
        for hook, move in refused_moves(outcome):
            if hook not in found or (
                isinstance(move, RunCommand) and not isinstance(found[hook], RunCommand)
            ):
                found[hook] = move
    # Calls have inputs, so they cannot be keys of a dictionary.
    moves: list[Act] = []
    for move in found.values():
        moves += [] if move in moves else [move]
    return moves[:_MOST_REFUSED]


def writes_before_calls(host: str, outcomes: Sequence[Outcome]) -> bool:
    """Return whether hooks that run before tool calls write files of the project."""
    return any(
        is_asked_before(host, hooked.event)
        and any(change.path.startswith("workspace/") for change in hooked.changes)
        for outcome in outcomes
        for _, hooked in outcome.trace.hooked()
    )
