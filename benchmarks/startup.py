"""How long commands take to start, as a multiple of pytest's own start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from measuring import Table, Turn, against, children_seconds, milli, pytest_environment, take_turns

_EMPTY = "def test_nothing(): pass\n"
# Command, what it is compared with, and the most times as long that it may take.
_PRINTING = ("--version", "schema", "hosts", "findings")
_MOST_PRINTING, _MOST_TRY = 1.5, 2.0
_ROUNDS = 10


def table(folder: Path, *, quick: bool) -> Table:
    """Run commands and pytest in turns, each in a process of its own, and compare their processor time."""
    found = Table(
        "11. Start of a command: processor time, as a multiple of pytest's",
        ("command", "CPU", "compared with", "its CPU", "ratio", "aim", ""),
        notes=["With bytecode. CPU time includes all child processes, such as the hook that `try` runs."],
    )
    place = folder / "startup"
    place.mkdir()
    (place / "test_nothing.py").write_text(_EMPTY)
    pytest_version = (sys.executable, "-m", "pytest", "--version")
    one_test = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_nothing.py")
    commands = {
        **{name: (sys.executable, "-m", "pytest_hookharness", name) for name in _PRINTING},
        "try Stop true": (sys.executable, "-m", "pytest_hookharness", "try", "Stop", "true"),
        "pytest --version": pytest_version,
        "pytest, one empty test": one_test,
    }
    rounds = take_turns(
        {name: _turn(command, place) for name, command in commands.items()}, 3 if quick else 2 * _ROUNDS
    )
    for name in (*_PRINTING, "try Stop true"):
        peer, most = (
            ("pytest --version", _MOST_PRINTING)
            if name in _PRINTING
            else ("pytest, one empty test", _MOST_TRY)
        )
        ratio = rounds.ratio(name, peer)
        found.add(
            f"hookharness {name}",
            milli(rounds.median(name)),
            peer,
            milli(rounds.median(peer)),
            ratio,
            *against(most, ratio),
        )
    return found


def _turn(command: tuple[str, ...], place: Path) -> Turn:
    def turn() -> list[float]:
        began = children_seconds()
        # Discarded: a slow terminal is not part of a start.
        subprocess.run(command, cwd=place, env=pytest_environment(), capture_output=True, check=True)
        return [children_seconds() - began]

    return turn
