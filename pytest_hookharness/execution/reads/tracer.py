"""
The tracer: records what the observed hooks of a batch look at, until their last process has ended.

It works inside the item supervisor, which is the hooks' parent anyway and waits for all of them. So an
observed hook has the parent, the streams and the time limits of any other one.
"""

from __future__ import annotations

import os
import struct
import time

from pytest_hookharness.execution.platform import linux_clock_calls as clock_calls
from pytest_hookharness.execution.platform import linux_observing as observing
from pytest_hookharness.execution.platform import linux_ptrace as tracing
from pytest_hookharness.execution.platform import linux_read_calls as read_calls
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.reads.recording import Image, Recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from typing import Any

_GO, _STAY = b"+", b"-"
_NEVER = float("inf")
_NOTHING_ASKED: tuple[str, int, str, str] = "", 0, "", ""
# A hook is no longer kept on the tracer's processor after so many seconds without a stop, or with more tasks:
# a shell, that of a script, and what this one starts.
_PAUSE, _MOST_TASKS = 0.1, 3


class _Task:
    """A thread of an observed process."""

    __slots__ = ("asked", "changing", "image", "pid", "recording")

    def __init__(self, recording: Recording, image: Image, pid: int) -> None:
        self.recording = recording
        self.image = image
        self.pid = pid
        self.changing: tuple[str, ...] = ()
        # With a moved clock: the call that shows a time, where its answer will be, what that shows, the file.
        self.asked = _NOTHING_ASKED


class Tracer:
    """
    The observed processes of one batch.

    Attributes:
        seconds: How long it has kept processes waiting while it recorded.
        due: When to let the hook use all processors again, on the monotonic clock.
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
        self.due = _NEVER
        self._processors: set[int] = set()
        self._together = False

    def keep_together(self) -> None:
        """
        Keep the hook that is started next on the processor of the tracer.

        At each stop one of them waits for the other, and to wake a process on another processor takes longer
        than all that is recorded. It ends when the hook asks for its processors or may read them in the
        process table, when several tasks could work side by side, and when it makes no calls.
        """
        self._processors = observing.share_processor()
        self._together = bool(self._processors)

    @property
    def together(self) -> bool:
        """Whether the hook is kept on the processor of the tracer."""
        return self._together

    def part(self, *others: int) -> None:
        """Give this process, all tasks and some other processes the processors back that they had before."""
        self.due = _NEVER
        if self._together:
            self._together = False
            for task in (0, *others, *self._tasks):
                observing.use_processors(task, self._processors)

    def enter(self, gate: _socket.socket, *, times_only: bool) -> None:
        """
        Have this process stopped at some of its calls, if the tracer at the other side of the gate can do so.

        With ``times_only``, only at calls that show a time, not at all calls that look at something.
        """
        # Or its parent could not trace it, unless it has rights over the machine.
        system.allow_dumps(True)
        gate.send(_GO)
        if gate.recv(1) != _GO:
            return
        try:
            (clock_calls.filter_times if times_only else read_calls.filter_reads)()
        except (OSError, AttributeError) as problem:
            answer = str(problem).encode()
        else:
            answer = _GO
        # By a call that does not stop, for the tracer waits for the answer.
        os.write(gate.fileno(), answer)

    def let_in(self, pid: int, gate: _socket.socket, since: int = 0, *, times_only: bool = False) -> None:
        """
        Observe a process that waits in `enter`, at the other side of the gate.

        Args:
            since: Times of files count as times if they are since this moment, in nanoseconds.
            times_only: Whether it stops only where it is shown a time, and only that is recorded.
        """
        recording = self._recordings[pid] = Recording(since, times_only=times_only)
        gate.recv(1)
        gap = self._gap or self._attach(pid, recording)
        gate.send(_STAY if gap else _GO)
        if not gap:
            answer = gate.recv(4096)
            gap = "" if answer == _GO else answer.decode() or "the process ended before it became the hook"
        gate.close()
        if gap:
            recording.refuse(gap)
            self.part(pid)

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

    def await_program(self, pid: int) -> None:
        """Attend to a process that was let in until it has become the hook, or has ended."""
        image = self._tasks[pid].image if pid in self._tasks else None
        while pid in self._tasks and self._tasks[pid].image is image:
            task, status = os.waitpid(pid, 0)
            self.handle(task, status)

    def handle(self, task: int, status: int) -> None:
        """Handle a task that stopped or ended."""
        if not os.WIFSTOPPED(status):
            self._tasks.pop(task, None)
            return
        began = time.monotonic()
        self._stopped.discard(task)
        self._attend(task, status)
        ended = time.monotonic()
        self.seconds += ended - began
        if self._together:
            self.due = ended + _PAUSE

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
            # Of a process that is gone, or one that hands over what is no address.
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
        elif why == "result":
            self._take_result(found, task)
        elif why == "call":
            if not (recording.times_only or recording.full):
                self._look(found, task)
            if recording.shifts:
                self._ask(found, task)
            if found.changing or found.asked[0]:
                observing.resume_to_result(task)
                return True
        return False

    def _look(self, found: _Task, task: int) -> None:
        """Record what the call before which a task stopped looks at, and keep the names that it changes."""
        for seen in read_calls.decode(task):
            if self._together and read_calls.shows_processors(seen):
                self.part()
            found.changing += found.recording.look(task, found.pid, found.image, seen)

    def _ask(self, found: _Task, task: int) -> None:
        """Note whether the call before which a task stopped shows a time, whose answer is to be moved."""
        recording = found.recording
        since = recording.shifts[0][0]
        if recording.times_only:
            since = min(recording.since, since)
        found.asked = name, address, shown, file = clock_calls.asked(task, 0 if recording.unseen else since)
        if shown == clock_calls.CHOSEN:
            found.asked = _NOTHING_ASKED
            times = [*clock_calls.chosen_times(task, file, address)]
            self._chosen.update(times)
            recording.chosen.update(dict.fromkeys(times))
            return
        if file and recording.times_only:
            recording.read_module(found.image, file)
        if shown and not name:
            # So from now on the tracer looks at no file itself.
            recording.unseen = True

    def _take_result(self, found: _Task, task: int) -> None:
        """Move the answer to a call that shows a time, and record which names another call has changed."""
        recording = found.recording
        name, address, shown, _ = found.asked
        if name:
            found.asked = _NOTHING_ASKED
            changed, is_own = clock_calls.move(task, name, address, recording.shifts, self._chosen)
            is_new = recording.unseen or changed >= recording.since
            if recording.times_only and (shown == "realtime" or is_new):
                shown = "times of its own folder" if is_own else shown
                recording.note_source(found.image, "clock", shown)
        if found.changing and observing.succeeded(task):
            recording.changed(found.changing)
        found.changing = ()

    def _begin(self, parent: _Task, task: int) -> _Task:
        """Note a task that another one has started."""
        parent.recording.pids.add(task)
        if task not in self._tasks:
            pid = parent.pid if parent.pid in tracing.relatives(task)[:1] else task
            self._tasks[task] = _Task(parent.recording, parent.image, pid)
            if len(self._tasks) > _MOST_TASKS:
                self.part()
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
