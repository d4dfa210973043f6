"""Runs that are probed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.session.history import History, Repetition
from pytest_hookharness.simulation.testbed.testbed import Testbed

if TYPE_CHECKING:
    from pytest_hookharness.judging.state_diff.number_formats import SessionClock


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedRun:
    """
    A run that is probed, with what its probes need.

    Attributes:
        turn_limit: The number of turns after which it is cut.
        remaining: Returns the seconds of real time that are left.
        on_probe: Called after each probe.
        began: The time that files got when it began, in nanoseconds.
        started: The time of the hooks' clock when it began, in seconds since the epoch.
    """

    driver: SessionDriver
    history: History
    turn_limit: int
    remaining: Callable[[], float]
    on_probe: Callable[[], None]
    began: int
    started: float

    @property
    def testbed(self) -> Testbed:
        """Where it takes place."""
        return self.driver.testbed

    @property
    def clock(self) -> SessionClock:
        """The beginning of the run and the present, by the hooks' clock."""
        # Only runs that are compared in detail need it.
        from pytest_hookharness.judging.state_diff.number_formats import SessionClock

        return SessionClock(started=self.started, now=self.testbed.workspace.clock.now)

    def last_repetition(self, period: int) -> Repetition:
        """Return the repetition that it has just completed."""
        return self.history.last_repetition(self.driver, period)
