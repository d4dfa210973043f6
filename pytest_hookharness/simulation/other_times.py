"""
Other times: a run compared with plays of it whose turns are further apart, or that begin at another time.

No real time passes: the kernel shows the hooks a clock that is ahead.
"""

from __future__ import annotations

from contextlib import suppress

from pytest_hookharness.judging.findings.finding_catalogue import FLAKY
from pytest_hookharness.judging.verdict.conclusion import judge_paces, judge_unplayed_times
from pytest_hookharness.judging.verdict.run_end import doubt_of_hook_runs
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import format_duration, remaining
from pytest_hookharness.model.verdicts import Capped, Terminated
from pytest_hookharness.simulation.probing import time_shift
from pytest_hookharness.simulation.single_run import Resources, SingleRun, rerun
from pytest_hookharness.simulation.testbed.run_settings import Settings

# Seconds between the times at which sessions begin: all days of a week and each third hour occur.
_STEP = 86_400.0 + 3 * 3600 - 61
_STARTS = 8
# Seconds that these plays may take, or a multiple of the time of the run if that is longer.
_SHORT, _SHARE = 4.0, 2.0
_MOST_NAMED = 6
_UNCONFIRMED = "Begun {} later, they decided differently; no time was left to see whether they do so again."
_UNEVEN = "Of plays that began at the same time, {}: how long hooks run decides too."


class _Inconclusive(Exception):
    """A run for comparison shows nothing: time ended it or a hook, or a program did not see its clock."""


class _NoTimeShown(Exception):
    """No program was shown a time of its own, so that no other time can matter."""


class OtherTimes:
    """Plays a scenario at other times, for as long as the budget of its own run lasts."""

    def __init__(self, run: SingleRun, scenario: Scenario, settings: Settings, resources: Resources) -> None:
        """Prepare to compare a run with others."""
        self._run = run
        # Without probes a repeated state would end a run that allows the stop as soon as time has passed.
        ended = isinstance(run.outcome.verdict, Terminated | Capped)
        self._scenario = replace(scenario, until="guard") if ended else scenario
        self._settings = settings.of_rerun(run.outcome)
        self._resources = resources
        self._given = self._left = min(settings.wall - run.used, remaining())
        self._used = 0.0

    def compare(self) -> Outcome:
        """Return the outcome of the run with what other times showed, and with what none of them did."""
        outcome, paces = self._run.outcome, ""
        if self._run.time_may_matter:
            with suppress(_Inconclusive):
                outcome = self._compare_paces()
                human, slow = (format_duration(pace) for pace in (time_shift.HUMAN, time_shift.SLOW))
                paces = f"with turns {human} and {slow} apart"
        if self._run.clock_uses and outcome is self._run.outcome:
            outcome = self._compare_starts(paces)
        elif self._run.running_clocks and outcome is self._run.outcome:
            outcome = judge_unplayed_times(outcome, self._run.running_clocks, "")
        return replace(outcome, wall=self._run.used + self._used)

    def _play(self, scenario: Scenario, settings: Settings, later: float = 0.0) -> SingleRun:
        wall = self._given - self._used
        played = rerun(scenario, replace(settings, wall=wall), self._resources, later=later)
        self._used = self._given if played is None else self._used + played.used
        # If our own time limit cut a run, the further decisions of its hooks are unknown.
        if played is None or played.gap or doubt_of_hook_runs(played.outcome.trace):
            raise _Inconclusive
        return played

    def _compare_paces(self) -> Outcome:
        """Return the outcome with the finding that the run can end differently at another pace, if it can."""
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
        looked = isinstance(fast.verdict, Terminated) and not self._run.clock_uses
        if finding is not None and fast.chance and looked:
            # No decision by the clock was found in the sources, and a paced play has other process numbers.
            why = (
                f"The source names random numbers ({fast.chance}); no decision by the clock was found in it."
            )
            text = f"{finding.text} {why}"
            finding = FLAKY.found(text, turn=finding.turn)
        # A session that ends by itself in every play ends, in whichever turn.
        ends = all(isinstance(other.verdict, Terminated) for other in others)
        return fast if finding is None else judge_paces(fast, finding, tried=self._run.tried and not ends)

    def _compare_starts(self, paces: str) -> Outcome:
        """
        Return the outcome with what sessions that begin at other times show.

        ``paces`` says at which paces the hooks decided the same; empty if no other was played.
        """
        fast, played, differing = self._run.outcome, list[float](), list[float]()
        settings = replace(self._settings, turns=max(1, fast.iterations))
        self._given = min(self._given, self._used + max(_SHORT, _SHARE * self._run.used))

        def begin(later: float) -> Outcome:
            single = self._play(self._scenario, settings, later)
            if later and not single.shown and single.outcome.decided == fast.decided:
                raise _NoTimeShown
            played.extend([later] * bool(later))
            if later and not differing and fast.first_difference(single.outcome) is not None:
                # It is worth all the time that is left to play both again.
                differing.append(later)
                self._given = max(self._given, self._left)
            return single.outcome

        named = self._run.named_times[:_MOST_NAMED]
        starts = (*named, *(number * _STEP for number in range(1, _STARTS + 1)))
        try:
            if (finding := time_shift.compare_starts(fast, begin, starts)) is not None:
                return judge_paces(fast, finding, tried=False)
        except _NoTimeShown:
            return fast
        except time_shift.UnevenPlays as plays:
            return judge_unplayed_times(fast, self._run.clock_uses, _UNEVEN.format(plays.described))
        except _Inconclusive:
            if differing:
                when = format_duration(differing[0])
                return judge_unplayed_times(fast, self._run.clock_uses, _UNCONFIRMED.format(when))
        latest = format_duration(max(played, default=0.0))
        begun = f"begun at {counted(len(played), 'other time')} up to {latest} later" if played else ""
        tried = " and ".join(filter(None, (paces, begun)))
        seen = f"They decided the same {tried}." if tried else ""
        return judge_unplayed_times(fast, self._run.clock_uses, seen)
