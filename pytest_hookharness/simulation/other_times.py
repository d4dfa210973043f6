"""
Other times: a run compared with plays of it whose turns are further apart, or that begin at another time.

No real time passes: the kernel shows the hooks a clock that is ahead.
"""

from __future__ import annotations

from pytest_hookharness.judging.verdict.conclusion import judge_paces, judge_unplayed_times
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import format_duration, remaining
from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.simulation.probing import time_shift
from pytest_hookharness.simulation.single_run import Resources, SingleRun, rerun
from pytest_hookharness.simulation.testbed.run_settings import Settings

# Seconds between the times at which sessions begin: all days of a week and each third hour occur.
_STEP = 86_400.0 + 3 * 3600 - 61
_STARTS = 8
_MOST_NAMED = 6


class _NothingFollows(Exception):
    """A run for comparison shows nothing: its time ended, or a program did not see its clock."""


class OtherTimes:
    """Plays a scenario at other times, for as long as the budget of its own run lasts."""

    def __init__(self, run: SingleRun, scenario: Scenario, settings: Settings, resources: Resources) -> None:
        """Prepare to compare a run with others."""
        self._run = run
        # Without probes a repeated state would end a run that allows the stop as soon as seconds have passed.
        ended = isinstance(run.outcome.verdict, Terminated)
        self._scenario = replace(scenario, until="guard") if ended else scenario
        self._settings = settings.of_rerun(run.outcome)
        self._resources = resources
        self._given = min(settings.wall - run.used, remaining())
        self._used = 0.0

    def compare(self) -> Outcome:
        """Return the outcome of the run with what other times showed, and with what none of them did."""
        outcome, tried = self._run.outcome, ""
        try:
            if self._run.time_may_matter:
                outcome = self._compare_paces()
                tried = f"{format_duration(time_shift.HUMAN)} and {format_duration(time_shift.SLOW)} apart"
            if self._run.clock_uses and outcome is self._run.outcome:
                outcome, begun = self._compare_starts()
                tried = " and ".join(filter(None, (tried and f"with turns {tried}", begun)))
        except _NothingFollows:
            tried = ""
        if self._run.clock_uses and outcome is self._run.outcome:
            outcome = judge_unplayed_times(outcome, self._run.clock_uses, tried)
        return replace(outcome, wall=self._run.used + self._used)

    def _play(self, scenario: Scenario, settings: Settings, later: float = 0.0) -> SingleRun:
        wall = self._given - self._used
        played = rerun(scenario, replace(settings, wall=wall), self._resources, "kernel", later=later)
        self._used = self._given if played is None else self._used + played.used
        if played is None or played.gap:
            raise _NothingFollows
        return played

    def _compare_paces(self) -> Outcome:
        """Return the outcome with the finding that the run can end otherwise at another pace, if it can."""
        fast = self._run.outcome
        timeless: Outcome | None = None
        others: list[Outcome] = []

        def simulate_slowly(pace: float) -> Outcome:
            nonlocal timeless
            if timeless is not None:
                return timeless
            slow = self._play(replace(self._scenario, pace=pace), self._settings)
            # No other time can change what was shown none, where time passed.
            if pace and not slow.shown and time_shift.goes_alike(fast, slow.outcome):
                timeless = slow.outcome
            others.append(slow.outcome)
            return slow.outcome

        finding = time_shift.compare(fast, simulate_slowly)
        # A session that ends by itself in every play ends, in whichever turn.
        ends = all(isinstance(other.verdict, Terminated) for other in others)
        return fast if finding is None else judge_paces(fast, finding, tried=self._run.tried and not ends)

    def _compare_starts(self) -> tuple[Outcome, str]:
        """Return the outcome with what sessions begun at other times showed, and when they began."""
        fast = self._run.outcome
        settings = replace(self._settings, turns=max(1, fast.iterations))

        def begin(later: float) -> Outcome:
            return self._play(self._scenario, settings, later).outcome

        named = self._run.named_times[:_MOST_NAMED]
        starts = (*named, *(number * _STEP for number in range(1, _STARTS + 1)))
        finding = time_shift.compare_starts(fast, begin, starts)
        latest = format_duration(max(starts))
        begun = f"begun at {counted(len(starts), 'other time')} up to {latest} later"
        return (fast if finding is None else judge_paces(fast, finding, tried=False)), begun
