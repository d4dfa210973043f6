"""Claims about hooks that change a repository: whether it is what their authors want."""

import pytest

from pytest_hookharness.campaigns.check.grouping import group
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_each_event


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
    assert kinds("echo x >log.md; git add -A && git commit -q -m saved; exit 0") == ["STAGED"]


def test_a_hook_that_only_stages(kinds):
    """A hook that adds files to the index, and only speaks of a pre-commit hook, is reported."""
    assert kinds("git add -A; echo run git-commit or pre-commit >/dev/null; exit 0") == ["STAGED"]
