"""Stress: what a whole table costs beside plain runs of the same hook."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from measuring import Table, Turn, against, pytest_environment, take_turns

# Seconds for fifty cells on two processors.
MOST_SECONDS, CELLS = 10.0, 50
# About ten milliseconds, whatever is wrong with its input: so no cell waits for the patience.
_HOOK = """\
#!/bin/bash
IFS= read -r -t 0.2 -n 4096 input || [ "$input" ] || { echo 'no input: ask a person' >&2; exit 2; }
sleep 0.005
case $input in *'"rm -rf'*) echo 'remove files one by one' >&2; exit 2 ;; esac
exit 0
"""
_SETTINGS = Path(".claude", "settings.json")
_COMMAND = '"$CLAUDE_PROJECT_DIR"/guard.sh'


def table(folder: Path, *, quick: bool) -> Table:
    """Try everything on one guard, and play it once as it is."""
    place = folder / "stress"
    _write(place)
    only = ("--only", "standard input") if quick else ()
    found = Table(
        "10. hookharness check --stress on one guard of 10 ms, whole processes",
        ("what", "time", "cells", "per cell", "x one run", "aim", ""),
        notes=["The run that it is compared with plays the same session once, and only plans the rest."],
    )
    stress = ("check", "--stress", "--yes", str(_SETTINGS), *only)
    plan = (*stress, "--plan")
    cells = int(_told(place, plan).rpartition(" mutations to be tried")[0].rpartition("\n")[2])
    seen = take_turns({"once": _turn(place, plan), "all": _turn(place, stress)}, 1 if quick else 5)
    whole = seen.median("all")
    aim = None if quick else MOST_SECONDS * cells / CELLS
    ratio = f"{seen.ratio('all', 'once') / cells:.2f}"
    found.add("played once", f"{seen.median('once'):.2f} s")
    found.add(
        "everything tried",
        f"{whole:.2f} s",
        str(cells),
        f"{whole / cells * 1e3:.0f} ms",
        ratio,
        *against(aim, whole, "{:.1f} s"),
    )
    return found


def _write(place: Path) -> None:
    entry = {"hooks": [{"type": "command", "command": _COMMAND}]}
    (place / _SETTINGS).parent.mkdir(parents=True)
    (place / _SETTINGS).write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    guard = place / "guard.sh"
    guard.write_text(_HOOK)
    guard.chmod(0o755)


def _told(place: Path, words: Sequence[str]) -> str:
    command = [sys.executable, "-m", "pytest_hookharness", *words]
    run = subprocess.run(
        command, cwd=place, env=pytest_environment(), capture_output=True, text=True, check=False
    )
    return run.stdout


def _turn(place: Path, words: Sequence[str]) -> Turn:
    def turn() -> list[float]:
        began = time.perf_counter()
        _told(place, words)
        return [time.perf_counter() - began]

    return turn
