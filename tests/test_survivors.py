"""Each test is watched for processes that it leaves behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import _MARK, newest_process, started_since, survivors

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed in /proc")


def test_a_child_that_lives_on_is_named():
    """A process that this one started is listed."""
    newest = newest_process()
    child = subprocess.Popen(["sleep", "1000"])
    try:
        assert child.pid in survivors(newest)
    finally:
        child.kill()
        child.wait()


def test_a_toy_that_left_its_parents_is_named():
    """A process with the mark of the toys is listed wherever it is."""
    newest = newest_process()
    # It goes on as it is: while another program is loaded, the system shows no command line.
    command = [sys.executable, "-c", "import os, signal; os.fork() or signal.pause()", _MARK]
    subprocess.run(command, start_new_session=True, check=True)
    # A sandbox that waits for the next test may be listed beside it.
    (toy,) = (pid for pid, command in survivors(newest).items() if _MARK in command)
    os.kill(toy, 9)


def test_what_was_there_before_is_not_looked_at():
    """A process that an earlier test left behind does not fail this one, too."""
    child = subprocess.Popen(["sleep", "1000"])
    try:
        assert child.pid in started_since(child.pid - 1)
        assert child.pid not in started_since(newest_process())
    finally:
        child.kill()
        child.wait()
