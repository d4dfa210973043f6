"""Claims about the outcome as a value."""

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Terminated, Violation


def test_a_failed_assertion_shows_one_line():
    """The text of an outcome is one line: scenario, host, verdict, and what was expected."""
    broken = Violation(path="expect.verdict", expected="livelock", seen="terminated")
    scenario = Scenario(name="lint", host="codex")
    outcome = Outcome(
        scenario=scenario,
        host="codex@1",
        trace=Trace(steps=()),
        verdict=Terminated(turn=1),
        violations=(broken,),
    )

    assert repr(outcome) == "<Outcome lint[codex] on codex@1, terminated, expect.verdict: expected livelock>"
