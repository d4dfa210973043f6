"""Claims about hooks that change a repository: whether it is what their authors want."""

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.gates.commits import with_whole_commits
from pytest_hookharness.campaigns.check.grouping import group
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_each_event

ALL = "echo x >log.md; git add -A && git commit -q -m saved; exit 0"


@pytest.fixture
def kinds(plugin, harness):
    """The symptoms of a session with one hook of stops, in a repository."""

    def find(script):
        session = plan_each_event(hook_set := plugin(script))
        outcome = play_session(session, harness.settings, harness.resources)
        seen = group(hook_set, [PlayedSession(session, outcome)], mark="mark")
        return [one.symptom.kind for one in seen]

    return find


def test_a_hook_that_makes_commits(kinds):
    """That a hook which commits a file of its own makes a commit is what it is for."""
    assert kinds("echo x >log.md; git add log.md && git commit -q -m saved -- log.md; exit 0") == []


def test_a_hook_that_commits_what_others_changed(kinds):
    """A hook that commits all that lies in the tree takes what the user has changed and staged too."""
    assert kinds(ALL) == ["STAGED"]


def test_a_hook_that_only_stages(kinds):
    """A hook that adds files to the index, and only speaks of a pre-commit hook, is reported."""
    assert kinds("git add -A; echo run git-commit or pre-commit >/dev/null; exit 0") == ["STAGED"]


@pytest.mark.nightly
def test_the_report_says_what_a_commit_takes(plugin, harness):
    """A commit of all files is reported with the command that takes them."""
    run = CheckRun(plugin(ALL), harness.settings, harness.resources, "staged").run()
    (found,) = [one.symptom.text for one in with_whole_commits(run).problems if one.symptom.kind == "STAGED"]
    assert found == (
        "Stop: its commit takes all files (`git add -A`), also those that the user had staged or not yet "
        "added."
    )


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("commit", "told"),
    [
        ("git add log.md && git commit -q -m saved", True),
        ("git add log.md && git commit -q -m saved -- log.md", False),
    ],
)
def test_a_commit_of_what_the_user_staged(plugin, harness, commit, told):
    """A commit without the names of files takes what the user had staged, as a session shows."""
    found = problems(plugin, harness, f"echo x >>log.md; {commit}; exit 0")
    text = "its commit takes staged-by-the-user.txt: what the user had staged, and not only its own files."
    assert found == ([text] if told else [])


def problems(plugin, harness, script):
    """The texts of the problems with the repository that a check reports for a hook of stops."""
    run = CheckRun(plugin(script), harness.settings, harness.resources, "staged").run()
    return [one.symptom.text for one in run.problems if one.symptom.kind == "STAGED"]
