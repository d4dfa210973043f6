"""Hooks that ask for the history of a project, of which its copies have none."""

import json
import subprocess

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.gates.copied_history import asks_for_history
from pytest_hookharness.frontends.checkup import check


def hook_set_of(folder, script):
    (folder / ".claude").mkdir(parents=True)
    entry = {"hooks": [{"type": "command", "command": "bash ./gate"}]}
    (folder / ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [entry]}}))
    (folder / "gate").write_text(script)
    (found,) = find_hook_sets(folder)
    return found


@pytest.mark.parametrize(
    ("script", "asks"),
    [
        ("b=$(git rev-parse --abbrev-ref HEAD)\n", True),
        ("files=$(git diff --name-only HEAD~1)\n", True),
        ("if ! git diff --quiet origin/main...HEAD; then exit 2; fi\n", True),
        ("git -C . describe --tags && exit 0\n", True),
        ("git remote get-url origin\n", True),
        ("run(['git', 'log', '-1'])\n", True),
        ("git status --porcelain\n", False),
        ("git diff --quiet HEAD\n", False),
        ("git rev-parse --show-toplevel\n", False),
        ("echo 'See git log for more.' >&2\n", False),
        ("git add remote/log branch.txt\n", False),
    ],
)
def test_what_asks_for_more_than_files(tmp_path, script, asks):
    """Branches, tags, remotes and earlier commits are asked for by commands, and not by texts and paths."""
    found = hook_set_of(tmp_path, script)
    assert asks_for_history(found, found.hooks[0]) is asks


@pytest.mark.slow
@pytest.mark.parametrize("asks", [True, False])
def test_a_loop_that_may_come_from_the_copy(tmp_path, harness, asks):
    """A hook that refuses because of the copy's branch is no endless one that must be fixed."""
    test = "git branch --show-current | grep -q feature" if asks else "[ -e never/made ]"
    found = hook_set_of(tmp_path / "project", f"{test} && exit 0\necho 'Not yet.' >&2\nexit 2\n")
    for words in (("init", "-q", "-b", "feature"), ("add", ".")):
        subprocess.run(["git", *words], cwd=found.root, check=True)
    report = check(found, harness)
    loops = [one.symptom for one in report.problems if one.symptom.kind in ("livelock", "capped")]
    said = [text for text in report.open if "asks Git for branches" in text]
    assert len(said) == asks
    assert not asks or all("one commit, on the branch main" in str(one.assumes) for one in loops)
    assert not (asks and any(one.must_fix for one in loops))
    assert loops
