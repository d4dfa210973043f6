"""Refusals that name nothing to act on."""

from types import MappingProxyType

import pytest

from pytest_hookharness.judging.expectations.end_of_run import broken_findings
from pytest_hookharness.judging.findings.find import find
from pytest_hookharness.judging.findings.hook_messages import names_something
from pytest_hookharness.model.expectations import CapExpectation, Expectation
from pytest_hookharness.model.moves import Prompt, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Happened, HookEvent, HookRun, Moved, Step, Trace
from pytest_hookharness.model.verdicts import Livelock

STOP = Moved(move=Stop())
RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")


def refusals(*reasons, silent=False, cause=STOP, payload=MappingProxyType({}), ruling=Ruling.DENY):
    """A trace in which a hook refused with these reasons, one per turn."""

    def hooked(reason):
        reply = Reply(ruling=ruling, reason=reason, silent=silent, rule=RULE)
        hook_run = HookRun(hook=Hook(event="Stop", command="./gate.sh"), payload=payload, reply=reply)
        refusal = {"reasons": (reason,), "refused": True}
        decision = Decision(event="Stop", ruling=ruling, rule=RULE, **refusal)
        return HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision)

    turns = ((turn, one) for turn, reason in enumerate(reasons, 1) for one in (cause, hooked(reason)))
    return Trace(steps=tuple(Step(number=n, turn=turn, exchange=one) for n, (turn, one) in enumerate(turns)))


def test_three_times_nothing():
    """A reason that names nothing and comes three times is a finding with its text, its hook and turn."""
    (finding,) = find(refusals("Not yet.", "Not yet.", "Not yet."))

    assert (finding.name, finding.hook, finding.turn) == ("EMPTY-ADVICE", "./gate.sh", 1)
    assert 'refused 3 times with nothing but "Not yet."' in finding.text


def test_a_question_is_for_a_person():
    """The user sees the reason of a question beside the call."""
    assert find(refusals(*["Not yet."] * 3, ruling=Ruling.ASK)) == ()


def test_a_rule_about_files():
    """A reason that says in words of its own why a file is kept is enough, and one without any is not."""
    payload = {"tool_input": {"file_path": "/work/poetry.lock"}}
    assert find(refusals(*["The package manager owns these."] * 3, payload=payload)) == ()
    (finding,) = find(refusals(*["Not here."] * 3, payload=payload))
    assert finding.name == "EMPTY-ADVICE"


@pytest.mark.parametrize(
    "reason",
    [
        "CI is not green; push again",
        "Rebase your branch onto main",
        "Document the new functions",
        "Bump the version",
        "Summarise what you did",
        "Tests are red. Stash your changes.",
    ],
)
def test_an_order(reason):
    """Any verb with an object counts as an order."""
    assert names_something(reason)


@pytest.mark.parametrize(
    "reason",
    ["Not yet.", "Refused the end.", "This is not the end.", "No, not the time."],
)
def test_no_order(reason):
    """A reason that states a fact and names no action is not enough."""
    assert not names_something(reason)


def test_nothing_without_end():
    """In a loop that is known to be endless two times are enough, and one is not."""
    twice, once = refusals("Not yet.", "Not yet."), refusals("Not yet.")

    assert [finding.name for finding in find(twice, endless=True)] == ["EMPTY-ADVICE"]
    assert find(once, endless=True) == find(twice) == ()


def test_a_host_adds_no_advice():
    """The command that a host puts before a reason, and the host's own words, are no advice."""
    (finding,) = find(refusals(*["[./gate.sh]: no"] * 3))

    assert 'refused 3 times with nothing but "no"' in finding.text
    silent = find(refusals(*["[./gate.sh]: no words"] * 3, silent=True))
    assert {"SILENT-REFUSAL"} == {finding.name for finding in silent}


@pytest.mark.parametrize(
    "reasons",
    [
        ["Not yet."] * 2,
        ["Not yet.", "Never.", "No way."],
        ["Not yet: `make lint` fails."] * 5,
        ["Run the linter."] * 5,
    ],
)
def test_advice_and_variety_pass(reasons):
    """A reason that comes twice, that changes, or that names something is no finding."""
    assert find(refusals(*reasons)) == ()


@pytest.mark.parametrize(
    ("command", "found"), [("rm -rf build", []), ("git clean -fdx", ["EMPTY-ADVICE"]), ("", ["EMPTY-ADVICE"])]
)
def test_a_reason_that_names_the_refused_command(command, found):
    """A reason with a word of the command that it refuses names something to act on."""
    refused = refusals(*["BLOCKED: Dangerous rm command"] * 3, payload={"tool_input": {"command": command}})

    assert [finding.name for finding in find(refused)] == found


def test_a_prohibition():
    """A reason that says what is not done is enough for a command, and not where the agent is to go on."""
    said = ["No mirrored pushes."] * 3

    assert find(refusals(*said, payload={"tool_input": {"command": "git push --mirror"}})) == ()
    assert find(refusals(*said, payload={"toolArgs": '{"command": "git push --mirror"}'})) == ()
    assert [finding.name for finding in find(refusals(*said))] == ["EMPTY-ADVICE"]


def test_only_moves_of_the_agent_count():
    """Refused prompts are no finding: their reason is for the person, and the agent never saw them."""
    assert find(refusals(*["no"] * 5, cause=Happened(event=Prompt(text="Go.")))) == ()


@pytest.mark.parametrize(
    ("expect", "fails"),
    [
        (Expectation(verdict="livelock"), False),
        (Expectation(verdict="capped"), False),
        (Expectation(period=1), False),
        (Expectation(cap=CapExpectation(overrides=9)), False),
        (Expectation(verdict="terminated"), True),
        (Expectation(), True),
    ],
)
def test_an_expected_loop_is_no_failure(expect, fails):
    """A scenario that expects the loop does not fail because its reason names nothing to act on."""
    seen = refusals(*["no"] * 5)
    outcome = Outcome(
        scenario=Scenario(name="x", expect=expect),
        host="h",
        trace=seen,
        verdict=Livelock(stem=1, period=1),
        findings=find(seen),
    )
    assert any(broken_findings(outcome, expect)) is fails


@pytest.mark.parametrize(
    ("reason", "something"),
    [
        ("never", False),
        ("Blocked by policy.", False),
        ("You are not allowed to", False),
        ("Blocked by policy: src/app.py", True),
        ("ruff: 3 problems", True),
        ("eslint: not found", True),
        ("Denied: never", False),
        ("no --force", True),
        ("create it", True),
        ("Tests fail; fix them", True),
        ("\u4e0d\u884c", True),
        ("x" * 10_000, True),
    ],
)
def test_things_and_steps(reason, something):
    """Files, options, numbers, quotes, other alphabets and usual words for actions count as advice."""
    assert names_something(reason) is something


@pytest.mark.parametrize("letters", ["`", "<", "[{", "'\"", "a ", "-"])
def test_hostile_reasons_take_no_time(letters):
    """A long reason of opening brackets is not searched for their ends."""
    assert names_something(letters * 1_000_000)
