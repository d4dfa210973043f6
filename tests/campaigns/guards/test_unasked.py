"""Claims about guards that allow what they do not refuse, so that nobody is asked."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.corpora import commonly_refused
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.hook_statistics import find_problems
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.moves import FIRST_PROMPT

REFUSES = """case "$(jq -r .tool_input.command)" in
    "rm -rf "*) echo "Removing folders is for people." >&2; exit 2 ;;
esac
"""
APPROVES = 'printf \'{"decision": "approve"}\'\n'
FEW = """case "$(jq -r .tool_input.command)" in "git status") printf '{"decision": "approve"}' ;; esac\n"""


@pytest.fixture
def unasked(tmp_path, harness):
    """Play what guards commonly refuse with a guard hook, and return the problem of its answers."""

    def play(text, host="claude-code", file=".claude/settings.json"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / "guard.sh").write_text(text)
        hook = {"type": "command", "command": f"sh {tmp_path}/guard.sh"}
        (tmp_path / file).write_text(
            json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
        )
        (hook_set,) = [one for one in find_hook_sets(tmp_path) if one.host == host]
        acts = (FIRST_PROMPT, *[*commonly_refused([], tmp_path)][:10])
        scenario = replace(scenario_of(hook_set, acts), turns=len(acts))
        session = CheckSession(title="guards", scenario=scenario, ends=False)
        outcome = play_session(session, harness.settings, harness.resources)
        return [one.symptom for one in find_problems(hook_set, [outcome]) if one.symptom.kind == "UNASKED"]

    return play


def test_a_guard_that_approves_the_rest(unasked):
    """A guard that refuses one command and approves all others is UNASKED, with a call that matters."""
    (found,) = unasked(REFUSES + APPROVES)
    assert "each call that it does not refuse, 7 different ones such as `sudo rm notes.txt`" in found.text
    assert "guard.sh" in found.hook


@pytest.mark.parametrize("text", [REFUSES, REFUSES + FEW, APPROVES])
def test_what_is_no_objection(unasked, text):
    """A guard that is silent about the rest or approves a few calls is not, nor a hook that only approves."""
    assert unasked(text) == []


def test_a_host_without_questions(unasked):
    """On a host whose approval is refused as unsupported nothing is said of it."""
    assert unasked(REFUSES + APPROVES, "codex", ".codex/hooks.json") == []
