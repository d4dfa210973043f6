"""The hook that findings, verdicts and traces name, for hooks that run at the same time."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path

import pytest

from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.judging.verdict.assumptions import CONTAINED
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.verdicts import Livelock
from pytest_hookharness.reports.terminal.check_report import as_json
from pytest_hookharness.reports.terminal.story import story
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.session.single_event import run_event

AGENT = [{"prompt": "go"}, {"stop": "Done."}]


def context(text: str) -> str:
    answer = {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": text}}
    return f"echo '{json.dumps(answer)}'"


def test_a_loop_by_context_names_its_hook_and_text(play):
    """A text for the agent that keeps a session going is named with its hook, and no other hook is."""
    hook = context("Run the linter.")
    outcome = play(agent=AGENT, hooks={"Stop": ["true", hook]})

    assert isinstance(outcome.verdict, Livelock)
    (symptom,) = [one for one in find_symptoms(outcome) if one.kind == "livelock"]
    assert symptom.hook == hook
    assert "Run the linter." in symptom.text
    hooks = tuple(Hook(event="Stop", command=command) for command in ("true", hook))
    place = HookSet(host="claude-code", root=Path("/p"), files=(), hooks=hooks)
    problem = Problem(id="livelock", symptom=symptom, scenario=outcome.scenario)
    report = CheckReport(place=place, problems=(problem,), triggered=("true", hook))
    assert as_json([report], lambda *_: "")["checkups"][0]["no_problem_with"] == ["true"]
    assert 'block, by a text for the agent "Run the linter."' in story(outcome, width=400)
    assert "Stop is blocked forever by `true" not in story(outcome, width=400)


DAEMON = "env -i setsid sleep 86399 >/dev/null 2>&1 </dev/null & sleep 0.1"
# It removes the mark by which the harness knows where a process comes from.
UNMARKED = f"bash -c 'ulimit -S -x unlimited; {DAEMON}'"


@pytest.mark.nightly
def test_a_daemon_is_named_with_its_hook(play):
    """Of two hooks of one event, the one that left a daemon has the finding, not the one that ended last."""
    outcome = play(agent=AGENT, hooks={"Stop": [DAEMON, "sleep 0.5"]})

    assert [(one.name, one.hook) for one in outcome.findings] == [("LEFTOVER", DAEMON)]


@pytest.mark.slow
def test_a_daemon_of_unknown_origin_names_all_hooks(play):
    """A daemon that nothing connects with one of two hooks is one leftover whose finding names both."""
    outcome = play(agent=AGENT, hooks={"Stop": [UNMARKED, "sleep 0.5"]})

    (finding,) = outcome.findings
    assert (finding.name, finding.hook) == ("LEFTOVER", f"{UNMARKED}, sleep 0.5")
    assert "one of these hooks did it" in finding.text
    assert any("left running" in text for text in outcome.assumptions)


def changes(outcome, path):
    return [one for _, hooked in outcome.trace.hooked() for one in hooked.changes if one.path == path]


@pytest.mark.parametrize("host", ["claude-code", "gemini-cli"])
def test_folders_of_the_transcript_are_no_change_of_a_hook(play, host):
    """Folders that the host makes for its transcript are a change of no hook and no call."""
    event = "Stop" if host == "claude-code" else "AfterAgent"
    for agent in (AGENT, [AGENT[0], {"run": "true"}, AGENT[1]]):
        outcome = play(host=host, agent=agent, hooks={event: ["true", "true # too"]})

        assert outcome.verdict.turn
        assert not [one for step in outcome.trace.steps for one in getattr(step.exchange, "changes", ())]


def test_a_change_by_the_only_hook_is_its_own(play):
    """A file that changed while one hook ran was changed by it; one that a call changed, by no hook."""
    outcome = play(agent=[AGENT[0], {"run": "echo > mine"}, AGENT[1]], hooks={"Stop": "echo > theirs"})

    (change,) = changes(outcome, "workspace/theirs")
    assert (change.hooks, change.in_doubt) == (("echo > theirs",), False)
    assert changes(outcome, "workspace/mine") == []


def test_a_change_beside_another_hook_names_both(play):
    """A file that changed while two hooks ran names both, and says that it may have been one of them."""
    outcome = play(agent=AGENT, hooks={"Stop": ["echo > file", "true", "no-such-program-anywhere.sh"]})

    (change,) = changes(outcome, "workspace/file")
    assert change.hooks[:2] == ("echo > file", "true")
    assert change.in_doubt
    assert "one of these hooks did it" in change.doubt


def test_changes_of_hooks_in_a_fixed_order_are_told_apart(play):
    """Hooks that run one after the other have their own changes, and both have a file that both changed."""
    hooks = ["echo 1 >> both; echo > one", "echo 2 >> both; echo > two"]
    outcome = play(agent=AGENT, hooks={"Stop": hooks}, order={"Stop": [1, 2]})

    seen = {name: changes(outcome, f"workspace/{name}")[0] for name in ("one", "two", "both")}
    assert {name: change.hooks for name, change in seen.items()} == {
        "one": (hooks[0],),
        "two": (hooks[1],),
        "both": tuple(hooks),
    }
    assert not any(change.in_doubt for change in seen.values())


@pytest.mark.parametrize("order", [{"Stop": [1, 2]}, {}])
def test_a_change_of_the_index_names_its_hook(play, order):
    """A hook that stages a file is named alone if the order is fixed, and with the other one if it is not."""
    staging = "echo > new && git add new"
    outcome = play(agent=AGENT, git=True, hooks={"Stop": ["true", staging]}, order=order)

    (symptom,) = [one for one in find_symptoms(outcome) if one.kind == "STAGED"]
    assert symptom.hook == (staging if order else f"true, {staging}")
    assert symptom.shared is not bool(order)
    assert ("one of these hooks did it" in symptom.text) is not bool(order)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write there")
def test_a_write_outside_names_its_hook(play):
    """A file outside of the project is listed with the hook that wrote it, or with all that may have."""
    file = Path("/opt", f"hookharness-{uuid.uuid4().hex}")
    write = f"echo > {file}"
    try:
        alone = play(agent=AGENT, hooks={"Stop": write})
        if CONTAINED not in alone.assumptions:
            pytest.skip("writes are not contained here")
        beside = play(agent=AGENT, hooks={"Stop": [write, "true"]})
        assert any(f"{file} (by `{write}`)" in text for text in alone.assumptions)
        assert any(f"{file} (by `{write}` or `true`)" in text for text in beside.assumptions)
    finally:
        file.unlink(missing_ok=True)


def test_a_hook_that_reverts_changes_is_named(play):
    """Of two hooks that run in a fixed order, only the one that reverts the agent's edits is named."""
    revert = "cat saved > file"
    edit = {"edit": {"file": "file", "text": "new"}}
    outcome = play(
        agent=[AGENT[0], edit, {"read": "file"}, edit, AGENT[1]],
        files={"file": "old", "saved": "old"},
        hooks={"PostToolUse": ["true", revert]},
        order={"PostToolUse": [1, 2]},
    )

    (finding,) = [one for one in outcome.findings if one.name == "PINGPONG"]
    assert finding.hook == revert


def test_one_event_alone_names_who_changed_a_file(harness):
    """Hooks that run for one event outside of a session have their own changes too."""
    scenario = scenario_from({"name": "test", "hooks": {"Stop": "echo > file"}})
    with harness.open_testbed(scenario) as testbed:
        changed = run_event(testbed, "Stop", {}).hooked.changes
    assert [change.hooks for change in changed if change.path == "workspace/file"] == [("echo > file",)]


def test_a_change_beside_background_processes_is_in_doubt(play):
    """Where background processes share the workspace, it is not sure that the only hook made a change."""
    processes = {"build": {"run": "true", "hooks": []}}
    outcome = play(agent=AGENT, hooks={"Stop": "echo > file"}, processes=processes)

    (change,) = changes(outcome, "workspace/file")
    assert change.in_doubt
    assert "a background process" in change.doubt
