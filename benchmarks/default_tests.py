"""How long the default tests of the project take on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from measuring import Table, against, children_seconds, pytest_environment

ROOT = Path(__file__).resolve().parent.parent
# Seconds on two cores that do nothing else.
MOST = 90.0


def table(_: Path, *, quick: bool) -> Table:
    """Run the default tests once; for a look, those of one folder."""
    found = Table(
        f"13. The default tests{' of tests/judging' if quick else ''}, by {os.cpu_count()} workers",
        ("what", "time", "CPU", "aim", ""),
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count())]
    command += ["tests/judging"] if quick else []
    before, began = children_seconds(), time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, env=_environment(), stdout=subprocess.PIPE, text=True, check=False
    )
    took, used = time.monotonic() - began, children_seconds() - before
    found.add("whole command", f"{took:.0f} s", f"{used:.0f} s", *against(MOST, took, "{:.0f} s"))
    found.notes.append(done.stdout.strip().splitlines()[-1])
    return found


def _environment() -> dict[str, str]:
    # The tests need the plugins that their own settings name.
    return {name: value for name, value in pytest_environment().items() if not name.startswith("PYTEST")}
