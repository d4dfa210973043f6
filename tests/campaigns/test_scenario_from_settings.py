"""Scenarios for settings files."""

import json
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.scenario_from_settings import scenario_from_settings, with_all_trials
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import Compact, End, RunCommand, Subagent
from pytest_hookharness.model.mutations import VARY_FAMILIES, Parallel, VaryRequest
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import SimulationError


@pytest.fixture
def settings(tmp_path):
    """Write settings with a hook for some events."""

    def write(*events, place=".claude/settings.json"):
        file = tmp_path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        hook = [{"hooks": [{"type": "command", "command": "true"}]}]
        file.write_text(json.dumps({"hooks": dict.fromkeys(events, hook)}))
        return file

    return write


def scenario_of(file, **options):
    """Return the scenario of a settings file."""
    (hook_set,) = find_hook_sets(file)
    return scenario_from_settings(hook_set, **options)


def kinds(scenario):
    """Return the kinds of acts of a scenario."""
    return {type(act) for act in scenario.script.acts}


@pytest.mark.parametrize(
    ("place", "host"),
    [
        (".claude/settings.local.json", "claude-code"),
        (".gemini/settings.json", "gemini-cli"),
        (".qwen/settings.json", "qwen-code"),
    ],
)
def test_the_place_of_a_file_decides_its_host(settings, tmp_path, place, host):
    """A settings file is read by the host that reads this place, in the project around it."""
    event = "BeforeTool" if host == "gemini-cli" else "PreToolUse"

    made = scenario_of(settings(event, place=place))

    assert (made.host, made.project, made.hooks) == (host, tmp_path, place)


def test_only_configured_events_are_triggered(settings):
    """A subagent, a compaction and an end are in the session if hooks are configured for them."""
    assert not kinds(scenario_of(settings("PreToolUse"))) & {Subagent, Compact, End}
    assert kinds(scenario_of(settings("SubagentStop", "PreCompact", "SessionEnd"))) >= {
        Subagent,
        Compact,
        End,
    }


def test_what_may_be_refused_is_never_carried_out(settings):
    """Commands that guard hooks refuse have given results, and those that are named must be refused."""
    file = settings("PreToolUse")
    for made in (scenario_of(file), scenario_of(file, refused=["make deploy"])):
        risky = [act for act in made.script.acts if isinstance(act, RunCommand) and act.command != "true"]
        assert risky
        assert all(act.given is not None for act in risky)

    assert [(act.command, act.expect) for act in risky] == [("make deploy", "deny")]


@pytest.mark.parametrize("place", ["hooks.json", ".claude/other.json"])
def test_a_place_that_no_host_reads_is_refused(settings, place):
    """A file that no host reads is refused, with what to do."""
    with pytest.raises(SimulationError, match="name the host that is meant with --host, or move the file"):
        scenario_of(settings("Stop", place=place))


def test_what_is_no_file_is_not_said_to_be_missing(tmp_path):
    """A device and a folder exist, and are not reported as missing."""
    with pytest.raises(SimulationError, match=r"^/dev/null: is neither a file nor a folder; name a project"):
        find_hook_sets(Path("/dev/null"))
    with pytest.raises(SimulationError, match=f"^{tmp_path}: no hooks of any host are configured below it"):
        find_hook_sets(tmp_path)


def test_settings_without_hooks_are_refused(settings, tmp_path):
    """A file that configures no hook is refused rather than tried with nothing."""
    file = settings()
    with pytest.raises(SimulationError, match="no hooks of any host"):
        scenario_of(file)
    hook_set = HookSet(host="claude-code", root=tmp_path, files=(str(file.relative_to(tmp_path)),))
    with pytest.raises(SimulationError, match=f"^{file}: claude-code.* finds no hook in it"):
        scenario_from_settings(hook_set)


def test_a_stressed_scenario_asks_for_everything_once():
    """Trials that a scenario asks for already keep their names, and all other trials are added."""
    made = with_all_trials(Scenario(name="test", vary=(VaryRequest("tools", ("jq",)),)))

    assert sorted(request.family for request in made.vary) == sorted(VARY_FAMILIES)
    assert made.vary[0] == VaryRequest("tools", ("jq",))
    assert made.parallel == Parallel()


def test_the_copy_of_a_project_is_a_repository(settings):
    """Hooks may ask Git for changes, so the copy, which has no `.git`, becomes a repository."""
    (hook_set,) = find_hook_sets(settings("Stop"))

    assert scenario_from_settings(hook_set).git is hook_set.git
