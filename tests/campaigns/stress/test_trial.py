"""Trials and the runs that they are compared with, on plain values."""

from pytest_hookharness.campaigns.stress.trial import Controls
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Terminated


def test_controls_are_made_once():
    """Runs with nothing different are made when they are first asked for, and serve all that ask later."""
    made = []

    def play(scenario):
        made.append(scenario.name)
        return Outcome(scenario=scenario, host="x", trace=Trace(), verdict=Terminated(turn=1))

    controls = Controls(Scenario(name="test"))

    assert [len(controls.take(number, play)) for number in (1, 2, 2, 1)] == [1, 2, 2, 1]
    assert made == ["test", "test"]
