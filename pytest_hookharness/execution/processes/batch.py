"""
A batch: hooks that run at the same time, and the one loop that attends to them.

Loaded by the supervisor too. The loop ends only when every hook and every descendant of a hook is gone, or
has been killed.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time

from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes import framing, process_tree
from pytest_hookharness.execution.processes.framing import WAITS, WORKS, ProcessRequest
from pytest_hookharness.execution.processes.hook_process import CUTTING, DONE, LINGERING, RUNNING, HookProcess
from pytest_hookharness.execution.processes.process_owners import ProcessOwners
from pytest_hookharness.execution.processes.stdio import InputWriter, OutputReader
from pytest_hookharness.execution.reads.tracer import Tracer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from pytest_hookharness.execution.platform.linux import ProcessRow
    from pytest_hookharness.execution.processes.process_tree import Descendants
    from pytest_hookharness.execution.processes.spawn import Spawner
    from pytest_hookharness.execution.processes.survivors import ProcessGroup

_NEVER = float("inf")
_POLL_INTERVAL = 0.005
# Seconds for which only the calls of an observed hook are answered.
_LONGEST_SERVED = 0.01
_IN, _OUT = select.POLLIN, select.POLLOUT
_monotonic = time.monotonic

_FIRST, _INTERVAL = 0.05, 0.1
_IDLE = 0.2  # share of one CPU; a process that sleeps and polls needs less
_BUSY = "RDtZ"  # the last ones: its tracer works for it, or its parent is about to
_NO_REACH = "a process may outlive the hook run where only process groups isolate"


class Load:
    """Tells whether all descendants of this process only wait, or need a CPU; ``due`` is when to look."""

    def __init__(self, now: float, tracer: Tracer, *, wanted: bool) -> None:
        self._tracer = tracer
        self.due = now + _FIRST if wanted else _NEVER
        self._looked = now
        self._cpu_time = _cpu_time(()) if wanted else 0.0
        self._state = WORKS

    def look(self, now: float) -> str | None:
        """Return the new state if it has changed: they work, or they wait."""
        rows, busy = _seen()
        busy = busy or self._tracer.keeps_waiting()
        # The CPU time of a child that nobody waits for is lost, so the sum may shrink.
        spent, before = _cpu_time(rows) + self._tracer.seconds, self._cpu_time
        idle = 0.0 <= spent - before < _IDLE * (now - self._looked)
        # Look twice: on an overloaded machine a process that wants to work may get almost no CPU time, and a
        # process that started after the list was made is not in it, while its parent waits.
        if idle and not busy:
            again, busy = _seen()
            busy = busy or {each.pid for each in again} != {each.pid for each in rows}
        state = WAITS if idle and not busy else WORKS
        self._cpu_time, self._looked, self.due = spent, now, now + _INTERVAL
        change = None if state == self._state else state
        self._state = state
        return change


def _seen() -> tuple[list[ProcessRow], bool]:
    """Return all descendants of this process, and whether one of them works."""
    pids = process_tree.descendants(os.getpid())
    rows = [found for pid in pids if (found := system.row(pid))]
    # If one has ended meanwhile, another one that waited for it works now.
    return rows, len(rows) < len(pids) or any(each.state in _BUSY for each in rows)


def _cpu_time(rows: Iterable[ProcessRow]) -> float:
    """Return the CPU time, in seconds, of some processes and of all children that this process reaped."""
    times = os.times()
    return times.children_user + times.children_system + sum(each.cpu_time for each in rows)


class Batch:
    """
    Hooks that are started at once.

    The end of a process is noticed by ``SIGCHLD`` through a wake-up pipe, not by a pidfd per hook: that costs
    the same, reports orphans as well, and exists on every system.
    """

    def __init__(
        self, tree: Descendants | ProcessGroup, spawner: Spawner, control: socket.socket, wake: int
    ) -> None:
        self.tree = tree
        self.spawner = spawner
        self._control = control
        self._wake = wake
        self._pending: list[HookProcess] = []
        self._by_pid: dict[int, HookProcess] = {}
        self._all_gone = True
        self._watched: dict[int, OutputReader | InputWriter | None] = {}
        self._poll = select.poll()
        self._changed = True

    def run(
        self, values: list[dict[str, Any]], budget: float | None, watched: bool = False
    ) -> list[dict[str, Any]]:
        """
        Run all hooks until they and all their descendants are gone; return the reports in the same order.

        Args:
            values: Encoded requests.
            budget: Seconds for all of it.
            watched: Whether to report when the hooks begin to wait, and when they work again.

        Raises:
            EOFError: The other side is gone, or interrupted the batch.
        """
        hooks = [HookProcess(ProcessRequest(each), self) for each in values]
        # A mark, where hooks need one, is inherited from the item supervisor at the start.
        if len(hooks) > 1 or not self.tree.sees_all:
            for hook in hooks:
                hook.request.warm = b""
        started: list[HookProcess] = []
        self._started = started
        self._owners = ProcessOwners(len(hooks), whole_machine=not self.tree.sees_all)
        self.spawner.passed = self._owners.passed
        self.tracer = self._find_tracer([hook.request for hook in hooks])
        # Processes that an earlier batch left alive may still make calls that wait.
        self.tracer.listeners |= self.spawner.listeners
        self.spawner.listeners = set()
        first = _monotonic()
        self._load = Load(first, self.tracer, wanted=watched)
        try:
            for place, hook in enumerate(hooks):
                self._owners.before_start(place)
                hook.start(first + budget if budget is not None else _NEVER)
                if self.tree.sees_all:
                    self._owners.started(place, hook.pid)
                else:
                    self._owners.started(place, hook.pid, *hook.inherited())
                started.append(hook)
                self._all_gone = False
                if hook.phase == RUNNING:
                    self._pending.append(hook)
                    self._by_pid[hook.pid] = hook
            self._owners.after_starts()
            while self._pending:
                self._turn()
        finally:
            self._owners.after_starts()
            # Also after an error: no process may outlive its batch.
            if not self._all_gone:
                # Only if it is not yet proved that all are gone: a second proof would cost a scan of the
                # process table.
                self.tree.kill_all([hook.pid for hook in started if hook.pid], self._owners)
            self._owners.end()
            self.spawner.listeners = self.tracer.close()
            for hook in started:
                hook.close()
        return [hook.report(first) for hook in hooks]

    def _find_tracer(self, requests: list[ProcessRequest]) -> Tracer:
        """Return the tracer of the process that waits to become the only hook, or a new one."""
        alone = requests[0] if len(requests) == 1 else None
        held = self.spawner.held
        if held is not None and held.tracer is not None and alone is not None and alone.observed:
            return held.tracer
        self.spawner.release()
        return Tracer("" if self.tree.sees_all else _NO_REACH)

    def members(self, hook: HookProcess) -> list[int]:
        """List the living processes that belong to a hook."""
        # Once the hook was reaped, another process may have its number.
        own = self.tree.below(hook.pid) if hook.pid in self._by_pid else []
        others = self.tree.others(self._by_pid, self._owners)
        return own + [pid for pid, owner in others if owner == hook.pid]

    def unclaimed(self, hook: HookProcess) -> list[int]:
        """List, for the last hook of the batch, the living processes that may be of any hook."""
        others = self.tree.others(self._by_pid, self._owners) if self._pending == [hook] else ()
        return [pid for pid, owner in others if not owner]

    def end_leftovers(self, hook: HookProcess, pids: list[int]) -> None:
        """
        Kill the processes of a hook, and those that may be of any, unless they may live on.

        A process that may be of any hook is reported for each hook that may have started it.
        """
        if hook.request.linger is None and self.tree.sees_all:
            # They are no hook's any more, as the prepared interpreters are of none.
            # What those of earlier batches started meanwhile may live on as well.
            kept = self.spawner.warm.pids
            kept.update(pids, self.unclaimed(hook))
            self._all_gone = self._pending == [hook] or kept.issuperset(system.children(os.getpid()))
            return
        process_tree.send(pids, signal.SIGKILL)
        for pid in (unclaimed := self.unclaimed(hook)):
            for each in self._started:
                each.may_have_left(pid)
        process_tree.send(unclaimed, signal.SIGKILL)

    def only_hooks_alive(self) -> bool:
        """Return whether it is proved that no process lives but hooks that still run."""
        if not self.tree.sees_all:
            return False
        if self._all_gone:
            return True
        # The usual case, answered without a system call: if this hook is dead, descendants of it live; while
        # it is alive nobody needs the answer.
        if len(self._pending) == 1:
            return False
        known = self._by_pid.keys() | self.spawner.warm.pids
        return known.issuperset(system.children(os.getpid()))

    def _turn(self) -> None:
        """Wait for the next event and attend to it."""
        if self._changed:
            self._rebuild()
        now = _monotonic()
        until = self._next_deadline(now)
        ready = self._poll.poll(None if until == _NEVER else max(0.0, (until - now) * 1000))
        now = _monotonic()
        woken, calls = False, list[tuple[int, int]]()
        for descriptor, events in ready:
            stream = self._watched[descriptor]
            if descriptor in self.tracer.listeners:
                calls.append((descriptor, events))
            elif stream is None:
                if descriptor != self._wake:
                    raise EOFError("the other side is gone, or interrupts the batch")
                os.read(descriptor, 4096)
                woken = True
            elif stream.fd != descriptor:  # closed by an earlier entry of this list
                continue
            elif isinstance(stream, OutputReader):
                self._changed = not stream.take() or self._changed
            else:
                self._changed = not stream.feed(now) or self._changed
        # Stopped processes come first: they may have changed what others look at.
        if woken:
            self._reap(now)
        for listener, events in calls:
            self._serve(listener, events, until)
        self._attend(_monotonic())

    def _serve(self, listener: int, events: int, until: float) -> None:
        """Answer the calls that wait at a listener, until none comes or something else may be due."""
        if events & _IN:
            self.tracer.serve(listener, self._wake, min(until, _monotonic() + _LONGEST_SERVED))
        elif events & select.POLLHUP:
            # The last process with this listener has ended.
            self.tracer.listeners.discard(listener)
            os.close(listener)
            self._changed = True

    def _rebuild(self) -> None:
        """Register exactly what is open now."""
        # A new poll object each time, because the number of a closed descriptor is soon reused.
        self._poll = poll = select.poll()
        watched: dict[int, OutputReader | InputWriter | None] = {
            self._wake: None,
            self._control.fileno(): None,
            **dict.fromkeys(self.tracer.listeners),
        }
        self._watched = watched
        for descriptor in watched:
            poll.register(descriptor, _IN)
        for hook in self._pending:
            source = hook.source
            if source.fd >= 0 and source.waiting and source.due is None:
                watched[source.fd] = source
                poll.register(source.fd, _OUT)
            for sink in hook.sinks:
                if sink.fd >= 0:
                    watched[sink.fd] = sink
                    poll.register(sink.fd, _IN)
        self._changed = False

    def _next_deadline(self, now: float) -> float:
        until = self._load.due
        for hook in self._pending:
            until = min(until, hook.due)
            if hook.source.due is not None and hook.source.fd >= 0:
                until = min(until, hook.source.due)
            if hook.phase in (CUTTING, LINGERING) and not self.tree.sees_all:
                # The end of a process that is not our child is not reported.
                until = min(until, now + _POLL_INTERVAL)
        return until

    def _reap(self, now: float) -> None:
        """Reap all children that ended, orphans too."""
        # All children are reaped before any hook reacts, so that each sees which others are gone.
        ended: list[tuple[HookProcess, int, Any]] = []
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                self._all_gone = self.tree.sees_all
                break
            if pid == 0:
                prepared = self.spawner.warm.pids
                self._all_gone = bool(prepared) and prepared.issuperset(system.children(os.getpid()))
                break
            self.spawner.warm.pids.discard(pid)
            self.tracer.handle(pid, status)
            hook = None if os.WIFSTOPPED(status) else self._by_pid.pop(pid, None)
            if hook is not None:
                ended.append((hook, status, usage))
        for hook, status, usage in ended:
            hook.exited(status, usage, now)

    def _attend(self, now: float) -> None:
        """Let every hook do what is due."""
        if now >= self._load.due and (change := self._load.look(now)) is not None:
            framing.send(self._control, ("load", change))
        # A copy, because hooks that are done leave the list.
        for hook in self._pending.copy():
            source = hook.source
            if source.due is not None and source.due <= now:
                source.feed(now)
                self._changed = True
            if hook.phase == RUNNING:
                hook.look_at_output(now)
            elif hook.phase != DONE:
                hook.settle(now)
                self._changed = True
            if hook.phase != DONE and now >= hook.due:
                hook.on_deadline(now)
                self._changed = True
            if hook.phase == DONE:
                self._pending.remove(hook)
                self._changed = True
