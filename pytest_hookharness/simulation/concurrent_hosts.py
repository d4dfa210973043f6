"""
Siblings: one scenario on several hosts, whose simulations wait side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from pytest_hookharness.execution.processes.slots import CpuSlot, CpuSlots, NoFreeSlot, processors
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import Interrupted

# More threads than any scenario has hosts; those that wait for a seat cost nothing but memory.
_MOST = 64


@dataclass(frozen=True, slots=True)
class TimedOutcome:
    """
    What a simulation gave.

    Attributes:
        outcome: The outcome.
        seconds: How long it took, without the time that it stood waiting for others.
    """

    outcome: Outcome
    seconds: float


@dataclass(frozen=True, slots=True)
class _HostRun:
    scenario: Scenario
    future: Future[TimedOutcome]


@dataclass(frozen=True, slots=True)
class _WorkerPool:
    pool: ThreadPoolExecutor
    seats: CpuSlots


class ConcurrentHostRuns:
    """
    Simulations under way, each in a thread of its own; as many work at once as there are processors.
    """

    def __init__(self, play: Callable[[Scenario, Path, CpuSlot], Outcome]) -> None:
        """
        Begin with none.

        Args:
            play: Plays a scenario, given the folder below which everything is written and its seat.
        """
        self._play = play
        self._siblings: list[_HostRun] = []
        self._room: _WorkerPool | None = None

    def knows(self, scenario: Scenario) -> bool:
        """
        Whether a simulation was begun that nobody has asked for yet.
        """
        return any(each.scenario is scenario for each in self._siblings)

    def begin(self, scenarios: Sequence[Scenario], base: Path) -> None:
        """
        Start playing those that are not under way; the first in the list is the first to have a seat.
        """
        fresh = [scenario for scenario in scenarios if not self.knows(scenario)]
        if not fresh:
            return
        room = self._room = self._room or _WorkerPool(
            ThreadPoolExecutor(_MOST, "hook-sibling"), CpuSlots(processors())
        )
        for place, scenario in enumerate(fresh, 1):
            # In a folder of its own, so that no name of a workspace depends on who comes first.
            future = room.pool.submit(self._run, scenario, base / str(place), room.seats.slot())
            self._siblings.append(_HostRun(scenario, future))

    def _run(self, scenario: Scenario, base: Path, slot: CpuSlot) -> TimedOutcome:
        try:
            slot.take()
            began = slot.clock()
            outcome = self._play(scenario, base, slot)
            return TimedOutcome(outcome, slot.clock() - began)
        finally:
            slot.leave()

    def take(self, scenario: Scenario) -> TimedOutcome | None:
        """
        What became of a simulation, once it is over; ``None`` if it has to be played alone.

        Raises:
            Interrupted: Ctrl-C, while it was waited for; all others are ended as well.
            Exception: Whatever the simulation itself raised.
        """
        found = next((each for each in self._siblings if each.scenario is scenario), None)
        if found is None:
            return None
        self._siblings.remove(found)
        try:
            wait([found.future])
        except BaseException:
            self.stop()
            # The simulation was told to stop as well; what it had seen is worth more than that it was.
            if not found.future.cancelled() and isinstance(found.future.exception(), Interrupted):
                found.future.result()
            raise
        try:
            return found.future.result()
        except NoFreeSlot:
            return None

    def finish(self) -> None:
        """
        Wait until none is under way.
        """
        wait([each.future for each in self._siblings])

    def stop(self) -> None:
        """
        End all that are under way, and forget what came of the others.
        """
        self._siblings.clear()
        room, self._room = self._room, None
        if room is not None:
            room.seats.stop()
            room.pool.shutdown(cancel_futures=True)
            room.seats.close()
