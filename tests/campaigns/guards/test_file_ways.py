"""Claims about guards of files, and other ways to change the same files."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import plan_proofs, plan_rewordings
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.campaigns.guards.watched_moves import watched
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.moves import FIRST_PROMPT, Edit

OF_FILES = """case "$(jq -r '.tool_input.file_path // empty')" in
    */.env) echo "Keys are for people." >&2; exit 2 ;;
esac
"""
OF_BOTH = """case "$(jq -r '.tool_input.file_path // .tool_input.command')" in
    *.env*) echo "Keys are for people." >&2; exit 2 ;;
esac
"""
ASKS = OF_FILES.replace(
    """echo "Keys are for people." >&2; exit 2""",
    """printf '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}'""",
)
OF_CURSOR = """case "$(jq -r '.tool_input.file_path // .command')" in
    *.env*) printf '{"permission": "deny"}' ;;
esac
"""
ALL_FILES = "echo 'Nothing may be changed, not even .env.' >&2; exit 2\n"
FILE = ".env"


def write_claude(folder, *entries, **settings):
    """Write the settings of Claude Code with guards, each a matcher and a script."""
    (folder / ".claude").mkdir(exist_ok=True)
    groups = []
    for number, (matcher, script) in enumerate(entries):
        (folder / f".claude/guard-{number}.sh").write_text(script)
        hook = {"type": "command", "command": f'sh "$CLAUDE_PROJECT_DIR"/.claude/guard-{number}.sh'}
        groups.append({"matcher": matcher, "hooks": [hook]})
    content = {"hooks": {"PreToolUse": groups}, **settings}
    (folder / ".claude/settings.json").write_text(json.dumps(content))


def write_cursor(folder, event_matchers, script):
    """Write the settings of Cursor with one guard of several events."""
    (folder / ".cursor").mkdir(exist_ok=True)
    (folder / ".cursor/guard.sh").write_text(script)
    hooks = {
        event: [{"command": "sh .cursor/guard.sh", **({"matcher": matcher} if matcher else {})}]
        for event, matcher in event_matchers.items()
    }
    (folder / ".cursor/hooks.json").write_text(json.dumps({"version": 1, "hooks": hooks}))


@pytest.fixture
def found(tmp_path, harness):
    """Returns what sessions show about a project's guards of a file: kinds and texts."""

    def play(*files, kind="BYPASS"):
        (hook_set,) = find_hook_sets(tmp_path)
        edits = [Edit(file=file, text="text\n") for file in files or (FILE,)]
        edits = [watched(hook_set, edit) for edit in edits]
        scenario = scenario_of(hook_set, (FIRST_PROMPT, *edits))
        first = CheckSession(title="first", scenario=scenario, ends=False)
        outcomes = [play_session(first, harness.settings, harness.resources)]
        tried = [one for one in plan_rewordings(hook_set, [*outcomes]) if "guarded file" in one.title]
        outcomes += [play_session(one, harness.settings, harness.resources) for one in tried]
        proofs = [one for one in plan_proofs(hook_set, [*outcomes], []) if "guarded file" in one.title]
        assert all(one.proof for one in proofs)
        outcomes += [play_session(one, harness.settings, harness.resources) for one in proofs]
        symptoms = [one for outcome in outcomes for one in find_symptoms(outcome)]
        return [one.text for one in symptoms if one.kind == kind and one.topic]

    return play


@pytest.mark.slow
def test_a_guard_that_is_not_asked_about_the_shell(found, tmp_path):
    """A guard of edits alone is BYPASS, as the shell changes the same file."""
    write_claude(tmp_path, ("Edit|Write", OF_FILES))
    (text,) = found()
    assert text == (
        "An edit of .env is refused, but `echo x >> .env`, `sed -i s/a/b/ .env` and `rm .env` are allowed; "
        "the host asks this hook about no command."
    )


@pytest.mark.slow
def test_a_guard_that_sees_the_shell(found, tmp_path):
    """Nothing is said of a guard that refuses each command with the name of the file."""
    write_claude(tmp_path, ("Edit|Write|Bash", OF_BOTH))
    assert found() == []


@pytest.mark.slow
def test_another_guard_that_sees_the_shell(found, tmp_path):
    """Nothing is said where another hook refuses the commands that change the file."""
    write_claude(tmp_path, ("Edit|Write", OF_FILES), ("Bash", OF_BOTH))
    assert found() == []


@pytest.mark.slow
def test_a_guard_that_asks_the_user(found, tmp_path):
    """Where the user is asked about edits, and not about commands, the words say so."""
    write_claude(tmp_path, ("Edit|Write", ASKS))
    (text,) = found()
    assert text.startswith("An edit of .env is asked about, but `echo x >> .env`, ")


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["Edit(.env)", "Bash"])
def test_a_change_that_the_settings_deny(found, tmp_path, rule):
    """Nothing is said where the host's own settings deny the file, or all commands."""
    write_claude(tmp_path, ("Edit|Write", OF_FILES), permissions={"deny": [rule]})
    assert found() == []


@pytest.mark.slow
def test_a_program_about_which_the_host_asks(found, tmp_path):
    """A program that the settings deny, or about which they let the host ask, is no way round a guard."""
    rules = {"deny": ["Bash(rm:*)"], "ask": ["Bash(sed *)"]}
    write_claude(tmp_path, ("Edit|Write", OF_FILES), permissions=rules)
    (text,) = found()
    assert "`rm " not in text
    assert "`sed " not in text


@pytest.mark.slow
def test_a_guard_of_every_file(found, tmp_path):
    """A guard that refuses every edit is none of files, whatever its text names."""
    write_claude(tmp_path, ("Edit|Write", ALL_FILES))
    assert found() == []


@pytest.mark.slow
def test_a_file_that_no_guard_names(found, tmp_path):
    """A file that the guard's text does not name may have been refused for any reason."""
    write_claude(tmp_path, ("Edit|Write", OF_FILES.replace(".env", ".e*")))
    assert found() == []


@pytest.mark.slow
def test_a_guard_of_only_one_tool_for_files(found, tmp_path):
    """A guard of Edit alone lets Write replace the file."""
    write_claude(tmp_path, ("Edit", OF_FILES), permissions={"deny": ["Bash"]})
    assert found() == ["An edit of .env is refused, but the tool Write for it is allowed."]


@pytest.mark.slow
def test_a_guard_that_forgets_the_tool_which_removes_files(found, tmp_path):
    """On a host with a tool that removes files, a guard that is not asked about it is BYPASS."""
    write_cursor(tmp_path, {"preToolUse": "Write|StrReplace", "beforeShellExecution": ""}, OF_CURSOR)
    assert found() == ["An edit of .env is refused, but the tool Delete for it is allowed."]


@pytest.mark.slow
def test_a_guard_of_all_tools_of_a_host(found, tmp_path):
    """A guard that is asked about every tool is told nothing of the one that removes files."""
    write_cursor(tmp_path, {"preToolUse": ""}, OF_CURSOR.replace(".command", ".tool_input.command"))
    assert found() == []
