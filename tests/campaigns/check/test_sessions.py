"""Claims about the sessions of a check-up."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check import guard_sessions, sessions
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.tool_names import called_tools
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import Edit, End, Read, RunCommand, Stop, Subagent, Tools
from pytest_hookharness.model.mutations import VARY_FAMILIES, Parallel
from pytest_hookharness.model.protocol import Hook

GUARD = Hook(event="PreToolUse", command="./guard.sh")
STOP_HOOK = Hook(event="Stop", command="./check.sh")


def place(*hooks, host="claude-code"):
    return HookSet(host=host, root=Path("/p"), files=(), hooks=hooks)


def test_hooks_of_one_event_one_after_the_other():
    """Only events with several hooks get an order, in which each of these has its place."""
    made = place(GUARD, STOP_HOOK, Hook(event="Stop", command="./notify.sh"))
    session = sessions.plan_usual(made, 0)
    assert sessions.in_order(made, session).scenario.order == {"Stop": (1, 2)}
    assert sessions.in_order(place(GUARD, STOP_HOOK), session) == session


@pytest.mark.parametrize(
    ("host", "options"), [("openhands", {"stuck_detection": False}), ("claude-code", {})]
)
def test_no_host_ends_circles_itself(host, options):
    """A host that detects repetitions of the agent is started without that detection."""
    assert sessions.plan_usual(place(STOP_HOOK, host=host), 0).scenario.options == options


@pytest.mark.parametrize(
    ("moves", "written", "kinds"),
    [
        ([], False, []),
        ([RunCommand(command="rm -rf /")], False, [("tools", " on the PATH")]),
        ([], True, [("state", " emptied ")]),
    ],
)
def test_trouble_is_tried_where_it_can_show_something(moves, written, kinds):
    """Missing tools are tried where something was refused, and emptied files where guards write some."""
    planned = [*sessions.plan_world(place(GUARD), moves, written=written)]
    assert [(one.scenario.vary[0].family, one.only) for one in planned] == kinds


def test_refused_moves_are_made_twice_where_nothing_may_matter():
    """What a hook remembers of a refused call shows when the call is made again."""
    scenario = sessions.plan_invariance(place(GUARD), [RunCommand(command="rm x")]).scenario
    assert [act for act in scenario.script.acts if act == RunCommand(command="rm x")] == 2 * [
        RunCommand(command="rm x")
    ]


@pytest.mark.parametrize(("event", "steps"), [("PostToolUse", True), ("PreToolUse", False)])
def test_work_in_steps_is_for_hooks_behind_edits(event, steps):
    """An agent makes an edit that makes no sense alone where hooks run after calls, for these may undo it."""
    acts = sessions.plan_usual(place(Hook(event=event, command="./tidy.sh")), 0).scenario.script.acts
    assert any(isinstance(act, Edit) and act.file == "in_steps.py" for act in acts) is steps


def test_what_must_not_matter_includes_parallel_hook_runs():
    """The session of mutations that must not matter asks for known families, and for parallel hook runs."""
    scenario = sessions.plan_invariance(place(GUARD), []).scenario
    assert {request.family for request in scenario.vary} <= {*VARY_FAMILIES}
    assert scenario.parallel == Parallel()
    # What was raced already is not raced again.
    assert sessions.plan_invariance(place(GUARD), [], raced=True).scenario.parallel is None
    (race,) = sessions.plan_races(place(GUARD, STOP_HOOK), ["PreToolUse", "Stop"])
    assert race.scenario.parallel == Parallel(event="PreToolUse")


def test_races_of_hooks_for_rare_tools():
    """Hooks run side by side on the tools that they wait for, and not where only a subagent wakes them."""
    hook = replace(GUARD, matcher="AskUserQuestion")
    (race,) = sessions.plan_races(place(hook), ["PreToolUse"])
    calls = [move.calls[0].name for move in race.scenario.script.acts if isinstance(move, Tools)]
    assert calls == ["AskUserQuestion"]
    assert not [*sessions.plan_races(place(replace(GUARD, matcher="Agent")), ["PreToolUse"])]


def test_a_session_ends_after_its_subagent():
    """Before the user ends a session with a subagent, the agent stops twice: some hosts go on in between."""
    hooks = (Hook(event="SubagentStop", command="true"), Hook(event="SessionEnd", command="true"))
    acts = sessions.plan_each_event(place(*hooks)).scenario.script.acts
    assert acts[-4:] == (Subagent(prompt="Look into it."), Stop(), Stop(), End())
    assert sessions.plan_each_event(place(hooks[1])).scenario.script.acts[-2:] == (Stop(), End())


@pytest.mark.parametrize(
    ("matcher", "called"),
    [
        ("Agent", ("Agent",)),
        ("Bash|Write", ()),
        ("^(Edit|NotebookEdit)$", ("NotebookEdit",)),
        ("mcp__db__.*", ("mcp__db__sample",)),
        ("mcp__*", ("mcp__sample",)),
        ("Bash*", ()),
        ("mcp__db__drop, WebFetch", ("mcp__db__drop", "WebFetch")),
        ("bash", ()),
        ("agent", ()),
        (None, ()),
    ],
)
def test_tools_that_only_a_matcher_names_are_called(matcher, called):
    """A session calls each tool that a matcher fits and no usual move uses; a subagent is started as such."""
    made = place(replace(GUARD, matcher=matcher))
    assert called_tools(made) == called
    acts = sessions.plan_usual(made, 0).scenario.script.acts
    others = {call.name for act in acts if isinstance(act, Tools) for call in act.calls}
    assert others == {*called} - {"Agent"}
    assert any(isinstance(act, Subagent) for act in acts) is ("Agent" in called)


@pytest.mark.nightly
def test_a_refused_tool_that_no_profile_knows(tmp_path, harness):
    """A hook that refuses a tool of a server is checked to the end: its calls have inputs of any form."""
    at = tmp_path / ".claude" / "settings.json"
    at.parent.mkdir()
    hook = {"type": "command", "command": "echo 'Ask first, and name the table.' >&2; exit 2"}
    at.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "mcp__db__drop", "hooks": [hook]}]}}))
    (found,) = find_hook_sets(tmp_path)

    report = CheckRun(found, harness.settings, harness.resources).run()

    assert (report.failed, report.problems, report.triggered) == (False, (), (hook["command"],))


@pytest.mark.nightly
def test_a_counter_that_loses_counts_is_reported(tmp_path, harness):
    """A hook that counts calls in a file without a lock is reported for what parallel calls lose."""
    folder = tmp_path / "project"
    folder.mkdir()
    script = folder / "count.sh"
    script.write_text("#!/bin/sh\nn=$(cat .n 2>/dev/null || echo 0)\nsleep 0.05\necho $((n + 1)) >.n\n")
    script.chmod(0o755)
    hook = Hook(event="PreToolUse", command='"$CLAUDE_PROJECT_DIR"/count.sh')
    settings = folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": hook.command}]}
    settings.write_text(json.dumps({"hooks": {hook.event: [group]}}))
    (found,) = find_hook_sets(folder)

    report = CheckRun(found, harness.settings, harness.resources).run()

    assert any("side by side" in problem.symptom.text for problem in report.problems), report.problems


@pytest.mark.parametrize(
    ("hooks", "kinds"),
    [
        ([Hook(event="PreToolUse", matcher="Bash", command="g")], {RunCommand}),
        ([Hook(event="PreToolUse", matcher="Write|Edit", command="g")], {Edit}),
        ([Hook(event="PreToolUse", command="g")], {RunCommand, Edit, Read}),
        (
            [Hook(event="PreToolUse", matcher="Bash", command="g"), Hook(event="PostToolUse", command="f")],
            {RunCommand},
        ),
        ([Hook(event="PreToolUse", matcher="Edit", command="g")], {Edit}),
        ([Hook(event="PostToolUse", matcher="Read", command="f")], {Read}),
        ([Hook(event="Stop", command="s"), Hook(event="UserPromptSubmit", command="p")], set()),
    ],
)
def test_guards_are_asked_about_calls_that_they_watch(hooks, kinds):
    """What guards refuse is tried with the tools of their matchers, or else of hooks after calls."""
    planned = [*guard_sessions.plan_refusals(place(*hooks))]
    acts = [act for session in planned for act in session.scenario.script.acts[1:]]
    assert {type(act) for act in acts} == kinds


def test_events_for_some_tools_are_asked_about_these():
    """A host whose events are for certain tools is asked about the calls of these."""
    hooks = [Hook(event="beforeShellExecution", command="g")]
    (first, *_) = guard_sessions.plan_refusals(place(*hooks, host="cursor"))
    assert {type(act) for act in first.scenario.script.acts[1:]} == {RunCommand}


@pytest.mark.parametrize(("matcher", "olds"), [("Edit", {"old"}), ("Write", {None}), ("Edit|Write", {None})])
def test_a_guard_of_passages_is_asked_about_passages(matcher, olds):
    """A guard that sees only changes of passages is asked about these, and any other about whole files."""
    planned = guard_sessions.plan_refusals(place(Hook(event="PreToolUse", matcher=matcher, command="g")))
    assert {act.old for session in planned for act in session.scenario.script.acts[1:]} == olds


def test_tools_that_fail(tmp_path):
    """Hooks for failed calls of one tool see a failure of that tool, and not only of the shell."""
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    hooks = [{"hooks": [{"type": "command", "command": "true"}]}]
    file.write_text(json.dumps({"hooks": {"PostToolUseFailure": hooks}}))
    (hook_set,) = find_hook_sets(tmp_path)
    acts = sessions.plan_each_event(hook_set).scenario.script.acts
    assert {type(act) for act in acts[-5:-1]} >= {RunCommand, Edit, Read}
