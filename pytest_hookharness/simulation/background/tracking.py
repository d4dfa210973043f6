"""
Tracking: real processes in the yard, joined with the engine of process hooks.

What the watcher says becomes an event, what the engine wants is done or handed
on; after each look the engine's state is written down, so that it outlives whoever watches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_hookharness.execution.background.area import DETACH, BackgroundArea
from pytest_hookharness.execution.processes.sandbox import ExecutionError, Supervisor
from pytest_hookharness.model.background import USER, BackgroundReport, HookThread
from pytest_hookharness.model.processes import DoubleCall
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.simulation import background
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

_LOOK = 0.05
_SAID = "It runs on by itself; its hooks will tell of it.\n"


def with_detach(scenario: Scenario) -> Scenario:
    """
    A scenario whose agent finds the command that detaches a process.

    Raises:
        SimulationError: The scenario has another command of that name.
    """
    if not scenario.processes:
        return scenario
    if DETACH in scenario.commands:
        raise SimulationError(
            f"commands.{DETACH}: with `processes` this command is the harness's own; leave it out"
        )
    return replace(scenario, commands={**scenario.commands, DETACH: Double(stdout=_SAID)})


class BackgroundTracking:
    """
    The tracked processes of one simulation, and what their hooks want.

    Attributes:
        state: What the engine remembers.
    """

    def __init__(self, stage: Testbed, supervisor: Supervisor, remaining: Callable[[], float]) -> None:
        scenario = stage.scenario
        self.state = background.EngineState()
        self._policy = background.Policy(processes=scenario.processes, limits=scenario.threads)
        self._stage = stage
        self._supervisor = supervisor
        self._remaining = remaining
        self._yard: BackgroundArea | None = None
        self._due: background.SpawnThread | None = None
        self._taken: set[int] = set()
        self._taken_inside: set[int] = set()
        # Who lives in the yard besides, when that was last counted.
        self._counting = False
        self._others: tuple[str, ...] = ()
        self._began = time.monotonic()

    def close(self) -> None:
        """
        End all processes.
        """
        if self._yard is not None:
            self._yard.close()

    def begin_user_thread(self) -> None:
        """
        Note that the person started a thread, or spoke to theirs again.
        """
        self._tell(background.UserStarted(at=self._now()))

    def end_thread(self) -> None:
        """
        Note that the thread that ran has ended.
        """
        self._tell(background.ThreadEnded(at=self._now()))

    def next_thread(self) -> background.SpawnThread | None:
        """
        The thread that is to be played now, if there is one.
        """
        due, self._due = self._due, None
        return due

    def take_requests(self, thread: int, *, called: bool = False) -> None:
        """
        Start what was asked for in a thread since the last time.

        Args:
            thread: The thread.
            called: Whether its agent made a call meanwhile; otherwise only hooks can have asked.

        Raises:
            SimulationError: There is no process of that name, or the person's own thread starts too many.
        """
        most = self._policy.limits.most
        for name in self._asked_outside():
            if name not in self._policy.processes:
                known = ", ".join(self._policy.processes)
                raise SimulationError(f"{DETACH} {name}: `processes` has no such process; it has {known}")
            if thread == USER and called and len(self.state.watched) >= most:
                # No hook has a part in this, so it is nothing to judge.
                raise SimulationError(
                    f"{DETACH} {name}: there is room for {most} in all; raise `threads: {{most: ...}}`"
                )
            # Where the kernel does not keep the two apart, a tracked process may have asked.
            certain = self._yard is None or self._yard.separate
            self._tell(background.Detached(name=name, by=thread if certain else None, at=self._now()))

    def _asked_outside(self) -> tuple[str, ...]:
        return _new(self._stage.workspace.calls(DETACH), self._taken)

    def _asked_inside(self, yard: BackgroundArea) -> tuple[str, ...]:
        return _new(yard.requests(), self._taken_inside) if yard.separate else self._asked_outside()

    def watch(self, wait: float = 0.0) -> None:
        """
        Hear what the processes did, for at most so many seconds.
        """
        yard, now = self._yard, self._now()
        if yard is None:
            return
        due = background.next_due(self._policy, self.state)
        until = now + wait if due is None else min(now + wait, due)
        before, known = set(self._running()), self.state
        for said in yard.events(max(0.0, min(until - now, _LOOK))):
            self._hear(said)
        self._tell(background.Tick(at=self._now()))
        for name in self._asked_inside(yard):
            self._tell(background.Detached(name=name, by=None, at=self._now()))
        if self.state is not known:
            yard.save(background.write_memory(self.state))
        for process in set(self._running()) - before:
            if self._policy.processes[self.state.watched[process].run.name].watcher_dies:
                self._lose_watcher(yard, process)

    def is_over(self) -> bool:
        """
        Whether nothing is left that could start a thread or a process.
        """
        if self._yard is None or not self.state.quiet:
            return self.state.quiet
        # A process may have ended and left others behind; those may detach one that is tracked.
        self._counting = True
        self._yard.count()
        while self._counting and self._remaining():
            self.watch(_LOOK)
        self.watch()
        return self.state.quiet and not self._counting and not self._others

    def _running(self) -> Iterator[str]:
        return (name for name in self.state.living if self.state.watched[name].run.pid)

    def _hear(self, said: Mapping[str, Any]) -> None:
        if said.get("what") == "others":
            self._counting = False
            self._others = tuple(map(str, said.get("commands", ())))
            return
        try:
            event = _event(said, self._began)
        except (KeyError, TypeError, ValueError) as error:
            raise ExecutionError(
                f"the watcher of the background processes wrote {said!r}: {error!r}"
            ) from error
        if event.process not in self.state.watched:
            raise ExecutionError(f"the watcher speaks of a process {event.process!r} that nobody started")
        self._tell(event)

    def _lose_watcher(self, yard: BackgroundArea, process: str) -> None:
        """
        Kill the watcher, forget all that was not written down, and take up again once the process has ended.
        """
        yard.kill_watcher()
        while not yard.has_ended(process) and self._remaining():
            yard.pause()
        self.state = background.read_memory(yard.load())
        yard.start_watcher()
        # A thread that is being played does not die with the watcher here; the others wait for its end.
        if not self.state.busy:
            self._tell(background.Restarted(at=self._now()))

    def _tell(self, event: background.Event) -> None:
        self.state, actions = background.advance(self._policy, self.state, event)
        for action in actions:
            match action:
                case background.RunProcess(process=process, name=name):
                    self._run(process, name)
                case background.SpawnThread():
                    self._due = action
                case background.Deny():
                    pass  # it stands in the state, from which it is told

    def _run(self, process: str, name: str) -> None:
        if self._yard is None:
            stage = self._stage
            tier, network = stage.settings.tier, stage.scenario.network
            self._yard = BackgroundArea(stage.workspace, self._supervisor, tier=tier, network=network)
        tracked = self._policy.processes[name]
        self._yard.start(process, tracked.run, tracked.stop_after)

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _endless(self, process: str) -> str:
        tracked = self._policy.processes[self.state.watched[process].run.name]
        return "" if tracked.stop_after else " (give it `stop_after` if it never ends by itself)"

    @property
    def unfinished(self) -> tuple[str, ...]:
        """
        What may still start a thread, in words.
        """
        return (
            *(f"the process {name} still ran{self._endless(name)}" for name in self.state.living),
            *(f"{command!r}, which some process left behind, still ran" for command in self._others),
            *(f"thread {spawn.thread.number} still waited for its start" for spawn in self.state.waiting),
        )

    def report(self, played: Mapping[int, HookThread]) -> BackgroundReport:
        """
        What became of all process hooks.

        Args:
            played: The threads that were played, by number, with what was seen of them.
        """
        return BackgroundReport(
            processes=tuple(watched.run for watched in self.state.watched.values()),
            threads=tuple(played.get(thread.number, thread) for thread in self.state.threads),
            denials=self.state.denials,
        )


def _event(
    said: Mapping[str, Any], began: float
) -> background.Started | background.OutputLine | background.ProcessExited:
    """
    What was said, as an event; it is read with care, for a tracked process can reach the pipe.
    """
    process, at = str(said["process"]), float(said["at"]) - began
    match said["what"]:
        case "started":
            return background.Started(process=process, pid=int(said["pid"]), at=at)
        case "line":
            return background.OutputLine(process=process, text=str(said["text"]), at=at)
        case "exited":
            code, lines, tail = int(said["code"]), int(said["lines"]), tuple(map(str, said["tail"]))
            return background.ProcessExited(process=process, code=code, at=at, lines=lines, tail=tail)
        case other:
            raise ValueError(other)


def _new(calls: Sequence[DoubleCall], taken: set[int]) -> tuple[str, ...]:
    """
    The processes that are asked for by calls which were not taken yet.
    """
    # The record of a call that is just being made is empty at first, so it is looked at again.
    new = {place: " ".join(call.argv[1:]) for place, call in enumerate(calls) if place not in taken}
    named = {place: name for place, name in new.items() if name}
    taken.update(named)
    return tuple(named.values())
