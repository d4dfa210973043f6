"""How hooks took a fault, by the hook runs of two runs with the same moves."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.stress.mutation import strongest
from pytest_hookharness.campaigns.stress.mutations.folders import Placed
from pytest_hookharness.campaigns.stress.mutations.stdin import Fed
from pytest_hookharness.campaigns.stress.mutations.tools import WithoutTool
from pytest_hookharness.campaigns.stress.plan import join_findings
from pytest_hookharness.campaigns.stress.trial import declare
from pytest_hookharness.model.delivery import Delivery
from pytest_hookharness.model.processes import Cut, Exited, NotStarted, Output, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
PATH = Placed("a space", "my project")
TOOL = WithoutTool("jq", fault=True)
EMPTY = Fed("nothing on standard input", Delivery(shape="empty"))
REFUSES, LETS_GO = Exited(2), Exited(0)
NO_FILE = Exited(127)
CUT = TimedOut(1.0, Cut.HOOK_TIMEOUT)


def ran(*endings, command="guard.sh", event="PreToolUse"):
    """A run in which one hook ended so in each turn; only exit code 2 refuses."""
    steps = []
    for turn, ending in enumerate(endings, 1):
        ruling = Ruling.DENY if ending == REFUSES else Ruling.NONE
        hook_run = HookRun(
            hook=Hook(event=event, command=command),
            payload={},
            stdin=b"x" * 9,
            run=ProcessResult(ending=ending, stdin_taken=4, stderr=Output(b"why\n", 4)),
            reply=Reply(ruling=ruling, rule=RULE),
        )
        decision = Decision(event=event, ruling=ruling, refused=ruling is Ruling.DENY, rule=RULE)
        hooked = HookEvent(event=event, hook_runs=(hook_run,), decision=decision)
        steps.append(Step(number=turn, turn=turn, exchange=hooked))
    return Trace(steps=tuple(steps))


def outcomes(usual, faulty, fault=PATH, directions=None):
    """Payload, outcome and defect of each hook."""
    found = strongest(declare(one, directions or {}) for one in fault.compare(usual, faulty))
    return [(one.payload, one.outcome, one.finding and one.finding.name) for one in found]


@pytest.mark.parametrize(("event", "advice"), [("PreToolUse", "Refuse if"), ("AfterAgent", "Allow the stop")])
def test_a_stop_is_not_to_be_refused_for_a_fault(event, advice):
    """The advice is to refuse a call that a fault lets pass, but to allow a stop, so that no loop begins."""
    (seen,) = PATH.compare(ran(REFUSES, event=event), ran(LETS_GO, event=event))
    assert seen.finding.name == "FAILS-OPEN"
    assert seen.finding.advice.startswith(advice)


@pytest.mark.parametrize(
    "before, after, row",
    [
        (REFUSES, REFUSES, ("deny", "as declared", None)),
        (LETS_GO, LETS_GO, ("allow", "as declared", None)),
        (REFUSES, LETS_GO, ("deny", "fail-open", "FAILS-OPEN")),
        (LETS_GO, REFUSES, ("allow", "fail-closed", "FAILS-CLOSED")),
        (REFUSES, NO_FILE, ("deny", "inert", "INERT")),
        (LETS_GO, NO_FILE, ("allow", "inert", "INERT")),
        (LETS_GO, NotStarted("gone"), ("allow", "inert", "INERT")),
        (REFUSES, CUT, ("deny", "hung", "HANGS")),
        (CUT, CUT, ("allow", "as declared", None)),
    ],
)
def test_an_outcome_follows_from_two_hook_runs(before, after, row):
    """How a hook took a fault follows from what it did without it and with it."""
    assert outcomes(ran(before), ran(after)) == [row]


@pytest.mark.parametrize(
    "directions, before, after, row",
    [
        ({"": "allow"}, REFUSES, LETS_GO, ("deny", "as declared", None)),
        ({"": "block"}, REFUSES, LETS_GO, ("deny", "fail-open", "FAILS-OPEN")),
        ({"": "block"}, LETS_GO, REFUSES, ("allow", "as declared", None)),
        ({"": "allow"}, LETS_GO, REFUSES, ("allow", "fail-closed", "FAILS-CLOSED")),
        ({"": "block", "guard": "allow"}, REFUSES, LETS_GO, ("deny", "as declared", None)),
        ({"other": "allow"}, REFUSES, LETS_GO, ("deny", "fail-open", "FAILS-OPEN")),
        ({"": "allow"}, REFUSES, NO_FILE, ("deny", "inert", "INERT")),
    ],
)
def test_a_declared_direction_is_no_defect(directions, before, after, row):
    """What a hook is declared to do when it cannot decide is as declared; not to run at all is not."""
    assert outcomes(ran(before), ran(after), directions=directions) == [row]


def test_a_script_without_its_tool_did_run():
    """Exit code 127 of a script whose last command is hidden says nothing of the script itself."""
    assert outcomes(ran(REFUSES), ran(NO_FILE), TOOL) == [("deny", "fail-open", "FAILS-OPEN")]


def test_what_our_budget_cut_shows_nothing():
    """A hook run that the end of our time budget cut gives no evidence at all."""
    assert outcomes(ran(REFUSES), ran(TimedOut(1.0, Cut.BUDGET))) == []


def test_every_asking_is_compared():
    """A decision that differs hides no later one, and the most telling evidence stands for its payload."""
    usual, faulty = ran(REFUSES, REFUSES, LETS_GO), ran(LETS_GO, NO_FILE, REFUSES)

    assert sorted(outcomes(usual, faulty)) == [
        ("allow", "fail-closed", "FAILS-CLOSED"),
        ("deny", "inert", "INERT"),
    ]


def test_bytes_taken_are_reported_where_input_is_the_fault():
    """The evidence says how many bytes the hook took, and that the host's write fails."""
    (evidence,) = EMPTY.compare(ran(REFUSES), ran(LETS_GO))

    assert evidence.text.endswith("4 of 9 bytes taken; the host's write fails")


def test_what_a_hook_says_is_quoted_without_the_path_of_its_workspace():
    """The workspace has a long path, different in each run, that would hide what stands after it."""
    folder = "/tmp/hookharness-b7cwk0k4/50/stress/workspace"
    said = f"{folder}/.claude/hooks/guard.sh: line 3: jq: not found\n".encode()
    faulty = ran(LETS_GO)
    (step,) = faulty.steps
    (hook_run,) = step.exchange.hook_runs
    hook_run = replace(
        hook_run, payload={"cwd": folder}, run=replace(hook_run.run, stderr=Output(said, len(said)))
    )
    faulty = Trace(steps=(replace(step, exchange=replace(step.exchange, hook_runs=(hook_run,))),))

    (evidence,) = TOOL.compare(ran(REFUSES), faulty)

    assert 'exit 0: ".claude/hooks/guard.sh: line 3: jq: not found"' in evidence.text


def test_defects_of_one_family_are_one_finding():
    """Faults of one family and one hook are one finding that names them; another family is another."""
    others = [Placed(words, "x") for words in ("a quote", "a dollar sign")]
    usual, faulty = ran(REFUSES), ran(LETS_GO)
    found = [(fault, one.finding) for fault in (PATH, *others, TOOL) for one in fault.compare(usual, faulty)]
    path, tool = join_findings(found)

    assert ("FAILS-OPEN", 3, "FAILS-OPEN", 1) == (path.name, path.times, tool.name, tool.times)
    assert "Also with a quote in the path" in path.text
    assert "`jq`" in tool.text
