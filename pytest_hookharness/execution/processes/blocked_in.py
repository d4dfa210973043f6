"""
What processes are doing at the moment they are cut.

Loaded by the supervisor too. The process table gives the system call; the words for it are made here.
"""

from __future__ import annotations

from pytest_hookharness.execution import platform
from pytest_hookharness.execution.processes.process_tree import describe, has_open

_table = platform.processes()

_READING = {"read", "readv", "recvfrom", "recvmsg"}
_WRITING = {"write", "writev", "sendto"}
_LOCKING = {"flock", "fcntl"}
_CHILD = {"wait4", "waitid"}
_EPOLL = {"epoll_wait", "epoll_pwait", "epoll_pwait2"}
_WAITS_FOR = {
    "nanosleep": "a timer: it sleeps",
    "clock_nanosleep": "a timer: it sleeps",
    "poll": "one of its files, or a timer",
    "ppoll": "one of its files, or a timer",
    "select": "one of its files, or a timer",
    "pselect6": "one of its files, or a timer",
    "futex": "a lock or another thread",
    "connect": "its connection to be accepted",
    "accept": "a client to connect",
    "accept4": "a client to connect",
    "rt_sigsuspend": "a signal",
    "pause": "a signal",
    "openat": "a file to be opened, such as a FIFO whose other end no process opens",
}
_STREAMS = ("stdin", "stdout", "stderr")
AT_TERMINAL = "input from the terminal"


class Streams:
    """The state of a hook's three streams."""

    __slots__ = ("closes", "names", "writing")

    def __init__(self, names: dict[str, int], writing: bool, closes: bool) -> None:
        self.names = names
        self.writing = writing
        self.closes = closes


def describe_activities(
    pids: list[int], boot_time: float, streams: Streams
) -> list[tuple[int, str, float, str, str, str]]:
    """Describe each process: what it is, its state, the call it is blocked in, and what that waits for."""
    seen = []
    for pid in pids:
        found = _table.row(pid)
        if found is not None and found.state != "Z":
            call, text = _blocked(pid, found.state, pids, streams)
            seen.append((*describe(pid, boot_time), found.state, call, text))
    return seen


def _blocked(pid: int, state: str, pids: list[int], streams: Streams) -> tuple[str, str]:
    """Return the call a process is blocked in, and what that waits for."""
    if state in "Tt":
        return "", "a signal to continue: it is stopped"
    call, first = _table.blocked_call(pid, state)
    return call, "" if first is None else _describe_wait(pid, call, first, pids, streams)


def _describe_wait(pid: int, call: str, first: int, pids: list[int], streams: Streams) -> str:
    """Describe what a call waits for."""
    if call in _CHILD:
        return _children(pid) or "a child"
    if call in _READING:
        return _describe_input(pid, _table.link(pid, first), first, pids, streams)
    if call in _WRITING:
        return _describe_output(pid, _table.link(pid, first), first, pids, streams)
    if call in _LOCKING:
        return f"a lock on {_table.link(pid, first) or 'a file'}"
    if call in _EPOLL:
        return _describe_event_loop(pid, first, streams)
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


def _describe_stdin(streams: Streams) -> str:
    if streams.writing:
        return "more of stdin, which the host has not written yet"
    if streams.closes:
        return "more of stdin, which the host has already closed"
    return "end of file on stdin, which the host keeps open"


def _describe_input(pid: int, name: str, descriptor: int, pids: list[int], streams: Streams) -> str:
    """Describe what a read waits for."""
    stream = streams.names.get(name)
    if name.startswith(("/dev/pts/", "/dev/tty")):
        return AT_TERMINAL
    if stream is not None:
        return (
            _describe_stdin(streams)
            if stream == 0
            else f"input from {_STREAMS[stream]}, where no process writes"
        )
    return f"input from {_describe_file(pid, name, descriptor, pids)}"


def _describe_output(pid: int, name: str, descriptor: int, pids: list[int], streams: Streams) -> str:
    """Describe what a write waits for."""
    stream = streams.names.get(name)
    if stream is not None:
        return f"room in {_STREAMS[stream]}"
    return f"room in {_describe_file(pid, name, descriptor, pids)}"


def _describe_file(pid: int, name: str, descriptor: int, pids: list[int]) -> str:
    """Name the file behind a descriptor, with the other processes that share it."""
    if not name.startswith(("pipe:", "/")) or name.startswith("/dev/null"):
        return "a socket" if name.startswith("socket:") else f"descriptor {descriptor} ({name or 'closed'})"
    sharers = [other for other in pids if other != pid and has_open(other, {name})]
    what = "a pipe" if name.startswith("pipe:") else name
    if not sharers:
        return f"{what} that no other process has open" if what == "a pipe" else what
    return f"{what} shared with " + ", ".join(f"{_name(other)} (pid {other})" for other in sharers[:3])


def _describe_event_loop(pid: int, descriptor: int, streams: Streams) -> str:
    """Describe what an event loop waits for; node and similar programs read stdin in one."""
    names = [_table.link(pid, number) for number in _table.polled_files(pid, descriptor)]
    if any(streams.names.get(name) == 0 for name in names):
        return f"events in its loop, one of them {_describe_stdin(streams)}"
    return "events in its loop, or a timer"
