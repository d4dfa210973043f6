"""The reads of the cycles of one run, and the decisions at other times if a cycle reads only the clock."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.probes import ProbeReport, UnknownDecisionError
from pytest_hookharness.model.reads import Influences, ObservedCycle
from pytest_hookharness.model.trace import Moved, Step, Trace
from pytest_hookharness.simulation.probing.probed_run import ProbedRun
from pytest_hookharness.simulation.session.history import History

if TYPE_CHECKING:
    from pytest_hookharness.simulation.probing.observed_repetition import ReadObservation

# The only turn after which a log is proved early: later turns are compared with more than one turn.
_SECOND = 2
# Seconds: a longer repetition is observed only when that is needed.
_QUICK = 1.0
_CLOCK = "the clock"
_WORDING = "what changes the words of the hooks' answers"
# A host lets them run, and they may change what the hook reads.
_LEFT = "the processes that hooks or commands left running, and that were ended"


class ObservedCycles:
    """
    The observed cycles of one run, by their periods.

    ``trials`` has the decisions at other times, for each cycle in which only the clock changes.
    """

    def __init__(self, run: ProbedRun) -> None:
        self.trials: dict[int, ProbeReport] = {}
        self._run = run
        self._driver = run.driver
        self._history = run.history
        # By the period, and by whether the words of hooks were left out.
        self._found: dict[tuple[int, bool], Influences] = {}
        # The turn and the period of the cycle that was looked up last.
        self._proposed: tuple[int, tuple[int, bool]] | None = None

    def influences(self, period: int) -> Influences:
        """
        Return what the cycle of a period reads that could make a later repetition go another way.

        The clock counts if another time made a difference, or could not be tried.
        """
        turn = self._driver.turn
        worded = period, self._history.outlines.wording_varies
        if worded not in self._found:
            found = self._observe(turn, period)
            self._found[worded] = self._with_clock(found, period) if found.clock else found
        self._proposed = turn, worded
        return self._found[worded]

    def proves_early(self, last_turn: int | None) -> bool:
        """
        Return whether an observed third turn proves an endless loop in which hooks only log.

        Two equal turns propose a cycle, a third one confirms it, and then one more is observed. If hooks seem
            only to log, the third turn is observed at once. If this proves nothing, the run continues as
            usual and the observation is dropped: a later repetition may be less unusual.

        There is no early proof if a real third turn could show more: a limit of the host, a count that the
            scenario expects, or a loop in the agent's own calls. There is none either if turns are slow.

        Args:
            last_turn: The turn in which the host would end the loop; ``None`` if it would not.
        """
        if self._driver.turn != _SECOND or not _only_appends(self._history):
            return False
        steps, expect = self._driver.steps_after(_SECOND - 1), self._run.testbed.scenario.expect
        if not _shows_all(steps, expect, last_turn) or self._run.last_repetition(1).wall > _QUICK:
            return False
        found = self._observe(self._driver.turn, 1)
        if found.matters or found.clock:
            return False
        worded = 1, self._history.outlines.wording_varies
        self._proposed = self._driver.turn, worded
        self._found[worded] = found
        return True

    @property
    def proposal(self) -> ObservedCycle | None:
        """The cycle that was looked up last; ``None`` if none was."""
        if self._proposed is None:
            return None
        turn, worded = self._proposed
        stem = self._history.find_stem(turn, worded[0])
        return ObservedCycle(stem=stem, period=worded[0], influences=self._found[worded])

    @cached_property
    def _observation(self) -> ReadObservation:
        from pytest_hookharness.simulation.probing.observed_repetition import ReadObservation

        return ReadObservation(self._run)

    def _observe(self, turn: int, period: int) -> Influences:
        repetition = self._run.last_repetition(period)
        try:
            found = self._observation.observe(repetition, self._history.differing(turn, period))
        except UnknownDecisionError as error:
            from pytest_hookharness.judging.recurrence.influences import unobserved

            found = unobserved(str(error))
        if self._history.states[turn].agent != self._history.states[turn - period].agent:
            found = replace(found, matters=(*found.matters, "the messages that the agent gets"))
        if self._history.outlines.wording_varies:
            found = replace(found, matters=(*found.matters, _WORDING))
        results = Trace(steps=tuple(self._driver.steps)).results()
        if any(result.leftovers or result.unclaimed or result.cut_in_background for result in results):
            found = replace(found, matters=(*found.matters, _LEFT), outside=(*found.outside, _LEFT))
        return found

    def _with_clock(self, found: Influences, period: int) -> Influences:
        # What else matters makes it no proof anyway; and one cycle shows what the clock means to all.
        if found.matters or any(not trial.inert for trial in self.trials.values()):
            return replace(found, matters=(*found.matters, *(found.timed or (_CLOCK,))))
        if found.timed and self._driver.testbed.scenario.pace:
            # It would be no proof, and experiments find the turn in which this pace leads to another time.
            return replace(found, matters=found.timed)
        from pytest_hookharness.simulation.probing.clock_trial import ClockTrial

        trial = ClockTrial(self._run, self._run.last_repetition(period)).play()
        self.trials[period] = trial
        # Where the source compares a time, the times that were tried are no proof for the others.
        return replace(found, matters=found.timed or (() if trial.inert else (_CLOCK,)))


def _shows_all(steps: Iterable[Step], expect: Expectation, last_turn: int | None) -> bool:
    counted = expect.blocks or expect.hook_runs or expect.decisions or expect.detectors
    moves = [step.exchange.move for step in steps if isinstance(step.exchange, Moved)]
    ends_next = last_turn is not None and last_turn <= _SECOND + 1
    return not counted and not ends_next and all(isinstance(move, Stop) for move in moves)


def _only_appends(history: History) -> bool:
    changed = history.differing(_SECOND, 1)
    before, after = history.written(_SECOND - 1), history.written(_SECOND)
    for change in changed:
        old, new = before.get(change.path), after.get(change.path)
        if change.how != "content" or old is None or new is None or not new.startswith(old):
            return False
    signature = history.signature(_SECOND) if changed else None
    return signature is not None and signature == history.signature(_SECOND - 1)
