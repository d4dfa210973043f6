"""Claims about guards that keep a file with secrets from one tool, and not from another."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import plan_rewordings
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.campaigns.guards.file_lookalikes import prove_readers
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.moves import FIRST_PROMPT, Read, RunCommand

OF_COMMANDS = """case "$(jq -r '.tool_input.command // empty')" in
    *.env*) echo "Keys are for people." >&2; exit 2 ;;
esac
"""
OF_FILES = OF_COMMANDS.replace("command", "file_path")
OF_BOTH = OF_COMMANDS.replace("command //", "command // .tool_input.file_path //")
# Refuses the program for all files.
OF_PROGRAM = OF_COMMANDS.replace("*.env*", "'cat '*")
# Answers for every second call, whatever it is.
BY_TURNS = """echo x >>"$CLAUDE_PROJECT_DIR/calls"
[ $(($(wc -l <"$CLAUDE_PROJECT_DIR/calls") % 2)) -eq 0 ] || exit 0
echo "Not now." >&2; exit 2
"""
FIRST = (RunCommand(command="cat .env"), Read(file=".env"))


@pytest.fixture
def guard(tmp_path, harness):
    """Returns what a session proves about a guard of all tools that reads the files of a project."""

    def play(script, matcher="*", log="", **settings):
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/guard.sh").write_text(script)
        hook = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR"/.claude/guard.sh'}
        groups = [{"matcher": matcher, "hooks": [hook]}]
        if log:
            (tmp_path / ".claude/log.sh").write_text(log)
            logs = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR"/.claude/log.sh'}
            groups.append({"hooks": [logs]})
        hooks = {"PreToolUse": groups}
        (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": hooks, **settings}))
        (hook_set,) = find_hook_sets(tmp_path)
        scenario = scenario_of(hook_set, (FIRST_PROMPT, *FIRST))
        first = CheckSession(title="first", scenario=scenario, ends=False)
        outcomes = [play_session(first, harness.settings, harness.resources)]
        proofs = [one for one in plan_rewordings(hook_set, outcomes) if "another tool" in one.title]
        assert all(one.proof for one in proofs)
        outcomes += [play_session(one, harness.settings, harness.resources) for one in proofs]
        symptoms = [one for outcome in outcomes for one in find_symptoms(outcome)]
        return [one.text for one in symptoms if one.kind == "MISSED-SECRET"]

    return play


@pytest.mark.slow
def test_a_guard_of_commands_that_forgets_the_tool(guard):
    """A guard that refuses to print a file, and lets the tool for files read it, is MISSED-SECRET."""
    assert guard(OF_COMMANDS) == ["`cat .env` is refused, but reading .env with Read is allowed."]


@pytest.mark.slow
def test_a_guard_that_asks_about_commands(guard):
    """Where the user is asked, the report does not say that the command is refused."""
    answer = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}'
    asks = OF_COMMANDS.replace('echo "Keys are for people." >&2; exit 2', f"echo '{answer}'")
    assert guard(asks) == ["`cat .env` is asked about, but reading .env with Read is allowed."]


@pytest.mark.slow
def test_a_guard_of_files_that_forgets_commands(guard):
    """A guard that refuses to read a file with secrets, and lets a command print it, is reported."""
    assert guard(OF_FILES) == ["Reading .env with Read is refused, but `cat .env` is allowed."]


@pytest.mark.slow
def test_a_guard_that_is_not_asked_about_commands(guard):
    """A guard of the tools for files alone is not meant for commands, about which the host asks itself."""
    assert guard(OF_FILES, matcher="Read|Edit") == []


@pytest.mark.slow
def test_a_hook_that_only_logs_commands(guard):
    """A hook of commands that refuses none leaves them to the host as well."""
    assert guard(OF_FILES, matcher="Read|Edit", log="cat >/dev/null\n") == []


@pytest.mark.nightly
@pytest.mark.parametrize("script", [OF_BOTH, OF_PROGRAM, BY_TURNS, "exit 0\n"])
def test_a_guard_of_all_or_of_none(guard, script):
    """A guard of both ways, of one way for all files, or of something else is not reported."""
    assert guard(script) == []


@pytest.mark.slow
def test_a_file_that_the_project_denies_itself(guard):
    """Where the settings deny the file to the tool, no hook has to."""
    assert guard(OF_COMMANDS, permissions={"deny": ["Read(./.env)"]}) == []


@pytest.mark.slow
def test_a_file_without_secrets(guard, tmp_path):
    """A guard may have reasons to refuse `cat` for a file that anybody may read."""
    guard("exit 0\n")
    (hook_set,) = find_hook_sets(tmp_path)
    assert prove_readers(hook_set, [RunCommand(command="cat large.log")]) == ()
    assert prove_readers(hook_set, [RunCommand(command="cat .env")])
