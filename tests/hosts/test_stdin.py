"""The standard input of hooks, compared with recordings of the real host."""

import json
import posixpath
from pathlib import Path

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.hook_input.stdin import compose
from pytest_hookharness.model.moves import (
    Compact,
    Edit,
    Message,
    Performance,
    Prompt,
    Read,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    Tools,
)
from pytest_hookharness.model.mutations import Shaping

DATA = Path(__file__).parents[1] / "data" / "claude-code" / "payloads.json"
RECORDED = json.loads(DATA.read_text())["payloads"]
NAMES = [f"{index}-{one['event']}" for index, one in enumerate(RECORDED)]
# Only the subagent itself made this call; the simulated one talks and makes none.
IN_SUBAGENT = ("PostToolUse", "PostToolBatch")


def shape(value):
    """Return keys in order and types of values, without the values."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}, list(value)
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value).__name__


def perform(request):
    """Return the performance of each call of the scripted agent."""
    match request.operation:
        case RunCommand(command=command) if command.startswith("cd "):
            return Performance(exit=0, folder=posixpath.join("/project", command.removeprefix("cd -- ")))
        case RunCommand(command="exit 3"):
            return Performance(exit=3)
        case RunCommand():
            return Performance(exit=0, stdout="visible\n")
        case Edit(text=text):
            return Performance(content=text)
        case _:
            return Performance(error="nope.txt: there is no such file")


@pytest.fixture
def asked(play, ended):
    """All inputs of hooks in one session with many events."""
    profile = hosts.find("claude-code")
    settings = dict.fromkeys(profile.events, "./hook")
    task = {"subject": "s", "description": "d"}
    acts = [
        Prompt(text="/mycmd some args"),
        Tools(calls=(ToolCall(name="TaskCreate", input=task),)),
        Tools(calls=(ToolCall(name="TaskUpdate", input={"taskId": "1", "status": "completed"}),)),
        RunCommand(command="cd sub"),
        RunCommand(command="echo hi > ran.txt; echo visible", say="I will run a command"),
        Edit(file="new.txt", text="abc\n"),
        Read(file="nope.txt"),
        RunCommand(command="exit 3"),
        Subagent(prompt="SUBTASK do sub", texts=("sub done",)),
        Stop(text="Started."),
        Stop(text="All done."),
        Compact(),
    ]
    commands = (hosts.PromptCommand(name="mycmd", source="projectSettings", text="Do $ARGUMENTS."),)
    extra = {"instructions": ("/project/CLAUDE.md",), "setup": "init", "worktree": "wt1"}
    return play(
        settings, acts, lambda *_: ended(stdout="wt"), perform=perform, commands=commands, **extra
    ).asked()


@pytest.mark.parametrize("one", RECORDED, ids=NAMES)
def test_simulated_input_has_the_recorded_form(asked, profile, one):
    """The input of each recorded event has the same keys in the same order, and the same types of values."""
    event = one["event"]
    if profile.events[event].unreachable or ("agent_id" in one["stdin"] and event in IN_SUBAGENT):
        payloads = [compose(profile.events[event].fields, one["stdin"])]
    else:
        payloads = [request.payload for request in asked if request.event == event]

    wanted = json.loads(json.dumps(one["stdin"]))
    if wanted.get("tool_name") == "Read":
        payloads = [payload for payload in payloads if payload["tool_name"] == "Read"]
    assert shape(wanted) in [shape(payload) for payload in payloads]


@pytest.mark.parametrize("one", RECORDED, ids=NAMES)
def test_composed_input_is_the_recorded_one(profile, one):
    """The recorded values give the recorded input, byte for byte and with the newline at its end."""
    payload = compose(profile.events[one["event"]].fields, dict(sorted(one["stdin"].items())))

    assert one["newline"]
    assert hosts.encode(profile, payload) == (
        json.dumps(one["stdin"], separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    )


def test_input_is_utf_8_as_the_host_writes_it(profile):
    """Letters beyond ASCII are written as they are, and a lone surrogate as an escape that is valid JSON."""
    data = hosts.encode(profile, {"prompt": "é\ud800\n"})

    assert data == '{"prompt":"é\\ud800\\n"}\n'.encode()
    assert json.loads(data) == {"prompt": "é\ud800\n"}


def test_a_missing_value_is_an_error(profile):
    """A required key without a value is an error that names the key."""
    with pytest.raises(KeyError, match="stop_hook_active"):
        compose(profile.events["Stop"].fields, {"session_id": "x", "transcript_path": "", "cwd": "", **MODE})


MODE = {"permission_mode": "default", "hook_event_name": "Stop"}


@pytest.fixture
def facts(profile):
    """The facts of a session."""
    return hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp", seed=1)


def test_input_outside_a_session(profile, facts):
    """Every event has an input outside of any session, with the given values in it and the event's name."""
    for event in profile.events:
        payload = hosts.payload_for(profile, event, facts, {"cwd": "/elsewhere"})

        assert payload["hook_event_name"] == event
        assert payload["cwd"] == "/elsewhere"
        assert payload["session_id"] == facts.session_id


def test_target_of_an_input(profile, facts):
    """The target of a tool event is the tool's name, and a Stop has none."""
    payload = hosts.payload_for(profile, "PreToolUse", facts, {"tool_name": "Edit"})

    assert hosts.matcher_target(profile, "PreToolUse", payload) == "Edit"
    assert hosts.matcher_target(profile, "Stop", hosts.payload_for(profile, "Stop", facts)) == ""


@pytest.mark.parametrize(
    "event, fields, near",
    [
        ("Stopp", {}, "did you mean 'Stop'"),
        ("Stop", {"stop_hook_activ": 1}, "did you mean 'stop_hook_active'"),
    ],
)
def test_unknown_names_are_errors(profile, facts, event, fields, near):
    """An unknown event or key is an error with the nearest name."""
    with pytest.raises(ValueError, match=near):
        hosts.payload_for(profile, event, facts, fields)


def test_made_up_values_follow_from_the_seed(play, ended):
    """The same seed gives the same inputs, and identifiers within a session differ."""
    acts = [Prompt(text="x"), RunCommand(command="a"), RunCommand(command="b"), Stop()]
    settings = {"PreToolUse": "./hook"}

    first, second = (play(settings, acts, lambda *_: ended()).asked() for _ in range(2))

    assert first == second
    assert len({request.payload["tool_use_id"] for request in first}) == 2
    assert len({request.payload["prompt_id"] for request in first}) == 1


def test_prompt_id_begins_with_the_first_prompt(asked):
    """Events before the first prompt have no prompt_id, and those after it have one."""
    by_event = {request.event: request.payload for request in reversed(asked)}

    assert "prompt_id" not in by_event["SessionStart"]
    assert "prompt_id" in by_event["UserPromptSubmit"]


def test_messages_name_their_event(play, ended):
    """A message to the agent that a hook caused names the event of the hook."""
    block = {"decision": "block", "reason": "no"}
    runs = iter([block])

    played = play({"Stop": "./hook"}, [Prompt(text="x"), Stop(), Stop()], lambda *_: next(runs, None))

    assert played.observations[0] == (Message("prompt", "x"),)
    assert {message.event for message in played.observations[1]} == {"Stop"}


PAYLOAD = {"tool_name": "Bash", "tool_input": {"command": "ls", "list": [{"a": 1, "b": 2}]}}


def test_keys_in_reverse_order_at_every_depth():
    """The content stays the same; only the order of the keys changes."""
    shaped = hosts.shape(PAYLOAD, Shaping(reversed=True))

    assert shaped == PAYLOAD
    assert '{"tool_input": {"list": [{"b": 2, "a": 1}], "command": "ls"}, "tool_name": "Bash"}' == json.dumps(
        shaped
    )


def test_further_keys_follow_all_others():
    """Unknown keys are added at the end and change nothing else."""
    assert [*PAYLOAD, "new"] == [*hosts.shape(PAYLOAD, Shaping(extra={"new": 1}))]
