"""
Real turns: how far a loop is played before any experiment, with or without the limits of the host.

They show what experiments cannot, so they come first: up to the allowed number, or until a part of the time
is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness import hosts
from pytest_hookharness.execution.snapshots.snapshot import SnapshotError
from pytest_hookharness.judging.verdict.run_end import (
    describe_used_up,
    doubt_of_hook_runs,
    first_hooked_turn,
    needed_time,
)
from pytest_hookharness.model.expectations import counted, first_few
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.probes import ProbeReport, Threshold
from pytest_hookharness.model.time_budget import format_duration
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.simulation.probing.probed_run import ProbedRun
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.session.history import Repetition

# Part of the real time that is spent on real turns before the first experiment.
_SHARE_OF_TURNS = 1 / 3
_BY_HOOKS = frozenset(("stopped", "halted"))
# The most parts that no experiment changed and that the verdict names.
_MOST = 2


class RealTurns:
    """The real turns of one run; ``uncapped`` is the last one without the limits of the host, if any."""

    def __init__(self, run: ProbedRun) -> None:
        self.uncapped: int | None = None
        self._run = run
        self._driver = run.driver
        self._turn_limit = run.turn_limit
        self._wall = run.testbed.settings.wall
        self._late = False

    @property
    def played(self) -> int:
        """The last turn that was played, with or without the limits of the host."""
        return max(self._driver.turn, self.uncapped or 0)

    def has_more(self, period: int) -> bool:
        """
        Return whether to play another real repetition before any experiment.

        Not if real time or turns are used up, and not if the host would then end the loop.
        """
        turn = self._driver.turn
        if turn + period > self._turn_limit or self._are_late:
            return False
        last = self.find_last(period)
        return last is None or last > turn + period

    def find_last(self, period: int) -> int | None:
        """Return the turn in which the host would end the loop; ``None`` if it would not."""
        turn = self._driver.turn
        recent = self._driver.steps_after(turn - period)
        return hosts.find_last_turn(self._driver.progress.session, turn, period, recent)

    def find_cap(self, period: int) -> int | None:
        """Return the turn in which the host would end the loop; ``None`` if not within the allowed turns."""
        last = self.find_last(period)
        return None if last is None or last > self._turn_limit else last

    def play_uncapped(self, period: int) -> ProbeReport | None:
        """
        Play on without the limits of the host, and restore the testbed.

        A hook that would allow the stop in turn 50 never gets there on a host whose cap ends the loop in turn
        9. These turns are played before anything is claimed of the hook, and the hook sees no difference.

        Returns:
            A report without experiments, with a threshold if the hooks ended the loop; ``None`` if the limits
            end no loop, or if these turns were played before.
        """
        if self.uncapped is not None or self.find_cap(period) is None:
            return None
        report = self._play_uncapped(self._run.last_repetition(period))
        self.uncapped = report.uncapped
        self._late = self._are_late
        return report

    def _play_uncapped(self, repetition: Repetition) -> ProbeReport:
        report = ProbeReport(turn=repetition.point.turn, period=repetition.period)
        try:
            checkpoint = Checkpoint(self._run.testbed, repetition.uncapped)
        except SnapshotError:
            # The experiments that follow say so.
            return report
        with checkpoint:
            driver = checkpoint.resume()
            ended = self._find_end(driver, repetition)
            report = replace(report, uncapped=driver.turn - driver.out_of_time)
            if doubt_of_hook_runs(Trace(steps=tuple(driver.steps_after(repetition.point.turn)))):
                # After a hook run that our own time limit ended, the course of the session is unknown.
                return replace(report, uncapped=repetition.point.turn)
        if ended is None or ended.how not in _BY_HOOKS:
            return report
        found = Threshold(at="", what=ended.why, turn=report.uncapped, allows_stop=True)
        return replace(report, threshold=found)

    def _find_end(self, driver: SessionDriver, repetition: Repetition) -> hosts.Ended | None:
        """Return how the session, or the agent's turn in it, ended; ``None`` if it did not."""
        before, first = repetition.start.progress.session, driver.turn
        request: hosts.Request | None = driver.progress.request
        while isinstance(request, hosts.NextAct):
            if request.turn_over:
                return request.ending
            if driver.turn >= self._turn_limit:
                return None
            if (driver.turn - first) % repetition.period == 0:
                driver.replace_session(driver.progress.session.with_host_counts_of(before))
            driver.give(request, driver.choose(request))
            request = driver.drive(self._left_for_turns)
        return request if isinstance(request, hosts.Ended) else None

    def are_cut(self, period: int) -> bool:
        """Return whether time ended the real turns before the allowed number of them."""
        return self._late and self.played + period <= self._turn_limit

    def describe_cut(self, unmoved: Sequence[str]) -> str:
        """Say that time ended the real turns, and what no experiment changed."""
        limit, played = self._turn_limit, self.played
        seen = f"a third of {format_duration(self._wall)} for {played} of {counted(limit, 'turn')}"
        # Beyond this share the budget is for experiments.
        first = first_hooked_turn(self._driver.steps, 1)
        needed = needed_time(self._wall, limit, played, first)
        used_up = describe_used_up(seen, "all turns", self._wall, needed)
        return f"{used_up}; no experiment changed {first_few(unmoved, _MOST)}"

    def _left_for_turns(self) -> float:
        return self._run.remaining() - self._wall * (1 - _SHARE_OF_TURNS)

    @property
    def _are_late(self) -> bool:
        """Whether the time for real turns is used up; this is remembered."""
        self._late = self._late or self._left_for_turns() < 0
        return self._late
