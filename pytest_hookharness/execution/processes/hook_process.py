"""
One hook process: its phases from its start to the end of its last descendant.

Loaded by the supervisor too. A hook process never blocks; its batch reports events to it.
"""

from __future__ import annotations

import os
import select
import signal
import time

from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes import process_tree
from pytest_hookharness.execution.processes.framing import CHILD, GROUP, TREE, ProcessRequest
from pytest_hookharness.execution.processes.run_limits import RunLimits, extended_wait
from pytest_hookharness.execution.processes.spawn import explain_refusal
from pytest_hookharness.execution.processes.stdio import HookStdio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any, Protocol

    from pytest_hookharness.execution.processes.spawn import Spawner
    from pytest_hookharness.execution.processes.survivors import ProcessGroup
    from pytest_hookharness.execution.reads.tracer import Tracer

    class BatchView(Protocol):
        """What a hook process needs of the batch around it."""

        spawner: Spawner
        tree: process_tree.Descendants | ProcessGroup
        tracer: Tracer

        def members(self, hook: HookProcess) -> list[int]:
            """List the living processes that belong to a hook."""
            ...

        def unclaimed(self, hook: HookProcess) -> list[int]:
            """List, for the last hook of the batch, the living processes that may be of any hook."""
            ...

        def end_leftovers(self, hook: HookProcess, pids: list[int]) -> None:
            """Kill the processes of a hook, and those that may be of any, unless they may live on."""

        def only_hooks_alive(self) -> bool:
            """Return whether it is proved that no process lives but hooks that still run."""
            ...


# RUNNING until its exit or its cut. CUTTING while signals are sent. CLOSING while the output of a cut hook is
# awaited, DRAINING while that of one that ended is. LINGERING while its descendants may end by themselves.
RUNNING, CUTTING, CLOSING, DRAINING, LINGERING, DONE = range(6)
_KILL_TIMEOUT, _NEVER, _DRAIN_ROUNDS = 10.0, float("inf"), 64


class HookProcess:
    """One hook from its start to the end of everything that it started."""

    def __init__(self, request: ProcessRequest, batch: BatchView) -> None:
        self.request = request
        self.phase = RUNNING
        self.pid = 0
        self._batch = batch
        self._ending: tuple[Any, ...] = ()
        self._exit: tuple[str, int] = ("exited", 0)
        self._cpu, self._peak = 0.0, 0
        self._leftovers: list[tuple[int, str, float]] = []
        self._unclaimed: list[tuple[int, str, float]] = []
        self._wall = 0.0
        self._sent = 0
        self._dead = False
        self._read: int | None = None

    def start(self, budget_end: float) -> None:
        """Start the hook, with as much of its input written beforehand as the system accepts."""
        request = self.request
        if request.warm:
            self._batch.spawner.warm.prepare(request)
        self._channels = channels = HookStdio(request)
        self.source, self.sinks = channels.source, channels.sinks
        self._boot = system.boot_clock()
        self.began = now = time.monotonic()
        # Written before the start where possible: a hook that reads at once then never waits for us.
        if request.delay:
            self.source.due = now + request.delay
        else:
            self.source.feed(now)
        try:
            tracer = self._batch.tracer if request.traced else None
            self.pid, refusal = self._batch.spawner.start(request, channels.theirs, tracer)
        finally:
            channels.after_start()
        self._limits = RunLimits(request, now, budget_end)
        self.deadline, self._budget_end = self._limits.deadline, budget_end
        self._waited, self._extended = self._batch.tracer.seconds, -1
        if refusal is not None:
            self.phase = DONE
            self.pid, self.source.taken, self._read = 0, 0, 0
            self._ending = "not started", explain_refusal(request, refusal)

    def inherited(self) -> tuple[Callable[[], Collection[str]], Sequence[bytes]]:
        """Return what the descendants of the hook inherit: the names of its streams, and its environment."""
        return self._channels.names_in_use, self.request.env

    def exited(self, status: int, usage: Any, now: float) -> None:
        """Record how the hook ended, and how much of its input it had read."""
        code = os.waitstatus_to_exitcode(status)
        self._exit = ("exited", code) if code >= 0 else ("signaled", -code)
        self._cpu, self._peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * system.MEMORY_UNIT
        self._channels.close_child_ends()
        self._drain()
        # Before closing: a closed input no longer shows how much was read.
        self._read = self.source.bytes_read()
        self.source.close()
        self._dead = True
        if self.phase != RUNNING:
            self.settle(now)
            return
        self.look_at_output(now)
        if (detached := self._limits.background) is not None:
            self._wall, self._ending = detached, self._exit
            self._linger(now)
        else:
            self._wall = now - self.began
            wait = self.request.pipe_wait
            self.phase = DRAINING
            self.deadline = now + wait if wait is not None else self._limits.deadline

    def look_at_output(self, now: float) -> None:
        """Notice whether the first line of output makes the host go on without the hook."""
        if self._limits.listens and self.sinks[0].total and self._limits.look_at(self.sinks[0].data, now):
            self.deadline = self._limits.deadline

    def _drain(self) -> None:
        """Read what the hook wrote before it ended; descendants that keep writing do not prolong this."""
        open_ends = {sink.fd: sink for sink in self.sinks if sink.fd >= 0}
        if not open_ends:
            return
        ready = select.poll()
        for number in open_ends:
            ready.register(number, select.POLLIN)
        for _ in range(_DRAIN_ROUNDS):
            for number, _ in (seen := ready.poll(0)):
                if not open_ends[number].take():
                    ready.unregister(number)
                    del open_ends[number]
            if not seen or not open_ends:
                return

    def settle(self, now: float) -> None:
        """Enter the next phase as soon as there is nothing left to wait for."""
        all_gone = self._batch.only_hooks_alive()
        # In the order of the phases, so that a hook passes several of them at once if nothing holds it.
        if self.phase == CUTTING and self._dead and (all_gone or not self._targets()):
            self._await_output(now)
        if self.phase == CLOSING and (all_gone or self._closed()):
            self._linger(now)
        if self.phase == DRAINING:
            if all_gone:
                self._drain()
            if all_gone or self._closed():
                self._ending = self._exit
                self._linger(now)
        batch = self._batch
        if self.phase == LINGERING and (all_gone or not (batch.members(self) or batch.unclaimed(self))):
            self.phase = DONE

    def _closed(self) -> bool:
        return self.sinks[0].fd < 0 and self.sinks[1].fd < 0

    def _targets(self) -> list[int]:
        """List the living processes that the host signals."""
        if self.request.scope == CHILD:
            return [] if self._dead else [self.pid]
        members = self._batch.members(self)
        if self.request.scope == GROUP:
            return [pid for pid in members if process_tree.is_in_group(pid, self.pid)]
        return members

    def _await_output(self, now: float) -> None:
        """Wait for the output of a hook that was cut, as long as the host does."""
        wait = self.request.close_wait
        until = max(now, self._limits.hook_timeout_end) if wait is None else now + wait
        self.phase, self.deadline = CLOSING, until
        if wait == 0.0:
            self._linger(now)

    def _linger(self, now: float) -> None:
        self.phase, self.deadline = LINGERING, now + (self.request.linger or 0.0)
        self._lingers_since = now

    def _extends(self, now: float) -> bool:
        """Move the deadline of a phase once, by the time that an observed hook was kept waiting in it."""
        waited = self._batch.tracer.seconds - self._waited
        self._waited += waited
        if not self.request.traced or self._extended == self.phase or not waited:
            return False
        self._extended = self.phase
        self.deadline = min(now + waited, max(now, self._budget_end))
        return self.deadline > now

    def _waited_for_cpu(self, now: float) -> bool:
        """Extend the time of a running hook that had no CPU."""
        if self.phase != RUNNING or not self._limits.extend(self._batch.members(self), now):
            return False
        self.deadline = self._limits.deadline
        return True

    @property
    def due(self) -> float:
        """When something has to be done: the present phase is over, or the time for the whole batch."""
        return min(self.deadline, self._budget_end)

    def on_deadline(self, now: float) -> None:
        """Do what is due when the deadline of the present phase has passed."""
        if self._extends(now) or self._waited_for_cpu(now):
            return
        if now >= self._budget_end and self.phase != RUNNING:
            self._cut_at_once("budget", now)
        elif self.phase == RUNNING or (self.phase == DRAINING and self.request.pipe_wait is None):
            self._cut(now)
        elif self.phase == CUTTING:
            self._escalate(now)
        elif self.phase == CLOSING:
            self._blame_hook_timeout()
            self._linger(now)
        elif self.phase == DRAINING:
            self._report_held_open(now)
        elif self.phase == LINGERING:
            self._end_leftovers(now)

    def _cut(self, now: float) -> None:
        """Record what the processes are doing, then begin to end them."""
        by = self._limits.reached
        if by in ("budget", "background"):
            self._cut_at_once(by, now)
        else:
            self._begin_to_end(by, now)

    def _cut_at_once(self, by: str, now: float) -> None:
        """End everything at once: this end shows nothing, so the waits of the host's rules are left out."""
        request, self._budget_end, self._sent = self.request, _NEVER, 0
        request.signals, request.scope = (signal.SIGKILL,), TREE
        request.close_wait = request.linger = 0.0
        self._begin_to_end(by, now)

    def _begin_to_end(self, by: str, now: float) -> None:
        # Most hooks are never cut, so what describes a cut one is imported only here.
        from pytest_hookharness.execution.processes.activities import describe_activities

        activities = describe_activities(
            self._batch.members(self),
            self._boot,
            self._channels.stream_names(),
            writing=self.source.waiting,
            closes=self.request.close,
            state_of=self._batch.tracer.state_of,
        )
        ended = self._exit if self._dead else None
        self._ending = "cut", self._limits.seconds, by, False, activities, ended
        detached = self._limits.background
        self._wall = self._wall or (now - self.began if detached is None else detached)
        self.phase = CUTTING
        self._escalate(now)
        self.settle(now)

    def _blame_hook_timeout(self) -> None:
        """Record that the harness stopped waiting, and not the host."""
        if self.request.close_wait is None:
            kind, _, _, *rest = self._ending
            self._ending = kind, self._limits.patience, "hook_timeout", *rest

    def _escalate(self, now: float) -> None:
        """Send the host's next signal; after the last one kill everything that is left."""
        signals, sent = self.request.signals, self._sent
        if sent == 1:
            *known, _, activities, ended = self._ending
            self._ending = *known, signals[0] != signal.SIGKILL, activities, ended
        self._sent += 1
        if sent < len(signals):
            self._signal(signals[sent])
            waits = self._sent == len(signals) and self.request.close_wait is None
            self.deadline = max(now, self._limits.hook_timeout_end) if waits else now + self.request.grace
        elif sent == len(signals):
            self._blame_hook_timeout()
            process_tree.send(self._batch.members(self), signal.SIGKILL)
            self.deadline = now + _KILL_TIMEOUT
        else:
            name = system.command_line(self.pid)
            raise process_tree.SurvivorError(f"the kernel does not end {name} (pid {self.pid})")

    def _signal(self, number: int) -> None:
        if self.request.scope == CHILD:
            process_tree.send((self.pid,), number)
        elif self.request.scope == GROUP:
            process_tree.send_group(self.pid, number)
        else:
            process_tree.send(self._batch.members(self), number)

    def _report_held_open(self, now: float) -> None:
        names = {name for name, number in self._channels.stream_names().items() if number}
        holders = process_tree.holders(self._batch.tree.all_processes(), names, self._boot)
        self._drain()
        self.settle(now)  # they may have closed it meanwhile
        if self.phase != DRAINING:
            return
        pids = [pid for pid, _, _ in holders]
        if self._is_over(self.began + self._wall, self.request.pipe_wait, pids, now):
            self._ending = "held", self._exit, self.request.pipe_wait, holders
            self._linger(now)

    def _is_over(self, began: float, wait: float | None, pids: list[int], now: float) -> bool:
        """Return whether a wait for processes is over; their time without a CPU does not count."""
        lost = process_tree.least_wait_for_cpu(pids, now - began)
        self.deadline = began + extended_wait(wait or 0.0, lost)
        return self.deadline <= now

    def _end_leftovers(self, now: float) -> None:
        members = self._batch.members(self)
        if not self._is_over(self._lingers_since, self.request.linger, members, now):
            return
        self._leftovers = [process_tree.describe(pid, self._boot) for pid in members]
        # They had ``linger`` seconds to end by themselves.
        self._batch.end_leftovers(self, members)
        self.phase = DONE

    def may_have_left(self, pid: int) -> None:
        """Record a leftover that this hook or another one started; not one that is older than this hook."""
        seen = process_tree.describe(pid, self._boot)
        if self.pid and seen[2] >= 0:
            self._unclaimed.append(seen)

    def close(self) -> None:
        """Close all descriptors."""
        self._channels.close()

    def report(self, first: float) -> dict[str, Any]:
        """Return the report that ``translation.decode`` reads."""
        request, (stdout, stderr) = self.request, self.sinks
        return {
            "ending": self._ending, "stdin_taken": self.source.taken, "stdin_read": self._read,
            "stdout": (stdout.data, stdout.total), "stderr": (stderr.data, stderr.total),
            "started": self.began - first, "wall": self._wall, "cpu": self._cpu, "peak_memory": self._peak,
            "leftovers": self._leftovers, "unclaimed": self._unclaimed, "pid": self.pid,
            "reads": self._batch.tracer.report(self.pid) if request.traced else None,
            "extended": self._limits.extended, "warm": bool(request.warm),
        }  # fmt: skip
