"""
This module is concerned with laps: whether the newest signs go round in a circle of some period.

Middle floor: judging. Pure. For each period one number is kept: how many signs in a row were like the one
that stands a period before. A circle is closed when that number reaches all laps but the first. So a step
costs one comparison for each period, however long the stream is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_hookharness.judging.detectors.limits import Limits
from pytest_hookharness.judging.detectors.signs import Sign


@dataclass(frozen=True, slots=True)
class Laps:
    """
    What is remembered of the newest signs.

    Attributes:
        recent: The newest signs, the newest last; as many as the longest period is long.
        runs: For each period from 1 how many signs in a row were like the one a period before.
    """

    recent: tuple[Sign, ...] = ()
    runs: tuple[int, ...] = ()

    def follow(self, new: Sign, limits: Limits) -> Laps:
        """
        The same after one more sign.
        """
        longest = limits.longest
        return Laps((*self.recent, new)[-longest:], self._runs(new.alike, longest))

    def _runs(self, alike: Callable[[Sign], bool], longest: int) -> tuple[int, ...]:
        recent, runs = self.recent, self.runs
        known = len(recent)
        return tuple(
            [
                (runs[place] if place < len(runs) else 0) + 1 if alike(recent[known - 1 - place]) else 0
                for place in range(min(known, longest))
            ]
        )

    def foresee(self, deeds: frozenset[str], limits: Limits) -> int:
        """
        The period of the circle that a call would close, if it came out as before; 0 for none.
        """
        runs = self._runs(lambda old: old.deed in deeds, limits.longest)
        return _closed(runs, limits)

    def closed(self, limits: Limits) -> int:
        """
        The smallest period of a circle that is closed; 0 for none.
        """
        return _closed(self.runs, limits)


def _closed(runs: tuple[int, ...], limits: Limits) -> int:
    for period, run in enumerate(runs, 1):
        if run >= (limits.laps - 1) * period:
            return period
    return 0
