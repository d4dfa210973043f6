"""Problems of hook settings, and where they are reported."""

from types import SimpleNamespace

import pytest

from pytest_hookharness import hosts, scenario_files
from pytest_hookharness.simulation.testbed.host_setup import configure


@pytest.mark.parametrize(
    ("variant", "place"), [("", "a.scenario.yaml:3, hooks.Stpo"), ("b", "a.scenario.yaml:5, hooks.Stpp")]
)
def test_a_misspelt_event_is_reported_with_its_line(tmp_path, variant, place):
    """A problem of hooks in a scenario file is reported once, with the file and the line."""
    text = "name: a\nhooks:\n  Stpo: x\nvariants:\n  b: {hooks: {Stpp: x}}\n"
    scenarios = {each.variant: each for each in scenario_files.loads(text, tmp_path / "a.scenario.yaml")}
    scenario = scenarios[variant]
    workspace = SimpleNamespace(roots={}, plugin=None, read=lambda _: None)

    (problem,) = configure(scenario, hosts.find(scenario.host), workspace, only=()).problems

    assert f"{problem.source}, {problem.path}" == place
    assert problem.text.startswith(f"claude-code has no event {problem.path.removeprefix('hooks.')!r}")


@pytest.mark.parametrize(
    ("matcher", "words"),
    [
        ("bash", "`bash` must be `Bash`"),
        ("Bash", ""),
        ("mcp__.*|bash", ""),
        ("Notebook.*|write", ""),
        ("run_shell_command", ""),
        ("DeployTool", ""),
        ("deploy|bash", ""),
    ],
)
def test_a_hook_that_no_call_can_start_fails_the_scenario(play, matcher, words):
    """A matcher with a known tool in another spelling is a finding, though another hook runs and allows."""
    hooks = {"PreToolUse": [{"matcher": matcher, "command": "true"}], "Stop": "true"}
    outcome = play(hooks=hooks, agent=[{"prompt": "go"}, {"stop": "Done."}])
    found = [one.text for one in outcome.findings if one.name == "NEVER-FIRED"]
    assert len(found) == bool(words)
    assert words in "".join(found)
    assert outcome.terminated is not bool(words)
