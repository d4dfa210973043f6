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
from pytest_hookharness.model.moves import FIRST_PROMPT, Edit, RunCommand

REFUSES = """case "$(jq -r .tool_input.command)" in
    "rm -rf "*) echo "Removing folders is for people." >&2; exit 2 ;;
esac
"""
APPROVES = 'printf \'{"decision": "approve"}\'\n'
# Allows a list of harmless calls, and denies all others.
LISTED = """case "$(jq -r .tool_input.command)" in
    "git status"|ls|"npm test"|pwd|date|"git diff"|"git log") printf '{"decision": "approve"}' ;;
    *) echo "Ask a person." >&2; exit 2 ;;
esac
"""
FEW = """case "$(jq -r .tool_input.command)" in "git status") printf '{"decision": "approve"}' ;; esac\n"""


@pytest.fixture
def unasked(tmp_path, harness):
    """Play what guards commonly refuse with a guard hook, and return the problem of its answers."""

    def play(text, host="claude-code", file=".claude/settings.json", after=False, runs=(), edits=0):
        (tmp_path / file).parent.mkdir()
        (tmp_path / "guard.sh").write_text(text)
        hook = {"type": "command", "command": f"sh {tmp_path}/guard.sh"}
        hooks = {"PreToolUse": [{"matcher": "Write" if edits else "Bash", "hooks": [hook]}]}
        if after:
            hooks["PostToolUse"] = hooks["PreToolUse"]
        (tmp_path / file).write_text(json.dumps({"hooks": hooks}))
        (hook_set,) = [one for one in find_hook_sets(tmp_path) if one.host == host]
        acts = (
            FIRST_PROMPT,
            *[RunCommand(command=text) for text in runs],
            *[*commonly_refused(["rm sudo push"], tmp_path)][:10],
            *[Edit(file=f"{number}.env", text="text") for number in range(edits)],
        )
        scenario = replace(scenario_of(hook_set, acts), turns=len(acts))
        session = CheckSession(title="guards", scenario=scenario, ends=False)
        outcome = play_session(session, harness.settings, harness.resources)
        return [one.symptom for one in find_problems(hook_set, [outcome]) if one.symptom.kind == "UNASKED"]

    return play


@pytest.mark.slow
def test_a_guard_that_approves_the_rest(unasked):
    """A guard that refuses one command and approves all others is UNASKED, with a call that matters."""
    (found,) = unasked(REFUSES + APPROVES)
    assert "every call that it does not refuse (6 different calls, such as `sudo rm notes.txt`)" in found.text
    assert "guard.sh" in found.hook


@pytest.mark.slow
def test_a_guard_that_also_runs_after_calls(unasked):
    """A dispatcher that is configured before and after calls is judged by its answers before them."""
    (found,) = unasked(REFUSES + APPROVES, after=True)
    assert found.text.startswith("PreToolUse: ")


@pytest.mark.nightly
def test_a_list_of_what_is_allowed(unasked):
    """A guard that allows many harmless calls and refuses all others is meant to do that."""
    runs = ("git status", "ls", "npm test", "pwd", "date", "git diff", "git log")
    assert unasked(LISTED, runs=runs) == []


@pytest.mark.nightly
@pytest.mark.parametrize("text", [REFUSES, REFUSES + FEW, APPROVES])
def test_what_is_no_objection(unasked, text):
    """A guard that is silent about the rest or approves a few calls is not, nor a hook that only approves."""
    assert unasked(text) == []


@pytest.mark.slow
def test_a_host_without_questions(unasked):
    """On a host whose approval is refused as unsupported nothing is said of it."""
    assert unasked(REFUSES + APPROVES, "codex", ".codex/hooks.json") == []


@pytest.mark.slow
def test_a_guard_whose_refusal_was_not_reached(unasked):
    """A guard whose script refuses something else is UNASKED too."""
    other = REFUSES.replace("rm -rf", "deploy --production")
    (found,) = unasked(other + APPROVES)
    assert "every call that it does not refuse" in found.text


@pytest.mark.slow
def test_a_guard_of_files(unasked):
    """A file is named as in the project, without the folder of the run."""
    (found,) = unasked(REFUSES + APPROVES, edits=7)
    assert "(7 different calls, such as `Write of 0.env`)" in found.text
