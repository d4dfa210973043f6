"""
The program that starts background processes and reports on them.

Run inside a sandbox of its own. Three kinds of processes are forked from it. The *guardian* lives as
long as the sandbox and only keeps the *watcher*, which it kills and starts again on request. The watcher
starts *process monitors* and passes on what they report. A process monitor has one background process: it
drains its output, waits for its end, writes that down, and goes on doing so while no watcher runs.

All reports are lines of JSON through named pipes, which hold little: a sender that is not heard waits, and so
does a process that floods. While nobody reads, lines are counted and only the last of them kept.

A process monitor outlives the watcher but not the guardian: it ends its process when the last writer is gone
of a pipe that only the guardian holds open. This matters in the tiers where the kernel does not end all of a
sandbox at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROCESSES, ORDERS, EVENTS, CONTROL = "processes", "orders", "events", "control"
ORDER, OUT, END = "order.json", "out", "end.json"
KILL, START = b"k", b"s"
# An order that is not a name: report which other processes live in the sandbox.
COUNT = "?"
TAIL, LONGEST = 50, 1000  # lines that are kept of an output, and characters of each
_READ, _GRACE, _LOOK_INTERVAL = 1 << 16, 1.0, 0.05
# What every process monitor has open besides the standard streams: the end of this pipe means the end of the
# guardian.
_ALIVE = 3


def main(folder: str) -> None:
    """Be the guardian: keep a watcher, and kill it or start another one on request."""
    os.chdir(os.path.join(folder, PROCESSES))
    # The write end stays open in this process alone: watchers and monitors close it after the fork.
    os.dup2(os.pipe()[0], _ALIVE)
    control = os.open(f"../{CONTROL}", os.O_RDWR)
    # The item supervisor becomes the parent of every orphan in here; in the last tier, some other process
    # does.
    item_supervisor = os.getppid()
    watcher = _fork_watcher(item_supervisor)
    while True:
        word = os.read(control, 1)
        if word == KILL:
            os.kill(watcher, signal.SIGKILL)
            os.waitpid(watcher, 0)
        elif word == START:
            watcher = _fork_watcher(item_supervisor)


def _fork_watcher(item_supervisor: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.closerange(_ALIVE + 1, 1 << 16)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        Watcher(item_supervisor).run()
    finally:
        os._exit(1)


class Watcher:
    """Starts process monitors as ordered, and passes on their reports."""

    def __init__(self, item_supervisor: int) -> None:
        self._item_supervisor = item_supervisor
        self._events = os.open(f"../{EVENTS}", os.O_WRONLY)
        self._orders = os.open(f"../{ORDERS}", os.O_RDWR)
        self._poll = select.poll()
        self._poll.register(self._orders, select.POLLIN)
        self._outputs: dict[int, tuple[str, bytes]] = {}
        self._partial = b""

    def run(self) -> None:
        """Continue where an earlier watcher stopped, then serve until killed."""
        for name in sorted(os.listdir()):
            if _has_ended(name):
                with open(f"{name}/{END}", "rb") as end:
                    self._write(end.read() + b"\n")
            elif os.path.exists(f"{name}/{OUT}"):
                self._listen(name)
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._orders:
                    self._take_orders()
                else:
                    self._pass_on(descriptor)

    def _take_orders(self) -> None:
        *names, self._partial = (self._partial + os.read(self._orders, _READ)).split(b"\n")
        for name in map(os.fsdecode, names):
            if name == COUNT:
                commands = other_processes(self._item_supervisor) or self._lingering()
                self._write(_line(name, "living", commands=commands))
            else:
                self._start_monitor(name)

    def _lingering(self) -> list[str]:
        # In the last tier this is all that is known: a monitor stays while its process's group lives.
        return [f"something of {name}" for name, _ in self._outputs.values() if _has_ended(name)]

    def _start_monitor(self, name: str) -> None:
        os.mkfifo(f"{name}/{OUT}")
        self._listen(name)
        if os.fork() == 0:
            monitor(name)

    def _listen(self, name: str) -> None:
        # Opened for reading before the other side opens it for writing, which would fail otherwise.
        descriptor = os.open(f"{name}/{OUT}", os.O_RDONLY | os.O_NONBLOCK)
        self._outputs[descriptor] = name, b""
        self._poll.register(descriptor, select.POLLIN)

    def _pass_on(self, descriptor: int) -> None:
        name, before = self._outputs[descriptor]
        data = os.read(descriptor, _READ)
        whole, end, rest = (before + data).rpartition(b"\n")
        self._outputs[descriptor] = name, rest
        if end:
            self._write(whole + end)
        if not data:
            self._poll.unregister(descriptor)
            del self._outputs[descriptor]
            os.close(descriptor)
            if not _has_ended(name):
                self._write(_line(name, "lost"))

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._events, view) :]


def _has_ended(name: str) -> bool:
    return os.path.exists(f"{name}/{END}")


def other_processes(item_supervisor: int) -> list[str]:
    """List the command lines of the processes below the item supervisor that are not this program's own."""
    # Not at the top: only this needs it, and this program must start quickly.
    from pytest_hookharness.execution.platform.current import system

    rows = system.all_rows()
    below = {item_supervisor}
    while more := {row.pid for row in rows if row.parent in below} - below:
        below |= more
    ours = system.command_line(os.getpid())
    living = (row.pid for row in rows if row.pid in below - {item_supervisor} and row.state != "Z")
    return [line for line in map(system.command_line, living) if line and line != ours]


def _line(name: str, what: str, **more: Any) -> bytes:
    return json.dumps({"process": name, "what": what, "at": time.monotonic(), **more}).encode() + b"\n"


def monitor(name: str) -> None:
    """Become a process monitor; never returns."""
    try:
        os.closerange(_ALIVE + 1, 1 << 16)
        os.setsid()
        ProcessMonitor(name).run()
    except BaseException as problem:  # noqa: BLE001  # no caller is left
        os.write(2, f"the monitor of {name}: {problem!r}\n".encode())
    finally:
        os._exit(0)


class ProcessMonitor:
    """One background process, its output and its end."""

    def __init__(self, name: str) -> None:
        with open(f"{name}/{ORDER}", encoding="utf-8") as order:
            self._order = json.load(order)
        self._name = name
        self._out = -1
        self._tail: deque[str] = deque(maxlen=TAIL)
        self._lines = 0
        self._pieces: dict[int, bytes] = {}
        self._poll = select.poll()

    def run(self) -> None:
        """Start the process and stay with it to its end."""
        ended, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        for descriptor in (ended, _ALIVE):
            self._poll.register(descriptor, select.POLLIN)
        ends = [os.pipe(), os.pipe()]
        pid = self._start([end for _, end in ends])
        for ours, theirs in ends:
            os.close(theirs)
            os.set_blocking(ours, False)
            self._pieces[ours] = b""
            self._poll.register(ours, select.POLLIN)
        self._send(_line(self._name, "started", pid=pid))
        self._await_end(pid, ended)
        orphaned = False
        with contextlib.suppress(ProcessLookupError, PermissionError):
            while True:
                # As long as processes of its group are left, because what they print is its output as well.
                os.killpg(pid, signal.SIGKILL if orphaned else 0)
                orphaned = _ALIVE in self._poll_once(ended, _LOOK_INTERVAL)

    def _await_end(self, pid: int, ended: int) -> None:
        """Stay with the process until it has ended, and write that down."""
        stop_after = self._order["stop_after"]
        until = None if stop_after is None else time.monotonic() + stop_after
        signals = [signal.SIGTERM, signal.SIGKILL]
        while True:
            ready = self._poll_once(ended, None if until is None else max(0.0, until - time.monotonic()))
            # A child that only stopped is reported as well.
            dead, status = os.waitpid(pid, os.WNOHANG) if ended in ready else (0, 0)
            if dead:
                break
            if _ALIVE in ready or (until is not None and time.monotonic() >= until):
                os.killpg(pid, signal.SIGKILL if _ALIVE in ready else signals.pop(0))
                until = time.monotonic() + _GRACE if signals else None
        self._end(os.waitstatus_to_exitcode(status))

    def _poll_once(self, ended: int, wait: float | None) -> set[int]:
        """Pass on what was printed meanwhile; return the descriptors that are ready."""
        ready = {descriptor for descriptor, _ in self._poll.poll(None if wait is None else wait * 1000)}
        for descriptor in sorted(ready & self._pieces.keys()):
            self._read(descriptor)
        if ended in ready:
            os.read(ended, _READ)
        return ready

    def _start(self, outputs: list[int]) -> int:
        order = self._order
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            for usual in (signal.SIGPIPE, signal.SIGCHLD):
                signal.signal(usual, signal.SIG_DFL)
            nothing = os.open(os.devnull, os.O_RDONLY)
            for descriptor, number in ((nothing, 0), (outputs[0], 1), (outputs[1], 2)):
                os.dup2(descriptor, number)
            os.closerange(_ALIVE, 1 << 16)
            os.chdir(order["cwd"])
            os.execvpe(order["argv"][0], order["argv"], order["env"])  # noqa: S606  # any command
        except OSError as problem:
            os.write(2, f"{order['argv'][0]}: {problem.strerror}\n".encode())
        finally:
            os._exit(127)

    def _read(self, descriptor: int) -> bool:
        """Pass on the lines that are there; return false if nothing is left to read."""
        try:
            data = os.read(descriptor, _READ)
        except BlockingIOError:
            return False
        if not data:
            self._poll.unregister(descriptor)
            rest = self._pieces.pop(descriptor)
            self._send_lines([rest] if rest else [])
            return False
        *lines, rest = (self._pieces[descriptor] + data).split(b"\n")
        # A line without an end is kept only as far as it will be shown.
        self._pieces[descriptor] = rest[:LONGEST]
        self._send_lines(lines)
        return True

    def _send_lines(self, lines: list[bytes]) -> None:
        texts = [line[:LONGEST].decode("utf-8", "replace") for line in lines]
        self._tail.extend(texts)
        self._lines += len(texts)
        self._send(b"".join(_line(self._name, "line", text=text) for text in texts))

    def _end(self, code: int) -> None:
        for descriptor in [*self._pieces]:
            for _ in range(64):  # a descendant that still writes does not prolong this
                if not self._read(descriptor):
                    break
        self._send_lines([rest for rest in self._pieces.values() if rest])
        self._pieces = dict.fromkeys(self._pieces, b"")
        code = code if code >= 0 else 128 - code
        end = _line(self._name, "exited", code=code, lines=self._lines, tail=list(self._tail))
        with open(f"{self._name}/{END}.new", "wb") as file:
            file.write(end.rstrip(b"\n"))
            file.flush()
            os.fsync(file.fileno())
        # Renamed into place only when complete, so that a watcher never reads half of it.
        os.rename(f"{self._name}/{END}.new", f"{self._name}/{END}")
        self._send(end)

    def _send(self, data: bytes) -> None:
        """Send to the watcher, if there is one."""
        view = memoryview(data)
        while view:
            try:
                if self._out < 0:
                    self._out = os.open(f"{self._name}/{OUT}", os.O_WRONLY | os.O_NONBLOCK)
                    os.set_blocking(self._out, True)
                view = view[os.write(self._out, view) :]
            except OSError:
                # The watcher is gone. Another one may come, so the pipe is tried again with the next line.
                if self._out >= 0:
                    os.close(self._out)
                self._out = -1
                return
