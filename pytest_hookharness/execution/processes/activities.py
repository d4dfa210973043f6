"""
What the processes of a hook were doing when it was cut, and until when each of them would surely have waited.

Loaded by the supervisor too, when it cuts the first hook.
"""

from __future__ import annotations

import math

from pytest_hookharness.execution.platform import linux_waits
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes.process_tree import describe, has_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_READING = {"read", "readv", "recvfrom", "recvmsg"}
_WRITING = {"write", "writev", "sendto"}
_LOCKING = {"flock", "fcntl"}
_CHILD = {"wait4", "waitid"}
_EPOLL = {"epoll_wait", "epoll_pwait", "epoll_pwait2"}
_SIGNAL = {"rt_sigsuspend", "pause"}
_SLEEPING = {"nanosleep", "clock_nanosleep"}
_WAITS_FOR = {
    **dict.fromkeys(_SLEEPING, "a timer: it sleeps"),
    **dict.fromkeys(("poll", "ppoll", "select", "pselect6"), "one of its files, or a timer"),
    **dict.fromkeys(("accept", "accept4"), "a client to connect"),
    **dict.fromkeys(_SIGNAL, "a signal"),
    "futex": "a lock or another thread",
    "connect": "its connection to be accepted",
    "openat": "a file to be opened, such as a FIFO whose other end no process opens",
}
_TERMINALS = ("/dev/pts/", "/dev/tty")
_STREAMS = ("stdin", "stdout", "stderr")
AT_TERMINAL = "input from the terminal"
_KEPT_OPEN = "end of file on stdin, which the host keeps open"


def describe_activities(
    pids: list[int],
    boot_time: float,
    streams: dict[str, int],
    *,
    writing: bool,
    closes: bool,
    state_of: Callable[[int, str], str],
) -> list[tuple[int, str, float, str, str, str, float]]:
    """
    Describe each process: what it is, its state, the call it is blocked in, what for, and until when.

    The end is in seconds after ``boot_time``: infinite if only another process of the hook can wake it, 0 if
    that is unknown.

    Args:
        pids: The processes of one hook.
        boot_time: The start of its hook run, as in `describe`.
        streams: The names of the files behind its three streams.
        writing: Whether the host still writes to its standard input.
        closes: Whether the host closes it then.
        state_of: Corrects the state that the table shows for a process.
    """
    stdin = _KEPT_OPEN
    if writing:
        stdin = "more of stdin, which the host has not written yet"
    elif closes:
        stdin = "more of stdin, which the host has already closed"
    seen = []
    for pid in pids:
        found = system.row(pid)
        if found is not None and found.state != "Z":
            call, text, until = "", "a signal to continue: it is stopped", math.inf
            state = state_of(pid, found.state)
            if state not in "Tt":
                (call, first), text, until = linux_waits.blocked_call(pid, state), "", 0.0
                if first is not None:
                    text = _describe_wait(pid, call, first, pids, streams, stdin)
                if first is not None and state == "S":
                    until = _idle_until(pid, call, first, pids, streams, kept=stdin == _KEPT_OPEN)
            seen.append((*describe(pid, boot_time), state, call, text, max(0.0, until - boot_time)))
    if len(seen) == len(pids):
        return seen
    # One has just ended, and another one may be about to go on.
    return [(*one[:6], 0.0) for one in seen]


def _describe_wait(
    pid: int, call: str, descriptor: int, pids: list[int], streams: dict[str, int], stdin: str
) -> str:
    """Describe what a call waits for."""
    name = system.link(pid, descriptor)
    if call in _CHILD:
        return _children(pid) or "a child"
    if call in _READING:
        if name.startswith(_TERMINALS):
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
        names = [system.link(pid, number) for number in linux_waits.polled_files(pid, descriptor)]
        reads = any(streams.get(name) == 0 for name in names)
        return f"events in its loop, {f'one of them {stdin}' if reads else 'or a timer'}"
    text = _WAITS_FOR.get(call, "")
    below = _children(pid) if text == "a signal" else ""
    return f"{text}, as when {below} ends" if below else text


def _idle_until(
    pid: int, call: str, descriptor: int, pids: list[int], streams: dict[str, int], *, kept: bool
) -> float:
    """
    Return until when a blocked process surely waits, by the clock of the table.

    ``kept`` says whether all of standard input was written and the host keeps it open.
    """
    if linux_waits.may_go_on(pid):
        return 0.0
    if call in _SLEEPING:
        return linux_waits.sleeps_until(pid)
    if call in _READING:
        name = system.link(pid, descriptor)
        endless = kept if name in streams else name.startswith(("pipe:", *_TERMINALS))
        return math.inf if endless else 0.0
    if call == "openat":
        return math.inf if linux_waits.opens_fifo(pid) else 0.0
    # A child that has ended, or begun since, makes its parent go on.
    children = system.children(pid)
    awaited = call in _SIGNAL or (call in _CHILD and bool(children))
    return math.inf if awaited and {*children} <= {*pids} else 0.0


def _children(pid: int) -> str:
    names = [f"{_name(child)} (pid {child})" for child in system.children(pid)[:3]]
    if not names:
        return ""
    return ("its child " if len(names) == 1 else "its children ") + ", ".join(names)


def _name(pid: int) -> str:
    return system.name(pid) or "gone"


def _describe_file(pid: int, name: str, descriptor: int, pids: list[int]) -> str:
    """Name the file behind a descriptor, with the other processes that share it."""
    if not name.startswith(("pipe:", "/")) or name.startswith("/dev/null"):
        return "a socket" if name.startswith("socket:") else f"descriptor {descriptor} ({name or 'closed'})"
    sharers = [other for other in pids if other != pid and has_open(other, {name})]
    what = "a pipe" if name.startswith("pipe:") else name
    if not sharers:
        return f"{what} that no other process has open" if what == "a pipe" else what
    return f"{what} shared with " + ", ".join(f"{_name(other)} (pid {other})" for other in sharers[:3])
