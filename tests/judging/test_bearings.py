"""
How hooks took a fault, by the fires of two runs with the same moves.
"""

from dataclasses import replace

import pytest
from pytest_hookharness.model.faults import Fault, Fed, Placed

from pytest_hookharness.judging.comparison.fault_outcome import find_bearings, join_sights
from pytest_hookharness.model.delivery import Delivery
from pytest_hookharness.model.mutations import WithoutTool
from pytest_hookharness.model.processes import Cut, Exited, NotStarted, Output, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
PATH = Fault("path", Placed("a space", "my project"))
TOOL = Fault("tools", WithoutTool("jq"))
EMPTY = Fault("stdin", Fed("nothing on standard input", Delivery(shape="empty")))
REFUSES, LETS_GO = Exited(2), Exited(0)
NO_FILE = Exited(127)
CUT = TimedOut(1.0, Cut.HOOK_TIMEOUT)


def ran(*endings, command="guard.sh"):
    """A run in which one hook ended so in each turn; only exit code 2 refuses."""
    steps = []
    for turn, ending in enumerate(endings, 1):
        ruling = Ruling.DENY if ending == REFUSES else Ruling.NONE
        fire = HookRun(
            hook=Hook(event="PreToolUse", command=command),
            payload={},
            stdin=b"x" * 9,
            run=ProcessResult(ending=ending, stdin_taken=4, stderr=Output(b"why\n", 4)),
            reply=Reply(ruling=ruling, rule=RULE),
        )
        decision = Decision(event="PreToolUse", ruling=ruling, refused=ruling is Ruling.DENY, rule=RULE)
        hooked = HookEvent(event="PreToolUse", hook_runs=(fire,), decision=decision)
        steps.append(Step(number=turn, turn=turn, exchange=hooked))
    return Trace(steps=tuple(steps))


def cells(usual, faulty, fault=PATH, **directions):
    sights = find_bearings(fault, directions.get("directions", {}), usual, faulty)
    return [(sight.cell.payload, sight.cell.verdict, sight.code and sight.code.name) for sight in sights]


@pytest.mark.parametrize(
    "before, after, cell",
    [
        (REFUSES, REFUSES, ("deny", "as declared", None)),
        (LETS_GO, LETS_GO, ("allow", "as declared", None)),
        (REFUSES, LETS_GO, ("deny", "open", "FAILS-OPEN")),
        (LETS_GO, REFUSES, ("allow", "closed", "FAILS-CLOSED")),
        (REFUSES, NO_FILE, ("deny", "inert", "INERT")),
        (LETS_GO, NO_FILE, ("allow", "inert", "INERT")),
        (LETS_GO, NotStarted("gone"), ("allow", "inert", "INERT")),
        (REFUSES, CUT, ("deny", "hung", "HANGS")),
        (CUT, CUT, ("allow", "as declared", None)),
    ],
)
def test_a_fire_bears_a_fault(before, after, cell):
    """How a hook took a fault follows from what it did without it and what it did with it."""
    assert cells(ran(before), ran(after)) == [cell]


@pytest.mark.parametrize(
    "directions, before, after, cell",
    [
        ({"": "allow"}, REFUSES, LETS_GO, ("deny", "as declared", None)),
        ({"": "block"}, REFUSES, LETS_GO, ("deny", "open", "FAILS-OPEN")),
        ({"": "block"}, LETS_GO, REFUSES, ("allow", "as declared", None)),
        ({"": "allow"}, LETS_GO, REFUSES, ("allow", "closed", "FAILS-CLOSED")),
        ({"": "block", "guard": "allow"}, REFUSES, LETS_GO, ("deny", "as declared", None)),
        ({"other": "allow"}, REFUSES, LETS_GO, ("deny", "open", "FAILS-OPEN")),
        ({"": "allow"}, REFUSES, NO_FILE, ("deny", "inert", "INERT")),
    ],
)
def test_a_declared_direction_is_no_defect(directions, before, after, cell):
    """What a hook is said to do when it cannot decide is as declared; never to have run is not."""
    assert cells(ran(before), ran(after), directions=directions) == [cell]


def test_a_script_without_its_tool_did_run():
    """Exit code 127 of a script whose last command is hidden says nothing of the script itself."""
    assert cells(ran(REFUSES), ran(NO_FILE), TOOL) == [("deny", "open", "FAILS-OPEN")]


def test_what_our_budget_cut_says_nothing():
    """A fire that the end of the run cut is no sight at all."""
    assert cells(ran(REFUSES), ran(TimedOut(1.0, Cut.BUDGET))) == []


def test_every_asking_is_compared():
    """An earlier decision that differs hides no later one, and what tells most stands for its kind."""
    usual, faulty = ran(REFUSES, REFUSES, LETS_GO), ran(LETS_GO, NO_FILE, REFUSES)

    assert sorted(cells(usual, faulty)) == [
        ("allow", "closed", "FAILS-CLOSED"),
        ("deny", "inert", "INERT"),
    ]


def test_bytes_taken_are_told_where_input_is_the_fault():
    """The writer's side is told: how much was taken, and that the host's write fails."""
    (sight,) = find_bearings(EMPTY, {}, ran(REFUSES), ran(LETS_GO))

    assert sight.cell.evidence.endswith("4 of 9 bytes taken; the host's write fails")


def test_what_a_hook_says_is_quoted_without_the_path_of_its_workspace():
    """The workspace has a long path, other in each run, that would hide what stands behind it."""
    folder = "/tmp/hookharness-b7cwk0k4/50/stress/workspace"
    said = f"{folder}/.claude/hooks/guard.sh: line 3: jq: not found\n".encode()
    faulty = ran(LETS_GO)
    (step,) = faulty.steps
    (fire,) = step.exchange.hook_runs
    fire = replace(fire, payload={"cwd": folder}, run=replace(fire.run, stderr=Output(said, len(said))))
    faulty = Trace(steps=(replace(step, exchange=replace(step.exchange, hook_runs=(fire,))),))

    (sight,) = find_bearings(TOOL, {}, ran(REFUSES), faulty)

    assert 'exit 0: ".claude/hooks/guard.sh: line 3: jq: not found"' in sight.cell.evidence


def test_defects_of_one_cause_are_one_finding():
    """Faults of one cause and one hook are one finding that names them; another cause is another."""
    others = [replace(PATH, change=Placed(words, "x")) for words in ("a quote", "a dollar sign")]
    usual, faulty = ran(REFUSES), ran(LETS_GO)
    sights = [sight for fault in (PATH, *others, TOOL) for sight in find_bearings(fault, {}, usual, faulty)]
    path, tool = join_sights(sights)

    assert ("FAILS-OPEN", 3, "FAILS-OPEN", 1) == (path.name, path.times, tool.name, tool.times)
    assert "Also: a quote in the path" in path.text
    assert "`jq`" in tool.text
