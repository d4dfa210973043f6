"""Claims about check runs: hooks with one defect each, and one without, in one project."""

import json
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.campaigns.check.causes import is_moot
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.grouping import SymptomEvidence, summarise
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.scenario_export import export, shows
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import NOTHING, with_commands
from pytest_hookharness.campaigns.check.sessions import plan_each_event, plan_single_events
from pytest_hookharness.campaigns.check.untried_hooks import network_program
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.frontends.checkup import UNKNOWN, status_of, weigh
from pytest_hookharness.model.checkup import CheckSession, Symptom
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace

UNWELL = Path(__file__).parents[2] / "hooks" / "unwell"


@pytest.fixture(scope="module")
def check_run(harness):
    """A check run of a project with three hooks that have a defect and one that has none."""
    (place,) = find_hook_sets(UNWELL)
    return CheckRun(place, harness.settings, harness.resources)


@pytest.fixture(scope="module")
def checkup(check_run):
    """The result of the check run."""
    return check_run.run()


@pytest.fixture(scope="module")
def exported(check_run, checkup, tmp_path_factory):
    """The same with the scenario file of the livelock."""
    only = replace(checkup, problems=tuple(one for one in checkup.problems if one.id.startswith("livelock")))
    return export(only, tmp_path_factory.mktemp("exported"), partial(shows, check_run))


def problem(checkup, kind):
    (found,) = (one for one in checkup.problems if one.symptom.kind == kind)
    return found


@pytest.mark.nightly
def test_livelock_is_shown_by_one_stop(checkup):
    """A stop that is refused forever is a problem, and shown by an agent that only wants to stop."""
    found = problem(checkup, "livelock")
    assert "never_lets_go.sh" in found.symptom.hook
    assert len(found.scenario.script.acts) == 1


@pytest.mark.nightly
@pytest.mark.slow
def test_input_that_is_carried_out(checkup):
    """A hook that builds code of a command is CARRIED-OUT, shown by that one command."""
    found = problem(checkup, "CARRIED-OUT")
    assert "carries_out.sh" in found.symptom.hook
    assert len(found.scenario.script.acts) == 2


@pytest.mark.nightly
@pytest.mark.slow
def test_index_that_is_changed(checkup):
    """A hook that adds files to the index is STAGED, shown by one edit, and no hook beside it is blamed."""
    found = problem(checkup, "STAGED")
    assert found.symptom.hook.endswith("/hooks/stages.sh")
    assert len(found.scenario.script.acts) == 2


@pytest.mark.nightly
@pytest.mark.slow
def test_each_defect_once_and_nothing_else(checkup):
    """There is one problem for each of the three defects, however many sessions showed it."""
    # Whether two of them meet at git's lock of the index is a race.
    kinds = [one.symptom.kind for one in checkup.problems if one.symptom.kind != "CRASHED"]
    assert sorted(kinds) == ["CARRIED-OUT", "STAGED", "livelock"]


@pytest.mark.slow
def test_one_problem_is_looked_for_until_it_is_shown(harness):
    """Where one problem is looked for and the first session shows it, no other session is played."""
    (place,) = find_hook_sets(UNWELL)
    only = "livelock-never_lets_go"
    found = CheckRun(place, harness.settings, harness.resources, only).run()
    assert [one.id for one in found.problems] == [only]
    assert found.tried[0].startswith("1 session ")
    assert (found.open, found.undecided) == ((), ())


@pytest.mark.nightly
def test_the_scenario_file_is_red(exported, check_run):
    """The scenario file of a problem loads, and shows it when it is played."""
    (found,) = exported.problems
    (scenario,) = scenario_files.load(found.file)
    assert shows(check_run, scenario, found.symptom)


def test_a_single_event_has_the_folder_of_the_host(harness, tmp_path):
    """A hook on an event that no session has may write where the host keeps its sessions."""
    hook = {"type": "command", "bash": "echo x >>~/.copilot/audit.log"}
    file = tmp_path / ".github/hooks/hooks.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"version": 1, "hooks": {"errorOccurred": [hook]}}))
    (place,) = find_hook_sets(tmp_path)
    (session,) = plan_single_events(place, ())
    ((_, run),) = play_session(session, harness.settings, harness.resources).trace.hook_runs()
    assert run.ending == Exited(0)


def test_a_hook_for_a_compacted_session_is_tried(harness, tmp_path):
    """A hook runs once on each of its sources, also where another hook of the event ran in a session."""
    named = {"compact": "echo after", "resume|clear": "echo again", "startup": "echo first", None: "echo all"}
    groups = [
        {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
        for matcher, command in named.items()
    ]
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": {"SessionStart": groups}}))
    (place,) = find_hook_sets(tmp_path)
    sessions = [*plan_single_events(place, {("SessionStart", "echo first"), ("SessionStart", "echo all")})]
    ran = [
        {
            run.hook.command
            for _, run in play_session(one, harness.settings, harness.resources).trace.hook_runs()
        }
        for one in sessions
    ]
    assert ran == [{"echo after", "echo all"}, {"echo again", "echo all"}]


class StandingSlot(CpuSlot):
    """A slot whose clock stands still, as that of a session that waits for a processor."""

    def clock(self):
        """Return the same time always."""
        return 0.0


@pytest.mark.nightly
@pytest.mark.parametrize("command", ["sleep 0.3; exit 2", "sleep 1; ./not_there.sh"])
def test_a_session_ends_with_its_budget_in_real_time(harness, tmp_path, command):
    """A session ends with its budget, also if it waits for a processor or runs a hook again."""
    hook = {"type": "command", "command": command}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    (place,) = find_hook_sets(tmp_path)
    resources = replace(harness.resources, slot=StandingSlot())
    began = time.monotonic()
    outcome = play_session(plan_each_event(place), replace(harness.settings, wall=1.5), resources)
    assert outcome.verdict_name == "undecided"
    assert time.monotonic() - began < 4


class FinishedRunner:
    """A runner that returns a given outcome and a given time."""

    def __init__(self, outcome, took):
        self.outcome, self.took = outcome, took

    def do(self, *_):
        """Return the outcome and the time."""
        return self.outcome, self.took


@pytest.mark.slow
@pytest.mark.parametrize(("command", "least"), [("exit 2", 5.0), ("exit 0", 20.0)])
def test_how_long_other_sessions_take(harness, tmp_path, command, least):
    """Other sessions are expected to take as long as one whose stop was allowed, and not as a proved loop."""
    hook = {"type": "command", "command": command}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    (place,) = find_hook_sets(tmp_path)
    session = plan_each_event(place)
    run = CheckRun(place, replace(harness.settings, wall=60.0), harness.resources)
    outcome = play_session(session, harness.settings, harness.resources)
    run._simulate(session, 30.0, FinishedRunner(outcome, 20.0))
    assert run._least == least


@pytest.mark.nightly
def test_the_budget_of_a_first_session_is_not_spent_twice(harness, tmp_path):
    """If the budget cut the first session, it is not played once more in another order, and others begin."""
    hooks = [{"type": "command", "command": f"sleep 1; echo {name} >&2; exit 2"} for name in ("One.", "Two.")]
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": hooks}]}}))
    (place,) = find_hook_sets(tmp_path)
    steps = {}
    settings = replace(harness.settings, wall=5.0)
    CheckRun(place, settings, harness.resources, on_step=lambda words, *_: steps.setdefault(words)).run()
    assert "each event once" in steps
    assert "each event once, hook by hook" not in steps


@pytest.mark.nightly
def test_nothing_is_planned_once_no_session_may_start(harness, tmp_path):
    """Where the first session uses the whole budget, no other one is planned, and the report says so."""
    hook = {"type": "command", "command": "exec sleep 600"}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    (place,) = find_hook_sets(tmp_path)
    steps = {}
    settings = replace(harness.settings, wall=3.0)
    run = CheckRun(place, settings, harness.resources, on_step=lambda words, *_: steps.setdefault(words))
    report = run.run()
    assert not {*steps} - {"each event once", "evidence"}
    assert "The time budget ended before all sessions were planned." in report.undecided


@pytest.mark.nightly
def test_a_hook_that_is_cut_keeps_no_time_from_the_others(harness, tmp_path):
    """A hook that the harness cuts runs once and is reported once; further sessions try the others."""
    hooks = {"SessionStart": "exec sleep 600", "PostToolUse": "echo x >>log", "Stop": "echo No. >&2; exit 2"}
    settings = {event: [{"hooks": [{"type": "command", "command": words}]}] for event, words in hooks.items()}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": settings}))
    (place,) = find_hook_sets(tmp_path)
    run = CheckRun(place, replace(harness.settings, hook_timeout=1.0), harness.resources, "livelock")
    report = run.run()
    played = [one.outcome for one in run._played if one.outcome is not None]
    ran = [{run.hook.command for _, run in outcome.trace.hook_runs()} for outcome in played]
    assert [hooks["SessionStart"] in commands for commands in ran] == [True] + [False] * (len(ran) - 1)
    assert {problem.symptom.hook for problem in report.problems} == {hooks["Stop"]}
    assert {*report.triggered} >= {*hooks.values()}
    (told,) = report.untried
    assert told.startswith("the check ended SessionStart 1 (exec sleep 600) after ")


WANTS = "[ -d node_modules ] || { echo Run npm install. >&2; exit 2; }"


@pytest.fixture
def hooked(tmp_path, harness):
    """Look for a livelock of hooks, given their commands by event; return the report."""

    def check(hooks):
        entries = {
            event: [{"hooks": [{"type": "command", "command": words}]}] for event, words in hooks.items()
        }
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": entries}))
        (place,) = find_hook_sets(tmp_path)
        return CheckRun(place, harness.settings, harness.resources, "livelock").run()

    return check


@pytest.mark.nightly
def test_a_hook_that_refuses_the_prompt_keeps_nothing_from_the_others(hooked):
    """Hooks are tried without one that refuses the prompt, and the report says so, with its reason."""
    stop = "echo No. >&2; exit 2"
    report = hooked({"UserPromptSubmit": WANTS, "Stop": stop})
    assert {problem.symptom.hook for problem in report.problems} == {stop}
    (told,) = report.untried
    assert told.startswith("UserPromptSubmit 1 ")
    assert '("Run npm install."), so the other hooks were tried without it' in told


@pytest.mark.nightly
def test_a_hook_of_several_events_is_not_left_out(hooked):
    """A hook that refuses the prompt and is asked at stops too stays, and nothing is said of other hooks."""
    report = hooked({"UserPromptSubmit": WANTS, "Stop": WANTS})
    assert not any("first session" in one for one in report.untried)
    assert set(report.triggered) == {WANTS}


@pytest.mark.slow
@pytest.mark.nightly
def test_a_hook_that_goes_on_in_the_background(harness, tmp_path):
    """A hook that answers with async is not waited for: it is no problem, and its end was not seen."""
    command = """echo '{"async": true}'; exec sleep 600"""
    hook = {"type": "command", "command": command}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    (place,) = find_hook_sets(tmp_path)
    run = CheckRun(place, harness.settings, harness.resources, "hung-hook")
    report = run.run()
    assert report.problems == ()
    assert [text.endswith("what it does later was not seen") for text in report.untried] == [True]
    hook_runs = [one for each in run._played if each.outcome for _, one in each.outcome.trace.hook_runs()]
    assert {one.run.cut_in_background for one in hook_runs} == {True}


@pytest.mark.nightly
def test_a_check_without_a_hook_run_is_no_success(harness, tmp_path):
    """If no hook ran, the report says so, and the exit status is not that of a success."""
    hook = {"type": "prompt", "prompt": "Is it done?"}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    (place,) = find_hook_sets(tmp_path)
    report = CheckRun(place, harness.settings, harness.resources, "livelock").run()
    assert (report.problems, report.triggered, status_of([report])) == ((), (), UNKNOWN)
    assert "No hook run came to its end, so nothing is known about any hook." in report.undecided


@pytest.mark.nightly
@pytest.mark.parametrize("paces", [True, False])
def test_a_check_does_not_compare_a_session_with_slower_ones(harness, tmp_path, paces):
    """A hook that decides by the time is played once: a check reports nothing about the pace of an agent."""
    command = '[ "$(find .asked -mmin -5 2>/dev/null)" ] && exit 0; touch .asked; echo Again. >&2; exit 2'
    hook = {"type": "command", "command": command}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    (place,) = find_hook_sets(tmp_path)
    session = plan_each_event(place)
    if paces:
        outcome = harness.simulate(session.scenario)
    else:
        outcome = play_session(session, harness.settings, harness.resources)
    assert ("CLOCK" in {one.name for one in outcome.findings}) is paces


@pytest.mark.parametrize(
    ("kind", "child", "program"),
    [("HUNG-HOOK", "uv", "uv"), ("HUNG-HOOK", "sleep", ""), ("HELD-OPEN", "curl", "")],
)
def test_a_program_that_waits_for_the_network(kind, child, program):
    """A hook that does not end because a program of its has no network has no defect."""
    text = (
        f"Stop: cut: sh x.sh waits for its child bash (pid 3), bash y.sh waits for its child {child} (pid 4)."
    )
    assert network_program(Symptom(kind=kind, text=text)) == program


@pytest.mark.parametrize(
    ("command", "tool", "ends", "moot"),
    [
        ("gh pr merge", "gh", "0", True),
        ("cd x && gh pr merge", "gh", "0", True),
        ("rm -rf .gh x", "gh", "0", False),
        ("rm -rf x", "git", "0", True),
        ("rm -rf x", "node", '127: "/bin/bash: line 1: node: command not found"', True),
        ("rm -rf x", "node", '127: "/bin/sh: 1: node: not found"', True),
        ("rm -rf x", "node", """127: "env: 'node': No such file or directory\"""", True),
        ("rm -rf x", "jq", '127: "./x.sh: line 3: jq: command not found"', False),
    ],
)
def test_a_missing_tool_that_leaves_nothing_to_guard(command, tool, ends, moot):
    """That a guard allows without its own interpreter, Git or the call's program says nothing about it."""
    rule = Rule("nothing said", Basis.DOCUMENTED, "a page")
    payload = {"tool_name": "Bash", "tool_input": {"command": command}}
    hook = Hook(event="PreToolUse", command="./x.sh")
    hook_run = HookRun(hook=hook, payload=payload, run=None, reply=Reply(rule=rule))
    decision = Decision(event="PreToolUse", rule=rule)
    event = HookEvent(event="PreToolUse", hook_runs=(hook_run,), decision=decision)
    text = f"PreToolUse in turn 2: refuses (exit 0); with no `{tool}` on the PATH, allows (exit {ends})."
    evidence = SymptomEvidence(
        id="x",
        symptom=Symptom(kind="UNGUARDED-TOOL", hook="./x.sh", text=text, turn=2),
        session=CheckSession(title="x", scenario=Scenario(name="x")),
        trace=Trace(steps=(Step(number=1, turn=2, exchange=event),)),
        shown_by=(),
    )
    assert is_moot(evidence) is moot


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_refuses_the_form_of_a_commit(tmp_path, harness):
    """A guard that allows a commit, and refuses it with its message in a here-document, is found."""
    command = "jq -r .tool_input.command | grep -q 'git commit.*(cat' && exit 2; exit 0"
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    (hook_set,) = find_hook_sets(tmp_path)
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    texts = [one.symptom.text for one in report.problems if one.symptom.kind == "TEXT-MATCH"]
    said = "`git commit` is refused with its message in a here-document, and allowed with it in quotes."
    assert texts == [said]


@pytest.mark.nightly
def test_a_hook_that_the_budget_cut_was_triggered(harness, tmp_path):
    """The report does not say that nothing triggered a hook that was running when the budget ended."""
    hook = {"type": "command", "command": "sleep 86399"}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    (place,) = find_hook_sets(tmp_path)
    run = CheckRun(place, replace(harness.settings, hook_timeout=700.0, wall=5.0), harness.resources)
    report = run.run()
    assert [text for text in report.undecided if "was still running when the time budget ended" in text]
    assert not [text for text in report.open if text.startswith("No session triggered")]


def test_what_stands_in_for_a_hook_is_not_counted(harness, tmp_path):
    """Runs of a command that replaces a left-out hook are not counted as hook runs of the project."""
    hook = {"type": "command", "command": "true"}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    (place,) = find_hook_sets(tmp_path)
    session = plan_each_event(with_commands(place, {"true": NOTHING}) or place)
    played = [PlayedSession(session, harness.simulate(session.scenario))]
    assert played[0].outcome.hook_runs("Stop")
    assert summarise(place, played).tried[0].startswith("1 session with 0 hook runs: 0 of 1 hook")


def test_copies_of_scripts_get_little_time(tmp_path):
    """A plugin with the scripts of the settings shows little that is new, so the settings get more time."""
    for folder, name, root in (
        (tmp_path, ".claude/settings.json", "."),
        (tmp_path / "plugin", "hooks/hooks.json", "${CLAUDE_PLUGIN_ROOT}"),
    ):
        hook = {"type": "command", "command": f'sh "{root}"/guard.sh'}
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook] * 6}]}}))
        (folder / "guard.sh").write_text("exit 0\n")
    (tmp_path / "plugin/.claude-plugin").mkdir()
    (tmp_path / "plugin/.claude-plugin/plugin.json").write_text('{"name": "guards"}')
    settings, plugin = weigh(find_hook_sets(tmp_path))
    assert settings > 2 * plugin
    (tmp_path / "plugin/guard.sh").write_text("exit 1\n")
    settings, plugin = weigh(find_hook_sets(tmp_path))
    assert settings == plugin


def test_hooks_that_cannot_run_get_little_time(tmp_path):
    """Hooks whose scripts are missing show nothing, so those of another host get the time for them."""
    for host, folder in (("claude-code", ".claude"), ("gemini-cli", ".gemini")):
        hook = {"type": "command", "command": f"sh {folder}/{host}.sh"}
        event = "PreToolUse" if host == "claude-code" else "BeforeTool"
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{host}.sh").write_text(f"# {host}\nexit 0\n")
        (tmp_path / folder / "settings.json").write_text(
            json.dumps({"hooks": {event: [{"hooks": [hook] * 6}]}})
        )
    assert len({*weigh(find_hook_sets(tmp_path))}) == 1
    (tmp_path / ".gemini" / "gemini-cli.sh").unlink()
    claude, gemini = weigh(find_hook_sets(tmp_path))
    assert claude > 20 * gemini
