"""Claims about the exit status of `check --stress`, on plain values."""

from dataclasses import replace

import pytest

from pytest_hookharness.frontends.checkup import CLEAN, FOUND, UNKNOWN
from pytest_hookharness.frontends.cli.check_campaigns import stress_status
from pytest_hookharness.judging.findings.finding_catalogue import NEVER_FIRED, UNREACHED
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.mutations import TrialResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace
from pytest_hookharness.model.verdicts import Finding, Livelock, Terminated, Violation

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
FINE = TrialResult(family="path", mutation="a space", hook="hook.sh", outcome="as declared")


def asked(*events, refused=False):
    """An outcome with one hook run of each event, and one trial result without a deviation."""
    ruling = Ruling.DENY if refused else Ruling.NONE
    steps = []
    for turn, event in enumerate(events, 1):
        hook_run = HookRun(
            hook=Hook(event=event, command="hook.sh"),
            payload={},
            stdin=b"",
            run=ProcessResult(ending=Exited(0)),
            reply=Reply(ruling=ruling, rule=RULE),
        )
        decision = Decision(event=event, ruling=ruling, refused=refused, rule=RULE)
        hooked = HookEvent(event=event, hook_runs=(hook_run,), decision=decision)
        steps.append(Step(number=turn, turn=turn, exchange=hooked))
    return Outcome(
        scenario=Scenario(name="test"),
        host="claude-code@1",
        trace=Trace(steps=tuple(steps)),
        verdict=Terminated(turn=1),
        trial_results=(FINE,),
    )


def with_finding(outcome, code):
    """The same outcome with a finding, which fails its expectation."""
    found = Finding(code=code.code, name=code.name, text="", advice="", turn=1)
    broken = Violation(path="expect.findings", expected="none", seen=code.name)
    return replace(outcome, findings=(found,), violations=(broken,))


@pytest.mark.parametrize("event", ["Stop", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd"])
def test_hooks_that_only_take_notes_are_as_declared(event):
    """A hook that guards no tool call and refuses nothing is fine if every trial result is."""
    assert stress_status(asked(event)) == CLEAN


def test_a_guard_must_refuse_something():
    """Hooks before tools that refuse nothing make the result unknown, even if a stop was refused."""
    assert stress_status(asked("PreToolUse")) == UNKNOWN
    assert stress_status(asked("PreToolUse", refused=True)) == CLEAN


def test_an_author_says_that_nothing_is_refused():
    """Hooks before tools that are said to refuse nothing are fine if they do not, and wrong if they do."""
    assert stress_status(asked("PreToolUse"), refuses_nothing=True) == CLEAN
    assert stress_status(asked("PreToolUse", refused=True), refuses_nothing=True) == FOUND


@pytest.mark.parametrize("code", [NEVER_FIRED, UNREACHED])
def test_a_hook_that_was_never_asked_is_not_known(code):
    """Findings only about hooks that never ran make the result unknown."""
    assert stress_status(with_finding(asked("Stop"), code)) == UNKNOWN


def test_one_deviation_decides():
    """A single trial result that is not as declared decides."""
    odd = replace(FINE, outcome="fail-open")

    assert stress_status(replace(asked("PreToolUse"), trial_results=(FINE, odd))) == FOUND


def test_hooks_that_fail_without_a_mutation_are_found():
    """An endless loop fails the run even if no mutation makes it worse, unless the scenario expects it."""
    looped = replace(asked("Stop"), verdict=Livelock(stem=0, period=1))
    assert stress_status(looped) == FOUND
    expected = replace(looped.scenario, expect=Expectation(verdict="livelock"))
    assert stress_status(replace(looped, scenario=expected)) == CLEAN
