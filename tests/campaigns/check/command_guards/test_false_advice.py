"""Claims about FALSE-ADVICE in refusals, with real guards in sessions."""

import json
import subprocess

import pytest

from pytest_hookharness.campaigns.check.command_guards.false_advice import prove_false_advice
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.session_scenario import cut_short, scenario_of
from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.model.moves import FIRST_PROMPT, RunCommand

GUARD = """#!/bin/bash
command=$(jq -r '.tool_input.command')
case "$command" in {allowed}) exit 0;; esac
case "$command" in *"git clean"*) echo "{reason}" >&2; exit 2;; esac
"""
SKIP = "SKIP_CLEAN=1"
VARIABLE = f"Set {SKIP} to go on."
BEGIN = "PreToolUse: the refusal of `git clean -fd`"


@pytest.fixture
def found(tmp_path, try_out):
    """The texts of the problems found in the refusals of a guard."""

    def find(reason, allowed="true"):
        hook = {"type": "command", "command": 'bash "$CLAUDE_PROJECT_DIR/guard.sh"'}
        files = {
            ".claude/settings.json": json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}),
            "guard.sh": GUARD.format(reason=reason, allowed=allowed),
            "docs/rules.md": "Rules\n",
        }
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        (hook_set,) = [one for one in find_hook_sets(tmp_path, "") if one.host == "claude-code"]
        acts = (FIRST_PROMPT, RunCommand(command="git clean -fd", given=GIVEN))
        played = try_out([cut_short("a refused command", scenario_of(hook_set, acts))])
        problems = prove_false_advice(hook_set, try_out, [], played)
        return [one.symptom.text for one in problems]

    return find


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (VARIABLE, f"names {SKIP}, and the same command with {SKIP} in front of it is refused too."),
        ("Run 'git clean -n' first.", "recommends `git clean -n`, which is refused too."),
        ("Consider: git clean -n (dry run) first", "recommends `git clean -n`, which is refused too."),
        ("See docs/cleaning.md.", "names docs/cleaning.md, which the project does not have."),
    ],
)
def test_advice_that_does_not_help(found, reason, text):
    """A variable or a command that is refused too, and a file that is not there, are FALSE-ADVICE."""
    assert found(reason) == [f"{BEGIN} {text}"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("reason", "allowed"),
    [
        (VARIABLE, f"{SKIP}*"),
        ("Run 'git clean -n' first.", "*-n*"),
        ("See docs/rules.md.", "true"),
        (f"Ask the user to set {SKIP}.", "true"),
        ("Never run 'git clean -x'.", "true"),
        ("Use a trash folder instead of 'git clean -x'.", "true"),
        ("You cannot use 'git clean -x' here.", "true"),
        (f"Do not set {SKIP}.", "true"),
        (f"Set {SKIP} in the file guard.conf.", "true"),
        (f"{SKIP} must be set by the user.", "true"),
        ("See example.com/docs/cleaning.md.", "true"),
        ("See ../shared/rules.md.", "true"),
    ],
)
def test_advice_that_helps(found, reason, allowed):
    """Advice that helps, advice for a person, and warnings are not reported."""
    assert found(reason, allowed) == []
