"""
The clock trial: a cycle that reads the time, played with other times than its own.

The kernel shows the moved clock to all programs, and the times of files with it. Time passes as it would in
a session: first at the pace of a person, then in steps of an hour and of a day. The steps are odd, so that
hours, days of the week and remainders of a division all occur. Then come times that the scripts name, such as
3 on Sundays, which no steps would meet.
"""

from __future__ import annotations

from contextlib import suppress

from pytest_hookharness.execution.snapshots.snapshot import SnapshotError
from pytest_hookharness.judging.probing.experiments import DAY, HOUR, time_between
from pytest_hookharness.judging.probing.limits import find_named_times
from pytest_hookharness.judging.probing.reached import describe_pause
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import (
    PerturbationKind,
    Probe,
    ProbeEffect,
    ProbeReport,
    ProbeResult,
    Threshold,
    UnknownDecisionError,
)
from pytest_hookharness.model.time_budget import format_duration
from pytest_hookharness.simulation.probing.probed_run import ProbedRun
from pytest_hookharness.simulation.probing.time_shift import HUMAN
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.session.history import Repetition
from pytest_hookharness.simulation.testbed.hook_source import texts

_BETWEEN = " with turns between"


@dataclass(frozen=True, slots=True)
class _Stretch:
    """
    Repetitions at equal distances: some seconds before each, and the time between turns.

    ``times`` is their number for a cycle of one turn; longer cycles have fewer.
    """

    times: int
    jump: float = 0.0

    def describe(self, repetitions: int, period: int, pace: float) -> str:
        """Return when the repetitions were played, in words."""
        if not self.jump:
            return f"with {pace:g} s between {counted(repetitions * period, 'turn')}"
        later = f"{format_duration(self.jump)} later"
        return f"then {later}" if repetitions == 1 else f"{repetitions} times another {later}"


# A step of a day and an hour, less a minute and a second, shows each hour of the day and each day of the
# week. With a minute more instead, it would leave out an hour as soon as the minutes exceed 60.
_STRETCHES = (_Stretch(7), _Stretch(1, HOUR), _Stretch(24, DAY + HOUR - 61))


class ClockTrial:
    """Plays the last repetition of a cycle with a clock that moves on."""

    def __init__(self, run: ProbedRun, repetition: Repetition) -> None:
        self._testbed = run.testbed
        self._repetition = repetition
        self._remaining = run.remaining
        self._on_probe = run.on_probe
        self._probes: list[Probe] = []
        # Repetitions until one went another way.
        self._times = 0

    def play(self) -> ProbeReport:
        """
        Play until a repetition goes another way, and restore the testbed.

        Raises:
            BudgetEnded: The time ended before that.
            SimulationError: The testbed could not be restored.
        """
        try:
            checkpoint = Checkpoint(self._testbed, self._repetition.uncapped)
        except SnapshotError as error:
            return self._report(None, f"the state cannot be saved and restored: {error}")
        clock = self._testbed.workspace.clock
        with checkpoint, clock.shown_by_kernel():
            try:
                threshold = self._find_threshold(checkpoint)
            except UnknownDecisionError as error:
                return self._report(None, f"{error} (tried: a later time)")
            unclear = f"the clock could not be moved for all programs: {clock.gap}" if clock.gap else ""
        return self._report(threshold, unclear)

    def _find_threshold(self, checkpoint: Checkpoint) -> Threshold | None:
        threshold = self._play_all(checkpoint.resume())
        if threshold is None:
            return self._play_named(checkpoint)
        if threshold.allows_stop:
            # If a run is cut while the time is narrowed down, the result so far stays.
            with suppress(UnknownDecisionError):
                threshold = self._narrow(checkpoint, threshold)
                if threshold.at.endswith(_BETWEEN):
                    threshold = self._play_at_once(checkpoint) or threshold
        return threshold

    def _play_all(self, driver: SessionDriver) -> Threshold | None:
        clock, period = self._testbed.workspace.clock, self._repetition.period
        began = clock.seconds
        for stretch in _STRETCHES:
            pace = self._testbed.scenario.pace
            driver.pace = pace if stretch.jump else pace or HUMAN
            seen, times = self._play_stretch(driver, stretch)
            self._add(stretch.describe(times, period, driver.pace), seen)
            if seen.reaction is not ProbeEffect.SAME:
                passed = clock.seconds - began
                at = f"{format_duration(passed)}{_BETWEEN}"
                self._times += times
                return Threshold(at=at, what=seen.what, seconds=passed, allows_stop=seen.allows_stop)
            self._times += times
        return None

    def _play_at_once(self, checkpoint: Checkpoint) -> Threshold | None:
        """Return the turn that allows the stop if as many repetitions that follow at once lead there too."""
        checkpoint.restore()
        driver, seen = checkpoint.resume(), ProbeResult(reaction=ProbeEffect.SAME)
        before, played = self._repetition.start.progress.session, 0
        while played < self._times and seen.reaction is ProbeEffect.SAME:
            driver.replace_session(driver.progress.session.with_host_counts_of(before))
            seen = self._repetition.compare_decisions(driver, self._remaining)
            played += 1
        self._add(f"{counted(played, 'repetition')} at once", seen)
        if not seen.allows_stop:
            return None
        period = self._repetition.period
        turn = self._repetition.point.turn + (played - 1) * period + max(1, seen.turn)
        return Threshold(
            at=f"{counted(played, 'more repetition')}", what=seen.what, turn=turn, allows_stop=True
        )

    def _add(self, tried: str, seen: ProbeResult) -> None:
        self._probes.append(Probe(kind=PerturbationKind.CLOCK, tried=tried, seen=seen))
        self._on_probe()

    def _play_named(self, checkpoint: Checkpoint) -> Threshold | None:
        """Play one repetition at each of the times that the scripts of the hooks name."""
        checkpoint.restore()
        sources = texts(self._testbed, self._repetition.hook_runs)
        times = find_named_times(sources, self._testbed.workspace.clock.now)
        if not times:
            return None
        seen, played = ProbeResult(reaction=ProbeEffect.SAME), [0.0]
        for seconds in times:
            played.append(seconds)
            seen = self._play_after(checkpoint, seconds)
            if seen.reaction is not ProbeEffect.SAME:
                break
        latest = format_duration(max(played))
        tried = f"at {counted(len(played) - 1, 'time')} that the scripts name, up to {latest} later"
        self._add(tried, seen)
        if seen.reaction is ProbeEffect.SAME:
            return None
        at = describe_pause(played[-1])
        return Threshold(at=at, what=seen.what, seconds=played[-1], allows_stop=seen.allows_stop)

    def _narrow(self, checkpoint: Checkpoint, threshold: Threshold) -> Threshold:
        """Return the shortest pause, to 2 %, after which the stop is allowed, if one pause leads there."""
        low, high = 0.0, threshold.seconds or 0.0
        # What follows the hour or the day of the week comes sooner than after many days.
        for cycle in (DAY, 7 * DAY):
            if high > cycle and self._play_after(checkpoint, high % cycle).allows_stop:
                high %= cycle
        seconds: float | None = high
        while seconds is not None:
            seen = self._play_after(checkpoint, seconds)
            if seen.allows_stop:
                high, at = seconds, f"{describe_pause(seconds)}, perhaps sooner"
                threshold = Threshold(at=at, what=seen.what, seconds=seconds, allows_stop=True)
            elif seconds == high:
                break
            else:
                low = seconds
            seconds = time_between(low, high)
        return threshold

    def _play_after(self, checkpoint: Checkpoint, seconds: float) -> ProbeResult:
        """Play one repetition after a pause."""
        checkpoint.restore()
        driver = checkpoint.resume()
        driver.let_pass(seconds)
        return self._repetition.compare_decisions(driver, self._remaining)

    def _play_stretch(self, driver: SessionDriver, stretch: _Stretch) -> tuple[ProbeResult, int]:
        """Return what the first repetition that went another way showed, and how many were played."""
        before = self._repetition.start.progress.session
        times = max(1, stretch.times // self._repetition.period)
        seen = ProbeResult(reaction=ProbeEffect.SAME)
        for number in range(1, times + 1):
            # The host's cap on the loop must not end a trial.
            driver.replace_session(driver.progress.session.with_host_counts_of(before))
            driver.let_pass(stretch.jump)
            seen = self._repetition.compare_decisions(driver, self._remaining)
            if seen.reaction is not ProbeEffect.SAME:
                return seen, number
        return seen, times

    def _report(self, threshold: Threshold | None, unclear: str) -> ProbeReport:
        return ProbeReport(
            turn=self._repetition.point.turn,
            period=self._repetition.period,
            probes=tuple(self._probes),
            threshold=threshold,
            unclear=unclear,
        )
