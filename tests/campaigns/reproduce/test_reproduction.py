"""Comparison of the refusals of a replay with those of a transcript."""

import pytest

from pytest_hookharness.campaigns.reproduce.reproduction import UNKNOWN_CAUSE, compare
from pytest_hookharness.model.actions import HookRefusal
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace
from pytest_hookharness.model.verdicts import Terminated

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")


def replay(event, reason):
    """A replay in which one event was refused once."""
    hook_run = HookRun(
        hook=Hook(event=event, command="./gate.sh"),
        payload={},
        reply=Reply(ruling=Ruling.DENY, reason=reason, rule=RULE),
    )
    decision = Decision(event=event, ruling=Ruling.DENY, refused=True, reasons=(reason,), rule=RULE)
    hooked = HookEvent(event=event, hook_runs=(hook_run,), decision=decision)
    trace = Trace(steps=(Step(number=1, turn=1, exchange=hooked),))
    return Outcome(scenario=Scenario(name="r"), host="codex@1", trace=trace, verdict=Terminated(turn=1))


@pytest.mark.parametrize(
    ("event", "said", "same", "cause"),
    [
        ("Stop", "3 tests fail.", 1, ""),
        ("Stop", "The tests are red.", 0, "is refused here too, but with another text"),
        ("PreToolUse", "2 tests fail.", 0, "no hook ran on Stop"),
    ],
)
def test_why_a_refusal_differs(event, said, same, cause):
    """A refusal with another text has a cause of its own; without a hook run, the settings are missing."""
    recorded = [(HookRefusal(event="Stop", hook="./gate.sh", reason="2 tests fail."),)]
    seen = compare(recorded, replay(event, said), "/p", of_subagent=False)
    assert seen.same == same
    assert cause in seen.cause
    assert seen.cause != UNKNOWN_CAUSE
