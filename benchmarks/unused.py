"""
What the installed package costs a pytest run that does not use it.

Two environments are compared that differ in nothing else: one with the package, one without. To compare with
`-p no:hookharness` would not do, because pytest reads the file list of every distribution that registers a
plugin, whether the plugin is loaded or not.
"""

from __future__ import annotations

import compileall
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from measuring import Rounds, Table, Turn, against, children_seconds, milli, take_turns

import pytest_hookharness

MOST_MILLISECONDS = 5.0
MOST_MODULES = 3

_SPY = """
import sys

def pytest_unconfigure():
    ours = [name for name in sys.modules if name.partition(".")[0] == "pytest_hookharness"]
    print(f"modules: {len(ours)}")
"""
_PLUGIN = "[pytest11]\nhookharness = pytest_hookharness.plugin\n"


def table(folder: Path, *, quick: bool) -> Table:
    """Run an empty test in both environments, in turns."""
    found = Table(
        "2. The package installed and not used: how much longer a run takes than without the package",
        ("run", "with", "without", "wall more", "CPU more", "aim", ""),
        notes=["The aim is for CPU time; the wall clock is noisier than that."],
    )
    place = folder / "unused"
    place.mkdir()
    (place / "test_nothing.py").write_text("def test_nothing(): pass\n")
    (place / "spy.py").write_text(_SPY)
    base, ours = folder / "site", folder / "ours"
    _link_pytest(base)
    files = _install(ours)
    with_us, without_us = os.pathsep.join([str(ours), str(base)]), str(base)
    for name, words in {"one empty test": (), "--collect-only": ("--collect-only",)}.items():
        cpu: dict[str, list[list[float]]] = {"with": [], "without": []}
        wall = take_turns(
            {
                "with": _clocked(place, words, with_us, cpu["with"]),
                "without": _clocked(place, words, without_us, cpu["without"]),
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
    modules = count_modules(place, with_us)
    found.add("our modules loaded", str(modules), *[""] * 3, *against(MOST_MODULES, modules, "{:.0f}"))
    found.add("our installed files", str(files))
    return found


def _link_pytest(folder: Path) -> None:
    """Make an environment with pytest and what it requires, and no other distribution."""
    folder.mkdir()
    for found in _required("pytest", {}):
        for name in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
            if not (folder / name).exists():
                (folder / name).symlink_to(Path(str(found.locate_file(name))).resolve())


def _required(name: str, seen: dict[str, Distribution]) -> Iterator[Distribution]:
    if name in seen:
        return
    try:
        seen[name] = distribution(name)
    except PackageNotFoundError:
        return  # for another system or version of Python
    yield seen[name]
    for line in seen[name].requires or ():
        if "extra ==" not in line:
            yield from _required(re.split(r"[^\w.-]", line, maxsplit=1)[0], seen)


def _install(folder: Path) -> int:
    """Install a copy of the package as pip does, with bytecode and a list of files; return their number."""
    package = folder / "pytest_hookharness"
    shutil.copytree(pytest_hookharness.__path__[0], package, ignore=shutil.ignore_patterns("__pycache__"))
    # Beside the sources, whatever the setting of this process for bytecode is.
    prefix, sys.pycache_prefix = sys.pycache_prefix, None
    compileall.compile_dir(package, quiet=1)
    sys.pycache_prefix = prefix
    info = folder / f"pytest_hookharness-{pytest_hookharness.__version__}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: pytest-hookharness\nVersion: {pytest_hookharness.__version__}\n"
    )
    (info / "entry_points.txt").write_text(_PLUGIN)
    files = sorted(path for path in package.rglob("*") if path.is_file())
    record = [f"{path.relative_to(folder)},sha256={'x' * 43},{path.stat().st_size}" for path in files]
    (info / "RECORD").write_text("\n".join(record) + "\n")
    return len(files)


def _clocked(place: Path, words: tuple[str, ...], path: str, cpu: list[list[float]]) -> Turn:
    """A turn whose time is that of the wall clock; the time on the processor is added to a list."""

    def turn() -> list[float]:
        began, used = time.perf_counter(), children_seconds()
        _run(place, path, *words)
        cpu.append([children_seconds() - used])
        return [time.perf_counter() - began]

    return turn


def _run(place: Path, path: str, *words: str) -> str:
    begins = ("PYTEST", "COV", "PYTHON")
    env = {name: value for name, value in os.environ.items() if not name.startswith(begins)}
    # Without site: nothing is found but what the path names.
    command = [sys.executable, "-S", "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    run = subprocess.run(
        command, cwd=place, env={**env, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    return run.stdout


def count_modules(place: Path, path: str) -> int:
    """The number of modules of ours that such a run loads."""
    said = _run(place, path, "-p", "spy")
    return next(int(line.split()[1]) for line in said.splitlines() if line.startswith("modules:"))
