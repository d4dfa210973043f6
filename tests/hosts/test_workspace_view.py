"""What the session knows of the workspace: its folders, and files that changed behind the agent."""

from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import (
    Edit,
    Performance,
    Prompt,
    Read,
    Resume,
    RunCommand,
    Stop,
    ToolResult,
)

GO = Prompt(text="go")


def ends_in(*folders):
    """Return a function that ends each command in the next folder."""
    ends = iter(folders)
    return lambda _: Performance(exit=0, stdout="x\n", folder=next(ends))


def performed(played):
    """Return the folder in which each command was to start."""
    return [request.operation.folder for request in played.requests if isinstance(request, hosts.PerformCall)]


def test_a_command_starts_where_the_last_one_ended(play):
    """A command is requested in the current folder, and the change of folder comes before its result."""
    acts = [GO, RunCommand(command="a"), RunCommand(command="b"), Stop()]

    played = play(
        {"CwdChanged": "./x", "PostToolUse": "./x"},
        acts,
        lambda *_: None,
        perform=ends_in("/project/sub", "/project"),
    )

    assert performed(played) == ["", "/project/sub"]
    assert played.events == ["CwdChanged", "PostToolUse", "CwdChanged", "PostToolUse"]
    assert [request.payload["cwd"] for request in played.asked("PostToolUse")] == ["/project/sub", "/project"]


@pytest.mark.parametrize("folder", ["", "/project"])
def test_no_other_folder_is_no_change(play, folder):
    """A command that ends in its own folder, or in an unknown one, changes nothing."""
    played = play(
        {"CwdChanged": "./x"}, [GO, RunCommand(command="a"), Stop()], lambda *_: None, perform=ends_in(folder)
    )

    assert played.asked() == []
    assert played.sessions[-1].visible["current folder"] == "."


@pytest.mark.parametrize("folder", ["/", "/project2", "/tmp"])
def test_outside_of_the_project_the_shell_is_put_back(play, folder):
    """A shell that left the project is put back, and the agent reads that after the output."""
    played = play({}, [GO, RunCommand(command="a"), Stop()], lambda *_: None, perform=ends_in(folder))

    assert played.performed[0].result.text == "x\nShell cwd was reset to /project"
    assert played.sessions[-1].cwd == "/project"


def test_a_host_may_keep_no_folder(profile):
    """A host whose shells all start in the project ignores where they end."""
    other = replace(profile, tools=replace(profile.tools, keeps_folder=False))
    facts = hosts.facts(other, workspace="/project", home="/h", tmp="/t")
    progress = hosts.advance(hosts.begin(other, hosts.Configuration(), facts).session, GO)
    progress = hosts.advance(progress.session, RunCommand(command="cd sub"))

    after = hosts.advance(progress.session, Performance(exit=0, folder="/project/sub"))

    assert after.session.cwd == "/project"


def test_a_worktree_is_entered_first(play):
    """The host creates a worktree by git if no hook does, and enters it before the first event."""
    played = play(
        {"SessionStart": "./x"},
        [GO, Edit(file="a", text="b"), Stop(), Resume()],
        lambda *_: None,
        perform=ends_in("/project/.claude/worktrees/one", ""),
        worktree="one",
    )

    made, edited = (request for request in played.requests if isinstance(request, hosts.PerformCall))
    assert made is played.requests[0]
    assert made.operation.command == (
        "git worktree add --quiet -b worktree-one .claude/worktrees/one >&2 && cd -- .claude/worktrees/one"
    )
    assert edited.call.input["file_path"] == "/project/.claude/worktrees/one/a"
    assert {request.payload["cwd"] for request in played.asked()} == {"/project/.claude/worktrees/one"}


@pytest.mark.parametrize(
    "done", [Performance(exit=1, stderr="no"), Performance(error="no"), Performance(exit=0)]
)
def test_a_worktree_that_cannot_be_entered_ends_the_session(play, done):
    """A session whose worktree is missing is over, and no act is requested."""
    played = play({}, [GO, Stop()], lambda *_: None, perform=lambda _: done, worktree="one")

    (ending,) = played.endings
    assert ending.how == "idle"
    assert "cannot be entered" in ending.why
    assert not any(isinstance(request, hosts.NextAct) for request in played.requests)


@pytest.mark.parametrize(
    "said, folder",
    [
        ({"hookSpecificOutput": {"hookEventName": "WorktreeCreate", "worktreePath": "a b"}}, "'a b'"),
        ({"hookSpecificOutput": {"hookEventName": "WorktreeCreate"}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_handler_that_is_no_command_names_the_worktree(play, said, folder):
    """A handler that is no command names the folder in its answer; without a folder there is no session."""
    played = play({"WorktreeCreate": "./x"}, [GO, Stop()], lambda *_: said, worktree="one")

    commands = [
        request.operation.command for request in played.requests if isinstance(request, hosts.PerformCall)
    ]
    assert commands == ([f"cd -- {folder}"] if folder else [])
    assert (played.endings[-1].how == "halted") is (folder is None)


@pytest.mark.parametrize(
    "run, folder",
    [
        ({"stdout": "noise\n/a\n\n"}, "/a"),
        ({"stdout": '{"worktreePath": "/a"}'}, '{"worktreePath": "/a"}'),
        ({"stdout": " \n"}, ""),
        ({"stdout": "/a\n", "code": 1}, ""),
        ({"stdout": "/a\n", "code": 2, "stderr": "why"}, ""),
        ({"stdout": "/a\n", "code": 127}, ""),
        ({"stdout": "/a\n", "signal": 9}, ""),
    ],
)
def test_the_folder_is_the_last_line(profile, ended, run, folder):
    """The folder is the last line that is not empty, and any failure refuses."""
    hook = hosts.configure(profile, {}, inline={"WorktreeCreate": "./x"}).hooks[0]

    reply = hosts.read_reply(profile, hook, "WorktreeCreate", ended(**run))

    assert reply.folder == folder
    assert (reply.ruling.value == "deny") is (not folder)


def test_of_several_folders_the_last_is_taken(profile, ended):
    """If two hooks name a folder, the hook that ended last decides."""
    configuration = hosts.configure(profile, {}, inline={"WorktreeCreate": ["./a", "./b"]})
    replies = [
        hosts.read_reply(profile, hook, "WorktreeCreate", ended(stdout=name))
        for hook, name in zip(configuration.hooks, ("/a", "/b"), strict=True)
    ]

    assert hosts.aggregate(profile, "WorktreeCreate", replies, (1, 0)).folder == "/a"
    assert hosts.aggregate(profile, "WorktreeCreate", replies, (0, 1)).folder == "/b"


STALE = hosts.find("claude-code").tools.stale_notice


@pytest.fixture
def session():
    """A session of Claude Code with a running turn."""
    profile = hosts.find("claude-code")
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    progress = hosts.begin(profile, hosts.configure(profile, {}, inline={}), facts)
    return hosts.advance(progress.session, Prompt(text="x"))


def make(progress, move, *answers):
    """Return the progress after a move and the answers to the host's requests, until it awaits an act."""
    progress = hosts.advance(progress.session, move)
    for answer in answers:
        assert isinstance(progress.request, hosts.PerformCall)
        progress = hosts.advance(progress.session, answer)
    assert isinstance(progress.request, hosts.NextAct)
    return progress


def test_a_changed_file_is_not_edited(session):
    """The host checks a file that the agent has read, and refuses the edit if the file has changed."""
    progress = make(session, Read(file="a.txt"), Performance(original="one", content="one"))
    progress = hosts.advance(progress.session, Edit(file="a.txt", text="two", old="one"))
    assert progress.request.operation == Read(file="a.txt")

    progress = hosts.advance(progress.session, Performance(original="1", content="1"))
    assert progress.result == ToolResult(text=STALE, failed=True)
    assert isinstance(progress.request, hosts.NextAct)


def test_an_unchanged_file_is_edited(session):
    """A file with the content that the agent wrote is edited, even if the same content was written again."""
    progress = make(session, Edit(file="a.txt", text="one"), Performance(content="one"))
    look, done = Performance(original="one", content="one"), Performance(original="one", content="two")
    progress = make(progress, Edit(file="a.txt", text="two", old="one"), look, done)

    assert not progress.result.failed
    assert progress.session.known_files.keys() == {"a.txt"}


def test_reading_again_allows_an_edit(session):
    """After a refused edit the agent reads the file again and may then edit it."""
    changed = Performance(original="1", content="1")
    progress = make(session, Read(file="a.txt"), Performance(original="one", content="one"))
    progress = make(progress, Edit(file="a.txt", text="two", old="1"), changed)
    progress = make(progress, Read(file="a.txt"), changed)
    progress = make(progress, Edit(file="a.txt", text="two", old="1"), changed, Performance(content="two"))

    assert not progress.result.failed


def test_a_deleted_file_is_created_anew(session):
    """A file that was deleted since the agent saw it does not count as changed."""
    progress = make(session, Edit(file="a.txt", text="one"), Performance(content="one"))
    gone = Performance(error="a.txt: there is no such file")
    progress = make(progress, Edit(file="a.txt", text="two"), gone, Performance(content="two"))

    assert not progress.result.failed


def test_other_hosts_do_not_check():
    """A host without such a known rule makes every permitted edit."""
    profile = hosts.find("codex")
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    progress = hosts.begin(profile, hosts.configure(profile, {}, inline={}), facts)
    progress = hosts.advance(progress.session, Prompt(text="x"))
    for _ in range(2):
        progress = make(progress, Edit(file="a.txt", text="one"), Performance(content="one"))

    assert not progress.session.known_files


def test_only_changed_files_count(session):
    """Files that have changed since the agent saw them are part of the state."""
    progress = make(session, Read(file="a.txt"), Performance(original="one", content="one"))
    progress = make(progress, Read(file="b.txt"), Performance(original="two", content="two"))

    assert hosts.find_outdated(progress.session, {"a.txt": "one", "b.txt": "two"}.get) == ()
    assert hosts.find_outdated(progress.session, {"a.txt": "one", "b.txt": "2"}.get) == ("b.txt",)
