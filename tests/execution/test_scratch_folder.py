"""The folders of runs that were killed: a later run removes them, and nothing else."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from pytest_hookharness.execution.workspace.scratch_folder import ScratchFolder
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.simulate import simulate
from pytest_hookharness.simulation.testbed.run_settings import Settings

from .toys import eventually

_RUN = """
import sys, time
from pytest_hookharness.execution.workspace.scratch_folder import ScratchFolder
scratch = ScratchFolder(keep=sys.argv[1] == "keep")
(scratch.path / "copy").mkdir()
print(scratch.path, flush=True)
sys.stdin.read()
"""

_EXECUTED = """
import pickle, sys
from pytest_hookharness.simulation.remote_work import do_in_new_process
do_in_new_process(pickle.loads(bytes.fromhex(sys.argv[1])), None)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def begin(keep: str = "") -> tuple[subprocess.Popen[str], Path]:
    """Start a process with a folder of its own."""
    command = [sys.executable, "-c", _RUN, keep]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


@pytest.mark.slow
def test_the_folder_of_a_killed_run_is_removed_by_the_next_one() -> None:
    """What a killed run left is removed, what a run uses or was told to keep is not."""
    killed, left = begin()
    keeping, kept = begin("keep")
    running, used = begin()
    for process in (killed, keeping):
        process.send_signal(signal.SIGKILL)
        process.wait()
    try:
        assert (left / "copy").exists()
        ScratchFolder(keep=False).close()
        assert not left.exists()
        assert (kept / "copy").exists()
        assert (used / "copy").exists()
    finally:
        running.communicate("")
        keeping.communicate()
        killed.communicate()


@pytest.mark.slow
def test_the_folder_of_a_killed_process_of_an_executor_is_removed(temporary: Path) -> None:
    """A process that plays for an executor, and is killed, leaves a folder that the next run removes."""
    scenario = scenario_from({"name": "long", "hooks": {"Stop": "touch begun; sleep 60"}})
    given = pickle.dumps(partial(simulate, scenario, Settings())).hex()
    process = subprocess.Popen([sys.executable, "-c", _EXECUTED, given])
    eventually(lambda: bool([*temporary.rglob("begun")]), "the hook has begun")
    process.kill()
    process.wait()

    (left,) = temporary.glob("hookharness-*")
    ScratchFolder(keep=False).close()
    assert not left.exists()


def test_what_is_not_the_folder_of_a_run_stays(temporary: Path) -> None:
    """A folder of that name without the file of an owner, or with another text in it, is not removed."""
    for name, text in (("mine", None), ("other", "mine\n")):
        folder = temporary / f"hookharness-{name}"
        folder.mkdir()
        if text is not None:
            (folder / ".owner").write_text(text)
    (temporary / "hookharness-link").symlink_to(temporary / "hookharness-mine")
    before = sorted(temporary.iterdir())
    ScratchFolder(keep=False).close()
    assert sorted(temporary.iterdir()) == before
