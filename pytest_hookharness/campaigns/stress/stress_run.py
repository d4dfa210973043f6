"""
Playing again: the matrix of a scenario tried side by side, and what it showed.

It knows which trials there are and what came of each; how one is made is the matter of trials.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness.campaigns.stress.alterations import plainly
from pytest_hookharness.campaigns.stress.concurrency import LostUpdates, find_losses
from pytest_hookharness.campaigns.stress.plans import HookTraits
from pytest_hookharness.campaigns.stress.test_matrix import TestMatrix, draw_up
from pytest_hookharness.campaigns.stress.trial import TrialOutcome, Trials, leave
from pytest_hookharness.judging.comparison.fault_outcome import join_sights
from pytest_hookharness.judging.comparison.relations import join_findings
from pytest_hookharness.judging.comparison.tried import tried_words
from pytest_hookharness.judging.expectations.check_expectations import with_findings
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.faults import Fault, Trial, TrialResult, Varied
from pytest_hookharness.model.mutations import Replayed, Wide
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Finding, Violation
from pytest_hookharness.simulation.testbed.run_settings import Settings
from pytest_hookharness.simulation.trial_runner import TrialRunner

# Called with what was seen so far, how many trials were made, and of how many.
OnTrial: TypeAlias = Callable[[Outcome, int, int], None]
# A varied run may take this many times as long as the usual one, a fire that hangs, and some seconds.
_TIMES, _SPARE = 3.0, 2.0
_NO_TIME = "there was no time left"
_NO_DENIAL = (
    "No payload was refused without a fault, so nothing shows whether a guard still guards with one; "
    "add a call that it must refuse, with `expect: deny`."
)


def vary(
    base: Outcome,
    clues: HookTraits,
    theatre: TrialRunner,
    settings: Settings,
    on_trial: OnTrial | None = None,
) -> Outcome:
    """
    Play a scenario again with one thing different at a time, and add what that showed to its outcome.

    Args:
        base: What a run of it showed.
        clues: What its hooks suggest to try.
        theatre: Where it is played.
        settings: The settings of further runs; all of them together may take ``wall`` seconds.
        on_trial: Called after each trial.
    """
    if base.scenario.cover:
        return replace(base, varied=("Nothing: what is under `world.cover` belongs to the developer.",))
    matrix = draw_up(base, clues, settings.choice)
    series = _Series(base, settings)
    jobs = [*series.jobs(matrix, theatre)]
    order = (*matrix.begun, *range(len(matrix.trials), len(jobs)))
    tried: dict[int, TrialOutcome] = {}
    with closing(theatre.side_by_side([jobs[place] for place in order], settings)) as results:
        for begun, result in results:
            tried[order[begun]] = result
            if on_trial is not None:
                on_trial(_so_far(base, matrix, tried), len(tried), len(jobs))
    return _so_far(base, matrix, tried)


class _Series:
    """
    Runs of one scenario with one thing different at a time.
    """

    def __init__(self, base: Outcome, settings: Settings) -> None:
        self._base = base
        self._settings = settings
        self._until = time.monotonic() + settings.wall
        self._trials = Trials(base, self._remaining)

    def jobs(
        self, matrix: TestMatrix, theatre: TrialRunner
    ) -> Iterator[Callable[[TrialRunner], TrialOutcome]]:
        """
        What is to be done: each trial, and a look at failures of the first fire only.
        """
        faulty = any(isinstance(trial, Fault) for trial in matrix.trials)
        usual = self._run(theatre, self._trials.fixed).trace if faulty else self._base.trace
        for trial in matrix.trials:
            yield self._job(trial, usual)
        if any(wish.kind == "shells" for wish in self._base.scenario.vary):
            yield self._find_first_failure

    def _job(self, trial: Trial, usual: Trace) -> Callable[[TrialRunner], TrialOutcome]:
        def job(theatre: TrialRunner) -> TrialOutcome:
            if not self._remaining():
                return leave(trial, _NO_TIME)
            tried = self._trials.attempt(
                trial,
                usual,
                lambda scenario: self._run(theatre, scenario),
                lambda variation: self._crowd(theatre, variation),
            )
            # Where the time ran out on the way, what was seen counts, and that nothing was seen does not.
            return tried if tried.tells_something or self._remaining() else leave(trial, _NO_TIME)

        return job

    def _find_first_failure(self, theatre: TrialRunner) -> TrialOutcome:
        finding = self._trials.find_first_failure(lambda scenario: self._run(theatre, scenario))
        return TrialOutcome(findings=() if finding is None else (finding,))

    def _remaining(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def _run(self, theatre: TrialRunner, scenario: Scenario) -> Outcome:
        own = scenario.hook_timeout
        patience = self._settings.hook_timeout if own is None else own
        wall = min(self._remaining(), _TIMES * self._base.wall + patience + _SPARE)
        return theatre.simulate(scenario, replace(self._settings, wall=wall))

    def _crowd(self, theatre: TrialRunner, variation: Wide) -> LostUpdates:
        with theatre.open(plainly(self._base.scenario), self._settings) as (stage, agent):
            return find_losses(stage, agent, variation, self._remaining)


def _so_far(base: Outcome, matrix: TestMatrix, tried: dict[int, TrialOutcome]) -> Outcome:
    """
    The outcome with what the trials have shown until now, whichever of them came first.
    """
    made = [tried.get(place) or leave(trial, _NO_TIME) for place, trial in enumerate(matrix.trials)]
    beyond = [result for place, result in sorted(tried.items()) if place >= len(made)]
    found: list[tuple[Replayed, Finding]] = []
    others = [finding for result in beyond for finding in result.findings]
    for trial, result in zip(matrix.trials, made, strict=True):
        if isinstance(trial.change, Wide):
            others += result.findings
        elif isinstance(trial, Varied):
            found += [(trial.change, finding) for finding in result.findings]
    sights = [sight for result in made for sight in result.sights]
    outcome = with_findings(base, (*join_findings(found), *others, *join_sights(sights)))
    cells = (*(cell for result in made for cell in result.trial_results), *matrix.untried)
    late = sum(_is_late(result) for result in made)
    broken = _untried(outcome, late, len(made))
    told = tuple(_told(matrix, made))
    return replace(outcome, varied=told, trial_results=cells, violations=(*outcome.violations, *broken))


def _is_late(tried: TrialOutcome) -> bool:
    return any(cell.evidence == _NO_TIME for cell in tried.trial_results)


def _untried(outcome: Outcome, left: int, planned: int) -> Iterator[Violation]:
    # Who expects that nothing can be told has not been promised more.
    if left and outcome.scenario.expect.verdict != "undecided":
        yield Violation(
            path=outcome.scenario.mark("vary"),
            expected="all conditions tried",
            seen=f"{left} of {planned} were not tried, for lack of time; give --hook-budget more",
        )


def _told(matrix: TestMatrix, made: Sequence[TrialOutcome]) -> Iterator[str]:
    pairs = [*zip(matrix.trials, made, strict=True)]
    varied = [(trial.change, result) for trial, result in pairs if isinstance(trial, Varied)]
    tried = [change for change, result in varied if not result.impossible and not _is_late(result)]
    late = [change for change, result in varied if _is_late(result)]
    if tried or late:
        yield f"It was played again under {counted(len(tried), 'other condition')}, one at a time."
    if tried:
        yield f"Tried: {tried_words(tried)}."
    if late:
        yield f"There was no time for {tried_words(late)}."
    yield from matrix.notes
    yield from (doubt for result in made for doubt in result.doubts)
    faults = [result for trial, result in pairs if isinstance(trial, Fault)]
    if faults:
        yield f"{sum(bool(result.sights) for result in faults)} of {len(faults)} faults were tried."
        if not any(sight.cell.payload == "deny" for result in faults for sight in result.sights):
            yield _NO_DENIAL
    cells = [cell for result in faults for cell in result.trial_results if cell.evidence != _NO_TIME]
    yield from map(_left_out, (cell for cell in (*cells, *matrix.untried) if cell.verdict == "not tried"))


def _left_out(cell: TrialResult) -> str:
    return f"Not tried ({cell.cause}): {cell.fault}: {cell.evidence}."
