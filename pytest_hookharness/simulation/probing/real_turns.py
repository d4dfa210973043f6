"""
Real turns: how far a loop is played before any experiment, with or without the limits of the host.

They show what experiments cannot, so they come first: up to the allowed number, or until a part of the time
is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness import hosts
from pytest_hookharness.judging.verdict.run_end import describe_used_up, first_hooked_turn, needed_time
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.probes import ProbeReport
from pytest_hookharness.model.time_budget import format_duration
from pytest_hookharness.simulation.probing.probed_run import ProbedRun
from pytest_hookharness.simulation.probing.uncapped_turns import play_uncapped

# Part of the real time that is spent on real turns before the first experiment.
_SHARE_OF_TURNS = 1 / 3
# What no experiment changed and is named.
_MOST = 2


class RealTurns:
    """
    The real turns of one run.

    Attributes:
        uncapped: The last turn that was played without the limits of the host; ``None`` if none was tried.
    """

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
        """Play on without the limits of the host; ``None`` if they end no loop, or if that was done."""
        if self.uncapped is not None or self.find_cap(period) is None:
            return None
        repetition = self._run.last_repetition(period)
        report = play_uncapped(self._run.testbed, repetition, self._turn_limit, self._left_for_turns)
        self.uncapped = report.uncapped
        self._late = self._are_late
        return report

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
        more = f" and {len(unmoved) - _MOST} more" if len(unmoved) > _MOST else ""
        return f"{used_up}; no experiment changed {', '.join(unmoved[:_MOST])}{more}"

    def _left_for_turns(self) -> float:
        return self._run.remaining() - self._wall * (1 - _SHARE_OF_TURNS)

    @property
    def _are_late(self) -> bool:
        """Whether the time for real turns is used up; this is remembered."""
        self._late = self._late or self._left_for_turns() < 0
        return self._late
