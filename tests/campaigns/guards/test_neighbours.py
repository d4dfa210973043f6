"""Claims about harmless commands that guards refuse, because they resemble others."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import plan_proofs, plan_rewordings
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.moves import FIRST_PROMPT, Read, RunCommand

REFUSED = ("rm -rf /", "git push --force", "git push origin main", "git merge topic")
START = "text=$(jq -r .tool_input.command)\n"
LOOKS = f"""{START}printf '%%s' "$text" | grep -Eq '%s' || exit 0
echo 'People do that.' >&2; exit 2
"""
EVERY_PATH = LOOKS % "rm -rf [/.]|git push --force$"
WHOLE_PATH = LOOKS % "rm -rf [/.]( |$)|git push --force$"
ANY_MAIN = LOOKS % "git push.* main( |$)"
ANY_PUSH = LOOKS % "git.* push"
ANY_OPTION, ANY_MERGE = LOOKS % "git push.*--force", LOOKS % "git merge"
ANY_FORCE = LOOKS % "push --force"
ASKS = EVERY_PATH.partition("echo")[0] + (
    """printf '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}'"""
)
OF_FILES = """case "$(jq -r '.tool_input.file_path // empty')" in
    %s) echo 'Keys are for people.' >&2; exit 2 ;;
esac
"""
EVERYTHING = "echo 'Nothing may be run.' >&2; exit 2\n"
# Refuses each command that it has seen before.
AGAIN = f"""{START}grep -qxF "$text" "$CLAUDE_PROJECT_DIR/seen" 2>/dev/null && {{ echo Again? >&2; exit 2; }}
printf '%s\\n' "$text" >>"$CLAUDE_PROJECT_DIR/seen"
"""


@pytest.fixture
def found(tmp_path, harness):
    """The problems of harmless commands that a guard is found to refuse."""

    def play(script):
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/guard.sh").write_text(script)
        hook = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR"/.claude/guard.sh'}
        settings = {"hooks": {"PreToolUse": [{"matcher": "Bash|Read", "hooks": [hook]}]}}
        (tmp_path / ".claude/settings.json").write_text(json.dumps(settings))
        (hook_set,) = find_hook_sets(tmp_path)
        acts = (FIRST_PROMPT, *(RunCommand(command=text) for text in REFUSED), Read(file=".env"))
        first = CheckSession(title="first", scenario=scenario_of(hook_set, acts), ends=False)
        outcomes = [play_session(first, harness.settings, harness.resources)]
        for session in plan_rewordings(hook_set, [*outcomes]):
            outcomes.append(play_session(session, harness.settings, harness.resources))
        for session in plan_proofs(hook_set, [*outcomes], []):
            outcomes.append(play_session(session, harness.settings, harness.resources))
        symptoms = [one for outcome in outcomes for one in find_symptoms(outcome)]
        return [one.text for one in symptoms if one.kind == "OVERBLOCK"]

    return play


@pytest.mark.slow
def test_a_guard_that_takes_every_path_for_the_root(found):
    """A guard that looks at the first letter of a path refuses harmless folders, which is OVERBLOCK."""
    (text,) = found(EVERY_PATH)
    assert text == (
        "`rm -rf ./build`, the same folder, is refused, but `rm -rf build` allowed; "
        "`rm -rf <project>/build`, the same folder, is refused, but `rm -rf build` allowed; "
        "`rm -rf .cache`, a folder whose name begins with a dot, is refused, but `rm -rf build` allowed."
    )


@pytest.mark.slow
def test_a_guard_that_takes_the_option_of_another_command(found):
    """Where each of two commands is allowed, both in one line must be allowed."""
    (text,) = found(ANY_OPTION)
    assert "but `git push origin topic` and `npm ci --force` allowed; " in text


@pytest.mark.slow
def test_a_guard_that_takes_the_branch_of_another_command(found):
    """A branch that a later command names is not the target of the push."""
    (text,) = found(ANY_MAIN)
    assert text == (
        "`git push origin topic && git switch main`, where main is the branch to switch to, is refused, but "
        "`git push origin topic` and `git switch main` allowed."
    )


@pytest.mark.slow
def test_a_guard_that_takes_a_stash_for_a_push(found):
    """The word push is part of another command of git too."""
    (text,) = found(ANY_PUSH)
    assert text == (
        "`git stash push -m topic`, which sends nothing to another repository, is refused, but "
        "`git stash list` allowed."
    )


@pytest.mark.slow
def test_a_guard_that_refuses_the_way_back(found):
    """A guard of merges must allow to end one."""
    (text,) = found(ANY_MERGE)
    assert text.startswith("`git merge --abort`, which only ends a merge, is refused")


@pytest.mark.slow
@pytest.mark.parametrize("script", [WHOLE_PATH, EVERYTHING, AGAIN, ASKS])
def test_a_guard_that_confuses_nothing(found, script):
    """A guard of whole paths, of all commands, or of repeated ones confuses nothing; one that asks may."""
    assert [text for text in found(script) if "merge" not in text] == []


@pytest.mark.slow
def test_a_guard_that_takes_a_safe_option_for_another(found):
    """An option that overwrites nobody's commits is not `--force`, whose letters it begins with."""
    (text,) = found(ANY_FORCE)
    assert "`git push --force-with-lease origin topic`, which overwrites nobody's commits, is refused" in text


@pytest.mark.slow
def test_a_guard_that_names_the_safe_option(found):
    """A guard whose source names the option is meant to refuse it."""
    assert [one for one in found(f"{ANY_FORCE}# also --force-with-lease\n") if "with-lease" in one] == []


@pytest.mark.slow
def test_a_guard_that_takes_an_example_for_a_file_with_secrets(found):
    """A guard of a tool that reads files must let it read an example, which anybody may see."""
    assert found(OF_FILES % "*.env*") == [
        "reading .env.example, which has no secrets, is refused, but reading example.txt allowed."
    ]


@pytest.mark.slow
def test_a_guard_that_knows_examples(found):
    """A guard that refuses one name alone confuses nothing with it."""
    assert found(OF_FILES % "*/.env") == []
