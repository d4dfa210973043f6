"""Claims about guards of commits to a branch, and lines that leave the branch first."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import plan_rewordings
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.moves import FIRST_PROMPT, RunCommand

GUARD = """case "$(jq -r .tool_input.command)" in %s) ;; *) exit 0 ;; esac
[ "$(git branch --show-current)" = main ] || exit 0
echo "Begin a branch with git checkout -b first." >&2; exit 2
"""
ANYWHERE, KNOWS = GUARD % "*'git commit'*", GUARD % "'git commit'*"
EVERY_BRANCH = ANYWHERE.replace("|| exit 0", "|| true")
NO_SWITCH = GUARD % "*'git commit'*|*checkout*"
WITHOUT = ANYWHERE.partition("[")[0] + "exit 2\n"


@pytest.fixture
def found(tmp_path, harness):
    """Returns what a session with commits on two branches shows of a guard."""

    def play(script):
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/guard.sh").write_text(script)
        hook = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR"/.claude/guard.sh'}
        hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}
        (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
        (hook_set,) = find_hook_sets(tmp_path)
        acts = (FIRST_PROMPT, RunCommand(command='git commit -m "done"'))
        first = CheckSession(title="first", scenario=scenario_of(hook_set, acts), ends=False)
        outcomes = [play_session(first, harness.settings, harness.resources)]
        proofs = [one for one in plan_rewordings(hook_set, outcomes) if "new branch" in one.title]
        outcomes = [play_session(one, harness.settings, harness.resources) for one in proofs]
        symptoms = [one for outcome in outcomes for one in find_symptoms(outcome)]
        return [one.text for one in symptoms if one.kind == "OVERBLOCK"]

    return play


@pytest.mark.slow
def test_a_guard_that_asks_for_the_branch_too_soon(found):
    """A line that begins a branch commits to that branch, so a guard of another one must allow it."""
    (text,) = found(ANYWHERE)
    assert text == (
        '`git checkout -b next && git commit -m "work"`, which commits to the new branch, is refused, but '
        '`git commit -m "work"` allowed on another branch.'
    )


@pytest.mark.nightly
@pytest.mark.parametrize("script", [KNOWS, EVERY_BRANCH, NO_SWITCH, WITHOUT, "exit 0\n"])
def test_a_guard_of_commits_or_of_branches(found, script):
    """A guard of the beginning of lines, of all commits, or of new branches is not such, nor is no guard."""
    assert found(script) == []
