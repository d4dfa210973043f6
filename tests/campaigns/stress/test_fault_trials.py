"""Faults of the world around hooks: which are planned, how each is applied, and what they show."""

import json
from dataclasses import fields, replace

import pytest

from pytest_hookharness.campaigns.stress.first_run import HookTraits, ReplayScript, with_fixed_moves
from pytest_hookharness.campaigns.stress.mutations.environment import Locale, NoisyProfile, Shell
from pytest_hookharness.campaigns.stress.mutations.filesystem import (
    FullDisk,
    Occupied,
    ReadOnly,
    SpoiledScript,
)
from pytest_hookharness.campaigns.stress.mutations.folders import InWorktree, Placed, StartedIn
from pytest_hookharness.campaigns.stress.mutations.stdin import Fed
from pytest_hookharness.campaigns.stress.mutations.tools import HangingTool, JunkTool, WithoutTool
from pytest_hookharness.campaigns.stress.plan import plan_trials
from pytest_hookharness.model.delivery import Delivery
from pytest_hookharness.model.moves import FIRST_PROMPT, Corrupt, RunCommand, Stop, ToolCall, ToolResult
from pytest_hookharness.model.mutations import VaryRequest, WorkingFolder
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

SCENARIO = Scenario(name="x", commands={"jq": None}, vary=(VaryRequest("faults"),))
ONE_FIELD = [
    (WithoutTool("git", fault=True), "hidden"),
    (HangingTool("git", fault=True), "commands"),
    (JunkTool("git"), "commands"),
    (Shell("dash", fault=True), "shell"),
    (Fed("nothing", Delivery(shape="empty")), "stdin"),
    (StartedIn("a folder", WorkingFolder("x")), "cwd"),
    (InWorktree(), "worktree"),
    (Placed("a space", "my project"), "place"),
    (SpoiledScript("x.sh", "crlf"), "script"),
    (ReadOnly("workspace"), "readonly"),
    (Occupied("x"), "files"),
    (FullDisk("tmp"), "full"),
    (Locale("a locale", {"LC_ALL": "C"}), "env"),
    (NoisyProfile("a profile", {}, home={".profile": "echo Welcome.\n"}), "home"),
]
RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
GUARD = """#!/bin/sh
# Refuses forbidden commands if it can read them.
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
    scenario = Scenario(name="x", **{"vary": (VaryRequest("faults"),), **keys})
    trace = Trace(steps=steps, states=states)
    return Outcome(scenario=scenario, host="x", trace=trace, verdict=Terminated(turn=1), tier=tier)


def faulty(scenario, fault):
    """The scenario with a fault."""
    return fault.apply(scenario, ReplayScript(()))


WROTE = HookEvent(
    event="Stop",
    decision=Decision(event="Stop", rule=RULE),
    changes=(Change(path="workspace/.state/count", how="added"),),
)
FILES = {"workspace/.state/count": StateEntry("file", 0o644, "x")}


@pytest.mark.parametrize("fault, field", ONE_FIELD)
def test_one_thing_is_wrong(fault, field):
    """A scenario with a fault differs from the one without it in one field, apart from its expectations."""
    plain = with_fixed_moves(SCENARIO, Trace())

    assert fault.as_fault
    assert differing(plain, faulty(plain, fault)) == {field}


def test_a_trial_makes_the_same_moves_and_executes_no_refused_one():
    """The moves of a run are made again as a list, and a refused one has its result already."""
    asked = ToolCall(name="Bash", input={})
    steps = (
        Step(number=1, turn=0, exchange=Happened(event=FIRST_PROMPT)),
        Step(number=2, turn=1, exchange=Moved(move=RunCommand(command="rm -rf x"))),
        Step(number=3, turn=1, exchange=Performed(call=asked, result=ToolResult(), refused=True)),
        Step(number=4, turn=2, exchange=Moved(move=RunCommand(command="ls"))),
    )
    prompt, removes, looks, stop = with_fixed_moves(SCENARIO, Trace(steps=steps)).script.acts

    assert (FIRST_PROMPT, RunCommand(command="ls"), Stop()) == (prompt, looks, stop)
    assert ("rm -rf x", True) == (removes.command, removes.given is not None)


def test_a_script_is_spoiled_before_the_first_move():
    """The harm to a script is the first act of the trial."""
    fault = SpoiledScript("x.sh", "chmod")
    first, *_ = faulty(with_fixed_moves(SCENARIO, Trace()), fault).script.acts

    assert first == Corrupt(file="x.sh", how="chmod", text="0644")


@pytest.mark.parametrize(
    "traits, keys, word, why",
    [
        (HookTraits(), {}, "missing tool", "name no command"),
        (HookTraits(), {}, "script that is spoiled", "name no script"),
        (HookTraits(scripts={"a.sh": b"x\r\n"}), {}, "with CRLF", "CRLF line ends already"),
        (HookTraits(scripts={"a.sh": b"x\n"}), {}, "not executable", "not executable anyway"),
        (HookTraits(), {}, "linked worktree", "git: true"),
        (HookTraits(), {}, "BASH_ENV", "names bash"),
        (HookTraits(), {"cwd": WorkingFolder("x")}, "another folder", "names one itself"),
        (HookTraits(), {"tier": Tier.GROUP}, "full disk below tmp", "cannot do that"),
        (HookTraits(), {"tier": Tier.SUBREAPER}, "workspace on a read-only", "cannot do that"),
    ],
)
def test_what_cannot_be_tried_is_reported(traits, keys, word, why):
    """A fault that makes no sense, or that the machine cannot make, is a row with its reason."""
    _, untried = plan_trials(played((1, WROTE), files=FILES, **keys), traits)
    (row,) = (one.result for one in untried if word in one.mutation)

    assert row.outcome == "not tried"
    assert why in row.evidence


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
    """A profile that prints is tried where the host's own shell reads it, and is reported elsewhere."""
    base = played((1, WROTE), vary=(VaryRequest("faults", ("profile",)),))
    faults, untried = plan_trials(replace(base, scenario=replace(base.scenario, host=host)), HookTraits())

    assert {word for word in ("BASH_ENV", "login shell") for fault in faults if word in str(fault)} == read
    assert len(faults) + len(untried) == 2


@pytest.mark.slow
def test_a_noisy_login_shell_is_in_the_way_of_answers_in_json(play):
    """A profile that prints a line comes before the answer of a guard, which then allows everything."""
    hook = f"#!/bin/sh\necho '{json.dumps({'hookSpecificOutput': DENIES})}'\n"
    keys = {"host": "codex", "files": {"g.sh": hook}, "hooks": {"PreToolUse": "./g.sh"}}
    agent = [{"run": "ls", "result": "x"}, {"stop": "Done."}]
    noisy = {"env": {"SHELL": "/bin/bash"}, "world": {"home": {".bash_profile": "echo Welcome.\n"}}}

    assert play(agent=agent, **keys).blocks() == 1
    assert play(agent=agent, **keys, **noisy).blocks() == 0


def test_state_is_closed_where_hooks_write():
    """The file that a hook wrote is closed with the nearest folder that is there from the beginning."""
    faults, _ = plan_trials(played((1, WROTE), files=FILES), HookTraits())

    assert ReadOnly("workspace") in faults
    assert Occupied(".state/count") in faults
    assert FullDisk("workspace/.state") in faults


def test_families_of_faults_are_narrowed_by_name():
    """Only faults of the named families are planned, and only their rows are reported."""
    faults, untried = plan_trials(played((1, WROTE), vary=(VaryRequest("faults", ("path",)),)), HookTraits())

    assert {fault.family for fault in faults} == {"path"}
    assert untried == []


@pytest.mark.parametrize("size, tried", [(4095, True), (4096, False)])
def test_a_terminal_is_spared_what_it_cannot_take(size, tried):
    """A terminal is planned for lines that it can hold; of longer ones the kernel would drop the rest."""
    hook_run = HookRun(hook=Hook(event="Stop"), payload={}, stdin=b"x" * size, reply=Reply(rule=RULE))
    outcome = played((1, replace(WROTE, hook_runs=(hook_run,))), vary=(VaryRequest("stdin"),))
    faults, untried = plan_trials(outcome, HookTraits())

    assert ("standard input that is a terminal" in map(str, faults)) is tried
    assert len(untried) == (0 if tried else 1)


@pytest.mark.nightly
def test_a_guard_is_tried_with_every_fault_of_its_state_and_disk(play):
    """A guard that first writes a count still refuses if the count cannot be written."""
    keys = {"files": {"g.sh": GUARD, ".state/old": "x"}, "hooks": {"PreToolUse": "./g.sh"}}
    outcome = play(agent=CALLS, vary=[{"faults": ["state", "disk"]}], **keys)
    if outcome.tier is not Tier.NAMESPACES:
        pytest.skip("no namespaces here")
    tried = {row.mutation: row.outcome for row in outcome.trial_results}

    assert tried["workspace/.state on a read-only file system"] == "as declared"
    assert tried["a folder in the place of .state/count"] == "as declared"
    assert tried["a full disk below tmp"] == "as declared"
    assert tried["a full disk below workspace/.state"] == "not tried"


@pytest.mark.nightly
def test_a_direction_that_is_declared_is_no_finding(play):
    """A guard that allows the call without its tool is FAILS-OPEN, unless that is declared."""
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


@pytest.mark.slow
def test_without_a_refusal_nothing_is_reported_to_guard(play):
    """A hook that refuses nothing is tried, and a note says that this shows nothing about a guard."""
    outcome = play(hooks={"Stop": "exit 0"}, vary=[{"faults": ["path"]}])

    assert {row.payload for row in outcome.trial_results} == {"allow"}
    assert any("expect: deny" in note for note in outcome.varied)


@pytest.mark.slow
def test_a_locale_is_not_blamed_for_the_text_that_shows_it(play):
    """A hook that refuses every text beyond ASCII does so in each locale, and that is no finding."""
    refuses = "LC_ALL=C grep -q '[^ -~]' && exit 2; exit 0"
    outcome = play(hooks={"PreToolUse": refuses}, agent=CALLS[1:], vary=[{"faults": ["locale"]}])

    assert {row.outcome for row in outcome.trial_results if row.payload} == {"as declared"}
    assert outcome.findings == ()
