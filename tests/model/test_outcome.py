"""Claims about the outcome as a value."""

import pytest

from pytest_hookharness.model.name_hint import UnknownName
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


@pytest.mark.parametrize(
    "ask",
    [
        lambda outcome: outcome.blocks("Stp"),
        lambda outcome: outcome.decisions("Stp"),
        lambda outcome: outcome.reasons("Stp"),
        lambda outcome: outcome.hook_runs("Stp"),
    ],
)
def test_a_misspelled_event_is_an_error(ask):
    """Asking about an event that the host does not have is an error, not a count of 0."""
    known = Outcome(
        scenario=Scenario(name="lint", host="codex"),
        host="codex@1",
        trace=Trace(steps=()),
        verdict=Terminated(turn=1),
        events=("Stop", "PreToolUse"),
    )
    with pytest.raises(UnknownName, match="has no event 'Stp'; did you mean 'Stop'"):
        ask(known)
    assert (known.blocks("Stop"), known.hook_runs("./lint.sh")) == (0, 0)
