"""How soon an endless loop is known to be one."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from measuring import Table, against, milli

from pytest_hookharness import hosts
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.moves import Behaviour, Script
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.verdicts import Livelock
from pytest_hookharness.simulation.testbed.run_settings import Settings

# A hook of which every Nth answer is the same.
_HOOK = """\
#!/bin/bash
read -r number 2>/dev/null < number || number=0
echo $(( (number + 1) % {period} )) > number
echo "attempt $number" >&2
exit 2
"""
MOST_HOOK_RUNS = {1: 4}
CAPS = (8, 60, 500)


def table(folder: Path, *, quick: bool) -> Table:
    """Play endless loops to the proof, and to caps that have no proof."""
    found = Table(
        "3. An endless loop: hook runs until the verdict",
        ("ended by", "period", "hook runs", "time", "aim", ""),
        notes=["A cap ends the loop without knowing whether it would have ended by itself."],
    )
    with Harness(Settings(base=folder / "verdicts", wall=600.0)) as harness:
        harness.simulate(_loop(1))
        for period in (1, 2, 3):
            number, seconds = _play(harness, _loop(period), 1 if quick else 9)
            aim = MOST_HOOK_RUNS.get(period)
            found.add("proof", str(period), str(number), milli(seconds), *against(aim, number, "{:.0f}"))
        for cap in CAPS:
            hook_runs, seconds = _play(harness, _loop(1, cap), 1)
            found.add(f"cap of {cap}", "1", str(hook_runs), milli(seconds))
    return found


def _loop(period: int, cap: int | None = None) -> Scenario:
    profile = hosts.find("claude-code")
    limit = profile.cap.variable
    return Scenario(
        name="loop",
        files={"refuse.sh": _HOOK.format(period=period)},
        hooks={"Stop": [{"hooks": [{"type": "command", "command": "./refuse.sh"}]}]},
        script=Script(then=Behaviour(name="idle")),
        env={limit: str(cap)} if cap is not None else {},
        until="lasso" if cap is None else "guard",
        turns=1000,
    )


def _play(harness: Harness, scenario: Scenario, times: int) -> tuple[int, float]:
    taken, hook_runs = [], 0
    for _ in range(times):
        began = time.perf_counter()
        outcome = harness.simulate(scenario)
        taken.append(time.perf_counter() - began)
        hook_runs = outcome.hook_runs()
        assert isinstance(outcome.verdict, Livelock) == (scenario.until == "lasso"), outcome.verdict
    return hook_runs, statistics.median(taken)
