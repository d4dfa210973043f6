"""
What the installed plugin costs a run that does not use it.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

from measuring import Rounds, Table, Turn, against, milli, pytest_environment, take_turns

MOST_MILLISECONDS = 5.0
MOST_MODULES = 3

_SPY = """
import sys

def pytest_unconfigure():
    ours = [name for name in sys.modules if name.partition(".")[0] == "pytest_hookharness"]
    print(f"modules: {len(ours)}")
"""


def table(folder: Path, *, quick: bool) -> Table:
    """
    Run an empty test with and without the plugin, in turns.
    """
    found = Table(
        "2. The plugin when nobody uses it: how much longer a run takes",
        ("run", "with", "without", "wall more", "CPU more", "aim", ""),
        notes=["The aim is for CPU time; the wall clock is noisier than that."],
    )
    place = folder / "unused"
    place.mkdir()
    (place / "test_nothing.py").write_text("def test_nothing(): pass\n")
    (place / "spy.py").write_text(_SPY)
    for name, words in {"one empty test": (), "--collect-only": ("--collect-only",)}.items():
        cpu: dict[str, list[list[float]]] = {"with": [], "without": []}
        wall = take_turns(
            {
                "with": _clocked(place, (*_ON, *words), cpu["with"]),
                "without": _clocked(place, words, cpu["without"]),
            },
            4 if quick else 40,
        )
        more = Rounds(cpu).difference("with", "without")
        found.add(
            name,
            milli(wall.median("with")),
            milli(wall.median("without")),
            milli(wall.difference("with", "without")),
            milli(more),
            *against(MOST_MILLISECONDS, more * 1e3, "{:.1f} ms"),
        )
    modules = count_modules(place)
    found.add("our modules loaded", str(modules), *[""] * 3, *against(MOST_MODULES, modules, "{:.0f}"))
    return found


_ON = ("-p", "pytest_hookharness.plugin")


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _clocked(place: Path, words: tuple[str, ...], cpu: list[list[float]]) -> Turn:
    """
    A turn whose time is that of the wall clock; the time on the processor is added to a list.
    """

    def turn() -> list[float]:
        began, used = time.perf_counter(), _used()
        _run(place, *words)
        cpu.append([_used() - used])
        return [time.perf_counter() - began]

    return turn


def _run(place: Path, *words: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    run = subprocess.run(
        command, cwd=place, env=pytest_environment(), capture_output=True, text=True, check=True
    )
    return run.stdout


def count_modules(place: Path) -> int:
    """
    The number of modules of ours that such a run loads.
    """
    said = _run(place, *_ON, "-p", "spy")
    return next(int(line.split()[1]) for line in said.splitlines() if line.startswith("modules:"))
