"""
A scenario with a mutation: one thing is different, and nothing is executed that was not executed before.
"""

from dataclasses import fields

import pytest

from pytest_hookharness.campaigns.stress.first_run import ReplayScript, without_expectations
from pytest_hookharness.campaigns.stress.mutations.environment import Shell, Unset
from pytest_hookharness.campaigns.stress.mutations.filesystem import StateFile
from pytest_hookharness.campaigns.stress.mutations.hook_order import HookOrder
from pytest_hookharness.campaigns.stress.mutations.other_sessions import TwoAgents, TwoProcesses, TwoSessions
from pytest_hookharness.campaigns.stress.mutations.stdin import EmptyInput, KeyOrder
from pytest_hookharness.campaigns.stress.mutations.tools import FailingTool, HangingTool, WithoutTool
from pytest_hookharness.campaigns.stress.mutations.wording import MovedWords, Quoted, SameName
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import FIRST_PROMPT, Corrupt, Edit, RunCommand, Stop, Tools
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.model.trace import Happened, Moved, Step, Trace

SCENARIO = Scenario(
    name="x",
    env={"MODE": "x"},
    commands={"jq": Double(), "npm": Double()},
    vary=(VaryRequest("key-order"),),
    expect=Expectation(verdict="livelock"),
)
REMOVES = RunCommand(command="rm -rf x", expect="deny")
EDITS = Edit(file="src/a.py", text="b", old="a")
ACTS = (
    (0, Happened(event=FIRST_PROMPT)),
    (1, Moved(move=EDITS)),
    (2, Moved(move=REMOVES)),
    (3, Moved(move=Stop())),
)
REPLAY = ReplayScript.of(
    Trace(
        steps=tuple(Step(number=number, turn=turn, exchange=one) for number, (turn, one) in enumerate(ACTS))
    )
)
ONE_FIELD = [
    (KeyOrder(), "payload"),
    (EmptyInput(), "stdin"),
    (Unset("MODE"), "unset"),
    (Shell("dash"), "shell"),
    (Shell(env={"BASH_COMPAT": "3.2"}), "env"),
    (HookOrder("Stop", (2, 1)), "order"),
    (FailingTool("jq"), "commands"),
    (HangingTool("git"), "commands"),
    (WithoutTool("git"), "hidden"),
    (StateFile(".n", "empty", 1), "script"),
    (TwoAgents(), "company"),
    (TwoSessions(), "company"),
    (TwoProcesses(), "relaunched"),
]
QUOTED = Quoted(2, "rm -rf x", "`sh -c`", "sh -c 'rm -rf x'", "sh -c 'echo hello'", must_be_refused=True)
TEXT = Quoted(
    2, "rm -rf x", "an argument of echo", "echo 'rm -rf x'", "echo 'echo hello'", must_be_refused=False
)


def mutated(mutation):
    """The scenario with a mutation."""
    return mutation.apply(without_expectations(SCENARIO), REPLAY)


def differing(one, other):
    return {item.name for item in fields(one) if getattr(one, item.name) != getattr(other, item.name)}


@pytest.mark.parametrize("mutation, field", ONE_FIELD)
def test_one_thing_is_different(mutation, field):
    """Apart from the expectations, which are left out, a mutated scenario differs in one field."""
    assert differing(without_expectations(SCENARIO), mutated(mutation)) == {field}


def test_a_double_does_not_stand_in_for_a_hidden_command():
    """A command that is hidden is no double any more, and other doubles stay."""
    changed = mutated(WithoutTool("jq"))

    assert (("jq",), {"npm": Double()}) == (changed.hidden, changed.commands)


def test_a_file_is_harmed_between_two_turns():
    """The agent does the same again, and the harm comes right after the turn that is named."""
    acts = mutated(StateFile(".n", "garbage", 1)).script.acts

    assert [FIRST_PROMPT, EDITS, Corrupt(file=".n", how="garbage"), REMOVES, Stop()] == [*acts]


@pytest.mark.parametrize("mutation, calls", [(QUOTED, 1), (TEXT, 2)])
def test_commands_are_only_asked_about(mutation, calls):
    """The refused call is replaced by calls with a result, the harmless one first if it is needed."""
    acts = mutated(mutation).script.acts
    asked = acts[2:-1]

    assert (FIRST_PROMPT, EDITS) == acts[:2]
    assert calls == len(asked)
    assert all(isinstance(one, RunCommand) and one.given is not None for one in asked)
    assert asked[-1].command == mutation.text


def test_moved_words_stand_in_the_description():
    """The command is the harmless one, and the refused words describe it."""
    mutation = MovedWords(2, "echo hello", "rm -rf x", must_be_refused=False)
    *_, tried, _ = mutated(mutation).script.acts

    assert isinstance(tried, Tools)
    assert {"command": "echo hello", "description": "rm -rf x"} == dict(tried.calls[0].input)
    assert tried.calls[0].given is not None


def test_a_twin_has_the_same_base_name_in_another_folder():
    """The move is made once more on a file that holds the passage that it replaces."""
    same = SameName.of(1, "src/a.py")
    other = same.reference
    changed = mutated(same)

    assert ("src/nested/other-a.py", "src/nested/a.py") == (other.twin, same.twin)
    assert {"src/nested/a.py": "a"} == changed.files
    assert [FIRST_PROMPT, EDITS, Edit(file=same.twin, text="b", old="a"), Stop()] == [*changed.script.acts]
