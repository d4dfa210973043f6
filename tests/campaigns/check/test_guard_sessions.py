"""Claims about which hooks the sessions have that try guards."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import (
    plan_bypasses,
    plan_refusals,
    plan_rewordings,
)
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.guards.rewording import refused_moves
from pytest_hookharness.campaigns.stress.mutations.wording import HARMLESS, forms_of
from pytest_hookharness.model.moves import RunCommand
from pytest_hookharness.model.trace import HookEvent

GUARD = "#!/bin/sh\ngrep -q 'rm -rf' && { echo 'No rm here.' >&2; exit 2; }\nexit 0\n"
LOG = "#!/bin/sh\ncat >>log.txt\n"
JUDGE = '#!/bin/sh\ngrep -q FAILED && echo \'{"decision": "block", "reason": "Repair it."}\'\nexit 0\n'


@pytest.fixture
def place(tmp_path):
    """A project with a guard, a hook that only logs, and others, each entry with some more keys."""

    def configure(**options):
        (tmp_path / ".claude").mkdir()
        hooks = {}
        for event, name, text in (
            ("SessionStart", "start.sh", LOG),
            ("PreToolUse", "guard.sh", GUARD),
            ("PreToolUse", "other.sh", LOG),
            ("PostToolUse", "log.sh", LOG),
            ("PostToolUse", "judge.sh", JUDGE),
        ):
            (tmp_path / name).write_text(text)
            entry = {"type": "command", "command": f'sh "$CLAUDE_PROJECT_DIR"/{name}', **options}
            hooks.setdefault(event, []).append({"matcher": "*", "hooks": [entry]})
        (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
        (hook_set,) = find_hook_sets(tmp_path)
        return hook_set

    return configure


def scripts(session):
    """The names of the scripts that a session runs; all for the settings of the project."""
    hooks = session.scenario.hooks
    if hooks is None:
        return {"all"}
    commands = [entry["command"] for entries in hooks.values() for entry in entries]
    return {command.rpartition("/")[2].removesuffix(".sh") for command in commands}


def test_what_guards_refuse_is_asked_without_logs(place):
    """Hooks that run after a call are left out of sessions with many calls, unless they may refuse it."""
    sessions = [*plan_refusals(place())]
    assert [scripts(one) for one in sessions] == [{"start", "guard", "other", "judge"}] * len(sessions)


@pytest.mark.slow
def test_other_spellings_are_tried_with_the_guard_alone(place, harness):
    """What was refused is asked again of the hooks that refused it, and of those that begin a session."""
    hook_set = place(statusMessage="Looking")
    first = next(plan_refusals(hook_set))
    outcome = play_session(first, harness.settings, harness.resources)
    sessions = [*plan_rewordings(hook_set, [outcome])]
    assert len(sessions) > 1
    assert [scripts(one) for one in sessions] == [{"start", "guard"}] * len(sessions)


def test_hooks_keep_their_further_keys(place):
    """Where an entry has further keys, such as a rule about commands, the sessions have them too."""
    first = next(plan_refusals(place(**{"if": "Bash(rm *)", "statusMessage": "Looking"})))
    entries = [entry for entries in first.scenario.hooks.values() for entry in entries]
    assert scripts(first) == {"start", "guard", "other", "judge"}
    assert {entry["if"] for entry in entries} == {"Bash(rm *)"}


def test_hooks_with_arguments_keep_them(place):
    """In a session with some of the hooks, those with arguments keep them."""
    hook_set = place(args=["one"])
    sessions = [one for one in plan_refusals(hook_set) if isinstance(one.scenario.hooks, dict)]
    entries = [entry for one in sessions for found in one.scenario.hooks.values() for entry in found]
    assert sessions
    assert {(*entry["args"],) for entry in entries} == {("one",)}
    assert all(entry["command"].startswith("sh ") for entry in entries)


@pytest.mark.slow
def test_each_guard_is_tried_alone(tmp_path, harness):
    """Guards have sessions of their own, with other forms only of what they refused themselves."""
    entries = []
    for name, words in (("removals", "rm -rf"), ("pushes", "git push")):
        (tmp_path / f"{name}.sh").write_text(GUARD.replace("rm -rf", words))
        entries.append({"type": "command", "command": f'sh "$CLAUDE_PROJECT_DIR"/{name}.sh'})
    (tmp_path / ".claude").mkdir()
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": entries}]}
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
    (hook_set,) = find_hook_sets(tmp_path)
    outcome = play_session(next(plan_refusals(hook_set)), harness.settings, harness.resources)
    for session in plan_rewordings(hook_set, [outcome]):
        commands = [act.command for act in session.scenario.script.acts if isinstance(act, RunCommand)]
        (name,) = scripts(session)
        assert not any("git push" in one if name == "removals" else "rm -rf" in one for one in commands)


@pytest.mark.nightly
def test_proofs_have_all_guards(place, harness):
    """A spelling that one guard allows is proved beside all hooks that may refuse it, without the others."""
    hook_set = place()
    first = play_session(next(plan_refusals(hook_set)), harness.settings, harness.resources)
    played = [
        play_session(one, harness.settings, harness.resources) for one in plan_rewordings(hook_set, [first])
    ]
    proofs = [*plan_bypasses(hook_set, [first, *played])]
    assert proofs
    assert [scripts(one) for one in proofs] == [{"start", "guard", "other"}] * len(proofs)


def test_the_guards_of_a_plugin_are_tried_in_its_folder(tmp_path, harness):
    """The sessions of a plugin have its guards alone too, which find their own files as in the plugin."""
    (tmp_path / "words.txt").write_text("rm -rf\n")
    guard = GUARD.replace("'rm -rf'", '-f "$CLAUDE_PLUGIN_ROOT/words.txt"')
    hooks = {}
    for event, name, text in (("PreToolUse", "guard.sh", guard), ("PostToolUse", "log.sh", LOG)):
        # From any folder, because the host gives the script an absolute path.
        (tmp_path / name).write_text(f"cd /\n{text}")
        entry = {"type": "command", "command": f'sh "${{CLAUDE_PLUGIN_ROOT}}"/{name}', "timeout": 5}
        hooks[event] = [{"matcher": "Bash", "hooks": [entry]}]
    for file, content in (
        ("hooks/hooks.json", {"hooks": hooks}),
        (".claude-plugin/plugin.json", {"name": "p"}),
    ):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text(json.dumps(content))
    (hook_set,) = find_hook_sets(tmp_path)
    assert hook_set.plugin
    first = next(plan_refusals(hook_set))
    assert scripts(first) == {"guard"}
    outcome = play_session(first, harness.settings, harness.resources)
    refused = {command for command, _ in refused_moves(outcome)}
    assert refused == {hook_set.hooks[0].command}


@pytest.mark.slow
def test_a_slow_guard_has_short_sessions(place, harness):
    """A guard that takes long is asked less, but about each form in which a command is data."""
    hook_set = place()
    outcome = play_session(next(plan_refusals(hook_set)), harness.settings, harness.resources)
    steps = [_slow(step) for step in outcome.trace.steps]
    slow = replace(outcome, trace=replace(outcome.trace, steps=tuple(steps)))
    (usual, *_), (short, *others) = ([*plan_rewordings(hook_set, [one])] for one in (outcome, slow))
    assert len(short.scenario.script.acts) < len(usual.scenario.script.acts)
    asked = [act.command for act in short.scenario.script.acts if isinstance(act, RunCommand)]
    # The harmless words come first, in each of the same forms.
    first = asked[len([one for one in forms_of(HARMLESS) if not one.code])]
    assert {one.text for one in forms_of(first) if not one.code} <= {*asked}
    assert all(len(one.scenario.script.acts) <= len(short.scenario.script.acts) for one in others)


def _slow(step):
    """A step whose hook runs take three seconds each."""
    if not isinstance(step.exchange, HookEvent):
        return step
    runs = tuple(replace(one, run=replace(one.run, cpu=3.0)) for one in step.exchange.hook_runs)
    return replace(step, exchange=replace(step.exchange, hook_runs=runs))
