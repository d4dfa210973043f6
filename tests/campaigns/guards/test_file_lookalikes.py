"""Claims about guards of files that refuse harmless files, too."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import plan_proofs, plan_rewordings
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.moves import FIRST_PROMPT, Edit

LOOKS = """file=$(jq -r '.tool_input.file_path // .tool_input.command')
file=${file#%s}
printf '%%s' "$file" | grep -Eq '%s' || exit 0
%s
"""
REFUSES = "echo 'This file is protected.' >&2; exit 2"
ASKS = """printf '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}'"""


@pytest.fixture
def found(tmp_path, harness):
    """Returns what sessions find to be harmless and refused, of a guard with a pattern."""

    def play(pattern, *files, answer=REFUSES, without="", comment=""):
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/guard.sh").write_text(f"# {comment}\n" + LOOKS % (without, pattern, answer))
        hook = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR"/.claude/guard.sh'}
        settings = {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}}
        (tmp_path / ".claude/settings.json").write_text(json.dumps(settings))
        (hook_set,) = find_hook_sets(tmp_path)
        edits = (Edit(file=file, text="text\n") for file in files)
        scenario = scenario_of(hook_set, (FIRST_PROMPT, *edits))
        first = CheckSession(title="first", scenario=scenario, ends=False)
        outcomes = [play_session(first, harness.settings, harness.resources)]
        tried = [one for one in plan_rewordings(hook_set, [*outcomes]) if "guarded" in one.title]
        outcomes += [play_session(one, harness.settings, harness.resources) for one in tried]
        proofs = [one for one in plan_proofs(hook_set, [*outcomes], []) if one.proof]
        outcomes += [play_session(one, harness.settings, harness.resources) for one in proofs]
        symptoms = [one for outcome in outcomes for one in find_symptoms(outcome)]
        return [one.text for one in symptoms if one.kind == "OVERBLOCK" and one.topic]

    return play


@pytest.mark.nightly
def test_a_guard_of_env_that_refuses_its_example(found):
    """A guard of .env that refuses .env.example, which has no secrets, is OVERBLOCK."""
    assert found(r"/\.env", ".env") == [
        "An edit of .env.example, which has no secrets, is refused, but of example.txt allowed."
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("pattern", [r"/\.env\..*|/\.env$", r"/\.env$"])
def test_a_guard_that_means_all_environments_or_one(found, pattern):
    """Nothing is said where the guard says that it means all names, or where it compares the whole name."""
    assert found(pattern, ".env") == []


@pytest.mark.nightly
def test_an_example_that_the_project_keeps(found, tmp_path):
    """An example in the repository is for everybody to change, whatever the pattern says."""
    (tmp_path / "api").mkdir()
    (tmp_path / "api/.env.local.example").write_text("KEY=\n")
    (text,) = found(r"/\.env\..*|/\.env$", ".env")
    assert text.startswith("An edit of api/.env.local.example, which has no secrets, is refused, ")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("pattern", "named", "file"),
    [
        (r"/\.env$|/\.env\.([^e]|e[^x])", "not .env.example", ".env.sample"),
        (r"/\.env$|/\.env\.[^es]", "not .env.example or .env.sample", ".env.local.example"),
    ],
)
def test_an_example_that_the_exception_leaves_out(found, pattern, named, file):
    """A guard that makes an exception for one kind of example, and refuses another one, is OVERBLOCK."""
    text = f"An edit of {file}, which has no secrets, is refused, but of .env.example allowed."
    assert found(pattern, ".env", comment=named) == [text]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        # It refuses the examples that it names as well, names the other one, or allows it.
        (r"/\.env", ".env.example too"),
        (r"/\.env$|/\.env\.[^e]", "not .env.example, but .env.sample and .env.local.example"),
        (r"/\.env$|/\.env\.local$", "not .env.example or .env.sample"),
    ],
)
def test_an_example_that_is_meant_or_allowed(found, pattern, named):
    """Nothing is said where the guard refuses the examples that it names, or allows the others."""
    assert found(pattern, ".env", comment=named) == []


@pytest.mark.nightly
def test_an_example_about_which_the_user_is_asked(found):
    """A question too many costs little."""
    assert found(r"/\.env", ".env", answer=ASKS) == []


@pytest.mark.nightly
def test_a_part_of_a_name(found):
    """A guard that looks for a word anywhere in the path refuses code that only has it in its name."""
    assert found("secrets", "secrets.yaml") == [
        "An edit of src/secrets_test.py, a test, is refused, but of src/values_test.py allowed."
    ]


@pytest.mark.nightly
@pytest.mark.parametrize(("pattern", "count"), [(r"\.pem$|\.key", 1), (r"\.pem$|\.key$", 0)])
def test_an_ending_within_a_name(found, pattern, count):
    """A guard that looks for an ending anywhere in the path refuses code that has it in its name."""
    text = "An edit of src/i18n.keys.ts, a file of code, is refused, but of src/i18n.words.ts allowed."
    assert found(pattern, "certs/server.pem") == [text][:count]


@pytest.mark.slow
def test_a_guard_of_all_code(found):
    """Where the file beside it is refused too, the name was not the reason."""
    assert found("secrets|src/", "secrets.yaml") == []


@pytest.mark.nightly
def test_a_project_in_a_folder_with_a_guarded_name(found):
    """A guard that compares the folders above the project refuses every file of a project in one of these."""
    assert found("/dist/", "dist/bundle.js") == [
        (
            "In a project whose own folder is called dist, an edit of notes.txt is refused, as the folders "
            "above the file are compared too."
        )
    ]


@pytest.mark.slow
def test_a_guard_of_folders_in_the_project(found):
    """A guard that compares the path from the project's folder on is right in every folder."""
    assert found("dist/", "dist/bundle.js", without="$CLAUDE_PROJECT_DIR/") == []
