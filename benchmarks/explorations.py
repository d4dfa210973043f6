"""Exploration: what a move costs that is tried and undone, beside a played one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from measuring import Table, Turn, against, milli, take_turns

from pytest_hookharness.campaigns.explore.expansion import ExpansionTask, expand
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.model.moves import FIRST_PROMPT, RunCommand
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings

MOST = 2.0
MOVES = 20
_PASSES = "#!/bin/sh\nexit 0\n"


def table(folder: Path, *, quick: bool) -> Table:
    """Make the same call many times on a path, and as many times from one state that is put back."""
    rounds = 2 if quick else 10
    found = Table(
        "8. Moves that are tried",
        ("what", "each", "x", "aim", ""),
        notes=[f"A call and its hook, {MOVES} times in one stage; each time is less that of an empty stage."],
    )
    with Supervisor() as supervisor:
        many = [RunCommand(command=f"touch made-{number}") for number in range(MOVES)]
        measured = take_turns(
            {
                "played": _turn(folder, supervisor, path=many, moves=[]),
                "tried": _turn(folder, supervisor, path=[], moves=many),
            },
            rounds,
        )
    ratio = measured.ratio("tried", "played")
    found.add("played", milli(measured.median("played")), "1.00")
    found.add("tried and undone", milli(measured.median("tried")), ratio, *against(MOST, ratio, "{:.2f}"))
    return found


def _turn(
    folder: Path, supervisor: Supervisor, *, path: Sequence[RunCommand], moves: Sequence[RunCommand]
) -> Turn:
    scenario = Scenario(
        name="moves", files={"hook.sh": _PASSES}, hooks={"PreToolUse": [{"command": "./hook.sh"}]}
    )

    def seconds(path: Sequence[RunCommand], moves: Sequence[RunCommand]) -> float:
        task = ExpansionTask(
            scenario=scenario,
            settings=Settings(),
            path=(FIRST_PROMPT, *path),
            moves=tuple(moves),
            seconds=600.0,
        )
        began = time.perf_counter()
        expand(task, Resources(supervisor=supervisor, base=folder / "explorations"))
        return time.perf_counter() - began

    def turn() -> Sequence[float]:
        return [max(0.0, seconds(path, moves) - seconds((), ())) / MOVES]

    return turn
