"""
The process tree: which processes belong to a hook, what each is doing, and how all of them are ended.

Loaded by the supervisor too. This is the tree as a reaper sees it; ``survivors`` has that of the tier without
one.
"""

from __future__ import annotations

import os
import signal
import time

from pytest_hookharness.execution import platform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from pytest_hookharness.execution.processes.process_owners import ProcessOwners

_table = platform.processes()

_KILL_TIMEOUT = 10.0


def descendants(pid: int) -> list[int]:
    """List all descendants of a process, nearest first."""
    found: list[int] = []
    level = [pid]
    while level:
        level = [child for parent in level for child in _table.children(parent)]
        found += level
    return found


def describe(pid: int, boot_time: float) -> tuple[int, str, float]:
    """
    Return number, command line and start of a process.

    The start is in seconds after ``boot_time``, the start of its hook run on the clock of the table.
    """
    found = _table.row(pid)
    age = 0.0 if found is None else found.started - boot_time
    # The table counts in ticks and rounds down, so a process may seem up to one tick older than it is.
    return pid, _table.command_line(pid), round(age if age < -2 * _table.TICK else max(age, 0.0), 3)


def has_open(pid: int, names: set[str]) -> bool:
    """Return whether a process has one of these files open, by their names in the process table."""
    return any(name in names for name in _table.open_files(pid))


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
        """
        Begin with no process.

        Args:
            first_of_namespace: Whether the reaper is the first process of its namespace.
            kept: Children of the reaper that belong to no hook and outlive a batch.
        """
        self._first = first_of_namespace
        self._kept = kept if kept is not None else set()

    def members(self, pid: int, lives: bool, running: Collection[int], owners: ProcessOwners) -> list[int]:
        """
        List the living processes of a hook, the hook first if it lives.

        Args:
            pid: The hook.
            lives: Whether the hook itself lives.
            running: The hooks that still run.
            owners: The hooks of the batch.
        """
        found = [pid, *descendants(pid)] if lives else []
        return found + [each for each, owner in self._orphans(running, owners) if owner == pid]

    def unclaimed(self, running: Collection[int], owners: ProcessOwners) -> list[int]:
        """List the living processes that some hook of the batch started, but nothing shows which."""
        return [each for each, owner in self._orphans(running, owners) if not owner]

    def _orphans(self, running: Collection[int], owners: ProcessOwners) -> Iterator[tuple[int, int]]:
        """Yield the processes below orphans, each with the hook that started it."""
        for orphan in _table.children(os.getpid()):
            if orphan not in running and orphan not in self._kept:
                yield from owners.owners([orphan, *descendants(orphan)])

    def holders(self, names: set[str], boot_time: float) -> list[tuple[int, str, float]]:
        """Describe the processes that have one of these files open."""
        below = descendants(os.getpid())
        return [describe(pid, boot_time) for pid in below if has_open(pid, names)]

    def kill_all(self, hooks: Collection[int], owners: ProcessOwners | None = None) -> None:  # noqa: ARG002
        """
        Kill every descendant, of whatever hook; return when the kernel confirms that none is left.

        Raises:
            SurvivorError: One is still there after 10 seconds.
        """
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
        # Repeated by the caller, for a process may fork between the listing and the signal. -1 means every
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
    rows = [row for pid in pids if (row := _table.row(pid))]
    times = [_table.cpu_and_wait(row.pid) for row in rows]
    had, waited = sum(time[0] for time in times), sum(time[1] for time in times)
    if not had:
        return min(waited, elapsed)
    # Children that ended waited as much as these processes, for each second of CPU time. Processes that
    # worked side by side waited at the same time.
    return min(sum(row.cpu_time for row in rows) * waited / had, elapsed * waited / (had + waited))


def is_in_group(pid: int, leader: int) -> bool:
    """Return whether a process is in the group that another one leads."""
    found = _table.row(pid)
    return found is not None and found.group == leader


_READING = {"read", "readv", "recvfrom", "recvmsg"}
_WRITING = {"write", "writev", "sendto"}
_LOCKING = {"flock", "fcntl"}
_CHILD = {"wait4", "waitid"}
_EPOLL = {"epoll_wait", "epoll_pwait", "epoll_pwait2"}
_WAITS_FOR = {
    **dict.fromkeys(("nanosleep", "clock_nanosleep"), "a timer: it sleeps"),
    **dict.fromkeys(("poll", "ppoll", "select", "pselect6"), "one of its files, or a timer"),
    **dict.fromkeys(("accept", "accept4"), "a client to connect"),
    **dict.fromkeys(("rt_sigsuspend", "pause"), "a signal"),
    "futex": "a lock or another thread",
    "connect": "its connection to be accepted",
    "openat": "a file to be opened, such as a FIFO whose other end no process opens",
}
_STREAMS = ("stdin", "stdout", "stderr")
AT_TERMINAL = "input from the terminal"


def describe_activities(
    pids: list[int],
    boot_time: float,
    streams: dict[str, int],
    *,
    writing: bool,
    closes: bool,
    state_of: Callable[[int, str], str],
) -> list[tuple[int, str, float, str, str, str]]:
    """
    Describe each process: what it is, its state, the call it is blocked in, and what that waits for.

    Args:
        pids: The processes of one hook.
        boot_time: The start of its hook run, as in `describe`.
        streams: The names of the files behind its three streams.
        writing: Whether the host still writes to its standard input.
        closes: Whether the host closes it then.
        state_of: Corrects the state that the table shows for a process.
    """
    stdin = "end of file on stdin, which the host keeps open"
    if writing:
        stdin = "more of stdin, which the host has not written yet"
    elif closes:
        stdin = "more of stdin, which the host has already closed"
    seen = []
    for pid in pids:
        found = _table.row(pid)
        if found is not None and found.state != "Z":
            call, text = "", "a signal to continue: it is stopped"
            state = state_of(pid, found.state)
            if state not in "Tt":
                call, first = _table.blocked_call(pid, state)
                text = "" if first is None else _describe_wait(pid, call, first, pids, streams, stdin)
            seen.append((*describe(pid, boot_time), state, call, text))
    return seen


def _describe_wait(
    pid: int, call: str, descriptor: int, pids: list[int], streams: dict[str, int], stdin: str
) -> str:
    """Describe what a call waits for."""
    name = _table.link(pid, descriptor)
    if call in _CHILD:
        return _children(pid) or "a child"
    if call in _READING:
        if name.startswith(("/dev/pts/", "/dev/tty")):
            return AT_TERMINAL
        if (stream := streams.get(name)) == 0:
            return stdin
        file = _describe_file(pid, name, descriptor, pids)
        return f"input from {file if stream is None else f'{_STREAMS[stream]}, where no process writes'}"
    if call in _WRITING:
        stream = streams.get(name)
        file = _describe_file(pid, name, descriptor, pids) if stream is None else _STREAMS[stream]
        return f"room in {file}"
    if call in _LOCKING:
        return f"a lock on {name or 'a file'}"
    if call in _EPOLL:
        # Node and similar programs read stdin in an event loop.
        names = [_table.link(pid, number) for number in _table.polled_files(pid, descriptor)]
        reads = any(streams.get(name) == 0 for name in names)
        return f"events in its loop, {f'one of them {stdin}' if reads else 'or a timer'}"
    text = _WAITS_FOR.get(call, "")
    below = _children(pid) if text == "a signal" else ""
    return f"{text}, as when {below} ends" if below else text


def _children(pid: int) -> str:
    names = [f"{_name(child)} (pid {child})" for child in _table.children(pid)[:3]]
    if not names:
        return ""
    return ("its child " if len(names) == 1 else "its children ") + ", ".join(names)


def _name(pid: int) -> str:
    return _table.name(pid) or "gone"


def _describe_file(pid: int, name: str, descriptor: int, pids: list[int]) -> str:
    """Name the file behind a descriptor, with the other processes that share it."""
    if not name.startswith(("pipe:", "/")) or name.startswith("/dev/null"):
        return "a socket" if name.startswith("socket:") else f"descriptor {descriptor} ({name or 'closed'})"
    sharers = [other for other in pids if other != pid and has_open(other, {name})]
    what = "a pipe" if name.startswith("pipe:") else name
    if not sharers:
        return f"{what} that no other process has open" if what == "a pipe" else what
    return f"{what} shared with " + ", ".join(f"{_name(other)} (pid {other})" for other in sharers[:3])
