"""The probe schedule: when a run is probed, and how it goes on after that."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from pytest_hookharness.judging.recurrence.cycle import Lasso, same_state
from pytest_hookharness.judging.recurrence.similar_turns import choose_observed, find_similar_periods
from pytest_hookharness.judging.verdict.run_end import RunEnd, describe_out_of_reach, describe_threshold_ahead
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.probes import ProbeEffect, ProbeReport, Threshold
from pytest_hookharness.model.reads import Influences, ObservedCycle
from pytest_hookharness.model.verdicts import OpenReason, RunEnding
from pytest_hookharness.simulation.probing.probed_run import ProbedRun

if TYPE_CHECKING:
    from pytest_hookharness.simulation.probing.observed_cycles import ObservedCycles
    from pytest_hookharness.simulation.probing.real_turns import RealTurns
    from pytest_hookharness.simulation.probing.repetition_probes import RepetitionProbes

# Probe reports of one run: a run whose behaviour changes more often is only driven on.
_REPORT_LIMIT = 4
# The longest period of turns that differ in nothing but what hooks say.
_WORDED_PERIOD = 4
# Seconds: if so little time ends the run, it is left to pass while turns go on.
_SOON = 3.0


class ProbeSchedule:
    """The probes of one run, with the reports of those that were made."""

    def __init__(self, run: ProbedRun) -> None:
        self.made: list[ProbeReport] = []
        self._run = run
        self._driver = run.driver
        self._history = run.history
        self._turn_limit = run.turn_limit
        # The threshold that the run is driven on to, which will confirm or refute it.
        self._awaited: Threshold | None = None
        # The end that follows if the host did not end the run by itself after that turn.
        self._postponed: tuple[int, RunEnd] | None = None
        # Two periods must be seen before the first probe.
        self._not_before = 3
        self._misses = 0

    def check_repetition(self, period: int) -> RunEnd | None:
        """
        Probe whether elapsed time ends a cycle of equal states; return the end of the run.

        Returns:
            ``None`` while the run goes on to a threshold within its turns, or to a time that comes soon.
        """
        if self._postponed is not None:
            return self._check_postponed(*self._postponed)
        if self._awaited is not None:
            return self._check_awaited(self._awaited)
        if self._time_is_left:
            return None
        if not self._cycles.influences(period).matters:
            return self._end_proved("lasso", period)
        if self._turns.has_more(period):
            return None
        if self._history.disregard_wording(self._driver.turn, period):
            self._cycles.influences(period)
        # Experiments find the turn in which a declared pace leads to another time.
        end = None if self._driver.testbed.scenario.pace else self._end_by_clock(period)
        if end is not None or self._postponed is not None:
            return end
        if self._ends_uncapped(period):
            return None
        report = self._add(self._repetition_probes.probe(period))
        threshold = report.threshold
        if self._time_is_left:
            return None
        if threshold is not None and threshold.turn is not None and threshold.turn <= self._turn_limit:
            self._awaited = threshold
            return None
        if threshold is not None:
            return self._end_out_of_reach(threshold, period)
        if report.unclear:
            return self._end_unless_capped(self._end("threshold", report.unclear), period)
        end = self._end_by_clock(period)
        return end if end is not None or self._postponed is not None else self._end_driven("lasso", period)

    def only_time_differs(self, lasso: Lasso) -> bool:
        """
        Return whether a repetition differs from the one before in nothing but timestamps.

        If so, its states are marked as equal to no other: the run is no cycle, but a progression in time.
        """
        later = [turn + lasso.period for turn in range(lasso.stem, lasso.stem + lasso.period + 1)]
        states = self._history.states
        differing = [turn for turn in later if not same_state(states[turn - lasso.period], states[turn])]
        if not all(
            self._history.only_time_differs(turn - lasso.period, turn, self._run.clock) for turn in differing
        ):
            return False
        for turn in differing:
            self._history.blur(turn)
        return True

    def check_progression(self) -> RunEnd | None:
        """Probe a run whose turns are alike though its state moves on; return its end if that shows one."""
        turn = self._driver.turn
        if self._postponed is not None:
            return self._check_postponed(*self._postponed)
        if self._awaited is not None:
            return self._check_awaited(self._awaited)
        if self._time_is_left:
            return None
        # After the last turn there is no other opportunity.
        early = turn < self._not_before and turn < self._turn_limit
        if early and turn + 2 >= self._not_before:
            if self._cycles.proves_early(self._turns.find_last(1)):
                return self._end_proved("progression", 1)
            self._driver.testbed.slot.plan(partial(self._history.prepare, turn))
        if early or len(self.made) >= _REPORT_LIMIT:
            return None
        periods = self._similar_periods(turn)
        for period in choose_observed(turn, periods, self._history.differing):
            if not self._cycles.influences(period).matters:
                return self._end_proved("progression", period)
        if periods and self._turns.has_more(periods[0]):
            return None
        paced = bool(self._driver.testbed.scenario.pace)
        end = self._end_by_clock(periods[0]) if periods and not paced else None
        if end is not None or self._postponed is not None:
            return end
        if periods and self._ends_uncapped(periods[0]):
            return None
        if (found := self._repetition_probes.probe_patterns(periods)) is None:
            # Look less often the longer no pattern is found.
            self._misses += 1
            self._not_before = turn + 1 + self._misses // 8
            return None
        report = self._add(found)
        if report.inert:
            end = self._end_by_clock(report.period)
            if end is not None or self._postponed is not None:
                return end
            return self._end_driven("progression", report.period)
        self._not_before = turn + 5 * len(self.made)
        threshold = report.threshold
        if threshold is None or self._time_is_left:
            return None
        if threshold.turn is None or threshold.turn > self._turn_limit:
            return self._end_out_of_reach(threshold, report.period)
        self._awaited = threshold
        return None

    def _similar_periods(self, turn: int) -> list[int]:
        """Return the periods after which the turn is similar; words may differ in the last turn."""
        # Words that are drawn may be the same in the last turns by chance, so this is asked before.
        for period in () if self._turns.has_more(1) else range(1, _WORDED_PERIOD + 1):
            if self._history.disregard_wording(turn, period):
                break
        return [*find_similar_periods(turn, self._history.signature)]

    def _end_out_of_reach(self, threshold: Threshold, period: int) -> RunEnd | None:
        why = describe_out_of_reach(threshold, self._turn_limit)
        return self._end_unless_capped(self._end("threshold", why), period)

    def _end_unless_capped(self, end: RunEnd, period: int) -> RunEnd | None:
        """Return an end that leaves the verdict open; ``None`` if the host will end the run itself before."""
        cap = self._turns.find_cap(period)
        if cap is None:
            return end
        self._postponed = cap, end
        return None

    def _end_driven(self, how: Literal["lasso", "progression"], period: int) -> RunEnd | None:
        """
        Return the end of a loop in which no experiment makes a difference.

        If time ended its real turns, that needs experiments with all that could matter. ``None`` as above.
        """
        proposal, testbed = self.proposal, self._driver.testbed
        if proposal is None or testbed.scanner.masked or not self._turns.are_cut(period):
            return self._end(how)
        from pytest_hookharness.judging.probing.unmoved import find_unmoved

        tried = (*self.made, *self._cycles.trials.values())
        changing = {change.path for change in self._history.differing(self._driver.turn, period)}
        paced = bool(testbed.scenario.pace)
        unmoved = find_unmoved(proposal.influences, tried, changing=changing, paced=paced)
        if not unmoved:
            return self._end(how)
        why, reasons = self._turns.describe_cut(unmoved), frozenset[OpenReason](["time for turns"])
        end = replace(self._end("wall", why), reasons=reasons)
        if self._turns.find_cap(period) is not None:
            self.made[-1] = replace(self.made[-1], unclear=end.why, out_of_time=True)
        return self._end_unless_capped(end, period)

    def _check_postponed(self, last: int, end: RunEnd) -> RunEnd | None:
        return None if self._driver.turn <= last else replace(end, turn=self._driver.turn)

    @cached_property
    def _repetition_probes(self) -> RepetitionProbes:
        # Most runs are not probed, so what probes is imported only then.
        from pytest_hookharness.simulation.probing.repetition_probes import RepetitionProbes

        return RepetitionProbes(self._run, self._cycles.influences, lambda: self.played)

    def _add(self, report: ProbeReport) -> ProbeReport:
        threshold, played = report.threshold, self._turns.uncapped or 0
        if threshold is not None and threshold.allows_stop and report.turn < (threshold.turn or 0) <= played:
            # Such a state was made from parts that were guessed, as the ids in a transcript are.
            why = f"experiments allowed the stop in turn {threshold.turn}, and real turns did not"
            report = replace(report, threshold=None, unclear=why)
        self.made.append(replace(report, uncapped=played))
        return self.made[-1]

    @cached_property
    def _cycles(self) -> ObservedCycles:
        # Most runs repeat nothing, so what observes repetitions is imported only then.
        from pytest_hookharness.simulation.probing.observed_cycles import ObservedCycles

        return ObservedCycles(self._run)

    @cached_property
    def _turns(self) -> RealTurns:
        # As above.
        from pytest_hookharness.simulation.probing.real_turns import RealTurns

        return RealTurns(self._run)

    def observe(self, period: int) -> Influences:
        """Return what a cycle of that period reads that could matter; each is observed once."""
        return self._cycles.influences(period)

    @property
    def played(self) -> int:
        """The last turn that was played, with or without the limits of the host."""
        return self._turns.played

    @property
    def proposal(self) -> ObservedCycle | None:
        """The cycle that was observed last; ``None`` if none was."""
        return self._cycles.proposal if "_cycles" in vars(self) else None

    def _end_proved(self, how: Literal["lasso", "progression"], period: int) -> RunEnd:
        """Return the end of a run that reads nothing that changes, but perhaps the clock."""
        if period in self._cycles.trials:
            self.made.append(self._cycles.trials[period])
        return self._end(how)

    def _end_by_clock(self, period: int) -> RunEnd | None:
        """Return the end of a run that allows the stop at another time; ``None`` if that was not seen."""
        trial = self._cycles.trials.get(period)
        threshold = trial.threshold if trial is not None else None
        if trial is None or threshold is None or not threshold.allows_stop:
            return None
        self.made.append(trial)
        return self._end_out_of_reach(threshold, period)

    def _ends_uncapped(self, period: int) -> bool:
        """
        Play on, once, without the limits of the host if they are about to end the loop.

        Returns:
            Whether the hooks then end it. The run goes on until the host does.
        """
        cap, report = self._turns.find_cap(period), self._turns.play_uncapped(period)
        if cap is None or report is None or report.threshold is None:
            return False
        self.made.append(report)
        end = self._end("threshold", describe_threshold_ahead(report.threshold, "the hooks"))
        self._postponed = cap, end
        return True

    @property
    def _time_is_left(self) -> bool:
        """Whether so little time ends the run that it can pass while turns go on."""
        threshold = self.made[-1].threshold if self.made else None
        return threshold is not None and threshold.seconds is not None and threshold.seconds <= _SOON

    def _check_awaited(self, threshold: Threshold) -> RunEnd | None:
        """
        Compare the run with the threshold that it was driven on to.

        A run that passes the threshold unchanged shows that the probes predicted wrongly.
        """
        turn, report = self._driver.turn, self.made[-1]
        if threshold.turn is None or turn < (threshold.latest or threshold.turn):
            return None
        self._awaited = None
        if threshold.reaction is not ProbeEffect.DECISION:
            return None
        from pytest_hookharness.judging.probing.experiments import PREDICTABLE

        if any(part.kind not in PREDICTABLE for part in report.parts):
            # The next id or process number was only guessed.
            return None
        compared = range(threshold.turn, turn + 1)
        pairs = [map(self._history.signature, (n, n - report.period)) for n in compared]
        if any(now is None or before is None or now.actions != before.actions for now, before in pairs):
            return None
        return self._end(
            "disagreed",
            f"the probes predicted a change in turn {threshold.turn} ({threshold.at}), "
            "and it did not happen: this is a defect of the harness, please report it",
        )

    def _end(self, how: RunEnding, why: str = "") -> RunEnd:
        return RunEnd(how=how, turn=self._driver.turn, why=why)
