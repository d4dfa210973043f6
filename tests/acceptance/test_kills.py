"""Claims about files of the user when a command that writes them is killed at a random moment."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    ["update", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("record", "export", "check"))],
)
def test_nothing_is_lost_by_100_kills(tmp_path, command):
    """``record``, ``--hook-update`` and ``check --write-scenarios`` leave each file complete."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("killed.py"), command, tmp_path],
        capture_output=True,
        text=True,
        # Each check takes seconds until it writes.
        timeout=3000 if command == "check" else 300,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "nothing lost in 100\n", "")
