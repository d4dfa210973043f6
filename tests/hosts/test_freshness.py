"""
Files that changed since the agent saw them, on hosts that refuse to edit those.
"""

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import Edit, Performance, Prompt, Read, ToolResult

STALE = hosts.find("claude-code").tools.stale


@pytest.fixture
def session():
    """A session of Claude Code in which a turn is going on."""
    profile = hosts.find("claude-code")
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    progress = hosts.begin(profile, hosts.configure(profile, {}, inline={}), facts)
    return hosts.advance(progress.session, Prompt(text="x"))


def make(progress, move, *answers):
    """The progress after a move, and after the answers to what the host asks for until it listens again."""
    progress = hosts.advance(progress.session, move)
    for answer in answers:
        assert isinstance(progress.request, hosts.PerformCall)
        progress = hosts.advance(progress.session, answer)
    assert isinstance(progress.request, hosts.NextAct)
    return progress


def test_a_file_that_was_changed_is_not_edited(session):
    """The host looks at a file that the agent has read, and refuses the edit if it is another by now."""
    progress = make(session, Read(file="a.txt"), Performance(original="one", content="one"))
    progress = hosts.advance(progress.session, Edit(file="a.txt", text="two", old="one"))
    assert progress.request.operation == Read(file="a.txt")

    progress = hosts.advance(progress.session, Performance(original="1", content="1"))
    assert progress.result == ToolResult(text=STALE, failed=True)
    assert isinstance(progress.request, hosts.NextAct)


def test_a_file_that_is_as_it_was_is_edited(session):
    """A file that is as the agent wrote it is edited, whether or not somebody wrote the same meanwhile."""
    progress = make(session, Edit(file="a.txt", text="one"), Performance(content="one"))
    look, done = Performance(original="one", content="one"), Performance(original="one", content="two")
    progress = make(progress, Edit(file="a.txt", text="two", old="one"), look, done)

    assert not progress.result.failed
    assert progress.session.known_files.keys() == {"a.txt"}


def test_looking_again_makes_an_edit_fresh(session):
    """After a refused edit the agent reads the file anew, and may edit it then."""
    changed = Performance(original="1", content="1")
    progress = make(session, Read(file="a.txt"), Performance(original="one", content="one"))
    progress = make(progress, Edit(file="a.txt", text="two", old="1"), changed)
    progress = make(progress, Read(file="a.txt"), changed)
    progress = make(progress, Edit(file="a.txt", text="two", old="1"), changed, Performance(content="two"))

    assert not progress.result.failed


def test_a_file_that_is_gone_is_written_anew(session):
    """A file that was removed since the agent saw it is no other file."""
    progress = make(session, Edit(file="a.txt", text="one"), Performance(content="one"))
    gone = Performance(error="a.txt: there is no such file")
    progress = make(progress, Edit(file="a.txt", text="two"), gone, Performance(content="two"))

    assert not progress.result.failed


def test_other_hosts_do_not_look():
    """A host of which no such rule is known makes every edit that is let through."""
    profile = hosts.find("codex")
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    progress = hosts.begin(profile, hosts.configure(profile, {}, inline={}), facts)
    progress = hosts.advance(progress.session, Prompt(text="x"))
    for _ in range(2):
        progress = make(progress, Edit(file="a.txt", text="one"), Performance(content="one"))

    assert not progress.session.known_files


def test_only_files_that_are_others_by_now_count(session):
    """Of all files that the agent saw, those that have changed since are part of the state."""
    progress = make(session, Read(file="a.txt"), Performance(original="one", content="one"))
    progress = make(progress, Read(file="b.txt"), Performance(original="two", content="two"))

    assert hosts.find_outdated(progress.session, {"a.txt": "one", "b.txt": "two"}.get) == ()
    assert hosts.find_outdated(progress.session, {"a.txt": "one", "b.txt": "2"}.get) == ("b.txt",)
