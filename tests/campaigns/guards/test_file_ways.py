"""Claims about guards of files, and other ways to change the same files."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import plan_proofs, plan_rewordings
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.campaigns.guards.file_ways import are_locks_meant, siblings, unguarded_commands
from pytest_hookharness.campaigns.guards.watched_moves import watched
from pytest_hookharness.judging.checkup.file_bypasses import shell_ways
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.moves import FIRST_PROMPT, Edit

OF_FILES = """case "$(jq -r '.tool_input.file_path // empty')" in
    */.env*) echo "Keys are for people." >&2; exit 2 ;;
esac
"""
OF_BOTH = """case "$(jq -r '.tool_input.file_path // .tool_input.command')" in
    *.env*) echo "Keys are for people." >&2; exit 2 ;;
esac
"""
OF_NAMES = """case "$(jq -r '.tool_input.file_path // .tool_input.command')" in
    %s) echo "Do not edit %s." >&2; exit 2 ;;
esac
"""
# A guard of other commands.
OF_ROOT = OF_NAMES % ("sudo*", "anything as root")
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
        tried = [one for one in plan_rewordings(hook_set, [*outcomes]) if "guarded" in one.title]
        outcomes += [play_session(one, harness.settings, harness.resources) for one in tried]
        proofs = [one for one in plan_proofs(hook_set, [*outcomes], []) if "guarded" in one.title]
        assert all(one.proof for one in proofs)
        outcomes += [play_session(one, harness.settings, harness.resources) for one in proofs]
        play.outcomes = outcomes
        symptoms = [one for outcome in outcomes for one in find_symptoms(outcome)]
        return [one.text for one in symptoms if one.kind == kind and one.topic]

    return play


@pytest.mark.nightly
def test_a_guard_that_is_not_asked_about_the_shell(found, tmp_path):
    """A guard of edits is BYPASS in a project that guards commands, and lets them change the same file."""
    write_claude(tmp_path, ("Edit|Write", OF_FILES), ("Bash", OF_ROOT))
    (text,) = found()
    assert text == (
        "An edit of .env is refused, but `echo x >> .env`, `sed -i s/a/b/ .env` and `rm .env` are allowed; "
        "the host asks this hook about no command."
    )


@pytest.mark.slow
def test_a_guard_in_a_project_that_leaves_commands_to_the_host(found, tmp_path):
    """Where no guard is asked about commands, the host asks the user, and it is no problem of a guard."""
    write_claude(tmp_path, ("Edit|Write", OF_FILES))
    assert found() == []
    (hook_set,) = find_hook_sets(tmp_path)
    (text,) = unguarded_commands(hook_set, found.outcomes)
    assert text == (
        "PreToolUse 1 (guard-0.sh) refuses edits of .env, and no guard is asked about commands, so only the "
        "host decides about `sed -i s/a/b/ .env`."
    )


@pytest.mark.slow
def test_a_hook_that_only_logs_commands(found, tmp_path):
    """A hook of commands that refuses none leaves them to the host as well."""
    write_claude(tmp_path, ("Edit|Write", OF_FILES), ("", 'cat >>"$CLAUDE_PROJECT_DIR/commands.log"\n'))
    assert found() == []


def test_a_file_that_is_made_from_others():
    """To remove a lock file or a build, so that it is made again, is no edit of it."""
    for file in ("package-lock.json", "dist/bundle.js"):
        assert not [way for way in shell_ways(file) if way.startswith(("rm", "cp", "mv"))]
    assert "rm src/dist.js" in shell_ways("src/dist.js")


@pytest.mark.slow
def test_a_guard_of_the_settings_with_the_guard(found, tmp_path):
    """A guard of the agent's own settings is BYPASS in any project: the shell can switch it off."""
    write_claude(tmp_path, ("Edit|Write", OF_NAMES % ("*/.claude/settings.*", "settings.json")))
    (text,) = found(".claude/settings.json")
    assert text.startswith(
        "An edit of .claude/settings.json is refused, but `echo x >> .claude/settings.json`, "
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


@pytest.mark.nightly
def test_a_guard_that_asks_the_user(found, tmp_path):
    """Where the user is asked about edits, and not about commands, the words say so."""
    write_claude(tmp_path, ("Edit|Write", ASKS), ("Bash", OF_ROOT))
    (text,) = found()
    assert text.startswith("An edit of .env is asked about, but `echo x >> .env`, ")


@pytest.mark.nightly
@pytest.mark.parametrize("rule", ["Edit(.env)", "Bash"])
def test_a_change_that_the_settings_deny(found, tmp_path, rule):
    """Nothing is said where the host's own settings deny the file, or all commands."""
    write_claude(tmp_path, ("Edit|Write", OF_FILES), ("Bash", OF_ROOT), permissions={"deny": [rule]})
    assert found() == []


@pytest.mark.nightly
def test_a_program_about_which_the_host_asks(found, tmp_path):
    """A program that the settings deny, or about which they let the host ask, is no way round a guard."""
    rules = {"deny": ["Bash(rm:*)"], "ask": ["Bash(sed *)"]}
    write_claude(tmp_path, ("Edit|Write", OF_FILES), ("Bash", OF_ROOT), permissions=rules)
    (text,) = found()
    assert "`rm " not in text
    assert "`sed " not in text


@pytest.mark.nightly
def test_a_guard_of_every_file(found, tmp_path):
    """A guard that refuses every edit is none of files, whatever its text names."""
    write_claude(tmp_path, ("Edit|Write", ALL_FILES), ("Bash", OF_ROOT))
    assert found() == []


@pytest.mark.slow
def test_a_file_that_no_guard_names(found, tmp_path):
    """A file that the guard's text does not name may have been refused for any reason."""
    write_claude(tmp_path, ("Edit|Write", OF_FILES.replace(".env*", ".e*")), ("Bash", OF_ROOT))
    assert found() == []


@pytest.mark.nightly
def test_a_guard_of_only_one_tool_for_files(found, tmp_path):
    """A guard of Edit alone lets Write replace the file."""
    write_claude(tmp_path, ("Edit", OF_FILES), permissions={"deny": ["Bash"]})
    assert found() == ["An edit of .env is refused, but the tool Write for it is allowed."]


@pytest.mark.nightly
def test_a_guard_that_forgets_the_tool_which_removes_files(found, tmp_path):
    """On a host with a tool that removes files, a guard that is not asked about it is BYPASS."""
    write_cursor(tmp_path, {"preToolUse": "Write|StrReplace", "beforeShellExecution": ""}, OF_CURSOR)
    assert found() == ["An edit of .env is refused, but the tool Delete for it is allowed."]


@pytest.mark.slow
def test_a_guard_of_all_tools_of_a_host(found, tmp_path):
    """A guard that is asked about every tool is told nothing of the one that removes files."""
    write_cursor(tmp_path, {"preToolUse": ""}, OF_CURSOR.replace(".command", ".tool_input.command"))
    assert found() == []


BY_PATH = """case "$(jq -r '.tool_input.command // .tool_input.file_path')" in
    %s) echo "Write a test first, then src/main.py." >&2; exit 2 ;;
esac
"""


def write_codex(folder, script):
    """Write the settings of Codex with one guard of edits."""
    (folder / ".codex").mkdir()
    (folder / ".codex/guard.sh").write_text(script)
    hook = {"type": "command", "command": "sh .codex/guard.sh"}
    content = {"hooks": {"PreToolUse": [{"matcher": "apply_patch", "hooks": [hook]}]}}
    (folder / ".codex/hooks.json").write_text(json.dumps(content))


@pytest.mark.nightly
def test_a_guard_that_knows_one_path_of_a_file(found, tmp_path):
    """On a host whose hooks get paths as the model writes them, other paths of the same file are tried."""
    write_codex(tmp_path, BY_PATH % "*' File: src/'*")
    (text,) = found("src/main.py")
    assert "an edit of ./src/main.py, the same file, and an edit of <project>/src/main.py, the same" in text


@pytest.mark.slow
def test_a_guard_that_knows_all_paths_of_a_file(found, tmp_path):
    """Nothing is said of a guard that finds the file at the end of every path."""
    write_codex(tmp_path, BY_PATH % "*src/main.py*")
    assert found("src/main.py") == []


@pytest.mark.slow
def test_a_host_that_makes_paths_absolute(found, tmp_path):
    """Where the host makes each path absolute, no other path of a file is tried."""
    write_claude(tmp_path, ("Edit|Write", BY_PATH % "*/src/main.py"))
    assert found("src/main.py") == []


@pytest.mark.nightly
def test_settings_of_which_a_guard_forgets_the_second_file(found, tmp_path):
    """A guard of .claude/settings.json that allows settings.local.json is BYPASS: it can switch hooks off."""
    write_claude(tmp_path, ("*", OF_NAMES % ("*.claude/settings.json*", "settings")))
    assert found(".claude/settings.json") == [
        "An edit of .claude/settings.json is refused, but an edit of .claude/settings.local.json is allowed."
    ]


@pytest.mark.nightly
@pytest.mark.parametrize(("pattern", "count"), [("*/.env|*' '.env", 1), ("*.env*", 0)])
def test_environments_of_other_names(found, tmp_path, pattern, count):
    """A guard of .env that allows .env.local is BYPASS, and one of all names that begin with it is not."""
    write_claude(tmp_path, ("*", OF_NAMES % (pattern, ".env")), permissions={"deny": ["Bash"]})
    texts = ["An edit of .env is refused, but edits of .env.local and .env.production are allowed."]
    assert found() == texts[:count]


@pytest.mark.slow
def test_an_environment_that_the_guard_advises(found, tmp_path):
    """A guard that names another environment file, and allows it, allows it on purpose."""
    script = OF_NAMES % ("*/.env|*' '.env", ".env: it is made from .env.local")
    write_claude(tmp_path, ("*", script), permissions={"deny": ["Bash"]})
    assert found() == ["An edit of .env is refused, but an edit of .env.production is allowed."]


@pytest.mark.nightly
def test_an_environment_that_the_project_keeps(found, tmp_path):
    """An environment in the repository has no secrets, so no guard has to mean it."""
    write_claude(tmp_path, ("*", OF_NAMES % ("*/.env|*' '.env", ".env")), permissions={"deny": ["Bash"]})
    (tmp_path / ".env.production").write_text("MODE=production\n")
    assert found() == ["An edit of .env is refused, but an edit of .env.local is allowed."]


@pytest.mark.nightly
@pytest.mark.parametrize(("words", "count"), [("lock files", 1), ("package-lock.json", 0)])
def test_lock_files_of_which_a_guard_knows_one(found, tmp_path, words, count):
    """A guard that says it protects lock files, and knows one of them, is BYPASS."""
    script = OF_NAMES % ("*package-lock.json*", words)
    write_claude(tmp_path, ("*", script), permissions={"deny": ["Bash"]})
    text = "An edit of package-lock.json is refused, but edits of yarn.lock, pnpm-lock.yaml and bun.lock "
    assert found("package-lock.json") == [f"{text}are allowed."][:count]


def test_a_promise_in_the_documents_of_a_project(tmp_path):
    """What a document says about a guard counts like its own words, and a line about other work does not."""
    write_claude(tmp_path, ("Write", OF_NAMES % ("*package-lock.json*", "package-lock.json")))
    (hook_set,) = find_hook_sets(tmp_path)
    (tmp_path / "CLAUDE.md").write_text("Commit lock files.\n")
    assert not are_locks_meant(hook_set, "")
    (tmp_path / "CLAUDE.md").write_text("- `PreToolUse` blocks edits of `.env*` and lockfiles\n")
    assert are_locks_meant(hook_set, "")


def test_lock_files_of_another_language(tmp_path):
    """The lock file of a language is only meant in a project that has one, or code in the language."""
    write_claude(tmp_path, ("Write", OF_FILES))
    (hook_set,) = find_hook_sets(tmp_path)
    edit = Edit(file="package-lock.json", text="")
    files = [one.file for one in siblings(hook_set, edit, "lock files")]
    assert files == ["yarn.lock", "pnpm-lock.yaml", "bun.lock"]
    (tmp_path / "pyproject.toml").write_text("")
    assert "uv.lock" in [one.file for one in siblings(hook_set, edit, "lock files")]
