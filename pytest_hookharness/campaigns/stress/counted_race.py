"""A race that is steered: each hook run is held before it changes what others have read; counters show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pytest_hookharness.campaigns.stress.hook_race import Race, RaceSetup, Ran
from pytest_hookharness.execution.races.steering import run_interleaved
from pytest_hookharness.judging.comparison.lost_updates import Tally, find_lost, find_torn, is_number, tally
from pytest_hookharness.judging.findings.codes import LOST_UPDATES, TORN_STATE
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec, TimedOut
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed


class CountedRace(Race[tuple[Tally, ...]]):
    """A race that is steered, and that shows in the counters of a scenario."""

    def __init__(self, setup: RaceSetup, hooks: Sequence[Hook]) -> None:
        super().__init__(setup, hooks)
        self._counters = setup.parallel.counts
        self._reason = ""
        self._holds = 0
        if self._number < 2:
            raise SimulationError(
                f"parallel.width: the event runs one hook, {hooks[0].command}, and once is not side by side; "
                "write 2 or more"
            )

    @property
    def note(self) -> str:
        """How it was tried, as a sentence."""
        waves = self._setup.parallel.waves or self.waves
        often = "once" if waves == 1 else f"{waves} times over"
        tried = f"{self._setup.event} started {self._number} hook runs side by side, {often}: "
        if self._reason:
            return f"{tried}not steered ({self._reason}), so that nothing was lost may be luck."
        return f"{tried}steered, with {self._holds} holds before a write."

    def _check(self, measure: tuple[Tally, ...]) -> None:
        for place, (counter, one) in enumerate(zip(self._counters, measure, strict=True)):
            if not one.amount:
                raise SimulationError(
                    f"parallel.counts[{place}]: {counter} counts nothing after runs one after the other"
                    f"{f' ({one.torn})' if one.torn else ''}; name what each run adds to"
                )

    def _is_certain(self) -> bool:
        return not self._reason

    def _side_by_side(self) -> Ran:
        testbed, parallel = self._testbed, self._setup.parallel
        # The files in which runs are counted, and all others that they leave in the workspace.
        inside = (path.removeprefix("workspace/") for path in self._written if path.startswith("workspace/"))
        names = {*inside, *(one.file for one in self._counters)}
        watched = [str(testbed.workspace.root / name) for name in sorted(names)]
        start = partial(_start, testbed)
        done = run_interleaved(start, self._launches(), watched, parallel.apart, self._setup.remaining())
        if late := [run for run in done.runs if isinstance(run.ending, TimedOut)]:
            raise SimulationError(
                f"parallel: {len(late)} of {len(done.runs)} hook runs side by side had not ended when "
                "their time was over, so nothing can be counted; see whether they wait for each other"
            )
        self._reason, self._holds = done.reason, self._holds + done.holds
        return self._pair(done.runs)

    def _measure(self) -> tuple[Tally, ...]:
        read = self._setup.checkpoint.editor.read
        return tuple(tally(read(f"workspace/{one.file}"), one) for one in self._counters)

    def _compare_wave(
        self, alone: Sequence[tuple[Tally, ...]], together: tuple[Tally, ...]
    ) -> Iterator[Finding]:
        for place, counter in enumerate(self._counters):
            before = [tallies[place] for tallies in alone]
            if lost := find_lost(before, together[place]):
                name = f"the number in {counter.file}" if is_number(before) else str(counter)
                yield self._found(LOST_UPDATES, f"{self._number} runs side by side leave {name} at {lost}")
            if torn := find_torn(before, together[place]):
                yield self._found(
                    TORN_STATE, f"after {self._number} runs side by side {counter.file} is torn: {torn}"
                )


def _start(testbed: Testbed, launches: Sequence[ProcessSpec], budget: float) -> tuple[ProcessResult, ...]:
    return testbed.sandbox.run(launches, budget=budget)
