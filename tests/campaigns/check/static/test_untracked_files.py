"""Claims about gates that ask Git for changes and never see new files."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.static.untracked_files import overlooked_files, question_for_changes
from pytest_hookharness.campaigns.check.static_checks import check_statically

from .one_hook import one_hook

HEAD = "#!/bin/bash\n"
QUIET = "if git diff --quiet HEAD 2>/dev/null; then\n  echo 'No changes.' >&2\n  exit 0\nfi\n"
LISTS = "changed=$(git diff --name-only HEAD)\n"
EMPTY = '[ -z "$changed" ] && exit 0\n'
PART = "code=$(echo \"$changed\" | grep -E '\\.ts$' || true)\n"
REFUSES = "make test || exit 2\n"
STAGED = "staged=$(git diff --name-only --cached)\n"
BOTH = 'if [ -z "$changed" ] && [ -z "$staged" ]; then\n  exit 0\nfi\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (HEAD + QUIET + REFUSES, 2),
        (HEAD + QUIET.replace(" HEAD", "") + REFUSES, 2),
        (HEAD + "git diff --quiet HEAD && exit 0\n" + REFUSES, 2),
        (HEAD + "if git diff --quiet && git diff --cached --quiet; then\n  exit 0\nfi\n" + REFUSES, 2),
        (HEAD + LISTS + EMPTY + REFUSES, 2),
        (
            HEAD
            + LISTS.replace("$(", "$(cd app && ").replace(")\n", " | grep '\\.ts$' | sort)\n")
            + EMPTY
            + REFUSES,
            2,
        ),
        (
            HEAD
            + "changed=$(\n  git diff --name-only HEAD\n  git diff --name-only --cached\n)\n"
            + EMPTY
            + REFUSES,
            2,
        ),
        (HEAD + LISTS + EMPTY.replace("-z", "-n").replace("&&", "||") + REFUSES, 2),
        (HEAD + LISTS + 'if [[ -z "$changed" ]]; then\n  echo "{}"\n  exit 0\nfi\n' + REFUSES, 2),
        (HEAD + LISTS + PART + EMPTY.replace("changed", "code") + REFUSES, 2),
        (HEAD + LISTS + STAGED + BOTH + REFUSES, 2),
        (HEAD + LISTS.replace("(", "({ ").replace(")", "; git diff; } | sort -u)") + EMPTY + REFUSES, 2),
        (HEAD + "cd app || exit 1\n" + LISTS + EMPTY + REFUSES, 3),
    ],
)
def test_a_question_that_decides(text, line):
    """The question for changes is found that lets a gate end without a check."""
    assert question_for_changes(text) == line


@pytest.mark.parametrize(
    "text",
    [
        # It asks what a branch or a commit changed, or what is staged.
        HEAD + LISTS.replace("HEAD", "main...HEAD") + EMPTY + REFUSES,
        HEAD + LISTS.replace("HEAD", "--cached") + EMPTY + REFUSES,
        HEAD + QUIET.replace("HEAD", "origin/main") + REFUSES,
        # It asks for files that are always there.
        HEAD + QUIET.replace("HEAD", "HEAD -- schema.sql") + REFUSES,
        HEAD + LISTS.replace("HEAD", "HEAD -- package.json") + EMPTY + REFUSES,
        HEAD + LISTS.replace(")\n", " | grep '^schema.sql$')\n") + EMPTY + REFUSES,
        HEAD + LISTS + PART.replace("\\.ts$", "^schema.sql$") + EMPTY.replace("changed", "code") + REFUSES,
        HEAD + LISTS.replace("HEAD", "--diff-filter=D HEAD") + EMPTY + REFUSES,
        # Something else shows new files, or the refusal is about what an edit removed.
        HEAD + LISTS + "staged=$(cat .edited)\n" + BOTH + REFUSES,
        HEAD + LISTS + EMPTY.replace(" &&", " && [ ! -s .edited ] &&") + REFUSES,
        HEAD + LISTS + f"[ ! -s .edited ] && {EMPTY}" + REFUSES,
        HEAD + LISTS.replace(")", "; cat .edited)") + EMPTY + REFUSES,
        HEAD + LISTS + 'changed="$changed$(cat .edited)"\n' + EMPTY + REFUSES,
        HEAD + "[ -s .new-files ] && exit 2\n" + LISTS + EMPTY + REFUSES,
        HEAD + LISTS + EMPTY + "git diff HEAD | grep -q '^-.*assert' && exit 2\n",
        # Nothing depends on the answer, or nothing is refused.
        HEAD + LISTS + REFUSES,
        HEAD + QUIET.replace("exit 0", "date") + REFUSES,
        HEAD + REFUSES + QUIET,
        HEAD + QUIET,
        HEAD + f"cat <<'END'\n{QUIET}END\n" + REFUSES,
        HEAD + f"# {LISTS}" + EMPTY + REFUSES,
    ],
)
def test_other_questions(text):
    """Nothing is found where Git is asked for something else, or nothing depends on it."""
    assert not question_for_changes(text)


@pytest.mark.parametrize(
    ("event", "more", "others", "found"),
    [
        ("Stop", "", [], True),
        ("SubagentStop", "", ["#!/bin/sh\ngit status\n"], True),
        ("PreToolUse", "", [], False),
        ("Stop", "git status --porcelain | grep -q . || exit 0\n", [], False),
        ("Stop", "git ls-files --others --exclude-standard\n", [], False),
        ("Stop", "git add -N .\n", [], False),
        # A key of the input has the name of a command of Git.
        ("Stop", "state=$(python3 -c \"import json,sys; json.load(sys.stdin).get('status')\")\n", [], True),
        ("Stop", "state=$(python3 -c \"import json,sys; json.load(sys.stdin)['status']\")\n", [], True),
        ("Stop", "python3 -c \"import subprocess; subprocess.run(['git', 'status'])\"\n", [], False),
        ("Stop", "node -e \"require('child_process').execFileSync('git', ['status'])\"\n", [], False),
        ("Stop", 'find "$ROOT" -newer .stamp\n', [], False),
        ("Stop", '. "$LIB/changes.sh"\n', [], False),
        ("Stop", "", ["#!/bin/sh\ngit add -A\n"], False),
    ],
)
def test_what_sees_new_files(event, more, others, found):
    """A gate of stops is named only if neither it nor another hook does anything that shows new files."""
    hook_set, hook = one_hook(event, HEAD + more + QUIET + REFUSES, others)
    assert bool(overlooked_files(hook_set, hook)[1]) is found


def test_a_gate_of_cursor():
    """A gate is named too if it does not refuse a stop, but answers with the next message for the agent."""
    reads = "state=$(python3 -c \"import json,sys; print(json.load(sys.stdin).get('status',''))\")\n"
    empty = "[ -z \"$changed\" ] && { echo '{}'; exit 0; }\n"
    asks = "if ! echo \"$changed\" | grep -q docs/; then\n  cat <<'EOF'\n{0}\nEOF\nfi\n"
    text = HEAD + reads + LISTS + empty + asks.format('{"followup_message": "Update the documents."}')
    hook_set, hook = one_hook("stop", text)
    assert overlooked_files(replace(hook_set, host="cursor"), hook) == ("x.sh", 3)
    other = HEAD + reads + LISTS + empty + asks.format('{"user_message": "Update the documents."}')
    hook_set, hook = one_hook("stop", other)
    assert overlooked_files(replace(hook_set, host="cursor"), hook) == ("", 0)


def test_what_is_said():
    """The finding names the script and the line."""
    hook_set, hook = one_hook("Stop", HEAD + QUIET + REFUSES)
    (found,) = (one for one in check_statically(hook_set).symptoms if one.kind == "FAILS-OPEN")
    words = "it asks only `git diff` in x.sh, line 2, whether anything changed. That leaves out new files"
    assert words in found.text
    command = replace(hook, command="git diff --quiet && exit 0; make test || exit 2")
    assert overlooked_files(replace(hook_set, hooks=(command,), sources=()), command) == ("", 2)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "part", [QUIET, LISTS, LISTS + EMPTY, "git diff ", "x=$(", '["git", "diff", ', "git diff --stat && "]
)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length, head=HEAD):
        return head + part * (length // len(part)) + "\n" + REFUSES

    takes_linear_time(text_of, question_for_changes, 0.003)
