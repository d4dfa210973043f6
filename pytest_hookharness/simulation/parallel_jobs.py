"""Jobs and simulations that run at the same time, as many at once as there are processors."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, as_completed, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot, CpuSlots, NoFreeSlot, processors
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import BudgetEnded
from pytest_hookharness.simulation.remote_work import Work, receive, submit
from pytest_hookharness.simulation.simulate import simulate
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings

T = TypeVar("T")
# A function that gets the CPU slot it runs in and the folder below which it writes everything.
Job: TypeAlias = Callable[[CpuSlot, Path], T]
# Limits on threads: jobs of one campaign, and simulations that are begun before their turn. A thread that
# waits for a slot costs only memory, so they may exceed the processors; the hosts of one scenario fit. While
# pytest waits for a long simulation, the others go on with what is begun.
_JOB_THREADS = 32
MOST_AHEAD = 96


def can_run_concurrently(scenario: Scenario, tier: Tier | None, supervisor: Supervisor) -> bool:
    """Return whether simulations share no folder and no network, so that none changes what others see."""
    private = tier in (None, Tier.NAMESPACES) and not supervisor.tiers()[Tier.NAMESPACES]
    return private and not scenario.cover and not scenario.network


def run_jobs(jobs: Sequence[Job[T]], base: Path) -> Generator[tuple[int, T]]:
    """
    Run jobs at the same time and yield each result with the position of its job, in order of completion.

    Args:
        jobs: The jobs; earlier ones get a slot first.
        base: The folder below which each job has a folder of its own.

    Raises:
        KeyboardInterrupt: Ctrl-C; all other jobs are ended as well.
        Exception: The exception that a job raised.
    """
    slots = CpuSlots(processors())
    pool = ThreadPoolExecutor(min(_JOB_THREADS, max(1, len(jobs))), "hook-job")
    try:
        begun = {
            pool.submit(_run_job, job, slots, base / str(place)): place for place, job in enumerate(jobs)
        }
        for future in as_completed(begun):
            yield begun[future], future.result()
    finally:
        # Wake the threads that wait for a slot, join them, and close the slots' pipe once nobody reads it.
        slots.stop()
        pool.shutdown(cancel_futures=True)
        slots.close()


def _run_job(job: Job[T], slots: CpuSlots, base: Path, *, kept: bool = False) -> T:
    """Run a job; one that lost its slot while its hooks worked is run once more, and then keeps its slot."""
    try:
        return _attempt(job, slots.slot(kept=kept), base)
    except NoFreeSlot:
        return _attempt(job, slots.slot(kept=True), base)


def _attempt(job: Job[T], slot: CpuSlot, base: Path) -> T:
    try:
        slot.take()
        return job(slot, base)
    finally:
        slot.leave()
        # The folder stays if a kept workspace is in it, and it may never have been made.
        with suppress(OSError):
            base.rmdir()


@dataclass(frozen=True, slots=True)
class TimedOutcome:
    """The outcome of a simulation, and its seconds without the time spent waiting for a CPU slot."""

    outcome: Outcome
    seconds: float


@dataclass(frozen=True, slots=True)
class _RunAhead:
    scenario: Scenario
    future: Future[TimedOutcome]


@dataclass(frozen=True, slots=True)
class _WorkerPool:
    threads: ThreadPoolExecutor
    slots: CpuSlots


class RunsAhead:
    """Simulations that are begun before their outcomes are asked for."""

    def __init__(self, simulate: Callable[[Scenario, Path, CpuSlot], Outcome]) -> None:
        """
        Start with no simulation under way.

        Args:
            simulate: Simulates a scenario, given the folder below which everything is written and a CPU slot.
        """
        self._simulate = simulate
        self._runs: list[_RunAhead] = []
        self._pool: _WorkerPool | None = None
        self._begun = 0
        self._with_campaigns = True

    def needs_all_processors(self, scenario: Scenario) -> bool:
        """Return whether a scenario runs alone: its runs race, are timed, or were too slow with others."""
        alone = scenario.parallel is not None or bool(scenario.expect.within_ms)
        return alone or (_is_campaign(scenario) and not self._with_campaigns)

    def was_too_slow(self, scenario: Scenario, played: TimedOutcome, wall: float) -> bool:
        """Return whether a campaign used up its time beside others; all later ones run alone then."""
        seconds = wall if scenario.explore is None else min(wall, scenario.explore.seconds)
        if not _is_campaign(scenario) or played.seconds < seconds:
            return False
        self._with_campaigns = False
        return True

    def knows(self, scenario: Scenario) -> bool:
        """Return whether a simulation of this scenario was begun and its outcome not taken yet."""
        return any(run.scenario is scenario for run in self._runs)

    def wants_more(self, scenario: Scenario) -> bool:
        """Return whether to begin more before this one is taken; not each time, because it costs a search."""
        return len(self._runs) <= MOST_AHEAD // 2 or not self.knows(scenario)

    def begin(self, scenarios: Sequence[Scenario], base: Path) -> None:
        """Begin the scenarios that are not under way; earlier ones get a CPU slot first."""
        known = {id(run.scenario) for run in self._runs}
        fresh = [scenario for scenario in scenarios if id(scenario) not in known]
        if not fresh:
            return
        if self._pool is None:
            threads = ThreadPoolExecutor(MOST_AHEAD, "hook-run-ahead")
            self._pool = _WorkerPool(threads, CpuSlots(processors()))
        for scenario in fresh:
            # A folder for each, so that the name of a workspace does not depend on which thread is first.
            self._begun += 1
            place = base / str(self._begun)
            future = self._pool.threads.submit(self._run, scenario, place, self._pool.slots)
            self._runs.append(_RunAhead(scenario, future))

    def _run(self, scenario: Scenario, base: Path, slots: CpuSlots) -> TimedOutcome:
        def job(slot: CpuSlot, base: Path) -> TimedOutcome:
            began = slot.clock()
            outcome = self._simulate(scenario, base, slot)
            return TimedOutcome(outcome, slot.clock() - began)

        # At a declared pace hooks look at the time, which must not pass while a slot is waited for.
        return _run_job(job, slots, base, kept=bool(scenario.pace))

    def take(self, scenario: Scenario) -> TimedOutcome | None:
        """
        Wait for a simulation and return its outcome; ``None`` if it was not begun.

        Raises:
            Interrupted: Ctrl-C while waiting; all other simulations are ended as well.
            Exception: The exception that the simulation raised.
        """
        found = next((run for run in self._runs if run.scenario is scenario), None)
        if found is None:
            return None
        self._runs.remove(found)
        try:
            wait([found.future])
        except BaseException:
            self.stop()
            # `stop` interrupted this simulation too; its exception carries what it had seen until then.
            if not found.future.cancelled() and isinstance(found.future.exception(), Interrupted):
                found.future.result()
            raise
        return found.future.result()

    def finish(self) -> None:
        """Wait until no simulation is under way."""
        wait([run.future for run in self._runs])

    def stop(self) -> None:
        """End all simulations under way and drop their outcomes."""
        self._runs.clear()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.slots.stop()
            pool.threads.shutdown(cancel_futures=True)
            pool.slots.close()


def _is_campaign(scenario: Scenario) -> bool:
    return bool(scenario.vary) or scenario.explore is not None


class _Work(Executor):
    """The work of some jobs for an executor; what it has not begun in the end is taken back."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._given: list[Future[Any]] = []
        self._ended = False
        self._lock = threading.Lock()

    def submit(self, function: Callable[..., T], /, *values: Any, **keys: Any) -> Future[T]:
        with self._lock:
            if self._ended:
                raise CancelledError
            future = self._executor.submit(function, *values, **keys)
            self._given.append(future)
        return future

    def shutdown(self, *_: object, **__: object) -> None:
        with self._lock:
            self._ended = True
            for future in self._given:
                future.cancel()


@dataclass(frozen=True, slots=True)
class TrialRunner:
    """
    Simulates variants of one scenario.

    Attributes:
        scenario: The scenario; it decides whether its variants can run at the same time.
        resources: Where and with whose help they run.
        executor: Simulates them in other processes or on other machines; ``None`` for this process.
        until: When the time of all jobs ends, by the monotonic clock: work may wait long for an executor.
    """

    scenario: Scenario
    resources: Resources
    executor: Executor | None = None
    until: float = math.inf

    def simulate(self, scenario: Scenario, settings: Settings) -> Outcome:
        """Run one scenario and return its outcome."""
        if self.executor is None:
            return simulate(scenario, settings, self.resources)
        wall = min(settings.wall, self.until - time.monotonic())
        if wall <= 0:
            raise BudgetEnded("an executor was waited for")
        return self.do(partial(simulate, scenario, replace(settings, base=None, wall=wall)), self.until)

    def do(self, work: Work[T], until: float) -> T:
        """
        Do a piece of work; one that an executor does is waited for until a time of the monotonic clock.

        Raises:
            BudgetEnded: The executor did not end it until then.
        """
        if self.executor is None:
            return work(self.resources)
        found: T = receive(submit(self.executor, work, self.resources.behaviours), until)
        return found

    def side_by_side(
        self, jobs: Sequence[Callable[[TrialRunner], T]], settings: Settings
    ) -> Generator[tuple[int, T]]:
        """
        Run jobs, at the same time where possible, and yield each result with the position of its job.

        Each job gets a runner of its own. Results come in the order of completion.
        """
        resources = self.resources
        if self.executor is not None:
            # The threads only wait, so each job has one: the executor then knows all that can be done.
            with ThreadPoolExecutor(max(1, len(jobs)), "hook-job") as threads, _Work(self.executor) as work:
                runner = replace(self, executor=work)
                begun = {threads.submit(job, runner): place for place, job in enumerate(jobs)}
                yield from ((begun[future], future.result()) for future in as_completed(begun))
            return
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
