"""A clock that the kernel moves, for all programs."""

import os
import shutil
import time
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox
from pytest_hookharness.model.processes import Exited, ProcessSpec

DAY = 86400.0
READERS = {
    "sh": "date +%s",
    "bash": "bash -c 'echo $EPOCHSECONDS'",
    "printf": "bash -c 'printf \"%(%s)T\" -1'",
    "python3": "python3 -c 'import datetime; print(datetime.datetime.now().timestamp())'",
    "perl": "perl -e 'print time'",
    "awk": "awk 'BEGIN { srand(); srand(); print srand() }'",
    "node": "node -p 'Date.now() / 1000'",
}


@pytest.fixture
def ask(sandbox: Sandbox, tmp_path):
    """Run a shell command with a clock that is ahead, and return its output."""

    def run(command, ahead=DAY):
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        spec = ProcessSpec(argv=("sh", "-c", command), cwd=str(tmp_path), env=env, ahead=ahead)
        (result,) = sandbox.run([spec], budget=20.0)
        assert result.ending == Exited(0)
        assert ahead == 0.0 or (result.reads is not None and not result.reads.gap)
        return result.stdout.text.strip()

    return run


@pytest.mark.parametrize("program", READERS)
def test_every_program_sees_it(ask, program):
    """Whatever reads the time of day reads a later one."""
    if program != "printf" and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")

    assert float(ask(READERS[program])) - time.time() == pytest.approx(DAY, abs=60)


def test_without_it_the_machines_time_is_read(ask):
    """Without a moved clock the same commands read the machine's time."""
    assert float(ask(READERS["bash"], ahead=0.0)) - time.time() == pytest.approx(0, abs=60)


def test_files_of_the_run_have_times_of_it(ask, tmp_path):
    """A file that was just written is not old, and an older one is older by the shift."""
    (tmp_path / "old").touch()
    os.utime(tmp_path / "old", (time.time() - 60, time.time() - 60))

    fresh, old = ask(
        "touch new; now=$(date +%s); echo $((now - $(stat -c %Y new))) $((now - $(stat -c %Y old)))"
    ).split()

    assert abs(int(fresh)) <= 2
    assert int(old) == pytest.approx(DAY + 60, abs=10)


def test_waiting_takes_no_longer(ask):
    """A process that waits by the clock waits as long as without the shift."""
    began = time.monotonic()

    ask("python3 -c 'import threading; threading.Event().wait(0.05)'; timeout 5 sleep 0.05")

    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("[ -f old ] && cat old", set()),
        ("date", {"realtime"}),
        ("echo x > new; [ new -nt old ]", {"times of a file"}),
        ("echo x > new; cat new", {"times of an open file"}),
    ],
)
def test_what_shows_a_time_is_recorded(sandbox, tmp_path, command, shown):
    """It is recorded which processes are shown the time, or a file that was changed since a moment."""
    if not Path("/bin/dash").exists():
        pytest.skip("there is no dash, which is a shell that does not ask for the time by itself")
    (tmp_path / "old").touch()
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    folder, since = str(tmp_path), (tmp_path / "old").stat().st_ctime_ns + 1
    spec = ProcessSpec(argv=("/bin/dash", "-c", command), cwd=folder, env=env, ahead=DAY, since=since)

    (run,) = sandbox.run([spec], budget=20.0)

    seen = {source.detail for program in run.reads.programs for source in program.sources}
    assert seen - {"times of its own folder"} == shown
