"""Claims about refused commands that are reworded as data and as other code."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.guards.rewording import (
    Refusals,
    Suspect,
    allowed_as_code,
    misjudged,
    refused_as_data,
    refused_moves,
    reword,
)
from pytest_hookharness.campaigns.stress.mutations.wording import forms_of
from pytest_hookharness.model.moves import Edit, RunCommand, Script, Stop, ToolCall, ToolResult, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Basis, Decision, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, Performed, Step, Trace
from pytest_hookharness.model.verdicts import Terminated

RULE = Rule("It asks the user.", Basis.OBSERVED, "a host")
COMMAND = "rm -rf build"
FORMS = {one.form: one.text for one in forms_of(COMMAND)}


def answered(refuses, *commands):
    """What a guard showed that refuses some of the command lines."""
    made = [
        act for act in reword("claude-code", commands or [COMMAND]) if isinstance(act, RunCommand | Tools)
    ]
    calls = [
        ToolCall(name="Bash", input={"command": act.command, "description": "Runs"})
        if isinstance(act, RunCommand)
        else act.calls[0]
        for act in made
    ]
    steps = tuple(
        Step(
            number=place,
            turn=place,
            exchange=Performed(call=call, result=ToolResult(), refused=refuses(str(call.input))),
        )
        for place, call in enumerate(calls, 1)
    )
    return Outcome(
        scenario=Scenario(name="check"),
        host="claude-code",
        trace=Trace(steps=steps),
        verdict=Terminated(turn=1),
    )


def test_words_that_are_no_data_there():
    """A guard of messages may refuse a message for its words, and a comment ends with its line."""
    assert {"a commit message", "a title", "a comment"} <= {one.form for one in forms_of("git push")}
    of_messages = {one.form for one in forms_of("git commit -m done")}
    assert not {"a commit message", "a title"} & of_messages
    assert "a comment" not in {one.form for one in forms_of("cat <<'END'\ntext\nEND")}


def test_guard_that_looks_for_words_takes_data_for_code():
    """A guard that refuses the words in any place is reported, with the first wording of each kind."""
    seen = answered(lambda text: COMMAND in text)
    described, quoted = refused_as_data(seen, [COMMAND])
    assert described == Suspect(COMMAND, "words", f"`echo hello` described as `{COMMAND}`")
    assert quoted == Suspect(COMMAND, "quoting", "the same words in a heredoc")


def test_guard_that_splits_at_semicolons_takes_data_for_code():
    """A guard that splits a line at semicolons, without reading quotes, is reported."""
    seen = answered(lambda text: f"; {COMMAND}" in text)
    assert [*refused_as_data(seen, [COMMAND])] == [
        Suspect(COMMAND, "quoting", "the same words in an argument of echo")
    ]


def test_guard_that_refuses_everything_takes_nothing_for_code():
    """Where harmless words are refused as well, a refusal says nothing of the words."""
    assert [*refused_as_data(answered(lambda _: True), [COMMAND])] == []


def test_forms_of_code_that_are_allowed_are_reported():
    """A guard that checks only the start of a command is reported only for what it allows."""
    seen = answered(lambda text: text.startswith("{'command': 'rm"))
    assert [*refused_as_data(seen, [COMMAND])] == []
    ((command, forms),) = allowed_as_code(seen, [COMMAND])
    assert (command, forms[:2]) == (COMMAND, ("`sh -c`", "`bash -c`"))


def test_a_command_that_is_put_together_is_reported():
    """A guard that finds the words everywhere is bypassed with xargs, which is reported."""
    seen = answered(lambda text: COMMAND in text)
    assert [*allowed_as_code(seen, [COMMAND])] == [(COMMAND, ("xargs",))]


def test_commands_with_the_same_gap_are_named_together():
    """Of commands that are allowed in the same forms a check says it in one sentence."""
    commands = (COMMAND, "rm -rf dist", "rm -rf out")
    seen = answered(lambda text: any(command in text for command in commands), *commands)
    refusals = [Refusals(str(place), (command,)) for place, command in enumerate(commands)]
    assert misjudged([seen], refusals)[1] == [
        "`rm -rf build`, `rm -rf dist`, `rm -rf out` are refused, but allowed in these forms: xargs."
    ]


def test_a_command_that_the_user_is_asked_about_is_not_told_as_refused():
    """Where a hook asks the user, a check says so of the commands that are allowed in other forms."""
    seen = answered(lambda text: COMMAND in text)
    steps = [*seen.trace.steps]
    for step in seen.trace.steps:
        if step.exchange.refused:
            decision = Decision(event="PreToolUse", ruling=Ruling.ASK, refused=True, rule=RULE)
            asked = HookEvent(event="PreToolUse", decision=decision)
            steps.append(Step(number=len(steps) + 1, turn=step.turn, exchange=asked))
    asking = replace(seen, trace=Trace(steps=tuple(steps)))

    said = [misjudged([one], [Refusals("g.sh", (COMMAND,))])[1] for one in (asking, seen)]

    assert said == [
        [f"`{COMMAND}` is asked about, but allowed in these forms: xargs."],
        [f"`{COMMAND}` is refused, but allowed in these forms: xargs."],
    ]


def test_files_are_spoken_of_after_a_control():
    """Texts that speak of refused files come after one that speaks of nothing, and all must be allowed."""
    edits = [act for act in reword("claude-code", [], [".env"]) if isinstance(act, Edit)]
    assert [(edit.expect, ".env" in edit.text) for edit in edits] == [("allow", False), ("allow", True)]


def test_what_is_allowed_everywhere_is_allowed_in_no_special_form():
    """If the command itself was allowed, the forms in which it was allowed are not reported."""
    assert [*allowed_as_code(answered(lambda _: False), [COMMAND])] == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("command", "refuses"),
    [
        ("sed -n p missing.txt", False),
        ("set -e; grep '[' x.txt; exit 0", False),
        ("sed -n p missing.txt; echo Not here. >&2; exit 2", True),
        ("echo 'Ask sed: it knows.' >&2; exit 2", True),
    ],
)
def test_a_program_that_failed_refuses_nothing(harness, command, refuses):
    """A hook that ends with the status of a program that failed did not mean to refuse a call."""
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}
    acts = (RunCommand(command="make"), Stop())
    outcome = harness.simulate(
        Scenario(name="x", host="claude-code", hooks=hooks, script=Script(acts=acts), turns=2)
    )

    assert bool([*refused_moves(outcome)]) == refuses
