"""The means to simulate variants of one scenario, for campaigns."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pytest_hookharness import agents
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.parallel_jobs import Job, can_run_concurrently, run_jobs
from pytest_hookharness.simulation.simulate import Resources, simulate
from pytest_hookharness.simulation.testbed.run_settings import Settings
from pytest_hookharness.simulation.testbed.testbed import Testbed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TrialRunner:
    """
    Simulates variants of one scenario.

    Attributes:
        scenario: The scenario; it decides whether its variants can run at the same time.
        resources: Where and with whose help they run.
    """

    scenario: Scenario
    resources: Resources

    def simulate(self, scenario: Scenario, settings: Settings) -> Outcome:
        """Run one scenario and return its outcome."""
        return simulate(scenario, settings, self.resources)

    def open(
        self, scenario: Scenario, settings: Settings
    ) -> AbstractContextManager[tuple[Testbed, agents.Agent]]:
        """Open a testbed for a scenario, and start its agent."""
        return self.resources.open(scenario, settings)

    def side_by_side(
        self, jobs: Sequence[Callable[[TrialRunner], T]], settings: Settings
    ) -> Generator[tuple[int, T]]:
        """
        Run jobs, at the same time where possible, and yield each result with the position of its job.

        Each job gets a runner of its own. Results come in the order of completion.
        """
        resources = self.resources
        concurrent = can_run_concurrently(self.scenario, settings.tier, resources.supervisor)
        # A runner with a slot is itself one of several jobs that run at the same time.
        if resources.slot is not None or not concurrent:
            yield from ((place, job(self)) for place, job in enumerate(jobs))
            return

        def with_slot(job: Callable[[TrialRunner], T]) -> Job[T]:
            def run(slot: CpuSlot, base: Path) -> T:
                return job(replace(self, resources=replace(resources, base=base, slot=slot)))

            return run

        yield from run_jobs([*map(with_slot, jobs)], resources.base)
