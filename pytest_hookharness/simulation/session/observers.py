"""
Observers of a run.

An observer changes nothing, and hears nothing of runs that are only for comparison.
"""

from __future__ import annotations

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import State, Step
from pytest_hookharness.simulation.testbed.testbed import Testbed


class Observer:
    """
    Observer that ignores every event; the base of all observers.
    """

    def begin(self, testbed: Testbed) -> None:
        """
        Called when the testbed is ready.
        """

    def step(self, step: Step) -> None:
        """
        Called after each step, when none of its processes runs any more.
        """

    def state(self, turn: int, state: State) -> None:
        """
        Called after each turn with the state that it left.
        """

    def end(self, outcome: Outcome) -> None:
        """
        Called with the final outcome, which includes everything that was compared with the run.
        """
