"""
Real background processes, connected with the engine of process hooks.

Messages of the watcher become events, and actions of the engine are done or handed on. After each look the
engine's state is written to the journal, so that it outlives a watcher that is killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_hookharness.execution.background.area import DETACH, BackgroundArea
from pytest_hookharness.execution.processes.sandbox import ExecutionError, Supervisor
from pytest_hookharness.model.background import USER, BackgroundReport, HookThread
from pytest_hookharness.model.delivery import DoubleCall
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.simulation.background import engine_state
from pytest_hookharness.simulation.background.engine import advance, next_due
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Seconds of one wait for messages.
_LOOK = 0.05
_DETACH_OUTPUT = "It runs in the background; its hooks will report.\n"


def with_detach(scenario: Scenario) -> Scenario:
    """
    Return a scenario with background processes whose agent finds the command that detaches one.

    Raises:
        SimulationError: The scenario has another command of that name.
    """
    if not scenario.processes:
        return scenario
    double = Double(stdout=_DETACH_OUTPUT)
    if scenario.commands.get(DETACH, double) != double:
        raise SimulationError(
            f"commands.{DETACH}: with `processes` the harness provides this command; remove it"
        )
    return replace(scenario, commands={**scenario.commands, DETACH: double})


class BackgroundTracking:
    """The background processes of one simulation and the engine of their hooks."""

    def __init__(self, testbed: Testbed, supervisor: Supervisor, remaining: Callable[[], float]) -> None:
        scenario = testbed.scenario
        self.state = engine_state.EngineState()
        self._policy = engine_state.Policy(processes=scenario.processes, limits=scenario.threads)
        self._testbed = testbed
        self._supervisor = supervisor
        self._remaining = remaining
        self._area: BackgroundArea | None = None
        self._due: engine_state.SpawnThread | None = None
        self._taken: set[int] = set()
        self._taken_inside: set[int] = set()
        # Other processes in the area, and whether a new count of them is under way.
        self._counting = False
        self._others: tuple[str, ...] = ()
        self._began = time.monotonic()

    def close(self) -> None:
        """End all processes."""
        if self._area is not None:
            self._area.close()

    def begin_user_thread(self) -> None:
        """Note that the user started a thread, or sent the next prompt of theirs."""
        self._apply(engine_state.UserStarted(at=self._now()))

    def end_thread(self) -> None:
        """Note that the running thread has ended."""
        self._apply(engine_state.ThreadEnded(at=self._now()))

    def next_thread(self) -> engine_state.SpawnThread | None:
        """Return the thread to run now; ``None`` if there is none."""
        due, self._due = self._due, None
        return due

    def take_requests(self, thread: int, *, called: bool = False) -> None:
        """
        Start the processes that were asked for in a thread since the last call.

        Args:
            called: Whether its agent made a tool call meanwhile; otherwise only hooks can have asked.

        Raises:
            SimulationError: There is no process of that name, or the user's own thread starts too many.
        """
        most = self._policy.limits.most
        for name in self._asked_outside():
            if name not in self._policy.processes:
                known = ", ".join(self._policy.processes)
                raise SimulationError(f"{DETACH} {name}: not in `processes`; known: {known}")
            if thread == USER and called and len(self.state.watched) >= most:
                # No hook caused this, so there is nothing to judge.
                raise SimulationError(
                    f"{DETACH} {name}: at most {most} processes may start; raise `threads: {{most: ...}}`"
                )
            # Without kernel isolation a background process may have asked, too.
            certain = self._area is None or self._area.separate
            self._apply(engine_state.Detached(name=name, by=thread if certain else None, at=self._now()))

    def _asked_outside(self) -> tuple[str, ...]:
        return _new(self._testbed.workspace.doubles.calls(DETACH), self._taken)

    def _asked_inside(self, area: BackgroundArea) -> tuple[str, ...]:
        return _new(area.requests(), self._taken_inside) if area.separate else self._asked_outside()

    def watch(self, wait: float = 0.0) -> None:
        """Process what the background processes did; wait for it for at most some seconds."""
        area, now = self._area, self._now()
        if area is None:
            return
        due = next_due(self._policy, self.state)
        until = now + wait if due is None else min(now + wait, due)
        before, known = set(self._running()), self.state
        for message in area.events(max(0.0, min(until - now, _LOOK))):
            self._receive(message)
        self._apply(engine_state.Tick(at=self._now()))
        for name in self._asked_inside(area):
            self._apply(engine_state.Detached(name=name, by=None, at=self._now()))
        if self.state is not known:
            area.save(engine_state.write_journal(self.state))
        for process in set(self._running()) - before:
            if self._policy.processes[self.state.watched[process].run.name].watcher_dies:
                self._lose_watcher(area, process)

    def is_over(self) -> bool:
        """Return whether nothing is left that could start a thread or a process."""
        if self._area is None or not self.state.quiet:
            return self.state.quiet
        # A process may have ended and left other processes behind; those could still detach one.
        self._counting = True
        self._area.count()
        while self._counting and self._remaining():
            self.watch(_LOOK)
        self.watch()
        return self.state.quiet and not self._counting and not self._others

    def _running(self) -> Iterator[str]:
        return (name for name in self.state.living if self.state.watched[name].run.pid)

    def _receive(self, message: Mapping[str, Any]) -> None:
        if message.get("what") == "living":
            self._counting = False
            self._others = tuple(map(str, message.get("commands", ())))
            return
        try:
            event = _event(message, self._began)
        except (KeyError, TypeError, ValueError) as error:
            raise ExecutionError(
                f"the watcher of the background processes sent {message!r}: {error!r}"
            ) from error
        if event.process not in self.state.watched:
            raise ExecutionError(f"the watcher reported a process {event.process!r} that was not started")
        self._apply(event)

    def _lose_watcher(self, area: BackgroundArea, process: str) -> None:
        """Kill the watcher, and continue from the journal once the process has ended."""
        area.kill_watcher()
        while not area.has_ended(process) and self._remaining():
            area.pause()
        self.state = engine_state.read_journal(area.load())
        area.start_watcher()

    def _apply(self, event: engine_state.Event) -> None:
        self.state, actions = advance(self._policy, self.state, event)
        for action in actions:
            match action:
                case engine_state.RunProcess(process=process, name=name):
                    self._run(process, name)
                case engine_state.SpawnThread():
                    self._due = action

    def _run(self, process: str, name: str) -> None:
        if self._area is None:
            testbed = self._testbed
            tier, network = testbed.settings.tier, testbed.scenario.network
            self._area = BackgroundArea(testbed.workspace, self._supervisor, tier=tier, network=network)
        tracked = self._policy.processes[name]
        self._area.start(process, tracked.run, tracked.stop_after)

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _endless(self, process: str) -> str:
        tracked = self._policy.processes[self.state.watched[process].run.name]
        return "" if tracked.stop_after else " (give it `stop_after` if it does not end by itself)"

    @property
    def unfinished(self) -> tuple[str, ...]:
        """What may still start a thread, as texts."""
        return (
            *(f"the process {name} still ran{self._endless(name)}" for name in self.state.living),
            *(f"{command!r}, left behind by a process, still ran" for command in self._others),
            *(f"thread {spawn.thread.number} still waited" for spawn in self.state.waiting),
        )

    def report(self, ran: Mapping[int, HookThread]) -> BackgroundReport:
        """Return the report on all processes, denials and threads; with turns and verdicts if they ran."""
        return BackgroundReport(
            processes=tuple(watched.run for watched in self.state.watched.values()),
            threads=tuple(ran.get(thread.number, thread) for thread in self.state.threads),
            denials=self.state.denials,
        )


def _event(
    message: Mapping[str, Any], began: float
) -> engine_state.Started | engine_state.OutputLine | engine_state.ProcessExited:
    """
    Return a message of the watcher as an event.

    A background process can write to the watcher's pipe, so each value is checked.
    """
    process, at = str(message["process"]), float(message["at"]) - began
    match message["what"]:
        case "started":
            return engine_state.Started(process=process, pid=int(message["pid"]), at=at)
        case "line":
            return engine_state.OutputLine(process=process, text=str(message["text"]), at=at)
        case "exited":
            code, lines = int(message["code"]), int(message["lines"])
            tail = tuple(map(str, message["tail"]))
            return engine_state.ProcessExited(process=process, code=code, at=at, lines=lines, tail=tail)
        case other:
            raise ValueError(other)


def _new(calls: Sequence[DoubleCall], taken: set[int]) -> tuple[str, ...]:
    """Return the names of the processes in the calls that were not taken yet, and take them."""
    # The record of a call that is under way is empty at first; it is looked at again later.
    new = {place: " ".join(call.argv[1:]) for place, call in enumerate(calls) if place not in taken}
    named = {place: name for place, name in new.items() if name}
    taken.update(named)
    return tuple(named.values())
