"""
The pilot: a program that steers fires side by side into each other.

It runs inside the sandbox, by path. Every fire is held just before it changes a file
that is watched, until all others are held there too, have ended, or sleep; then those that are held go on one
at a time, each up to its next change. So what one has read is old before it writes, however fast it is. Where
others can only wait for the one that is held, they have a lock, and all are let go.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LOOK = 0.01
# Looks since something happened at which all tasks of a fire slept, until it is taken to wait for others.
_ASLEEP = 3
# How often one alone may be held while all others wait, and how often and for how many seconds one may be
# held while they do something: all together less than most who wait for a lock are ready to wait.
_MOST_LONELY, _MOST_STALLS, _STALL = 3, 3, 0.25
_AFTERWARDS = 0.3
_KEPT = 1 << 16
_NEVER = float("inf")


class SteeredProcess:
    """
    One fire: its tasks, and what it has said.
    """

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.tasks: set[int] = set()
        self.held = 0
        self.asleep = 0
        self.status: int | None = None
        self.said: list[bytearray] = [bytearray(), bytearray()]
        self.outputs: dict[int, int] = {}
        self.gate = -1
        self.pid = 0

    def prepare(self) -> None:
        """
        Start the process, which waits at its gate.
        """
        (stdin, given), (out, stdout), (err, stderr), (waits, self.gate) = (os.pipe() for _ in range(4))
        os.set_blocking(given, False)
        self.pid = os.fork()
        if self.pid == 0:
            self._become((stdin, stdout, stderr), waits)
        data = self.order["stdin"].encode("utf-8", "surrogateescape")
        try:
            if os.write(given, data) < len(data):
                raise OSError(f"a pipe does not hold {len(data)} bytes of input")
        finally:
            for descriptor in (stdin, given, stdout, stderr, waits):
                os.close(descriptor)
        self.outputs = {out: 0, err: 1}
        self.tasks.add(self.pid)

    def _become(self, streams: tuple[int, int, int], gate: int) -> None:
        try:
            os.setsid()
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            for descriptor, stream in enumerate(streams):
                os.dup2(stream, descriptor)
            os.close(self.gate)
            steered = os.read(gate, 1) == b"s"
            os.chdir(self.order["cwd"])
            if steered:
                from pytest_hookharness.execution import platform

                platform.tracing().filter_calls()
            words, env = self.order["argv"], self.order["env"]
            os.execvpe(words[0], words, env)  # noqa: S606  # a hook is what it is for
        except BaseException as problem:  # noqa: BLE001  # it is told where the command would speak
            os.write(2, f"{problem}\n".encode())
        finally:
            os._exit(126)

    def open_gate(self, *, steered: bool) -> None:
        """
        Let the process begin.
        """
        os.write(self.gate, b"s" if steered else b"-")
        os.close(self.gate)
        self.gate = -1

    def take(self, descriptor: int) -> bool:
        """
        Read what it says; false at the end.
        """
        data = os.read(descriptor, 1 << 16)
        kept = self.said[self.outputs[descriptor]]
        kept += data[: _KEPT - len(kept)]
        return bool(data)


class InterleavingScheduler:
    """
    All fires of one round.
    """

    def __init__(self, round_: dict[str, Any]) -> None:
        self.hook_runs = [SteeredProcess(order) for order in round_["hook_runs"]]
        self.watched = frozenset(round_["watched"])
        self.apart = float(round_["apart"])
        self.until = time.monotonic() + float(round_["limit"])
        self.reason = "" if self.watched else "nothing is watched"
        self.holds = 0
        self.queue: list[SteeredProcess] = []
        self.lonely = self.stalls = 0
        self.free = False
        self.changed = 0.0
        self._poll = select.poll()
        # Not at the top: as a program, this file must make the package importable first.
        from pytest_hookharness.execution import platform

        self._tracing = platform.tracing()

    def run(self) -> dict[str, Any]:
        """
        Fire all of them, and report.
        """
        wake, told = os.pipe()
        for descriptor in (wake, told):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        self._poll.register(wake, select.POLLIN)
        self._prepare()
        first = time.monotonic()
        waiting = [(first + place * self.apart, fire) for place, fire in enumerate(self.hook_runs)]
        ended_at = _NEVER
        while time.monotonic() < min(self.until, ended_at + _AFTERWARDS):
            while waiting and waiting[0][0] <= time.monotonic():
                waiting.pop(0)[1].open_gate(steered=not self.reason)
            self._attend(wake)
            self._steer()
            if not waiting and all(fire.status is not None for fire in self.hook_runs):
                ended_at = min(ended_at, time.monotonic())
                if not any(fire.tasks for fire in self.hook_runs):
                    break
        self._drain()
        return {
            "reason": self.reason,
            "holds": self.holds,
            "hook_runs": [
                {"status": fire.status, "said": [bytes(part).decode("latin-1") for part in fire.said]}
                for fire in self.hook_runs
            ],
        }

    def _prepare(self) -> None:
        for fire in self.hook_runs:
            fire.prepare()
            for descriptor in fire.outputs:
                self._poll.register(descriptor, select.POLLIN)
        try:
            self._tracing.try_filter()
            for fire in self.hook_runs:
                if not self.reason:
                    self._tracing.seize(fire.pid)
        except (OSError, AttributeError) as problem:
            self.reason = str(problem)

    def _attend(self, wake: int) -> None:
        """
        Wait for the next thing to happen, and look after it.
        """
        by_output = {descriptor: fire for fire in self.hook_runs for descriptor in fire.outputs}
        for descriptor, _ in self._poll.poll(_LOOK * 1000):
            if descriptor == wake:
                os.read(wake, 4096)
            elif not by_output[descriptor].take(descriptor):
                self._poll.unregister(descriptor)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | self._tracing.ALL_TASKS)
            except ChildProcessError:
                return
            if not pid:
                return
            self._heard(pid, status)

    def _drain(self) -> None:
        """
        Read what was said and not yet heard.
        """
        by_output = {descriptor: fire for fire in self.hook_runs for descriptor in fire.outputs}
        for descriptor, fire in by_output.items():
            os.set_blocking(descriptor, False)
            try:
                while fire.take(descriptor):
                    continue
            except BlockingIOError:
                continue

    def _heard(self, task: int, status: int) -> None:
        """
        Look after a task that stopped or ended.
        """
        fire = self._owner(task)
        if not os.WIFSTOPPED(status):
            if fire is not None:
                self._ended(fire, task, status)
            return
        number, event = os.WSTOPSIG(status), status >> 16
        if fire is not None:
            fire.tasks.add(task)
        if event == self._tracing.FILTERED and fire is not None and self._holds(fire, task):
            return
        if event in self._tracing.FORKS and fire is not None:
            fire.tasks |= self._tracing.started(task)
        if event == self._tracing.STOPPED and number != signal.SIGTRAP:
            self._tracing.keep_stopped(task)
        else:
            self._tracing.resume(task, 0 if event else number)

    def _owner(self, task: int) -> SteeredProcess | None:
        for relative in (task, *self._tracing.relatives(task)):
            for fire in self.hook_runs:
                if relative in fire.tasks:
                    return fire
        return None

    def _ended(self, fire: SteeredProcess, task: int, status: int) -> None:
        fire.tasks.discard(task)
        if fire.held == task:
            fire.held = 0
            self.queue.remove(fire)
        if task == fire.pid:
            fire.status = os.waitstatus_to_exitcode(status)
            self._happened()

    def _holds(self, fire: SteeredProcess, task: int) -> bool:
        """
        Hold a task, if it is about to change what is watched and nobody else of its fire is held.
        """
        if self.free or fire.held or not self._tracing.changes(task, self.watched):
            return False
        fire.held = task
        self.queue.append(fire)
        self.holds += 1
        self._happened()
        return True

    def _happened(self) -> None:
        self.changed = time.monotonic()
        for fire in self.hook_runs:
            fire.asleep = 0

    def _steer(self) -> None:
        """
        Let the next one go on, as soon as it cannot be got any worse.
        """
        if not self.queue:
            return
        others = [fire for fire in self.hook_runs if not fire.held and (fire.tasks or fire.gate >= 0)]
        for fire in others:
            fire.asleep += fire.gate < 0 and all(map(self._tracing.sleeps, fire.tasks))
        if any(fire.asleep < _ASLEEP for fire in others):
            if time.monotonic() < self.changed + _STALL:
                return
            self.stalls += 1
        elif others and len(self.queue) == 1:
            self.lonely += 1
        self.free = self.lonely >= _MOST_LONELY or self.stalls >= _MOST_STALLS
        going = self.queue if self.free else self.queue[:1]
        self.queue = self.queue[len(going) :]
        self._happened()
        for fire in going:
            task, fire.held = fire.held, 0
            self._tracing.resume(task)


def _make_package_importable() -> None:
    """
    Let this program import its package without running the package's ``__init__``, which costs time.

    It is started by its path, so the folder that holds the package is not on ``sys.path``.
    """
    package = types.ModuleType("pytest_hookharness")
    package.__path__ = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
    sys.modules[package.__name__] = package


if __name__ == "__main__":
    _make_package_importable()
    json.dump(InterleavingScheduler(json.load(sys.stdin)).run(), sys.stdout)
