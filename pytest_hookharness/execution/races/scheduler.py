"""
The interleaving scheduler: a program that interleaves hook runs as badly as possible.

It runs inside the sandbox. Each process is held just before it changes a watched file, until all
others are held there too, have ended, or sleep. Then the held ones continue one at a time, each up to its
next change. So whatever one has read is outdated before it writes, however fast it is. Where the others can
only wait for the held one, they use a lock, and all are released.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time

from pytest_hookharness.execution.platform import linux_ptrace as tracing
from pytest_hookharness.execution.processes.process_tree import watch_children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LOOK = 0.01
# Looks without an event at which all tasks of a process sleep, until it counts as waiting for others.
_ASLEEP = 3
# How often a single process may be held while all others wait, and how often and for how many seconds one may
# be held while they work. Together this is less than most programs wait for a lock.
_MAX_SOLO_HOLDS, _MAX_STALLS, _STALL = 3, 3, 0.25
_AFTERWARDS = 0.3
_OUTPUT_LIMIT = 1 << 16
_NEVER = float("inf")


class ControlledProcess:
    """One process: its tasks and its output."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.tasks: set[int] = set()
        self.held = 0
        self.asleep = 0
        self.status: int | None = None
        self.output: list[bytearray] = [bytearray(), bytearray()]
        self.outputs: dict[int, int] = {}
        self.start_pipe = -1
        self.pid = 0

    def prepare(self) -> None:
        """Start the process, which waits until `begin`."""
        (stdin, given), (out, stdout), (err, stderr), (waits, self.start_pipe) = (os.pipe() for _ in range(4))
        os.set_blocking(given, False)
        self.pid = os.fork()
        if self.pid == 0:
            self._exec((stdin, stdout, stderr), waits)
        data = self.spec["stdin"].encode("utf-8", "surrogateescape")
        try:
            if os.write(given, data) < len(data):
                raise OSError(f"a pipe does not hold {len(data)} bytes of input")
        finally:
            for descriptor in (stdin, given, stdout, stderr, waits):
                os.close(descriptor)
        self.outputs = {out: 0, err: 1}
        self.tasks.add(self.pid)

    def _exec(self, streams: tuple[int, int, int], start_pipe: int) -> None:
        try:
            os.setsid()
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            for descriptor, stream in enumerate(streams):
                os.dup2(stream, descriptor)
            os.close(self.start_pipe)
            controlled = os.read(start_pipe, 1) == b"s"
            os.chdir(self.spec["cwd"])
            if controlled:
                tracing.filter_calls()
            words, env = self.spec["argv"], self.spec["env"]
            os.execvpe(words[0], words, env)  # noqa: S606  # a hook runs any program
        except BaseException as problem:  # noqa: BLE001  # reported where the command would write
            os.write(2, f"{problem}\n".encode())
        finally:
            os._exit(126)

    def begin(self, *, controlled: bool) -> None:
        """Let the process run."""
        os.write(self.start_pipe, b"s" if controlled else b"-")
        os.close(self.start_pipe)
        self.start_pipe = -1

    def take(self, descriptor: int) -> bool:
        """Read its output once; return false at the end."""
        data = os.read(descriptor, 1 << 16)
        kept = self.output[self.outputs[descriptor]]
        kept += data[: _OUTPUT_LIMIT - len(kept)]
        return bool(data)


class InterleavingScheduler:
    """The processes of one round."""

    def __init__(self, round_: dict[str, Any]) -> None:
        self.hook_runs = [ControlledProcess(spec) for spec in round_["hook_runs"]]
        self.watched = frozenset(round_["watched"])
        self.delay = float(round_["apart"])
        self.until = time.monotonic() + float(round_["limit"])
        self.reason = "" if self.watched else "nothing is watched"
        self.holds = 0
        self.queue: list[ControlledProcess] = []
        self.solo_holds = self.stalls = 0
        self.free = False
        self.changed = 0.0
        self._by_output: dict[int, ControlledProcess] = {}
        self._poll = select.poll()

    def run(self) -> dict[str, Any]:
        """Run all processes; return the report."""
        wake = watch_children()
        self._poll.register(wake, select.POLLIN)
        self._prepare()
        first = time.monotonic()
        waiting = [(first + place * self.delay, process) for place, process in enumerate(self.hook_runs)]
        ended_at = _NEVER
        while time.monotonic() < min(self.until, ended_at + _AFTERWARDS):
            while waiting and waiting[0][0] <= time.monotonic():
                waiting.pop(0)[1].begin(controlled=not self.reason)
            self._attend(wake)
            self._release_next()
            if not waiting and all(process.status is not None for process in self.hook_runs):
                ended_at = min(ended_at, time.monotonic())
                if not any(process.tasks for process in self.hook_runs):
                    break
        self._drain()
        runs = [
            {"status": process.status, "output": [part.decode("latin-1") for part in process.output]}
            for process in self.hook_runs
        ]
        return {"reason": self.reason, "holds": self.holds, "hook_runs": runs}

    def _prepare(self) -> None:
        for process in self.hook_runs:
            process.prepare()
            for descriptor in process.outputs:
                self._by_output[descriptor] = process
                self._poll.register(descriptor, select.POLLIN)
        try:
            tracing.try_filter()
            for process in self.hook_runs:
                if not self.reason:
                    tracing.seize(process.pid)
        except (OSError, AttributeError) as problem:
            self.reason = str(problem)

    def _attend(self, wake: int) -> None:
        """Wait for the next event and handle it."""
        for descriptor, _ in self._poll.poll(_LOOK * 1000):
            if descriptor == wake:
                os.read(wake, 4096)
            elif not self._by_output[descriptor].take(descriptor):
                self._poll.unregister(descriptor)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | tracing.ALL_TASKS)
            except ChildProcessError:
                return
            if not pid:
                return
            self._task_event(pid, status)

    def _drain(self) -> None:
        """Read the output that was written and not yet read."""
        for descriptor, process in self._by_output.items():
            os.set_blocking(descriptor, False)
            try:
                while process.take(descriptor):
                    continue
            except BlockingIOError:
                continue

    def _task_event(self, task: int, status: int) -> None:
        """Handle a task that stopped or ended."""
        process = self._owner(task)
        if not os.WIFSTOPPED(status):
            if process is not None:
                self._ended(process, task, status)
            return
        number, event = os.WSTOPSIG(status), status >> 16
        if process is not None:
            process.tasks.add(task)
        if event == tracing.FILTERED and process is not None and self._holds(process, task):
            return
        if event in tracing.FORKS and process is not None:
            process.tasks |= {tracing.event_message(task)} - {0}
        if event == tracing.STOPPED and number != signal.SIGTRAP:
            tracing.keep_stopped(task)
        else:
            tracing.resume(task, 0 if event else number)

    def _owner(self, task: int) -> ControlledProcess | None:
        for relative in (task, *tracing.relatives(task)):
            for process in self.hook_runs:
                if relative in process.tasks:
                    return process
        return None

    def _ended(self, process: ControlledProcess, task: int, status: int) -> None:
        process.tasks.discard(task)
        if process.held == task:
            process.held = 0
            self.queue.remove(process)
        if task == process.pid:
            process.status = os.waitstatus_to_exitcode(status)
            self._note_change()

    def _holds(self, process: ControlledProcess, task: int) -> bool:
        """Hold a task if it is about to change a watched file and no other task of its process is held."""
        if self.free or process.held or not tracing.changes(task, self.watched):
            return False
        process.held = task
        self.queue.append(process)
        self.holds += 1
        self._note_change()
        return True

    def _note_change(self) -> None:
        self.changed = time.monotonic()
        for process in self.hook_runs:
            process.asleep = 0

    def _release_next(self) -> None:
        """Release the next process once no worse interleaving is possible."""
        if not self.queue:
            return
        free = (process for process in self.hook_runs if not process.held)
        others = [process for process in free if process.tasks or process.start_pipe >= 0]
        for process in others:
            process.asleep += process.start_pipe < 0 and all(map(tracing.sleeps, process.tasks))
        if any(process.asleep < _ASLEEP for process in others):
            if time.monotonic() < self.changed + _STALL:
                return
            self.stalls += 1
        elif others and len(self.queue) == 1:
            self.solo_holds += 1
        # From here on nothing is held any more: the processes use a lock, and holding one longer could exceed
        # its timeout.
        self.free = self.solo_holds >= _MAX_SOLO_HOLDS or self.stalls >= _MAX_STALLS
        # One at a time: the next one's read is then followed by another's write.
        going = self.queue if self.free else self.queue[:1]
        self.queue = self.queue[len(going) :]
        self._note_change()
        for process in going:
            task, process.held = process.held, 0
            tracing.resume(task)


def main() -> None:
    """Run one round, which is read from standard input; write the report to standard output."""
    json.dump(InterleavingScheduler(json.load(sys.stdin)).run(), sys.stdout)
