"""
Habits: what hooks do all through a session, and single events do not show.

Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from pytest_hookharness.judging.comparison.traces import refusers
from pytest_hookharness.judging.findings.codes import BLOCKS_EVERYTHING
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.moves import Edit, Read, RunCommand
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import HookEvent, Moved, Performed

_FEWEST = 3
# Mount points that hide folders of the machine, by the roots that stand for them.
_POINTS = {"private-tmp": "/tmp", "private-var-tmp": "/var/tmp", "shm": "/dev/shm"}  # noqa: S108 - names


def find_blockades(outcome: Outcome) -> Iterator[Symptom]:
    """
    One complaint if harmless work was refused: all that reads, all that edits, and most commands.

    Args:
        outcome: A session in which nobody would object to anything.
    """
    moves = {
        step.turn: step.exchange.move for step in outcome.trace.steps if isinstance(step.exchange, Moved)
    }
    calls = [
        (step.turn, moves.get(step.turn), step.exchange.refused)
        for step in outcome.trace.steps
        if isinstance(step.exchange, Performed)
    ]
    looks = [refused for _, move, refused in calls if isinstance(move, Read)]
    edits = [refused for _, move, refused in calls if isinstance(move, Edit)]
    commands = [refused for _, move, refused in calls if isinstance(move, RunCommand)]
    refused = [turn for turn, _, refused in calls if refused]
    if not (looks and edits and all([*looks, *edits]) and 2 * sum(commands) >= len(commands)):
        return
    if len(refused) < _FEWEST:
        return
    yield Symptom(
        kind=BLOCKS_EVERYTHING.name,
        code=BLOCKS_EVERYTHING.code,
        hook=refusers(outcome.trace, refused[-1]),
        text=f"{len(refused)} of {len(calls)} harmless calls are refused, each look and each edit too.",
        advice=BLOCKS_EVERYTHING.fix,
        turn=refused[-1],
    )


def lies_beside(path: str, hooked: HookEvent) -> str:
    """
    The name of a file that was written on the way to the project, outside of it; empty if it was not.

    Args:
        path: State path of the file.
        hooked: The event; the input of its hooks tells where the project is.
    """
    root, _, rest = path.partition("/")
    if root not in _POINTS:
        return ""
    folder = posixpath.dirname(f"{_POINTS[root]}/{rest}")
    told = (str(value) for fire in hooked.hook_runs for value in fire.payload.values())
    above = folder != _POINTS[root] and any(value.startswith(f"{folder}/") for value in told)
    return posixpath.basename(path) if above else ""
