"""What it costs to record which lines a hook runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from measuring import Table, Turn, against, micro, take_turns
from toys import PAYLOAD, targets

from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.model.line_coverage import CoverageStore
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.host_actions import run_hooks
from pytest_hookharness.simulation.testbed.run_settings import Settings
from pytest_hookharness.simulation.testbed.testbed import Testbed

MOST = 1.3
_BATCH = 5
_LOOP = """\
#!/bin/bash
for ((i = 0; i < 1000; i++)); do :; done
"""


def table(folder: Path, *, quick: bool) -> Table:
    """Run hooks with and without a recorder, and read its records."""
    found = Table(
        "9. Recorded: a hook run by /bin/sh -c, and its trace read, with and without --hook-cov",
        ("hook", "median", "recorded", "x", "aim", ""),
    )
    store = CoverageStore(folder=folder / "store")
    store.folder.mkdir()
    loop = folder / "loop.sh"
    loop.write_text(_LOOP)
    loop.chmod(0o755)
    hooks = {name: " ".join(words) for name, words in targets(folder).items()} | {
        "bash, 1,000 rounds": str(loop)
    }
    for name, command in hooks.items():
        with ExitStack() as stack:
            supervisor = stack.enter_context(Supervisor())
            turns: dict[str, Turn] = {}
            for kind, settings in (("plain", Settings()), ("recorded", Settings(coverage_store=store))):
                scenario = Scenario(name=kind, reach=(str(folder),))
                testbed = stack.enter_context(Testbed(scenario, settings, supervisor, folder / "base"))
                turns[kind] = _timed(_one_run(testbed, Hook(event="PreToolUse", command=command)))
            seen = take_turns(turns, 6 if quick else 20 if name == "python" else 80)
        ratio = seen.ratio("recorded", "plain")
        aim = MOST if name == "bash" else None
        times = (micro(seen.median("plain")), micro(seen.median("recorded")))
        found.add(name, *times, ratio, *against(aim, ratio))
    return found


def _one_run(testbed: Testbed, hook: Hook) -> Callable[[], object]:
    def run_hook() -> None:
        run_hooks(testbed, [hook], PAYLOAD, 30.0)
        testbed.workspace.instruments.settle()

    return run_hook


def _timed(work: Callable[[], object]) -> Turn:
    def turn() -> list[float]:
        times = []
        for _ in range(_BATCH):
            began = time.perf_counter()
            work()
            times.append(time.perf_counter() - began)
        return times

    return turn
