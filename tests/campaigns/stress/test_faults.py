"""
Faults of the world around hooks: which are planned, how each is brought about, and what is seen of them.
"""

import json
from dataclasses import fields, replace

import pytest

from pytest_hookharness.campaigns.stress.fault_plans import plan_faults
from pytest_hookharness.campaigns.stress.faults_of import make_trial, with_fault
from pytest_hookharness.campaigns.stress.plans import HookTraits
from pytest_hookharness.model.delivery import Delivery
from pytest_hookharness.model.faults import (
    Fault,
    Fed,
    FullDisk,
    InWorktree,
    JunkTool,
    Occupied,
    Placed,
    ReadOnly,
    SpoiledScript,
    StartedIn,
    Surroundings,
    WorkingFolder,
)
from pytest_hookharness.model.moves import FIRST_PROMPT, Corrupt, RunCommand, Stop, ToolCall, ToolResult
from pytest_hookharness.model.mutations import HangingTool, Shell, Wish, WithoutTool
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import (
    Change,
    Happened,
    HookEvent,
    HookRun,
    Moved,
    Performed,
    State,
    StateEntry,
    Step,
    Trace,
)
from pytest_hookharness.model.verdicts import Terminated

SCENARIO = Scenario(name="x", commands={"jq": None}, vary=(Wish("faults"),))
ONE_FIELD = [
    (WithoutTool("git"), "hidden"),
    (HangingTool("git"), "commands"),
    (JunkTool("git"), "commands"),
    (Shell("dash"), "shell"),
    (Fed("nothing", Delivery(shape="empty")), "stdin"),
    (StartedIn("a folder", WorkingFolder("x")), "cwd"),
    (InWorktree(), "worktree"),
    (Placed("a space", "my project"), "place"),
    (SpoiledScript("x.sh", "crlf"), "script"),
    (ReadOnly("workspace"), "readonly"),
    (Occupied("x"), "files"),
    (FullDisk("tmp"), "full"),
    (Surroundings("a locale", {"LC_ALL": "C"}), "env"),
    (Surroundings("a profile", {}, home={".profile": "echo Welcome.\n"}), "home"),
]
RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
GUARD = """#!/bin/sh
# Refuses what it is not to run, as long as it can read it.
command=$(jq -r .tool_input.command)
echo 1 >>.state/count
case $command in "rm "*) echo "no" >&2; exit 2 ;; esac
exit 0
"""
DENIES = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}
CALLS = [{"run": "rm -rf x", "expect": "deny"}, {"run": "true", "expect": "allow"}, {"stop": "Done."}]


def differing(one, other):
    return {item.name for item in fields(one) if getattr(one, item.name) != getattr(other, item.name)}


def played(*exchanges, tier=Tier.NAMESPACES, files=None, **keys):
    steps = tuple(Step(number=turn, turn=turn, exchange=one) for turn, one in exchanges)
    states = {0: State(), max(turn for turn, _ in exchanges): State(files=files or {})}
    scenario = Scenario(name="x", **{"vary": (Wish("faults"),), **keys})
    trace = Trace(steps=steps, states=states)
    return Outcome(scenario=scenario, host="x", trace=trace, verdict=Terminated(turn=1), tier=tier)


def reason(trial_results, word):
    (cell,) = (cell for cell in trial_results if word in cell.fault)
    return cell.verdict, cell.evidence


WROTE = HookEvent(
    event="Stop",
    decision=Decision(event="Stop", rule=RULE),
    changes=(Change(path="workspace/.state/count", how="added"),),
)
FILES = {"workspace/.state/count": StateEntry("file", 0o644, "x")}


@pytest.mark.parametrize("change, field", ONE_FIELD)
def test_one_thing_is_wrong(change, field):
    """A scenario with a fault differs from the one without it in one field, its promises aside."""
    plain = make_trial(SCENARIO, Trace())

    assert differing(plain, with_fault(plain, Fault("tools", change))) == {field}


def test_a_trial_makes_the_same_moves_and_carries_out_no_refused_one():
    """The moves of a run come again as a list, and one that was refused has its result already."""
    asked = ToolCall(name="Bash", input={})
    steps = (
        Step(number=1, turn=0, exchange=Happened(event=FIRST_PROMPT)),
        Step(number=2, turn=1, exchange=Moved(move=RunCommand(command="rm -rf x"))),
        Step(number=3, turn=1, exchange=Performed(call=asked, result=ToolResult(), refused=True)),
        Step(number=4, turn=2, exchange=Moved(move=RunCommand(command="ls"))),
    )
    prompt, removes, looks, stop = make_trial(SCENARIO, Trace(steps=steps)).script.acts

    assert (FIRST_PROMPT, RunCommand(command="ls"), Stop()) == (prompt, looks, stop)
    assert ("rm -rf x", True) == (removes.command, removes.given is not None)


def test_a_script_is_spoiled_before_the_first_move():
    """The harm to a script is the first act of the trial."""
    fault = Fault("script", SpoiledScript("x.sh", "chmod"))
    first, *_ = with_fault(make_trial(SCENARIO, Trace()), fault).script.acts

    assert first == Corrupt(file="x.sh", how="chmod", text="0644")


@pytest.mark.parametrize(
    "clues, keys, word, why",
    [
        (HookTraits(), {}, "tool that is missing", "name none"),
        (HookTraits(), {}, "script that is spoiled", "name none"),
        (HookTraits(scripts={"a.sh": b"x\r\n"}), {}, "CRLF", "such ends already"),
        (HookTraits(scripts={"a.sh": b"x\n"}), {}, "not executable", "not executable anyway"),
        (HookTraits(), {}, "linked worktree", "git: true"),
        (HookTraits(), {}, "BASH_ENV", "names bash"),
        (HookTraits(), {"cwd": WorkingFolder("x")}, "another folder", "names one itself"),
        (HookTraits(), {"tier": Tier.GROUP}, "full disk below tmp", "cannot do that"),
        (HookTraits(), {"tier": Tier.SUBREAPER}, "workspace on a read-only", "cannot do that"),
    ],
)
def test_what_cannot_be_tried_is_said(clues, keys, word, why):
    """A fault that makes no sense, or that the machine cannot make, is a cell with its reason."""
    _, cells = plan_faults(played((1, WROTE), files=FILES, **keys), clues)
    verdict, evidence = reason(cells, word)

    assert verdict == "not tried"
    assert why in evidence


@pytest.mark.parametrize(
    "host, read",
    [
        ("claude-code", set()),
        ("gemini-cli", {"BASH_ENV"}),
        ("qwen-code", {"BASH_ENV"}),
        ("openhands", set()),
        ("codex", {"BASH_ENV", "login shell"}),
    ],
)
def test_a_profile_is_noisy_where_the_shell_of_the_host_reads_it(host, read):
    """A profile that prints is tried where the host's own shell reads it, and is told of elsewhere."""
    base = played((1, WROTE), vary=(Wish("faults", ("profile",)),))
    faults, cells = plan_faults(replace(base, scenario=replace(base.scenario, host=host)), HookTraits())

    assert {word for word in ("BASH_ENV", "login shell") for fault in faults if word in str(fault)} == read
    assert len(faults) + len(cells) == 2


def test_a_noisy_login_shell_is_in_the_way_of_answers_in_json(play):
    """A profile that prints a line comes before the answer of a guard, which then lets everything through."""
    hook = f"#!/bin/sh\necho '{json.dumps({'hookSpecificOutput': DENIES})}'\n"
    keys = {"host": "codex", "files": {"g.sh": hook}, "hooks": {"PreToolUse": "./g.sh"}}
    agent = [{"run": "ls", "result": "x"}, {"stop": "Done."}]
    noisy = {"env": {"SHELL": "/bin/bash"}, "world": {"home": {".bash_profile": "echo Welcome.\n"}}}

    assert play(agent=agent, **keys).blocks() == 1
    assert play(agent=agent, **keys, **noisy).blocks() == 0


def test_state_is_closed_where_hooks_write():
    """The file that a hook wrote is closed with the nearest folder that is there from the beginning."""
    faults, _ = plan_faults(played((1, WROTE), files=FILES), HookTraits())
    changes = [fault.change for fault in faults]

    assert ReadOnly("workspace") in changes
    assert Occupied(".state/count") in changes
    assert FullDisk("workspace/.state") in changes


def test_causes_are_narrowed_by_name():
    """Only faults of the causes that are named are planned, and only their cells are told."""
    faults, cells = plan_faults(played((1, WROTE), vary=(Wish("faults", ("path",)),)), HookTraits())

    assert {fault.cause for fault in faults} == {"path"}
    assert cells == []


@pytest.mark.parametrize("size, tried", [(4095, True), (4096, False)])
def test_a_terminal_is_spared_what_it_cannot_take(size, tried):
    """A terminal is planned for lines that it can hold; of longer ones the kernel would drop the rest."""
    fire = HookRun(hook=Hook(event="Stop"), payload={}, stdin=b"x" * size, reply=Reply(rule=RULE))
    outcome = played((1, replace(WROTE, hook_runs=(fire,))), vary=(Wish("stdin"),))
    faults, cells = plan_faults(outcome, HookTraits())

    assert ("standard input that is a terminal" in map(str, faults)) is tried
    assert [cell.verdict for cell in cells] == ([] if tried else ["not tried"])


@pytest.mark.slow
def test_a_guard_is_tried_with_every_fault_of_its_state_and_disk(play):
    """A guard that writes a count first guards all the same where nobody can write it."""
    keys = {"files": {"g.sh": GUARD, ".state/old": "x"}, "hooks": {"PreToolUse": "./g.sh"}}
    outcome = play(agent=CALLS, vary=[{"faults": ["state", "disk"]}], **keys)
    if outcome.tier is not Tier.NAMESPACES:
        pytest.skip("no namespaces here")
    tried = {cell.fault: cell.verdict for cell in outcome.trial_results}

    assert tried["workspace/.state on a read-only file system"] == "as declared"
    assert tried["a folder in the place of .state/count"] == "as declared"
    assert tried["a full disk below tmp"] == "as declared"
    assert tried["a full disk below workspace/.state"] == "not tried"


@pytest.mark.slow
def test_a_direction_that_is_declared_is_no_finding(play):
    """A guard that lets go without its tool is FAILS-OPEN, unless that is said to be meant so."""
    keys = {
        "files": {"g.sh": GUARD, ".state/old": "x"},
        "hooks": {"PreToolUse": "./g.sh"},
        "hook_timeout": 0.7,
    }
    keys |= {"agent": [CALLS[0], CALLS[-1]], "vary": [{"faults": ["tools"]}]}
    found = [
        {finding.name for finding in play(**keys, **more).findings}
        for more in ({}, {"on_failure": {"g.sh": "allow"}})
    ]

    assert found == [{"FAILS-OPEN", "HANGS"}, {"HANGS"}]


def test_without_a_refusal_nothing_is_said_to_guard(play):
    """A hook that refuses nothing is tried, and it is told that this shows nothing of a guard."""
    outcome = play(hooks={"Stop": "exit 0"}, vary=[{"faults": ["path"]}])

    assert {cell.payload for cell in outcome.trial_results} == {"allow"}
    assert any("expect: deny" in note for note in outcome.varied)


@pytest.mark.slow
def test_a_locale_is_not_blamed_for_the_text_that_shows_it(play):
    """A hook that refuses every text beyond ASCII does so in each locale, and that is no finding."""
    refuses = "LC_ALL=C grep -q '[^ -~]' && exit 2; exit 0"
    outcome = play(hooks={"PreToolUse": refuses}, agent=CALLS[1:], vary=[{"faults": ["locale"]}])

    assert {cell.verdict for cell in outcome.trial_results if cell.payload} == {"as declared"}
    assert outcome.findings == ()
