"""How soon an endless loop is known to be one, what that costs, and how often a verdict is right."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from measuring import Ratio, Table, Turn, against, milli, take_turns

from pytest_hookharness import hosts
from pytest_hookharness.execution.workspace.disposal import Disposal
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.moves import Behaviour, Script
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.verdicts import Livelock
from pytest_hookharness.simulation.simulate import simulate
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings

# A hook of which every Nth answer is the same.
_HOOK = """\
#!/bin/bash
read -r number 2>/dev/null < number || number=0
echo $(( (number + 1) % {period} )) > number
echo "attempt $number" >&2
exit 2
"""
# They count, so that nothing is proved: real turns, and then experiments.
_COUNTS = {
    "bash": """\
#!/bin/bash
read -r number 2>/dev/null < number || number=0
echo $((number + 2)) > number
[ "$number" = 12345 ] && exit 0
echo "not yet" >&2
exit 2
""",
    "python": """\
#!/usr/bin/env python3
import json, os, sys
json.load(sys.stdin)
number = int(open("number").read()) if os.path.exists("number") else 0
with open("number", "w") as file:
    file.write(str(number + 2))
if number == 12345:
    sys.exit(0)
sys.exit(print("not yet", file=sys.stderr) or 2)
""",
}
_LOGS = {
    "bash": """\
#!/bin/bash
echo "refused" >> stop.log
echo "not yet" >&2
exit 2
""",
    "python": """\
#!/usr/bin/env python3
import json, sys
with open("stop.log", "a") as file:
    file.write(json.dumps(json.load(sys.stdin)) + "\\n")
sys.exit(print("not yet", file=sys.stderr) or 2)
""",
}
MOST_HOOK_RUNS = {1: 4}
MOST_FOR_TURN = 0.003
MOST_FOR_EXPERIMENT = 1.2
MOST_FOR_LOGGING = 20.0
CAPS = (8, 60, 500)
MORE_FILES = 500


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


@dataclass(slots=True)
class _Stopwatch:
    """
    When turns and experiments of a run ended, in seconds.

    Attributes:
        turns: The end of each turn.
        probes: The end of each experiment.
    """

    turns: list[float] = field(default_factory=list)
    probes: list[float] = field(default_factory=list)


def costs(folder: Path, *, quick: bool) -> Table:
    """Measure turns and experiments of a loop against its hook alone, and a verdict on a hook that logs."""
    found = Table(
        "3b. What a verdict costs",
        ("what", "time", "ratio", "to", "aim", ""),
        notes=[
            "A turn of a loop that is not proved; what it costs beside its hook is our own part.",
            "The hook alone is started by /bin/sh -c, as hosts start it.",
        ],
    )
    # Before anything is removed: for about half a minute ext4 makes folders ten times slower after that.
    with Harness(Settings(base=folder / "logs", wall=600.0)) as harness:
        for name in _LOGS:
            _add_verdicts(found, harness, folder / f"{name} logs", name, 2 if quick else 9)
    for name in _COUNTS:
        with Harness(Settings(base=folder / name, wall=600.0)) as harness:
            _add_turns(found, harness, folder / f"{name} alone", name, 1 if quick else 5)
            if name == "bash":
                _add_experiments(found, harness, name, 1 if quick else 3)
    return found


def _add_turns(found: Table, harness: Harness, place: Path, name: str, rounds: int) -> None:
    experiments: list[float] = []
    turns = {
        "turn": lambda: _loop_costs(harness, _COUNTS[name], experiments),
        "hook": _alone(place, _COUNTS[name]),
        "bare": _alone(place, _COUNTS[name], ["./hook"]),
    }
    seen = take_turns(turns, rounds)
    own = seen.difference("turn", "hook")
    found.add(f"{name}: hook alone", milli(seen.median("hook")))
    found.add(f"{name}: turn", milli(seen.median("turn")), seen.ratio("turn", "hook"), "hook alone")
    aim = f"<= {milli(MOST_FOR_TURN)}", "reached" if own <= MOST_FOR_TURN else "missed"
    found.add(f"{name}: our part of a turn", milli(own), "", "", *aim)
    found.add(f"{name}: our part, and its shell", milli(seen.difference("turn", "bare")))
    # The repetition that an experiment plays is one turn.
    one = statistics.median(experiments)
    ratio = Ratio(one / seen.median("turn"))
    found.add(f"{name}: experiment", milli(one), ratio, "turn", *against(MOST_FOR_EXPERIMENT, ratio))


def _add_experiments(found: Table, harness: Harness, name: str, rounds: int) -> None:
    """Add what an experiment costs where its hook leaves many files as they are."""
    experiments: list[float] = []
    turns = [_loop_costs(harness, _COUNTS[name], experiments, files=MORE_FILES) for _ in range(rounds)]
    one, turn = statistics.median(experiments), statistics.median(time for row in turns for time in row)
    row = f"{name}: experiment, {MORE_FILES} more files"
    found.add(row, milli(one), Ratio(one / turn), "turn", *against(MOST_FOR_EXPERIMENT, one / turn))


def _add_verdicts(found: Table, harness: Harness, place: Path, name: str, rounds: int) -> None:
    # As under pytest, workspaces are removed at the end of the run.
    with Disposal(place.with_name(f".{place.name}")) as disposal:
        resources = replace(harness.resources, disposal=disposal)
        turns = {
            "verdict": _logging(harness, resources, _LOGS[name]),
            "hook": _alone(place, _LOGS[name]),
            "bare": _alone(place, _LOGS[name], ["./hook"]),
        }
        seen = take_turns(turns, rounds)
    ratio, verdict = seen.ratio("verdict", "hook"), milli(seen.median("verdict"))
    aim = against(MOST_FOR_LOGGING, ratio)
    found.add(f"{name}: verdict on a hook that logs", verdict, ratio, "hook alone", *aim)
    found.add("", "", seen.ratio("verdict", "bare"), "hook alone, without its shell")


def _loop_costs(harness: Harness, script: str, experiments: list[float], *, files: int = 0) -> list[float]:
    """Return the seconds of each turn of a loop beside other files, and add those of each experiment."""
    watch = _Stopwatch()
    outcome = simulate(
        _refusing(script, turns=40, files=files),
        harness.settings,
        harness.resources,
        on_turn=lambda *_: watch.turns.append(time.perf_counter()),
        on_probe=lambda: watch.probes.append(time.perf_counter()),
    )
    assert getattr(outcome.verdict, "evidence", "") == "driven", outcome.verdict
    experiments += [after - before for before, after in pairwise(watch.probes)]
    # What is observed of the first repetitions lies between their turns.
    return [after - before for before, after in pairwise(watch.turns)][-20:]


def _logging(harness: Harness, resources: Resources, script: str) -> Turn:
    def turn() -> list[float]:
        began = time.perf_counter()
        outcome = simulate(_refusing(script), harness.settings, resources)
        assert getattr(outcome.verdict, "evidence", "") == "unread", outcome.verdict
        return [time.perf_counter() - began]

    return turn


def _alone(folder: Path, script: str, command: Sequence[str] = ("/bin/sh", "-c", "./hook")) -> Turn:
    """Start a hook ten times, without a harness; by a shell, unless another command is given."""
    folder.mkdir(exist_ok=True)
    hook = folder / "hook"
    hook.write_text(script)
    hook.chmod(0o755)

    def turn() -> list[float]:
        times = []
        for _ in range(10):
            began = time.perf_counter()
            subprocess.run(command, input=b"{}", capture_output=True, cwd=folder, check=False)
            times.append(time.perf_counter() - began)
        return times

    return turn


def _refusing(script: str, turns: int = 200, files: int = 0) -> Scenario:
    others = {f"docs/{number % 20}/{number}.md": f"page {number}\n" for number in range(files)}
    return Scenario(
        name="loop",
        files={"refuse.sh": script, **others},
        hooks={"Stop": [{"hooks": [{"type": "command", "command": "./refuse.sh"}]}]},
        script=Script(then=Behaviour(name="idle")),
        env={hosts.find("claude-code").cap.variable: "0"},
        turns=turns,
    )


def blind(folder: Path, *, quick: bool) -> Table:
    """Judge the hooks of this night's blind test, or a few of them."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.blind.generator import night, of_the_night  # noqa: PLC0415
    from tests.blind.judging import FALSE, RIGHT, UNDECIDED, judge_all  # noqa: PLC0415

    seeds = of_the_night(night())
    found = judge_all(seeds[:6] if quick else seeds, sys.stderr.write, Settings(base=folder))
    table = Table("3c. Hooks whose truth is known, of no rule", ("verdict", "hooks", "part", "aim", ""))
    undecided = sum(one.result == UNDECIDED for one in found) / len(found)
    results = Counter(one.result if one.result == RIGHT else one.kind for one in found)
    for name, number in sorted(results.items()):
        table.add(name, str(number), f"{number / len(found):.1%}")
    false = sum(one.result == FALSE for one in found)
    table.add("false", str(false), f"{false / len(found):.1%}", *against(0.0, false, "{:.0f}"))
    table.add("undecided", "", f"{undecided:.1%}", *against(0.08, undecided))
    return table


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
