"""Claims about the script that is made of a recorded session."""

import pytest

from pytest_hookharness.campaigns.reproduce.outside_world import find_reach
from pytest_hookharness.campaigns.reproduce.recorded_moves import RecordedMoves, split_patch
from pytest_hookharness.campaigns.reproduce.recorded_project import infer_folder
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.model.actions import Action, ActionResult, Break, HookRefusal
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    Edit,
    Prompt,
    Read,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    ToolResult,
    Tools,
    Wait,
)
from pytest_hookharness.scenario_files.recordings import within

CWD = "/home/dev/project"
ABOVE = {"file_path": "{{workspace}}/../lib/a.py", "content": "x"}


def moves(*items, performs=True, above=0):
    stream = SessionStream("claude-code")
    stream.cwd = CWD
    stream.items = [Break(why="prompt", text="Go."), *items]
    recorded = RecordedMoves(stream, performs, above)
    recorded.read()
    return recorded


def call(tool="Bash", outcome=ActionResult.DONE, result="yes", **arguments):
    return Action(tool=tool, arguments=arguments, outcome=outcome, result=result)


def only(*items, **more):
    _, act = moves(*items, **more).acts
    return act


@pytest.mark.parametrize(
    ("action", "act"),
    [
        (call(command=f"cat {CWD}/a.py"), RunCommand(command="cat a.py")),
        (call(command=f"cd {CWD} && make"), RunCommand(command="cd {{workspace}} && make")),
        (
            call("Edit", file_path=f"{CWD}/a.py", old_string="a", new_string=""),
            Edit(file="a.py", text="", old="a"),
        ),
        (call("Write", file_path=f"{CWD}/a.py", content="x"), Edit(file="a.py", text="x")),
        (call("Read", file_path=f"{CWD}/a.py"), Read(file="a.py")),
        (
            call("file_editor", command="create", path=f"{CWD}/a.py", file_text="x"),
            Edit(file="a.py", text="x"),
        ),
        (call("exec_command", cmd="ls"), RunCommand(command="ls")),
        (call("exec_command", cmd="ls", workdir=CWD), RunCommand(command="ls")),
        (
            call("exec_command", cmd="ls", workdir=f"{CWD}/web"),
            RunCommand(command="cd {{workspace}}/web && ls"),
        ),
        (Break(why="stop", text="Done!"), Stop(text="Done!")),
        (Break(why="prompt", text="And?"), Prompt(text="And?")),
    ],
)
def test_moves(action, act):
    """Calls, stops and prompts become acts; paths in the project become relative to it."""
    assert only(action) == act


@pytest.mark.parametrize(
    ("action", "act"),
    [
        (call(command="cat /home/dev/lib/a.py"), RunCommand(command="cat ../lib/a.py")),
        (
            call(command=f"cd /home/dev; ls {CWD}-old"),
            RunCommand(command="cd {{workspace}}/..; ls {{workspace}}/../project-old"),
        ),
        (call(command="cd .. && cat lib/a.py"), RunCommand(command="cd .. && cat lib/a.py")),
        (
            call("Write", file_path="/home/dev/lib/a.py", content="x"),
            Tools(calls=(ToolCall(name="Write", input=ABOVE),)),
        ),
    ],
)
def test_moves_elsewhere_in_the_repository(action, act):
    """What lies in the repository, but above the folder of the session, is played too."""
    recorded = moves(action, above=1)
    assert (recorded.acts[1], recorded.left_out) == (act, [])


@pytest.mark.parametrize(
    "action",
    [
        call(command="cat /etc/else"),
        call(command=f"cat {CWD}/../../else"),
        call(command=f"cd {CWD}/../../else"),
        call(command="cd .. && cat ../x"),
        call("Read", file_path="../../x"),
        call("exec_command", cmd="ls", workdir="/home"),
    ],
)
def test_what_lies_above_the_repository_is_left_out(action):
    """A path that leads out of the repository has its recorded result, from wherever the session ran."""
    assert "outside of the project" in moves(action, above=1).left_out[0]


def test_a_session_without_a_prompt_gets_one():
    """The script begins with a prompt also where the transcript lacks it."""
    stream = SessionStream("codex")
    stream.items = [Break(why="stop", text="Done.")]
    recorded = RecordedMoves(stream)
    recorded.read()
    assert recorded.acts == [FIRST_PROMPT, Stop()]


@pytest.mark.parametrize("outcome", [ActionResult.FAILED, ActionResult.REFUSED])
def test_failed_calls_are_not_carried_out(outcome):
    """Hooks see a call that failed, or that the host refused, with its recorded result."""
    act = only(call(outcome=outcome, result="File has not been read yet", command="make"))
    assert act.given == ToolResult(text="File has not been read yet", failed=True)


def test_calls_that_hooks_refused_are_made():
    """A call that a hook refused is made as it was, so that the hook can refuse it again."""
    refused = Action(
        tool="Bash",
        arguments={"command": "make"},
        outcome=ActionResult.REFUSED,
        refusals=(HookRefusal(event="PreToolUse"),),
    )
    assert only(refused) == RunCommand(command="make")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("curl https://example.com | sh", "network"),
        ("make && git push --force", "network"),
        ("FOO=1 pip install left-pad", "installs packages"),
        ("cd web; npm ci", "installs packages"),
        ("npm --prefix web install", "installs packages"),
        ("sudo -E timeout 60 pip3.11 --quiet install x", "installs packages"),
        ('bash -lc "cd web && yarn"', "installs packages"),
        ("if ! /usr/bin/curl -s x; then make; fi", "network"),
        ('make "$(git -C sub fetch)"', "network"),
        ("cat <<'END' | tee a\nit's\nEND\nwget x", "network"),
        ("cd .. && make", "names .., outside of the project"),
        ("cat /etc/passwd", "names /etc/passwd, outside of the project"),
        ("rm -rf ~/x", "names ~/x, outside of the project"),
        ("cat ../other/a", "names ../other, outside of the project"),
        ("echo ok > /dev/null; /usr/bin/env true", ""),
        ("git status; awk '/curl/ {print}' a.py", ""),
        ("echo pip install", ""),
        ("git commit -m 'curl x; npm ci' && git diff HEAD~1..", ""),
        ("npm test", ""),
    ],
)
def test_what_reaches_out_of_the_project(command, why):
    """Network access, installs and files elsewhere are found by the words of a command."""
    assert find_reach(command) == why


def test_what_is_left_out_is_listed():
    """A command that is not carried out keeps its recorded result and is listed with the reason."""
    recorded = moves(call(command="curl example.com", result="<html>"))
    assert recorded.acts[1].given == ToolResult(text="<html>")
    assert recorded.left_out == ["not carried out, network: Bash curl example.com"]


def test_without_isolation_no_command_runs():
    """Where commands cannot be isolated from the machine, all of them have their recorded results."""
    assert only(call(command="make"), performs=False).given == ToolResult(text="yes")


def test_tools_that_the_harness_has_not():
    """A call of an unknown tool has its recorded result."""
    act = only(call("WebFetch", url="x"))
    assert isinstance(act, Tools)
    assert act.calls[0].given == ToolResult(text="yes")


def test_long_gaps_become_waits():
    """Time passes where more than a minute lies between two records."""
    first, second = (Break(why="stop", text="Done.", at=at) for at in (1000.0, 1090.0))
    assert moves(first, second).acts[1:] == [Stop(), Wait(seconds=90.0), Stop()]


def test_subagents_are_read_from_their_files():
    """The calls of each subagent are made just before its task, which ends with its own last words."""
    below = [
        Action(tool="Bash", arguments={"command": "ls"}, agent="a1", outcome=ActionResult.DONE),
        Break(why="stop", text="Found it.", agent="a1"),
        Break(why="stop", text="First.", agent="b2"),
        Break(why="stop", text="Second.", agent="b2"),
    ]
    tasks = (
        call("Task", result="agentId: b2", prompt="Lint."),
        call("Task", subagent_type="x", prompt="Look."),
    )
    recorded = moves(*tasks, *below)
    assert recorded.acts[1:] == [
        Subagent(prompt="Lint.", texts=("First.", "Second.")),
        RunCommand(command="ls"),
        Subagent(kind="x", prompt="Look.", texts=("Found it.",)),
    ]
    assert recorded.left_out == ["the main agent makes 1 call of the subagent a1: hooks see no agent_id"]


def test_a_transcript_of_a_subagent_alone():
    """A subagent whose task is not in the transcript is played after a prompt."""
    stream = SessionStream("claude-code")
    stream.items = [
        Break(why="prompt", text="Look.", agent="a1"),
        Break(why="stop", text="Here.", agent="a1"),
    ]
    recorded = RecordedMoves(stream)
    recorded.read()
    assert recorded.acts == [FIRST_PROMPT, Subagent(prompt="Look.", texts=("Here.",))]


def test_patches_of_several_files_are_split():
    """A patch of two files becomes one patch for each; one of a single file stays as it is."""
    parts = ["*** Update File: a\n@@\n-x\n+y\n", "*** Add File: b\n+z\n"]
    whole = f"*** Begin Patch\n{''.join(parts)}*** End Patch\n"
    assert split_patch(whole) == tuple(f"*** Begin Patch\n{part}*** End Patch\n" for part in parts)
    assert split_patch(parts[0]) == (parts[0],)


def test_folder_of_a_session_that_does_not_name_it(tmp_path):
    """The folder is found by recorded paths of files that the project has."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    stream = SessionStream("openhands")
    files = ("/etc/hosts", "/workspace/shop/src/a.py", "/workspace/shop/src")
    stream.items = [call("file_editor", command="view", path=path) for path in files]
    assert infer_folder(stream, tmp_path) == "/workspace/shop"
    assert infer_folder(SessionStream("openhands"), tmp_path) == ""


def test_only_the_folder_itself_is_relative():
    """A path that only begins like the project's is left as it is."""
    assert within({"command": f"ls {CWD}-old {CWD}/"}, CWD) == {"command": f"ls {CWD}-old ."}
