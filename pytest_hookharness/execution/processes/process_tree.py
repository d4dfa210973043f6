"""
The process tree: which processes belong to a hook, and how all of them are ended.

Loaded by the supervisor too. This is the tree as a reaper sees it; ``survivors`` has that of the tier without
one.
"""

from __future__ import annotations

import os
import signal
import time

from pytest_hookharness.execution.platform import linux
from pytest_hookharness.execution.platform.current import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pytest_hookharness.execution.processes.process_owners import ProcessOwners


_KILL_TIMEOUT = 10.0


def watch_children() -> int:
    """Return a descriptor that becomes readable when a child ends."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    return read_end


def descendants(pid: int) -> list[int]:
    """List all descendants of a process, nearest first."""
    found: list[int] = []
    level = [pid]
    while level:
        level = [child for parent in level for child in system.children(parent)]
        found += level
    return found


def describe(pid: int, boot_time: float) -> tuple[int, str, float]:
    """
    Return number, command line and start of a process.

    The start is in seconds after ``boot_time``, the start of its hook run on the clock of the table.
    """
    found = system.row(pid)
    age = 0.0 if found is None else found.started - boot_time
    # The table counts in ticks and rounds down, so a process may seem up to one tick older than it is.
    return pid, system.command_line(pid), round(age if age < -2 * system.TICK else max(age, 0.0), 3)


def has_open(pid: int, names: set[str]) -> bool:
    """Return whether a process has one of these files open, by their names in the process table."""
    return any(name in names for name in system.open_files(pid))


def holders(pids: Collection[int], names: set[str], boot_time: float) -> list[tuple[int, str, float]]:
    """Describe the processes that have one of these files open."""
    return [describe(pid, boot_time) for pid in pids if has_open(pid, names)]


class SurvivorError(Exception):
    """Processes that the kernel does not end although they were sent SIGKILL."""


def send(pids: Collection[int], number: int) -> None:
    """Send a signal to processes, some of which may be gone."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def send_group(pid: int, number: int) -> None:
    """Send a signal to the group that a process leads."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):  # macOS reports the second for a group of zombies
        return


class Descendants:
    """
    The process tree as a reaper sees it: every orphan becomes its child, so no process escapes.

    ``ECHILD`` from a wait then proves that no process is left: one system call, without reading the process
    table.
    """

    sees_all = True

    def __init__(self, first_of_namespace: bool, kept: set[int] | None = None) -> None:
        """Begin with no process; ``kept`` are children that belong to no hook and outlive a batch."""
        self._first = first_of_namespace
        self._kept = kept if kept is not None else set()

    def below(self, pid: int) -> list[int]:
        """List a process and its descendants."""
        return [pid, *descendants(pid)]

    def others(self, running: Collection[int], owners: ProcessOwners) -> Iterator[tuple[int, int]]:
        """Yield the living processes that are below no running hook, each with the hook that started it."""
        for orphan in system.children(os.getpid()):
            if orphan not in running and orphan not in self._kept:
                yield from owners.owners([orphan, *descendants(orphan)])

    def all_processes(self) -> list[int]:
        """List all processes that hooks may have started."""
        return descendants(os.getpid())

    def kill_all(self, hooks: Collection[int], owners: ProcessOwners | None = None) -> None:  # noqa: ARG002
        """Kill all descendants and wait until they are gone; raise `SurvivorError` after 10 seconds."""
        end = time.monotonic() + _KILL_TIMEOUT
        while True:
            self._kill()
            if self._reap(time.monotonic() + 0.05):
                self._kept.clear()
                return
            if time.monotonic() > end:
                left = [describe(pid, 0.0)[:2] for pid in descendants(os.getpid())]
                raise SurvivorError(f"the kernel does not end {left}")

    def _kill(self) -> None:
        # The caller repeats this, because a process may fork between listing and signal. -1 means every
        # process that we may signal: the whole machine, outside of a process namespace of our own. Hence two
        # conditions.
        if self._first and os.getpid() == 1:
            send((-1,), signal.SIGKILL)
        else:
            send(descendants(os.getpid()), signal.SIGKILL)

    def _reap(self, until: float) -> bool:
        """Reap what ends; return true when no child is left."""
        pause = 0.0002
        while time.monotonic() < until:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                time.sleep(pause)
                pause = min(pause * 2, 0.01)
        return False


def wait_for_cpu(pids: Collection[int], elapsed: float) -> float:
    """Return for how many of the elapsed seconds processes and their ended children waited for a CPU."""
    rows = [row for pid in pids if (row := system.row(pid))]
    times = [linux.cpu_and_wait(row.pid) for row in rows]
    had, waited = sum(time[0] for time in times), sum(time[1] for time in times)
    if not had:
        return min(waited, elapsed)
    # Children that ended waited as much as these processes, for each second of CPU time. Processes that
    # worked side by side waited at the same time.
    return min(sum(row.cpu_time for row in rows) * waited / had, elapsed * waited / (had + waited))


def least_wait_for_cpu(pids: Collection[int], elapsed: float) -> float:
    """Return for how many of the elapsed seconds each of some processes waited for a CPU; 0 for none."""
    return min([elapsed, *(linux.cpu_and_wait(pid)[1] for pid in pids)]) if pids else 0.0


def is_in_group(pid: int, leader: int) -> bool:
    """Return whether a process is in the group that another one leads."""
    found = system.row(pid)
    return found is not None and found.group == leader
