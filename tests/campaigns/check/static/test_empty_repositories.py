"""Claims about strict shell scripts in repositories without commits."""

import subprocess
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.static.empty_repositories import ended_without_commits
from pytest_hookharness.campaigns.check.static_checks import check_statically

from .one_hook import one_hook

HEAD = "#!/bin/bash\nset -euo pipefail\n"
ASKS = "RECENT=$(git log --oneline -3 2>/dev/null | tr '\\n' ' ')\n"
INSIDE = "if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then\n  {}fi\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (HEAD + ASKS, "git log"),
        (HEAD + INSIDE.format(ASKS), "git log"),
        ("#!/bin/sh\nset -e\nHASH=$(git rev-parse --short HEAD)\n", "git rev-parse --short HEAD"),
        (HEAD + 'CHANGED="$(git -C "$ROOT" diff --name-only HEAD)"\n', "git diff --name-only HEAD"),
        (HEAD + "BEFORE=$(git diff HEAD~1 --stat | tail -1)\n", "git diff HEAD"),
    ],
)
def test_a_question_that_ends_the_script(text, what):
    """A question that needs a commit is named if its failure ends the script."""
    ((words, line),) = ended_without_commits(text)
    assert f"where `{what}` fails" in words
    assert "=" in text.split("\n")[line - 1]


@pytest.mark.parametrize(
    "text",
    [
        # The script goes on.
        HEAD + ASKS.replace(")\n", " || true)\n"),
        HEAD + ASKS.rstrip() + " || RECENT=\n",
        HEAD.replace(" pipefail", "").replace("-euo", "-eu") + ASKS,
        HEAD.replace("-euo", "-uo") + ASKS,
        HEAD + "local " + ASKS,
        HEAD + "set +e\n" + ASKS,
        HEAD + "trap 'exit 0' ERR\n" + ASKS,
        HEAD + "recent() {\n  " + ASKS + "}\n",
        # There is a commit, or none is needed.
        HEAD + "git rev-parse --verify HEAD >/dev/null 2>&1 || exit 0\n" + ASKS,
        HEAD + "if git log -1 >/dev/null 2>&1; then\n  " + ASKS + "fi\n",
        HEAD + "grep -q 'git commit' <<< \"$COMMAND\" || exit 0\n" + ASKS,
        HEAD + 'case "$COMMAND" in *"git push"*) ;; *) exit 0 ;; esac\n' + ASKS,
        HEAD + ". ./lib.sh\nhas_commits || exit 0\n" + ASKS,
        HEAD + ASKS.replace("git log", "git log --all"),
        HEAD + "BRANCH=$(git branch --show-current)\nCHANGED=$(git diff --cached --name-only)\n",
        HEAD + "ROOT=$(git rev-parse --show-toplevel)\n",
        HEAD + f"cat <<'END'\n{ASKS}END\n",
        "#!/usr/bin/env python3\nset -e\n" + ASKS,
    ],
)
def test_a_script_that_is_right(text):
    """Nothing is said of scripts that go on, or that need no commit."""
    assert not [*ended_without_commits(text)]


def test_bash_and_git_agree(tmp_path):
    """The script ends with an error in a new repository, and not after its first commit."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    for arguments, status in ((["init", "-q"], 128), (["commit", "-q", "--allow-empty", "-m", "x"], 0)):
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True)
        run = subprocess.run(["bash", "-c", HEAD + ASKS], cwd=tmp_path, check=False)
        assert run.returncode == status


def strict(hook_set):
    """Return what is said of strict scripts."""
    return [one for one in check_statically(hook_set).symptoms if one.kind == "STRICT-SHELL"]


def test_what_is_said():
    """Only scripts of plugins are named, as a project with hooks has commits."""
    hook_set, _ = one_hook("SessionStart", HEAD + ASKS)
    assert not strict(hook_set)
    (found,) = strict(replace(hook_set, plugin=True))
    assert "in a repository without a commit, where `git log` fails" in found.text
    assert "x.sh, line 3" in found.text


@pytest.mark.parametrize(
    "part", [ASKS, ASKS.replace("log", "status"), INSIDE, "RECENT=$(", "(\n", "git log "]
)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        return HEAD + part * (length // len(part)) + "\n" + ASKS

    takes_linear_time(text_of, lambda text: [*ended_without_commits(text)], 0.003)
