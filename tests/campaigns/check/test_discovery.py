"""Claims about where the hooks of a project are found."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.grouping import summarise
from pytest_hookharness.campaigns.check.sessions import plan_usual
from pytest_hookharness.frontends.node_ids import anchor
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.reports.terminal.check_report import announcement
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

GROUPS = [{"matcher": "Bash", "hooks": [{"type": "command", "command": "hooks/guard.sh"}]}]


def at(folder, path, content):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))


def test_every_host_of_a_project(tmp_path):
    """Settings of several hosts are one hook set each, and a file that two hosts read belongs to one."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"PreToolUse": GROUPS}})
    at(tmp_path, ".claude/settings.local.json", {"hooks": {"Stop": GROUPS}})
    at(tmp_path, ".gemini/settings.json", {"hooks": {"BeforeTool": GROUPS}})
    found = {place.host: place for place in find_hook_sets(tmp_path)}
    assert sorted(found) == ["claude-code", "gemini-cli"]
    assert len(found["claude-code"].hooks) == 2
    assert find_hook_sets(tmp_path, "gemini-cli") == (found["gemini-cli"],)


def test_files_that_another_host_reads_too(tmp_path):
    """Hooks of a file that is checked with another host are listed, because the sessions run them as well."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"PreToolUse": GROUPS}})
    own = {"type": "command", "bash": "./own.sh"}
    at(tmp_path, ".github/hooks/own.json", {"version": 1, "hooks": {"agentStop": [own]}})
    found = {place.host: place for place in find_hook_sets(tmp_path)}
    copilot = found["copilot-cli"]
    assert [hook.command for hook in copilot.hooks] == ["./own.sh"]
    assert [hook.command for hook in copilot.shared] == ["hooks/guard.sh"]
    assert "hooks/guard.sh (from .claude/settings.json, which is checked" in announcement(copilot, "")
    assert found["claude-code"].shared == ()


def test_sources_are_the_scripts_of_the_project(tmp_path):
    """The texts of scripts that commands name are known, and files outside are not read."""
    at(
        tmp_path,
        ".claude/settings.json",
        {
            "hooks": {
                "PreToolUse": GROUPS,
                "Stop": [{"hooks": [{"type": "command", "command": "../../etc/passwd"}]}],
            }
        },
    )
    at(tmp_path, "hooks/guard.sh", "exit 0\n")
    (place,) = find_hook_sets(tmp_path)
    assert place.sources == (("hooks/guard.sh", "exit 0\n"),)


def test_words_that_can_name_no_file(tmp_path):
    """A command may hold a word that is too long for the name of a file; it names no script."""
    hook = {"type": "command", "command": f"hooks/guard.sh {'a' * 300}"}
    at(tmp_path, ".claude/settings.json", {"hooks": {"Stop": [{"hooks": [hook]}]}})
    at(tmp_path, "hooks/guard.sh", "exit 0\n")
    (place,) = find_hook_sets(tmp_path)
    assert [name for name, _ in place.sources] == ["hooks/guard.sh"]
    assert anchor(hook["command"], tmp_path) == f"{tmp_path}/hooks/guard.sh {'a' * 300}"


def test_one_file_alone(tmp_path):
    """A settings file that is named is read alone."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"PreToolUse": GROUPS}})
    at(tmp_path, ".claude/settings.local.json", {"hooks": {"Stop": GROUPS}})
    (place,) = find_hook_sets(tmp_path / ".claude/settings.local.json")
    assert (place.only, place.root) == (".claude/settings.local.json", tmp_path)
    assert [hook.event for hook in place.hooks] == ["Stop"]


def test_a_plugin(tmp_path):
    """A folder that is known as a host's plugin is a hook set of its own."""
    at(tmp_path, ".claude-plugin/plugin.json", {"name": "sample"})
    at(tmp_path, "hooks/hooks.json", {"hooks": {"PreToolUse": GROUPS}})
    (place,) = find_hook_sets(tmp_path)
    assert place.plugin
    assert isinstance(place, HookSet)


def test_settings_whose_hooks_are_all_wrong_are_a_place(tmp_path):
    """Settings whose only hook has an unknown event are a hook set with a flaw."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"BeforeEverything": GROUPS}})
    (place,) = find_hook_sets(tmp_path)
    assert not place.hooks
    assert "BeforeEverything" in place.flaws[0]


@pytest.mark.parametrize("text", ["{}", '{"permissions": {}}'])
def test_nothing_to_check(tmp_path, text):
    """A project without a hook is refused with an explanation of what counts as one."""
    at(tmp_path, ".claude/settings.json", text)
    with pytest.raises(SimulationError, match=r"no hooks of any host .* such as .claude/settings.json"):
        find_hook_sets(tmp_path)


def test_a_machine_without_git(tmp_path, monkeypatch):
    """Without git no session asks for a repository, and the report says that this was not tested."""
    at(tmp_path, ".claude/settings.json", {"hooks": {"Stop": GROUPS}})
    (place,) = find_hook_sets(tmp_path)
    assert plan_usual(place, 0).scenario.git
    monkeypatch.setenv("PATH", str(tmp_path))
    (place,) = find_hook_sets(tmp_path)
    assert not plan_usual(place, 0).scenario.git
    assert "Git is not installed here" in summarise(place, []).open[-1]
