"""The stress run: every trial of a scenario, side by side, and what they have shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness.campaigns.stress.first_run import HookTraits, without_expectations
from pytest_hookharness.campaigns.stress.mutation import Mutation
from pytest_hookharness.campaigns.stress.plan import (
    NO_TIME,
    OUT_OF_TIME,
    RACE,
    TestMatrix,
    draw_up,
    summarize,
)
from pytest_hookharness.campaigns.stress.races import run_race
from pytest_hookharness.campaigns.stress.trial import TrialOutcome, Trials, leave
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.model.mutations import FaultOutcome, Parallel, TrialResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import BudgetEnded, limited_to
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.simulation.parallel_jobs import TrialRunner
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

# Called with what was seen so far, how many trials were made, and how many there are.
OnTrial: TypeAlias = Callable[[Outcome, int, int], None]
# A trial may take this many times as long as the usual run, the time of one hung hook, and some seconds.
_TIMES, _SPARE = 3.0, 2.0


def vary(
    base: Outcome,
    traits: HookTraits,
    runner: TrialRunner,
    settings: Settings,
    on_trial: OnTrial | None = None,
) -> Outcome:
    """
    Run a scenario again with one difference at a time, and return its outcome with what that showed.

    All further runs together may take ``wall`` seconds of the settings.
    """
    if base.scenario.cover:
        # Covered folders are the developer's own, so no trial may change them.
        return replace(base, varied=("Nothing: what is under `cover` belongs to the developer.",))
    matrix = draw_up(base, traits, settings.choice)
    series = _Series(base, settings)
    runner = replace(runner, until=series.until)
    tried: dict[int, TrialOutcome] = {}
    others: list[TrialOutcome] = []
    if matrix.race is not None:
        # Alone and first: other trials would take the processors that the hook runs race for.
        others.append(series.race(matrix.race, runner))
    jobs = [*series.jobs(matrix, runner)]
    order = (*matrix.begun, *range(len(matrix.trials), len(jobs)))
    with closing(runner.side_by_side([jobs[place] for place in order], settings)) as results:
        for begun, result in results:
            if order[begun] < len(matrix.trials):
                tried[order[begun]] = result
            else:
                others.append(result)
            if on_trial is not None:
                number = len(jobs) + (matrix.race is not None)
                on_trial(summarize(base, matrix, tried, others), len(tried) + len(others), number)
    return summarize(base, matrix, tried, others)


class _Series:
    """The trials of one scenario, within one time budget; ``until`` is a time of the monotonic clock."""

    def __init__(self, base: Outcome, settings: Settings) -> None:
        self._base = base
        self._settings = settings
        self.until = time.monotonic() + settings.wall
        self._trials = Trials(base, self._remaining)

    def jobs(
        self, matrix: TestMatrix, runner: TrialRunner
    ) -> Iterator[Callable[[TrialRunner], TrialOutcome]]:
        """Yield one job for each trial, and one that looks for failures of first hook runs."""
        faults = any(trial.as_fault for trial in matrix.trials)
        faultless = self._play_faultless(runner) if faults else self._base.trace
        for trial in matrix.trials:
            yield self._job(trial, faultless)
        if any(request.family == "shells" for request in self._base.scenario.vary):
            yield self._find_first_failure

    def race(self, parallel: Parallel, runner: TrialRunner) -> TrialOutcome:
        """
        Run the hooks of a session side by side, and return what they lose.

        Raises:
            SimulationError: The scenario names an event or counters that the session does not have.
        """
        hooks = dict.fromkeys(hook_run.hook.command for _, hook_run in self._base.trace.hook_runs())
        late = TrialOutcome(
            (_row(parallel, "", "not tried", NO_TIME),), notes=(f"{OUT_OF_TIME} {parallel}.",)
        )
        if not self._remaining():
            return late
        # With `parallel`, the sandbox shows the program that interleaves hook runs, wherever it lies.
        scenario = replace(without_expectations(self._base.scenario), parallel=parallel)
        result = None
        try:
            with (
                runner.resources.open(scenario, self._settings) as (testbed, agent),
                suppress(BudgetEnded),
                limited_to(self._remaining()),
            ):
                result = run_race(testbed, agent, parallel, self._remaining)
        except (WorkspaceError, SimulationError) as error:
            if parallel.event:
                raise
            return TrialOutcome(
                (_row(parallel, "", "not tried", str(error)),), notes=(f"{parallel}: {error}.",)
            )
        if result is None:
            return late
        findings, told = result
        about = {one.hook: f"{one.code} {one.name}: {one.text}" for one in findings}
        # A finding may name several hooks at once; none of them is as declared.
        fine = [hook for hook in hooks if not any(hook in named for named in about)]
        rows = (
            *(_row(parallel, hook, "as declared", "") for hook in fine),
            *(_row(parallel, hook, "differs", evidence) for hook, evidence in about.items()),
        )
        notes = (*(() if parallel.counts else (f"Tried: {parallel}.",)), *told)
        return TrialOutcome(rows, findings=findings, notes=notes)

    def _job(self, trial: Mutation, faultless: Trace) -> Callable[[TrialRunner], TrialOutcome]:
        def job(runner: TrialRunner) -> TrialOutcome:
            try:
                tried = self._trials.attempt(trial, faultless, lambda scenario: self._run(runner, scenario))
            except BudgetEnded:
                return leave(trial, NO_TIME)
            # Where the time ran out during a trial, a defect counts, and that none was seen does not.
            return tried if tried.tells_something or self._remaining() else leave(trial, NO_TIME)

        return job

    def _play_faultless(self, runner: TrialRunner) -> Trace:
        try:
            return self._run(runner, self._trials.fixed).trace
        except (SimulationError, BudgetEnded):
            if self._remaining():
                raise
            # No trial will be made either.
            return self._base.trace

    def _find_first_failure(self, runner: TrialRunner) -> TrialOutcome:
        try:
            finding = self._trials.find_first_failure(lambda scenario: self._run(runner, scenario))
        except (SimulationError, BudgetEnded) as error:
            # The time ended while a run was prepared, or before it.
            return TrialOutcome(notes=(f"The first hook run was not repeated: {error}.",))
        return TrialOutcome(findings=() if finding is None else (finding,))

    def _remaining(self) -> float:
        return max(0.0, self.until - time.monotonic())

    def _run(self, runner: TrialRunner, scenario: Scenario) -> Outcome:
        left = self._remaining()
        if not left:
            raise BudgetEnded("mutations were tried")
        own = scenario.hook_timeout
        hook_timeout = self._settings.hook_timeout if own is None else own
        wall = min(left, _TIMES * self._base.wall + hook_timeout + _SPARE)
        return runner.simulate(scenario, replace(self._settings, wall=wall))


def _row(parallel: Parallel, hook: str, outcome: FaultOutcome, evidence: str) -> TrialResult:
    return TrialResult(
        family=RACE,
        mutation=str(parallel),
        outcome=outcome,
        hook=hook,
        evidence=evidence,
        left=outcome == "not tried",
    )
