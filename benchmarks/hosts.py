"""One scenario on all hosts: what a run of all costs beside single runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from measuring import Ratio, Table, Turn, against, milli, take_turns

from pytest_hookharness import hosts
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.moves import Behaviour, Script
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import Settings

MOST_WORK, MOST_WAIT = 1.2, 2.0
_REFUSES = "#!/bin/bash\necho no >&2\nexit 2\n"
_HANGS = "#!/bin/bash\nsleep {seconds}\nexit 0\n"


def table(folder: Path, *, quick: bool) -> Table:
    """Play one scenario on all hosts side by side, one after the other, and on one of them."""
    rounds, wait = (1, 0.5) if quick else (5, 2.0)
    names = [name for name in hosts.names() if "@" in name]
    found = Table(
        f"6. One scenario on all {len(names)} hosts",
        ("what", "processors", "time", "x", "aim", ""),
        notes=[
            "Each turn has a harness of its own, so that the work of all its processes is counted.",
            f"A hook that waits does so for {wait:g} s at the only stop.",
        ],
    )
    refusing = [_scenario(name, _REFUSES, turns=4) for name in names]
    waiting = [_scenario(name, _HANGS.format(seconds=wait), turns=4) for name in names]
    work = take_turns(
        {
            "all": _turn(folder, _side_by_side, refusing),
            "sum": _turn(folder, _one_by_one, refusing),
        },
        rounds,
    )
    waits = take_turns(
        {
            "all": _turn(folder, _side_by_side, waiting, waits=True),
            "one": _turn(folder, _one_by_one, waiting[:1], waits=True),
        },
        rounds,
    )
    ratio = work.ratio("all", "sum")
    found.add("refusing hook, one by one", milli(work.median("sum")), "", "1.00")
    found.add("refusing hook, side by side", milli(work.median("all")), "", *_against(ratio, MOST_WORK))
    ratio = waits.ratio("all", "one")
    found.add("waiting hook, one host", "", milli(waits.median("one")), "1.00")
    found.add("waiting hook, all hosts", "", milli(waits.median("all")), *_against(ratio, MOST_WAIT))
    return found


def _against(ratio: Ratio, most: float) -> tuple[Ratio | str, ...]:
    return ratio, *against(most, ratio, "{:.2f}")


def _scenario(host: str, hook: str, turns: int) -> Scenario:
    return Scenario(
        name="loop",
        host=host,
        files={"hook.sh": hook},
        hooks={"Stop": "./hook.sh"},
        script=Script(then=Behaviour(name="idle")),
        turns=turns,
    )


def _turn(
    folder: Path,
    play: Callable[[Harness, Sequence[Scenario]], None],
    scenarios: Sequence[Scenario],
    *,
    waits: bool = False,
) -> Turn:
    def turn() -> Sequence[float]:
        # Other values each time, for what was played is known by its very scenario.
        fresh = [replace(scenario) for scenario in scenarios]
        began, worked = time.perf_counter(), _processors()
        with Harness(Settings(base=folder / "hosts", wall=600.0)) as harness:
            play(harness, fresh)
        return [time.perf_counter() - began if waits else _processors() - worked]

    return turn


def _side_by_side(harness: Harness, scenarios: Sequence[Scenario]) -> None:
    for place, scenario in enumerate(scenarios):
        harness.play(scenario, lambda place=place: scenarios[place + 1 :])  # type: ignore[misc]


def _one_by_one(harness: Harness, scenarios: Sequence[Scenario]) -> None:
    for scenario in scenarios:
        harness.simulate(scenario)


def _processors() -> float:
    """Seconds of processors that this process has had, and all that it has waited for."""
    return sum(os.times()[:4])
