"""What a run shows that differs by a mutation that must not matter."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.stress.mutations.environment import Shell, Unset, find_first_failure
from pytest_hookharness.campaigns.stress.mutations.filesystem import StateFile
from pytest_hookharness.campaigns.stress.mutations.hook_order import HookOrder
from pytest_hookharness.campaigns.stress.mutations.stdin import EmptyInput, KeyOrder
from pytest_hookharness.campaigns.stress.mutations.tools import FailingTool, HangingTool, WithoutTool
from pytest_hookharness.campaigns.stress.mutations.wording import (
    CONTROL,
    TRIED,
    MovedWords,
    Quoted,
    SameName,
    forms_of,
)
from pytest_hookharness.campaigns.stress.plan import join_findings
from pytest_hookharness.judging.findings.finding_catalogue import catalogue
from pytest_hookharness.model.moves import RunCommand, Stop, ToolCall, ToolResult
from pytest_hookharness.model.processes import Cut, Exited, Output, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.trace import Change, HookEvent, HookRun, Moved, Performed, Step, Trace

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
CUT = TimedOut(1.0, Cut.HOOK_TIMEOUT)
OUT_OF_BUDGET = TimedOut(1.0, Cut.BUDGET)


def asked(code=0, *, ruling=Ruling.NONE, said="", ending=None, to_agent=(), changes=(), target="Bash"):
    hook = Hook(event="PreToolUse", command="./guard.sh")
    run = ProcessResult(ending=ending or Exited(code), stderr=Output(said.encode(), len(said)))
    hook_run = HookRun(hook=hook, payload={}, run=run, reply=Reply(ruling=ruling, rule=RULE))
    refused = ruling is Ruling.DENY
    decision = Decision(event="PreToolUse", ruling=ruling, refused=refused, to_agent=to_agent, rule=RULE)
    return HookEvent(
        event="PreToolUse", target=target, hook_runs=(hook_run,), decision=decision, changes=changes
    )


def called(label, *, refused=False, code=None):
    call = ToolCall(name="Bash", input={}, label=label)
    run = None if code is None else ProcessResult(ending=Exited(code))
    return Performed(call=call, result=ToolResult(), refused=refused, run=run)


def trace(*exchanges):
    steps, turn = [], 0
    for number, exchange in enumerate(exchanges, 1):
        turn += isinstance(exchange, Moved)
        steps.append(Step(number=number, turn=turn, exchange=exchange))
    return Trace(steps=tuple(steps))


ALLOWED = asked()
REFUSED = asked(2, ruling=Ruling.DENY, said="no")
FAILED = asked(1, said="tool: not found")
SILENT = asked(1)
HELD = asked(ending=CUT)
CALL = Moved(move=RunCommand(command="rm -rf x"))

FOUND = [
    (KeyOrder(), REFUSED, ALLOWED, "RAW-JSON"),
    (KeyOrder(), ALLOWED, REFUSED, "RAW-JSON"),
    (HookOrder("PreToolUse", (2, 1)), REFUSED, ALLOWED, "ORDER"),
    (WithoutTool("jq"), REFUSED, FAILED, "UNGUARDED-TOOL"),
    (FailingTool("jq"), ALLOWED, REFUSED, "UNGUARDED-TOOL"),
    (FailingTool("jq"), ALLOWED, asked(2, ruling=Ruling.DENY, said="jq: internal error"), "UNGUARDED-TOOL"),
    (WithoutTool("jq"), REFUSED, asked(0, said="./guard.sh: 3: jq: not found"), "UNGUARDED-TOOL"),
    (WithoutTool("jq"), REFUSED, asked(1, said="jq is missing"), "UNGUARDED-TOOL"),
    (HangingTool("jq"), ALLOWED, HELD, "UNGUARDED-TOOL"),
    (WithoutTool("jq"), ALLOWED, SILENT, "STATUS-LEAK"),
    (EmptyInput(), ALLOWED, SILENT, "STATUS-LEAK"),
    (StateFile("state", "garbage", 1), ALLOWED, SILENT, "STATUS-LEAK"),
    (Unset("MODE"), ALLOWED, FAILED, "STRICT-SHELL"),
    (Unset("MODE"), ALLOWED, asked(2, ruling=Ruling.DENY, said="MODE: parameter not set"), "STRICT-SHELL"),
    (Shell("dash"), ALLOWED, SILENT, "STRICT-SHELL"),
    (Shell("dash"), REFUSED, ALLOWED, "STRICT-SHELL"),
]
NOT_FOUND = [
    (KeyOrder(), REFUSED, asked(2, ruling=Ruling.DENY, said="other words")),
    (KeyOrder(), REFUSED, asked(target="Edit")),
    (KeyOrder(), REFUSED, asked(ending=OUT_OF_BUDGET)),
    (WithoutTool("jq"), ALLOWED, FAILED),
    (WithoutTool("jq"), ALLOWED, asked(2, ruling=Ruling.DENY, said="jq is needed")),
    (WithoutTool("jq"), REFUSED, asked(0, said="guard: jq is missing, nothing is checked")),
    (HangingTool("jq"), ALLOWED, asked(2, ruling=Ruling.DENY, said="cannot read the call")),
    (HangingTool("jq"), HELD, HELD),
    (EmptyInput(), REFUSED, ALLOWED),
    (EmptyInput(), SILENT, SILENT),
    (StateFile("state", "garbage", 1), ALLOWED, FAILED),
    (Unset("MODE"), ALLOWED, REFUSED),
    (Unset("MODE"), FAILED, FAILED),
]


@pytest.mark.parametrize("mutation, before, after, name", FOUND)
def test_a_difference_is_found(mutation, before, after, name):
    """A finding names the mutation, the turn and how both hook runs ended."""
    finding = mutation.find_difference(trace(CALL, before), trace(CALL, after))

    assert finding is not None
    assert (name, 1, "./guard.sh") == (finding.name, finding.turn, finding.hook)
    assert str(mutation) in finding.text


@pytest.mark.parametrize(("code", "name"), [(0, "UNGUARDED-TOOL"), (127, None)])
def test_what_follows_from_a_command_of_the_agent_is_not_found(code, name):
    """If the agent's own command fails without the tool, decisions after it say nothing about the hook."""
    usual, seen = (trace(CALL, called("start", code=number)) for number in (0, code))
    both = [
        trace(*(step.exchange for step in one.steps), CALL, end)
        for one, end in ((usual, REFUSED), (seen, ALLOWED))
    ]

    finding = WithoutTool("jq").find_difference(*both)

    assert (finding and finding.name) == name


@pytest.mark.parametrize("mutation, before, after", NOT_FOUND)
def test_what_is_no_difference_is_not_found(mutation, before, after):
    """Other words, failures that were there before, and what a budget cut are no defects."""
    assert mutation.find_difference(trace(CALL, before), trace(CALL, after)) is None


def test_nothing_is_compared_after_the_first_other_decision():
    """Once a decision differs the sessions differ too, so what follows shows no defect."""
    usual, varied = trace(CALL, REFUSED, ALLOWED), trace(CALL, ALLOWED, SILENT)

    assert EmptyInput().find_difference(usual, varied) is None
    assert EmptyInput().find_difference(trace(CALL, ALLOWED, ALLOWED), varied) is not None


DATA = Quoted(1, "rm -rf x", "a heredoc", "cat <<END", "cat <<END", must_be_refused=False)
CODE = Quoted(1, "rm -rf x", "`sh -c`", "sh -c 'rm -rf x'", "sh -c true", must_be_refused=True)
NAMED = MovedWords(1, "echo hello", "rm -rf x", must_be_refused=False)
EXCUSED = MovedWords(1, "rm -rf x", "ls", must_be_refused=True)


@pytest.mark.parametrize(
    "mutation, refused, name",
    [
        (DATA, True, "TEXT-MATCH"),
        (CODE, False, "TEXT-MATCH"),
        (NAMED, True, "RAW-JSON"),
        (EXCUSED, False, "RAW-JSON"),
        (DATA, False, ""),
        (CODE, True, ""),
        (NAMED, False, ""),
    ],
)
def test_words_count_by_where_they_stand(mutation, refused, name):
    """Words that are only data must be allowed, and the same words as code must not."""
    usual = trace(CALL, REFUSED)
    varied = trace(CALL, called(CONTROL, refused=False), CALL, called(TRIED, refused=refused))
    finding = mutation.find_difference(usual, varied)

    assert (finding.name if finding is not None else "") == name


def test_a_question_is_told_as_such():
    """A hook that asks about words that are only data is reported as asking, as is one that misses code."""
    question = replace(REFUSED, decision=replace(REFUSED.decision, ruling=Ruling.ASK))
    varied = trace(CALL, called(CONTROL), CALL, question, called(TRIED, refused=True))
    missed = trace(CALL, called(CONTROL), CALL, ALLOWED, called(TRIED))

    asked = DATA.find_difference(trace(CALL, question), varied)
    assert asked.text == "`rm -rf x` is asked about, and so are the same words in a heredoc."
    asked = DATA.find_difference(trace(CALL, REFUSED), varied)
    assert asked.text == "`rm -rf x` is refused, and the user is asked about the same words in a heredoc."
    assert NAMED.find_difference(trace(CALL, ALLOWED), varied).text.endswith(" is asked about.")
    assert "`rm -rf x` is asked about; " in CODE.find_difference(trace(CALL, question), missed).text


@pytest.mark.parametrize("mutation", [DATA, NAMED])
def test_a_refusal_of_everything_proves_nothing(mutation):
    """If the harmless words of the same form are refused too, the words are not the reason."""
    varied = trace(CALL, called(CONTROL, refused=True), CALL, called(TRIED, refused=True))

    assert mutation.find_difference(trace(CALL, REFUSED), varied) is None


def test_a_file_of_the_same_name_is_passed_over():
    """Hooks must treat a file of another name like the first one."""
    mutation = SameName(1, "a.py", "nested/a.py")
    noted = asked(to_agent=("Mind the rules.",), changes=(Change(path="workspace/seen", how="content"),))
    other, same = (trace(CALL, noted, CALL, last, Moved(move=Stop())) for last in (noted, ALLOWED))
    finding = mutation.find_difference(other, same)

    assert finding is not None
    assert "no word to the agent and no change of a file" in finding.text
    assert mutation.find_difference(other, other) is None
    assert mutation.find_difference(same, other) is None


def test_a_failure_of_the_first_hook_run_only_is_found():
    """A hook that fails silently in its first run and never again is reported."""
    assert find_first_failure(trace(CALL, SILENT, CALL, ALLOWED)) is not None
    assert find_first_failure(trace(CALL, SILENT, CALL, SILENT)) is None
    assert find_first_failure(trace(CALL, SILENT)) is None
    assert find_first_failure(trace(CALL, FAILED, CALL, ALLOWED)) is None


def test_findings_of_one_kind_are_reported_once():
    """Several mutations that show the same about one hook make one finding with the first few of them."""
    mutations = [Unset(name) for name in "ABCDE"]
    usual, varied = trace(CALL, ALLOWED), trace(CALL, FAILED)
    (joined,) = join_findings([(one, one.find_difference(usual, varied)) for one in mutations])

    assert joined.times == 5
    assert "the variable D not set; 1 more." in joined.text


def test_data_and_code_are_two_findings():
    """Refused data and allowed code are two findings."""
    usual = trace(CALL, REFUSED)
    tried = ((DATA, True), (CODE, False))
    runs = [(one, trace(called(CONTROL, refused=False), called(TRIED, refused=bad))) for one, bad in tried]
    joined = [*join_findings([(one, one.find_difference(usual, varied)) for one, varied in runs])]

    assert ["so are", "let through"] == [
        word for one in joined for word in ("so are", "let through") if word in one.text
    ]


def test_every_form_of_a_command_is_there_as_data_and_as_code():
    """A command of plain words is written down in each way; one with other signs is not given to xargs."""
    forms = [*forms_of("rm -rf build")]

    assert {False, True} == {one.code for one in forms}
    assert {"xargs"} == {one.form for one in forms} - {one.form for one in forms_of("rm -rf 'a b'")}


def test_codes_of_pitfalls_are_in_the_catalogue():
    """Every code that a mutation can find is one of the catalogue."""
    names = {code.name for code in catalogue()}

    assert {name for *_, name in FOUND} | {"TEXT-MATCH", "BASENAME"} <= names
