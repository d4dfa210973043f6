"""What a step costs in a workspace with many files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from measuring import Table, Turn, against, micro, take_turns

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_each_event
from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.frontends.checkup import project_copies
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.judging.recurrence.cycle import build_state, environment_digest
from pytest_hookharness.model.moves import Behaviour, Script
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.host_actions import run_hooks
from pytest_hookharness.simulation.testbed.run_settings import Settings
from pytest_hookharness.simulation.testbed.testbed import Testbed

MOST, MOST_SESSION = 1.10, 1.2
FILES = 1000
_PROJECTS = (10, 5500)
_SIZE = 3400
_BATCH = 5
_TURNS = 40

# It rewrites a file of state, so that there is something to find in each step.
_HOOK = """\
#!/bin/bash
read -r number < number
echo $(( number + 1 )) > number
echo more >&2
exit 2
"""


def table(folder: Path, *, quick: bool) -> Table:
    """Take the steps of a loop with and without looking at the files."""
    found = Table(
        f"5. A step: a bash hook writes a file, then all {FILES:,} files count",
        ("step", "median", "x", "of", "aim", ""),
    )
    base = folder / "workspaces"
    with ExitStack() as stack:
        supervisor = stack.enter_context(Supervisor())
        turns: dict[str, Turn] = {}
        for files in (0, FILES):
            testbed = stack.enter_context(Testbed(_scenario(files), Settings(), supervisor, base))
            run_hook, step = _works(testbed)
            turns[f"hook run, {files:,} files"] = _timed(run_hook)
            turns[f"hook run + scan + digest, {files:,} files"] = _timed(step)
        seen = take_turns(turns, 8 if quick else 100)
    for files in (0, FILES):
        name, bare = f"hook run + scan + digest, {files:,} files", f"hook run, {files:,} files"
        ratio = seen.ratio(name, bare)
        found.add(bare, micro(seen.median(bare)))
        found.add(name, micro(seen.median(name)), ratio, "the hook run", *against(MOST, ratio))
    _add_loops(found, base, rounds=2 if quick else 9)
    _add_sessions(found, folder, rounds=3 if quick else 10)
    return found


def _scenario(files: int) -> Scenario:
    text = "a line of a file that somebody wrote\n" * (_SIZE // 37)
    return Scenario(
        name="loop",
        files={
            "count.sh": _HOOK,
            "number": "0\n",
            **{f"src/part{number % 20}/file{number}.txt": f"{number}\n{text}" for number in range(files)},
        },
        hooks={"Stop": [{"hooks": [{"type": "command", "command": "./count.sh"}]}]},
        script=Script(then=Behaviour(name="idle")),
        env={hosts.find("claude-code").cap.variable: str(_TURNS)},
        until="guard",
        turns=_TURNS,
    )


def _works(testbed: Testbed) -> tuple[Callable[[], object], Callable[[], object]]:
    payload = hosts.payload_for(testbed.profile, "Stop", testbed.facts, {})
    hooks = hosts.select(testbed.profile, testbed.configuration.hooks, "Stop", "")
    environment = environment_digest(testbed.workspace.environment)
    before = build_state({}, "", environment, testbed.files)

    def run_hook() -> None:
        run_hooks(testbed, hooks, payload, 60.0)

    def step() -> None:
        nonlocal before
        run_hook()
        testbed.transcript_opened()
        testbed.scan()
        before = build_state({}, "", environment, testbed.files, testbed.scanner.opaque, before)

    return run_hook, step


def _timed(work: Callable[[], object]) -> Turn:
    def turn() -> list[float]:
        times = []
        for _ in range(_BATCH):
            began = time.perf_counter()
            work()
            times.append(time.perf_counter() - began)
        return times

    return turn


def _add_loops(found: Table, base: Path, rounds: int) -> None:
    """Play whole loops, whose turns do all that a turn does, from the second turn to the last."""
    with Harness(Settings(base=base)) as harness:
        seen = take_turns({str(files): _turns(harness, files) for files in (0, FILES)}, rounds)
    few, many = "0", str(FILES)
    ratio = seen.ratio(many, few)
    found.add("one turn of a loop, 0 files", micro(seen.median(few)))
    found.add(
        f"one turn of a loop, {FILES:,} files",
        micro(seen.median(many)),
        ratio,
        "0 files",
        *against(MOST, ratio),
    )


def _add_sessions(found: Table, folder: Path, rounds: int) -> None:
    """Play the first session of a check again and again, in a small project and in a large one."""
    with ExitStack() as stack:
        turns = {f"{files:,}": _sessions(stack, folder / f"project{files}", files) for files in _PROJECTS}
        first = {files: turn()[0] for files, turn in turns.items()}
        seen = take_turns(turns, rounds)
    few, many = turns
    ratio = seen.ratio(many, few)
    name = "one session of a check, {} files (the first took {})"
    found.add(name.format(few, micro(first[few])), micro(seen.median(few)))
    place = name.format(many, micro(first[many]))
    found.add(place, micro(seen.median(many)), ratio, f"{few} files", *against(MOST_SESSION, ratio))


def _sessions(stack: ExitStack, project: Path, files: int) -> Turn:
    for path, text in _scenario(files).files.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text)
    (project / ".claude").mkdir()
    hook = {"type": "command", "command": "echo more >>log.txt"}
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    harness = stack.enter_context(Harness(Settings()))
    resources = replace(harness.resources, copies=stack.enter_context(project_copies(harness)))
    session = plan_each_event(find_hook_sets(project)[0])

    def turn() -> list[float]:
        began = time.perf_counter()
        play_session(session, harness.settings, resources)
        return [time.perf_counter() - began]

    return turn


def _turns(harness: Harness, files: int) -> Turn:
    def turn() -> list[float]:
        ends: list[float] = []
        simulate(
            _scenario(files),
            harness.settings,
            harness.resources,
            on_turn=lambda *_: ends.append(time.perf_counter()),
        )
        assert len(ends) >= _TURNS - 1, len(ends)
        return [after - before for before, after in pairwise(ends)]

    return turn
