"""
Where the time of the shipped scenarios goes: hooks, harness, and processors that wait.

This module is also the plugin that the measured run of pytest loads.
"""

from __future__ import annotations

import functools
import json
import math
import os
import resource
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from measuring import Ratio, Table, against

ROOT = Path(__file__).resolve().parent.parent
# Time of the run by that of its hooks alone on all processors; the harness's share of the CPU time.
MOST, MOST_SHARE = 1.35, 0.25
_OUT = "SHIPPED_BENCHMARK"
_QUICK = "scenarios/trusted-flag"
# What plays repetitions: module, owner in it, function, and the words of its row.
PHASES = (
    ("simulation.other_times", "OtherTimes", "_compare_paces", "other paces"),
    ("simulation.other_times", "OtherTimes", "_compare_starts", "other starts"),
    ("simulation.simulate", "", "_with_repeats", "repeated sessions"),
    ("simulation.single_run", "", "_find_doubt", "the moved clock, checked"),
    ("simulation.probing.observed_repetition", "ReadObservation", "observe", "observed repetitions"),
    ("simulation.probing.clock_trial", "ClockTrial", "play", "experiments"),
    ("simulation.probing.prober", "Prober", "probe", "experiments"),
    ("campaigns.run", "", "_vary", "mutations and races"),
    ("campaigns.run", "", "_explore", "explorations"),
)
_REAL = "real turns"


def table(folder: Path, *, quick: bool) -> Table:
    """Play the shipped scenarios once, with the README's own command and one plugin that measures."""
    words = [_QUICK] if quick else []
    rounds = [_play(folder / f"{number}.json", words) for number in range(1 if quick else 2)]
    seen, cores = rounds[-1], os.cpu_count() or 1
    hooks, used = _hooks(seen), seen["pytest"] + seen["processes"]
    floor = f"{hooks / cores:.1f} s"
    found = Table(
        f"9. {seen['simulations']} shipped scenarios: the last of {len(rounds)} runs, and the ratio of all",
        ("what", "runs", "time of all", "CPU", "share", "aim", ""),
        notes=[
            f"The aim of a run is for its time, as a multiple of {floor}: the hooks alone on all processors.",
            f"All processors worked for {seen['machine']:.1f} s, for other programs too.",
        ],
    )
    ratio = Ratio.of_rounds([one["wall"] * cores / _hooks(one) for one in rounds])
    found.add("the run", "", f"{seen['wall']:.1f} s", f"{used:.1f} s", ratio, *against(MOST, ratio))
    for name, (runs, wall, cpu) in sorted(seen["phases"].items(), key=lambda item: -item[1][2]):
        found.add(f"hooks: {name}", str(runs), f"{wall:.1f} s", f"{cpu:.1f} s", f"{cpu / used:.2f}")
    own = used - hooks
    found.add("harness: pytest's process", "", "", f"{seen['pytest']:.1f} s", f"{seen['pytest'] / used:.2f}")
    rest = seen["processes"] - hooks
    found.add("harness: supervisors, and what hooks left", "", "", f"{rest:.1f} s", f"{rest / used:.2f}")
    found.add("harness, both", "", "", f"{own:.1f} s", f"{own / used:.2f}", *against(MOST_SHARE, own / used))
    idle = max(0.0, seen["wall"] * cores - seen["machine"])
    found.add("idle processors", "", f"{idle / cores:.1f} s", "", f"{idle / (seen['wall'] * cores):.2f}")
    for name, seconds in seen["slowest"]:
        found.add(f"slow: {name.rpartition('::')[2]}", "", f"{seconds:.1f} s")
    return found


def _hooks(seen: Mapping[str, Any]) -> float:
    return math.fsum(cpu for _, _, cpu in seen["phases"].values())


def _play(out: Path, words: list[str]) -> dict[str, Any]:
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    env = {**os.environ, _OUT: str(out), "PYTHONPATH": path}
    command = [sys.executable, "-m", "pytest", "--hook-scenarios", "-q", "-p", "shipped", *words]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode or not out.exists():
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    found: dict[str, Any] = json.loads(out.read_text())
    return found


class _Probe:
    """Sums up what the hook runs of a pytest process take, by what they are played for."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.machine = _busy()
        self.phases: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
        self.durations: list[tuple[str, float]] = []
        self._phase = threading.local()
        self._lock = threading.Lock()

    def install(self) -> None:
        """Wrap what plays repetitions, and what runs hooks."""
        import importlib  # noqa: PLC0415

        from pytest_hookharness.execution.processes.sandbox import Sandbox  # noqa: PLC0415

        for module, owner, name, phase in PHASES:
            place: Any = importlib.import_module(f"pytest_hookharness.{module}")
            place = getattr(place, owner) if owner else place
            setattr(place, name, self._within(phase, getattr(place, name)))
        run = Sandbox.run

        def measured(sandbox: Sandbox, specs: Any, **rest: Any) -> Any:
            began = time.monotonic()
            results = run(sandbox, specs, **rest)
            with self._lock:
                sums = self.phases[getattr(self._phase, "name", _REAL)]
                sums[0] += len(results)
                sums[1] += time.monotonic() - began
                sums[2] += sum(result.cpu for result in results)
            return results

        setattr(Sandbox, run.__name__, measured)

    def _within(self, phase: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def wrapped(*args: Any, **rest: Any) -> Any:
            before = getattr(self._phase, "name", _REAL)
            self._phase.name = phase
            try:
                return call(*args, **rest)
            finally:
                self._phase.name = before

        return wrapped

    def store(self, path: Path) -> None:
        """Write what was seen, once all processes have ended."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        seen: Mapping[str, object] = {
            "simulations": len(self.durations),
            "wall": time.monotonic() - self.began,
            "pytest": time.process_time(),
            "processes": ended.ru_utime + ended.ru_stime,
            "machine": _busy() - self.machine,
            "phases": self.phases,
            "slowest": sorted(self.durations, key=lambda item: -item[1])[:30],
        }
        path.write_text(json.dumps(seen))


def _busy() -> float:
    """Return the seconds for which all processors of the machine worked since it was started; Linux only."""
    try:
        times = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except OSError:
        return 0.0
    idle, waiting = 3, 4
    return (sum(times) - times[idle] - times[waiting]) / os.sysconf("SC_CLK_TCK")


_probe = _Probe()


def pytest_sessionstart() -> None:
    """Begin to measure."""
    _probe.install()


def pytest_runtest_logreport(report: Any) -> None:
    """Note how long pytest waited for a scenario; those begun ahead took longer."""
    if report.when == "call":
        _probe.durations.append((report.nodeid, report.duration))


def pytest_unconfigure() -> None:
    """Write what was measured."""
    if _OUT in os.environ:
        _probe.store(Path(os.environ[_OUT]))
