"""
The tracer: records what the observed hooks of a batch look at, until their last process has ended.

Calls of hooks wait for its answer. A process stops where a program begins or ends, or a name is changed.

It works inside the item supervisor, which is the hooks' parent anyway and waits for all of them. So an
observed hook has the parent, the streams and the time limits of any other one.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import time

from pytest_hookharness.execution.platform import linux_clock_calls as clock_calls
from pytest_hookharness.execution.platform import linux_listener
from pytest_hookharness.execution.platform import linux_observing as observing
from pytest_hookharness.execution.platform import linux_ptrace as tracing
from pytest_hookharness.execution.platform import linux_read_calls as read_calls
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.reads.recording import Image, Recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from pytest_hookharness.execution.platform.linux_listener import Call

_GO, _STAY = b"+", b"-"
# Milliseconds for which only the next call of an observed hook is awaited.
_SILENCE_MS = 1
_IN = select.POLLIN


class _Task:
    """A thread of an observed process."""

    __slots__ = ("changing", "image", "pid", "recording", "went_on")

    def __init__(self, recording: Recording, image: Image, pid: int) -> None:
        self.recording = recording
        self.image = image
        self.pid = pid
        # The change of a name by the call at which it stopped, if that succeeds, and the name.
        self.changing: tuple[str, ...] = ()
        # The number of its last recorded call, if that may wait in the kernel, too.
        self.went_on = -1


class Tracer:
    """
    The observed processes of one batch.

    Attributes:
        seconds: How long it has kept processes waiting while it recorded.
        listeners: The descriptors at which calls of observed hooks wait for an answer.
    """

    def __init__(self, gap: str = "") -> None:
        """Begin a batch; ``gap`` is why nothing can be observed, empty if it can be tried."""
        self._gap = gap
        # Times of files that programs chose by a moved clock, and that may be before the machine's present.
        self._chosen: set[int] = set()
        self._tasks: dict[int, _Task] = {}
        self._recordings: dict[int, Recording] = {}
        self._stopped: set[int] = set()
        self.seconds = 0.0
        self.listeners: set[int] = set()

    def enter(self, gate: socket.socket, *, times_only: bool) -> None:
        """
        Have calls of this process wait for the tracer at the other side of the gate, if it agrees.

        These are all calls that look at something; with ``times_only`` only calls that show a time.
        """
        # Without this its parent could not trace it, unless it is root.
        system.allow_dumps(True)
        gate.send(_GO)
        if gate.recv(1) != _GO:
            return
        listener = -1
        try:
            listener = (clock_calls.listen_for_times if times_only else read_calls.listen_for_reads)()
            linux_listener.hand_over(gate.fileno(), listener)
        except (OSError, AttributeError) as problem:
            # This call does not wait for the tracer, which itself waits for this message.
            os.write(gate.fileno(), str(problem).encode())
            if listener >= 0:
                # Nobody would answer its calls.
                os._exit(255)

    def let_in(self, pid: int, gate: socket.socket, since: int = 0, *, times_only: bool = False) -> None:
        """
        Observe a process that waits in `enter`, at the other side of the gate.

        Args:
            since: Times of files since this moment count as times of the clock, in nanoseconds.
            times_only: Whether only calls that show a time wait and are recorded.

        Raises:
            OSError: This process has no more descriptors.
        """
        recording = self._recordings[pid] = Recording(since, times_only=times_only)
        gate.recv(1)
        gap = self._gap or self._attach(pid, recording)
        gate.send(_STAY if gap else _GO)
        if not gap:
            answer, listeners, _, _ = socket.recv_fds(gate, 4096, 1)
            for listener in listeners:
                os.set_inheritable(listener, False)
                linux_listener.keep_close(listener)
                self.listeners.add(listener)
            if answer == _GO and not listeners:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            if not listeners:
                gap = answer.decode() or "the process ended before it became the hook"
        gate.close()
        if gap:
            recording.refuse(gap)

    def move_clock(
        self, pid: int, ahead: float, shifts: tuple[tuple[int, float], ...], chosen: tuple[int, ...]
    ) -> None:
        """Move the clock of a process that was let in, and the times of files that are written since."""
        if ahead:
            self._chosen.update(chosen)
            self._recordings[pid].shifts = shifts or ((system.file_clock(), ahead),)

    def _attach(self, pid: int, recording: Recording) -> str:
        """Begin to observe a process; return why that is not possible."""
        try:
            observing.observe(pid)
        except (OSError, AttributeError) as problem:
            return str(problem) or "the system has no ptrace"
        self._tasks[pid] = _Task(recording, recording.begin(pid, "", b""), pid)
        recording.pids.add(pid)
        return ""

    def await_program(self, pid: int, refusals: int) -> None:
        """
        Attend to a process that was let in until it has become the hook, or has ended.

        ``refusals`` is the descriptor at which it reports a failure, which ends when it becomes the hook.
        """
        image = self._tasks[pid].image if pid in self._tasks else None
        poll = select.poll()
        for descriptor in (refusals, *self.listeners):
            poll.register(descriptor, _IN)
        while pid in self._tasks and self._tasks[pid].image is image:
            ready = dict(poll.poll(_SILENCE_MS))
            for listener in self.listeners & ready.keys():
                if ready[listener] & _IN:
                    self.answer(listener)
            # It stops when it has become the hook. At a signal it stops before.
            task, status = os.waitpid(pid, 0 if refusals in ready else os.WNOHANG)
            if task:
                self.handle(task, status)

    def serve(self, listener: int, wake: int, until: float) -> None:
        """Answer the calls at a listener for as long as one comes right after the other."""
        poll = select.poll()
        poll.register(listener, _IN)
        poll.register(wake, _IN)
        while True:
            self.answer(listener)
            if poll.poll(_SILENCE_MS) != [(listener, _IN)] or time.monotonic() >= until:
                return

    def answer(self, listener: int) -> None:
        """Record what the next call at a listener looks at, and answer it or let it go on."""
        began = time.monotonic()
        call = linux_listener.receive(listener)
        if call is None:
            return
        found = self._tasks.get(call.task) or self._adopt(call.task)
        shown = None
        try:
            if found is not None:
                shown = self._attend_call(found, call)
        except (OSError, ValueError, struct.error) as problem:
            # The process is gone, or an argument is no valid address.
            if found is not None:
                found.recording.miss(f"a call could not be read: {problem}")
        if shown is None:
            if found is not None:
                found.went_on = call.number if call.number in read_calls.BLOCKING else -1
            call.go_on()
        else:
            call.answer(shown)
        self.seconds += time.monotonic() - began

    def close(self) -> set[int]:
        """Close the listeners that nothing waits at any more; return the others."""
        for listener in [each for each in self.listeners if linux_listener.is_over(each)]:
            self.listeners.discard(listener)
            os.close(listener)
        return {*self.listeners}

    def keeps_waiting(self) -> bool:
        """Return whether a call waits for an answer."""
        return any(map(linux_listener.has_waiting, self.listeners))

    def handle(self, task: int, status: int) -> None:
        """Handle a task that stopped or ended."""
        if not os.WIFSTOPPED(status):
            self._tasks.pop(task, None)
            return
        began = time.monotonic()
        self._stopped.discard(task)
        self._attend(task, status)
        self.seconds += time.monotonic() - began

    def _attend(self, task: int, status: int) -> None:
        why, number = observing.stop_of(status)
        found = self._tasks.get(task) or self._adopt(task)
        if why == "stopped":
            self._stopped.add(task)
            tracing.keep_stopped(task)
            return
        try:
            if found is not None and self._holds(found, task, why):
                return
        except (OSError, ValueError, struct.error) as problem:
            # The process is gone, or an argument is no valid address.
            if found is not None:
                found.recording.miss(f"a call could not be read: {problem}")
        tracing.resume(task, number)

    def _holds(self, found: _Task, task: int, why: str) -> bool:
        """Record why a task stopped; return true if it is resumed up to the result of its call."""
        recording = found.recording
        if why == "program":
            path, arguments, gap, timed = observing.begin_program(task, recording.lets)
            if gap:
                recording.miss(gap)
            found.image = recording.begin(task, path, arguments)
            if timed:
                recording.note_source(found.image, "clock", "monotonic")
        elif why == "started":
            if child := tracing.event_message(task):
                self._begin(found, child)
        elif why == "signal":
            self._restart(found, task)
        elif why == "result":
            if found.changing and observing.succeeded(task):
                recording.changed(found.changing)
            found.changing = ()
        elif why == "call" and (call := observing.stopped_call(task)) is not None:
            self._look(found, task, *call)
            found.went_on = call[0] if call[0] in read_calls.BLOCKING else -1
            if found.changing:
                observing.resume_to_result(task)
                return True
        return False

    def _restart(self, found: _Task, task: int) -> None:
        """Restart the call that a signal has interrupted before its answer, as it would not have waited."""
        waiting = (clock_calls if found.recording.times_only else read_calls).WAITING
        number = observing.interrupted_call(task)
        if number in waiting and number != found.went_on:
            observing.restart_call(task)

    def _attend_call(self, found: _Task, call: Call) -> int | None:
        """Record what a call that waits looks at; return what it answers, ``None`` if it goes on."""
        if not found.recording.times_only:
            self._look(found, call.task, call.number, call.arguments)
        return self._show_time(found, call) if found.recording.shifts else None

    def _look(self, found: _Task, task: int, number: int, arguments: Sequence[int]) -> None:
        """Record what a call of a task looks at, and keep the names that it changes."""
        if not found.recording.full:
            for seen in read_calls.decode(task, number, arguments):
                found.changing += found.recording.look(task, found.pid, found.image, seen)

    def _show_time(self, found: _Task, call: Call) -> int | None:
        """Show a task times by its moved clock; return what the call answers, ``None`` if it goes on."""
        recording, name = found.recording, clock_calls.name_of(call)
        kind = clock_calls.KIND_OF.get(name)
        if kind == clock_calls.STATUS:
            return self._show_status(found, call, name)
        if kind == clock_calls.CLOCK:
            if recording.times_only:
                recording.note_source(found.image, "clock", "realtime")
            return clock_calls.show_time(call, name, recording.shifts[-1][1])
        if kind == clock_calls.CHOICE:
            times = [*clock_calls.choose_times(call, name)]
            self._chosen.update(times)
            recording.chosen.update(dict.fromkeys(times))
        elif kind == clock_calls.ROOT:
            recording.miss("a process changes its root folder, mounts or namespaces")
            recording.unseen = True
        return None

    def _show_status(self, found: _Task, call: Call, name: str) -> int | None:
        if found.recording.unseen:
            return None
        recording, asked = found.recording, clock_calls.StatusCall(call, name)
        since = recording.shifts[0][0]
        if recording.times_only:
            since = min(recording.since, since)
            if asked.file:
                recording.read_module(found.image, asked.file)
        if asked.is_older(since) or (shown := asked.show(recording.shifts, self._chosen)) is None:
            return None
        changed, is_own = shown
        if recording.times_only and changed >= recording.since:
            what = "times of an open file" if asked.is_open else "times of a file"
            recording.note_source(found.image, "clock", "times of its own folder" if is_own else what)
        return 0

    def _begin(self, parent: _Task, task: int) -> _Task:
        """Note a task that another one has started."""
        parent.recording.pids.add(task)
        if task not in self._tasks:
            pid = parent.pid if parent.pid in tracing.relatives(task)[:1] else task
            self._tasks[task] = _Task(parent.recording, parent.image, pid)
        return self._tasks[task]

    def _adopt(self, task: int) -> _Task | None:
        """Find out to which hook an unknown task belongs, whose start was not reported yet."""
        for relative in tracing.relatives(task):
            if relative in self._tasks:
                return self._begin(self._tasks[relative], task)
        if len(self._recordings) == 1:
            (recording,) = self._recordings.values()
            return self._begin(_Task(recording, recording.begin(task, "", b""), task), task)
        for recording in self._recordings.values():
            recording.miss("a process could not be attributed to a hook run")
        return None

    def state_of(self, pid: int, state: str) -> str:
        """Return the state that a process would have if it were not observed."""
        if state != "t" or pid not in self._tasks:
            return state
        return "T" if pid in self._stopped else "R"

    def report(self, pid: int) -> tuple[Any, ...]:
        """Return the record of a hook as plain values."""
        recording = self._recordings.get(pid)
        if recording is None:
            recording = Recording()
            recording.refuse("the command was not started")
        return recording.report()
