"""
The witness: who is told of each step and each state as soon as it is there.

Witnesses change nothing; of what is played for comparison they are not told.
"""

from __future__ import annotations

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import State, Step
from pytest_hookharness.simulation.testbed.testbed import Testbed


class Observer:
    """
    One who looks away; others do something with what they are told.
    """

    def begin(self, stage: Testbed) -> None:
        """
        The stage is set.
        """

    def step(self, step: Step) -> None:
        """
        A step has taken place, and no process of it lives any more.
        """

    def state(self, turn: int, state: State) -> None:
        """
        A turn is over, and this is the state after it.
        """

    def end(self, outcome: Outcome) -> None:
        """
        The simulation is over; the outcome includes the runs it was compared with.
        """
