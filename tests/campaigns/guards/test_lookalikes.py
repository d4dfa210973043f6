"""Claims about harmless commands that guards refuse, because they resemble others."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import plan_proofs, plan_rewordings
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.judging.checkup.bypasses import spellings
from pytest_hookharness.judging.checkup.lookalikes import all_lookalikes, lookalikes
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.moves import FIRST_PROMPT, Edit, Read, RunCommand

REFUSED = (
    "rm -rf /",
    "git push --force",
    "git push origin main",
    "git merge topic",
    "git push origin develop",
    "rm lint.json",
    "pip install requests",
    "dd if=/dev/zero of=/dev/sda",
    "jest --watch",
    "git checkout -- .",
    "git branch -D topic",
    'git commit -m "done"',
)
MENU, FETCHED = "git push origin main-menu", "git fetch origin main && git push origin topic"
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

    def play(script, tools="Bash|Read", **more):
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/guard.sh").write_text(script)
        hook = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR"/.claude/guard.sh'}
        settings = {"hooks": {"PreToolUse": [{"matcher": tools, "hooks": [hook]}]}, **more}
        (tmp_path / ".claude/settings.json").write_text(json.dumps(settings))
        (hook_set,) = find_hook_sets(tmp_path)
        files = (Read(file=".env"), Edit(file=".env", text="text\n"))
        acts = (FIRST_PROMPT, *(RunCommand(command=text) for text in REFUSED), *files)
        first = CheckSession(title="first", scenario=scenario_of(hook_set, acts), ends=False)
        outcomes = [play_session(first, harness.settings, harness.resources)]
        planned = plan_rewordings(hook_set, [*outcomes])
        for session in [one for one in planned if one.title.startswith("harmless commands")]:
            outcomes.append(play_session(session, harness.settings, harness.resources))
        for session in plan_proofs(hook_set, [*outcomes], []):
            outcomes.append(play_session(session, harness.settings, harness.resources))
        symptoms = [one for outcome in outcomes for one in find_symptoms(outcome)]
        return [one.text for one in symptoms if one.kind == "OVERBLOCK"]

    return play


def test_a_control_is_no_other_spelling():
    """What is allowed beside a harmless command does not prove that this one is bypassed."""
    for one in all_lookalikes(REFUSED):
        assert not {*one.controls} & {*spellings(one.text)}


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_takes_every_path_for_the_root(found):
    """A guard that looks at the first letter of a path refuses harmless folders, which is OVERBLOCK."""
    (text,) = found(EVERY_PATH)
    assert text == (
        "`rm -rf <project>/build`, the same folder, is refused, but `rm -rf build` allowed; "
        "`rm -rf ./build`, the same folder, is refused, but `rm -rf build` allowed; "
        "`rm -rf .cache`, a folder whose name begins with a dot, is refused, but `rm -rf build` and "
        "`rm -rf topic` allowed."
    )


@pytest.mark.nightly
@pytest.mark.slow
def test_what_the_settings_deny_is_no_control(found):
    """A harmless command is no proof where the settings deny what it is compared with."""
    assert found(EVERY_PATH, permissions={"deny": ["Bash(rm -rf *)"]}) == []


@pytest.mark.nightly
@pytest.mark.slow
def test_a_guard_that_takes_the_option_of_another_command(found):
    """Where each of two commands is allowed, both in one line must be allowed."""
    (text,) = found(ANY_OPTION)
    assert "but `git push origin topic` and `npm ci --force` allowed" in text


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_takes_the_branch_of_another_command(found):
    """A branch that a later command names is not the target of the push."""
    (text,) = found(ANY_MAIN)
    assert text == (
        "`git push origin topic && git switch main`, where main is the branch to switch to, is refused, but "
        "`git push origin topic` and `git switch main` allowed."
    )


@pytest.mark.parametrize(
    ("refused", "harmless"),
    [
        (
            "git push origin main",
            ["git push origin main-menu", "git fetch origin main && git push origin topic"],
        ),
        ("npm publish", ["command -v npm >/dev/null"]),
        # Programs that no project replaces, and another command of Git.
        ("rm lint.json", []),
        ("git push --force", []),
    ],
)
def test_what_resembles_a_refused_command(refused, harmless):
    """Guards are tried with branches whose names begin alike, and with a search for a program they refuse."""
    new = (MENU, FETCHED, "command -v")
    assert [one.text for one in lookalikes([refused]) if one.text.startswith(new)] == harmless


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_takes_a_word_for_its_begin(found):
    """A word that ends at a hyphen is another one, and a program that is only looked for does not run."""
    (text,) = found(LOOKS % r"push origin main\b|(fetch|push) origin main .*push|(^| )pip ")
    assert text == (
        "`git push origin main-menu`, a branch of another name, is refused, but `git push origin menu` "
        "allowed; `git fetch origin main && git push origin topic`, where main is only fetched, is refused, "
        "but `git push origin topic` and `git fetch origin main` allowed; `command -v pip >/dev/null`, which "
        "only looks for the program, is refused, but `command -v tar >/dev/null` allowed."
    )


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_takes_a_stash_for_a_push(found):
    """The word push is part of another command of git too."""
    (text,) = found(ANY_PUSH)
    assert text == (
        "`git stash push -m topic`, which sends nothing to another repository, is refused, but "
        "`git stash` allowed."
    )


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_refuses_the_way_back(found):
    """A guard of merges must allow to end one."""
    (text,) = found(ANY_MERGE)
    assert text.startswith("`git merge --abort`, which only ends a merge, is refused")


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("script", [WHOLE_PATH, EVERYTHING, AGAIN])
def test_a_guard_that_confuses_nothing(found, script):
    """A guard of whole paths, of all commands, or of repeated ones confuses nothing."""
    assert [text for text in found(script) if "merge" not in text] == []


@pytest.mark.nightly
@pytest.mark.slow
def test_a_guard_that_asks(found):
    """A guard that asks about harmless folders is reported as asking: nobody may answer in a long run."""
    (text,) = found(ASKS)
    assert text.startswith("`rm -rf <project>/build`, the same folder, is asked about, but `rm -rf build`")


@pytest.mark.nightly
@pytest.mark.slow
def test_a_guard_that_takes_words_for_others(found):
    """What belongs to another command, only reads, or undoes less is no reason to refuse a line."""
    (text,) = found(LOOKS % r"rm -rf.* [./]( |$)|git push.* develop( |$)|jest")
    assert text == (
        "`rm -rf build && git add .`, where the dot is what Git adds, is refused, but `rm -rf build` and "
        "`git add .` allowed; `rm -rf build; ls /`, where / is only listed, is refused, but `rm -rf build` "
        "and `ls /` allowed; `git push origin topic && git switch develop`, where develop is the branch to "
        "switch to, is refused, but `git push origin topic` and `git switch develop` allowed; "
        "so is `cat docs/jest.md`."
    )


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_takes_reading_for_writing(found):
    """A copy of a file, and a search whose errors are hidden, leave the file as it is."""
    (text,) = found(LOOKS % r"(rm|cp).*lint\.json|>.*lint\.json|lint\.json.*>")
    assert text == (
        "`cp lint.json /tmp/copy.txt`, which changes only the copy, is refused, but `cat lint.json` and "
        "`cp notes.txt /tmp/copy.txt` allowed; `grep text lint.json 2>/dev/null`, which changes nothing, "
        "is refused, but `grep text lint.json` and `grep text notes.txt 2>/dev/null` allowed."
    )


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_takes_a_use_for_another(found):
    """What installs nothing, copies a file, or only takes a file out of the next commit is harmless."""
    pattern = r"pip install|python3 -m pip|dd if=|git (checkout --|restore)|git branch -[^l-]"
    (text,) = found(LOOKS % pattern)
    assert text == (
        "`git branch -d topic`, which only deletes a branch that is merged, is refused, but "
        "`git branch --list topic` and `git show-branch` allowed; `dd if=a.img of=b.img`, which only copies "
        "a file, is refused, but `dd of=b.img if=c.img` allowed; `git restore --staged notes.txt`, which "
        "keeps the file as it is, is refused, but `git reset -- notes.txt` allowed; so is "
        "`python3 -m pip list`."
    )


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(
            f'{START}case "$text" in "rm -rf build"|[^r]*) ;; *) echo Only build. >&2; exit 2 ;; esac\n',
            id="folders that may be removed",
        ),
        pytest.param(
            f"{START}case \"$text\" in git' status'*|git' stash list'|[^g]*) ;; "
            "git*) echo 'Only git status.' >&2; exit 2 ;; esac\n",
            id="commands of git that may be used",
        ),
        pytest.param(LOOKS.replace("People do", "Use git switch. People do") % "git checkout", id="switch"),
        pytest.param(
            LOOKS.replace("People", "Use git restore --staged. People") % "git (checkout --|reset)",
            id="reset",
        ),
        pytest.param(LOOKS % "2>/dev/null|^jest" + "# nobody hides error messages\n", id="messages"),
    ],
)
def test_a_guard_with_a_rule_of_its_own(found, script):
    """A list of what is allowed, and a rule against a program or a habit, are no OVERBLOCK."""
    assert found(script) == []


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_compares_whole_words(found):
    """A guard that compares whole words, or refuses all that names a file, is right."""
    words = r"rm -rf [./]( |$)|git push( origin)? develop( |$)|lint\.json|pip install|dd .*of=/dev"
    assert found(LOOKS % rf"{words}|^jest|git branch -D|git (checkout --|restore) [.]$") == []


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_knows_some_messages(found):
    """A guard of messages must know the usual sign of a breaking change."""
    messages = LOOKS.replace("|| exit 0", "&& exit 0") % '^git commit -m "(feat|fix): |^[^g]|^git [^c]'
    (text,) = found(messages)
    assert '`git commit -m "feat!: add it"`, the usual sign of a breaking change, is refused' in text


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_of_reads(found):
    """A guard of the tool that reads files must allow an example, and code with such a word in its name."""
    (text,) = found(OF_FILES % "*.env*|*key*", "Read")
    assert text == (
        "reading .env.example, which has no secrets, is refused, but reading example.txt allowed; "
        "reading src/keyboard.ts, which has no keys, is refused, but reading src/mouse.ts allowed."
    )


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_of_edits_is_tried_beside_its_files(found):
    """A harmless edit that a guard refuses is reported once, by the sessions with files of its own."""
    assert found(OF_FILES % "*.env*|*key*", "Write") == []


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_takes_a_safe_option_for_another(found):
    """An option that overwrites nobody's commits is not `--force`, whose letters it begins with."""
    (text,) = found(ANY_FORCE)
    assert "`git push --force-with-lease origin topic`, which overwrites nobody's commits, is refused" in text


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_names_the_safe_option(found):
    """A guard whose source names the option is meant to refuse it."""
    assert [one for one in found(f"{ANY_FORCE}# also --force-with-lease\n") if "with-lease" in one] == []


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_takes_an_example_for_a_file_with_secrets(found):
    """A guard of a tool that reads files must let it read an example, which anybody may see."""
    assert found(OF_FILES % "*.env*") == [
        "reading .env.example, which has no secrets, is refused, but reading example.txt allowed."
    ]


@pytest.mark.slow
@pytest.mark.nightly
def test_a_guard_that_knows_examples(found):
    """A guard that refuses one name alone confuses nothing with it."""
    assert found(OF_FILES % "*/.env") == []


@pytest.mark.parametrize(
    ("source", "tried"),
    [
        ("case $c in *'> /dev/'*) exit 2 ;; esac\nls x 2>/dev/null\nread y </dev/null\n", True),
        ("grep -qE '>\\s*/dev/null' && exit 2\n", False),
        ('rules = {"no-devnull-redirect": /2>\\s*\\/dev\\/null/}', False),
    ],
)
def test_a_guard_that_is_meant_to_refuse_what_hides_messages(source, tried):
    """A command that hides error messages is not harmless for a guard with a rule against that."""
    found = lookalikes(["npm test 2>/dev/null"], source)
    assert any(one.text == "ls -la 2>/dev/null" for one in found) is tried
