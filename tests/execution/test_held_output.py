"""A hook run is held open by what has its output, and not by a child that only had no time to close it."""

from __future__ import annotations

import sys

import pytest

from pytest_hookharness.execution.paths import PACKAGE
from pytest_hookharness.execution.processes import sandbox
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.model.processes import Exited, HeldOpen, ProcessResult, Tier

from .toys import STAY, launch

HOLDER = "sleep {seconds} </dev/null & exit 0"

# The child ends after the wait, before anybody has looked who holds the output.
ENDS_WHILE_IT_IS_LOOKED_FOR = """
def holders(pids, names, boot_time):
    found = holders_of(pids, names, boot_time)
    for pid, _, _ in found:
        os.kill(pid, 9)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    return ()
holders_of, process_tree.holders = process_tree.holders, holders
"""
# As on a machine so busy that no process gets a CPU.
HAS_NO_CPU = "linux.cpu_and_wait = lambda pid: (0.0, 3600.0)"
# As on an idle machine.
HAS_CPU = "linux.cpu_and_wait = lambda pid: (0.0, 0.0)"

SUPERVISOR = """
import os, sys
sys.path.insert(0, {package!r})
from pytest_hookharness.execution.platform import linux
from pytest_hookharness.execution.processes import process_tree
from pytest_hookharness.execution.processes.supervisor import main
{change}
main(*sys.argv[1:])
"""


def run_hook(monkeypatch: pytest.MonkeyPatch, change: str, seconds: str, **changes: float) -> ProcessResult:
    """Run a hook whose child holds its output for some seconds, under a supervisor that was changed."""
    program = SUPERVISOR.format(package=str(PACKAGE.parent), change=change)
    monkeypatch.setattr(sandbox, "python_program", lambda *_: (sys.executable, "-I", "-S", "-c", program))
    with Supervisor() as supervisor, supervisor.open(Confinement(tier=Tier.SUBREAPER)) as box:
        (run,) = box.run([launch("sh", "-c", HOLDER.format(seconds=seconds), **changes)])
    return run


@pytest.mark.slow
def test_a_child_that_lets_go_while_it_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output that is closed when its holders are looked for is not held open."""
    assert run_hook(monkeypatch, ENDS_WHILE_IT_IS_LOOKED_FOR, STAY).ending == Exited(0)


@pytest.mark.nightly
def test_a_child_that_had_no_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that got no CPU is waited for longer than the host waits on an idle machine."""
    assert run_hook(monkeypatch, HAS_NO_CPU, "1", pipe_wait=0.5).ending == Exited(0)


@pytest.mark.slow
def test_a_child_that_had_cpu_in_that_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that got a CPU whenever it asked for one is waited for only as long as the host waits."""
    ending = run_hook(monkeypatch, HAS_CPU, STAY, pipe_wait=0.5).ending
    assert isinstance(ending, HeldOpen)
    assert [holder.command for holder in ending.holders] == [f"sleep {STAY}"]


@pytest.mark.slow
def test_a_child_that_never_gets_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little CPU a holder gets, the wait for it ends."""
    assert isinstance(run_hook(monkeypatch, HAS_NO_CPU, STAY, pipe_wait=0.1).ending, HeldOpen)
