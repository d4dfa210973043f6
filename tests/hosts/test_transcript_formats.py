"""The actions of an agent, read from the transcripts of each host."""

import json

import pytest

from pytest_hookharness.hosts.profiles.codex.events import put_message
from pytest_hookharness.hosts.rules.tools_and_transcript import (
    TranscriptLine,
    assistant_message,
    result_message,
    user_message,
)
from pytest_hookharness.hosts.transcripts.transcript_formats import (
    FORMATS,
    UnknownTranscript,
    read_transcript,
)
from pytest_hookharness.model.actions import Action, ActionResult, Break

LINE = TranscriptLine(uuid="u", parent="", session="s", cwd="/w", version="1", time="t")


def read(*records):
    return read_transcript((f"line {number}", record) for number, record in enumerate(records, 1))


def claude_code():
    """A session of Claude Code: a prompt, a call that works, a call that fails, and a stop."""
    use = {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "ls"}}
    return [
        {"type": "summary", "summary": "x"},
        LINE.put_message("user", user_message("Go."), {}),
        LINE.put_message("assistant", assistant_message("m", "x", use, "tool_use"), {}),
        LINE.put_message("user", result_message("1", "a.py", failed=False), {}),
        LINE.put_message("assistant", assistant_message("m", "x", {**use, "id": "2"}, "tool_use"), {}),
        LINE.put_message("user", result_message("2", "no", failed=True), {}),
        LINE.put_message(
            "assistant", assistant_message("m", "x", {"type": "text", "text": "Done."}, "end_turn"), {}
        ),
    ]


def codex():
    """The same session as a rollout of Codex, written by the functions that the simulation uses."""
    use = {"type": "tool_use", "id": "1", "name": "exec_command", "input": {"command": "ls"}}
    failed = "Chunk ID: ab12\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno"
    return [
        {"type": "session_meta", "payload": {"id": "s"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Go."}},
        put_message(LINE, "assistant", assistant_message("m", "x", use, ""), {}),
        put_message(LINE, "user", result_message("1", "a.py", failed=False), {}),
        put_message(LINE, "assistant", assistant_message("m", "x", {**use, "id": "2"}, ""), {}),
        put_message(LINE, "user", result_message("2", failed, failed=True), {}),
        {"type": "event_msg", "payload": {"type": "task_complete"}},
    ]


def openhands():
    """The same session as events of the OpenHands SDK."""
    call = {"kind": "ActionEvent", "source": "agent", "tool_name": "terminal"}
    act = {"kind": "TerminalAction", "command": "ls"}
    seen = {"kind": "ObservationEvent", "source": "environment"}
    text = [{"type": "text", "text": "a.py"}]
    return [
        {"kind": "SystemPromptEvent", "source": "agent"},
        {"kind": "MessageEvent", "source": "user"},
        {**call, "tool_call_id": "1", "action": act},
        {**seen, "tool_call_id": "1", "observation": {"content": text, "is_error": False, "exit_code": 0}},
        {**call, "tool_call_id": "2", "action": act},
        {"kind": "AgentErrorEvent", "source": "agent", "tool_call_id": "2", "error": "no"},
        {"kind": "MessageEvent", "source": "agent"},
    ]


def openhands_before():
    """The same session as events of OpenHands before its SDK."""
    call = {"source": "agent", "action": "run", "args": {"command": "ls", "thought": "hm"}}
    return [
        {"id": 0, "source": "agent", "action": "system", "args": {}},
        {"id": 1, "source": "user", "action": "message", "args": {}},
        {**call, "id": 2},
        {"id": 3, "source": "agent", "observation": "run", "cause": 2, "content": "a.py", "extras": {}},
        {**call, "id": 4},
        {
            "id": 5,
            "source": "agent",
            "observation": "run",
            "cause": 4,
            "content": "no",
            "extras": {"metadata": {"exit_code": 2}},
        },
        {"id": 6, "source": "agent", "action": "finish", "args": {}},
    ]


@pytest.mark.parametrize(
    ("records", "form", "tool"),
    [
        (claude_code, "claude-code", "Bash"),
        (codex, "codex", "exec_command"),
        (openhands, "openhands", "terminal"),
        (openhands_before, "openhands", "run"),
    ],
)
def test_every_format_is_read(records, form, tool):
    """A transcript is recognised by its content, and gives breaks and calls with arguments and results."""
    stream = read(*records())
    first, done, failed, last = stream.items

    assert stream.form == form
    assert isinstance(first, Break)
    assert isinstance(last, Break)
    assert (done.tool, done.arguments, done.outcome, done.result) == (
        tool,
        {"command": "ls"},
        ActionResult.DONE,
        "a.py",
    )
    assert (failed.outcome, failed.result.split("\n")[-1]) == (ActionResult.FAILED, "no")
    assert not stream.left_out


def test_records_of_no_known_host():
    """Records without a known form are an error that lists the known forms."""
    with pytest.raises(UnknownTranscript, match=r"first 2 records .* Codex"):
        read({"kind": []}, [2])


def test_results_without_calls_are_counted():
    """A result without its call, and a record that is not an object, are counted and left out."""
    stream = read(*claude_code()[:3], LINE.put_message("user", result_message("9", "?", failed=False), {}), 7)

    assert stream.left_out == {"a result without its call": 1, "no JSON object": 1}
    assert [item.outcome for item in stream.items if isinstance(item, Action)] == [ActionResult.UNKNOWN]


def test_actions_of_subagents_are_marked():
    """An action of a subagent names the subagent."""
    use = {"type": "tool_use", "id": "1", "name": "Bash", "input": {}}
    side = TranscriptLine(uuid="u", parent="", session="s", cwd="/w", version="1", time="t", agent="helper")
    stream = read(side.put_message("assistant", assistant_message("m", "x", use, "tool_use"), {}))

    assert stream.items[0].agent == "helper"


def test_lines_of_the_host_are_no_prompts():
    """A line that the host marks as its own is no prompt."""
    said = LINE.put_message("user", user_message("Caveat: ..."), {"isMeta": True})

    assert read(said).items == []


@pytest.mark.parametrize(
    ("output", "text", "outcome"),
    [
        ("plain", "plain", ActionResult.DONE),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", "Exit code 1\nno", ActionResult.FAILED),
        ("Process exited with code 0\nOutput:\nyes", "yes", ActionResult.DONE),
        (json.dumps({"output": "no", "metadata": {"exit_code": 3}}), "Exit code 3\nno", ActionResult.FAILED),
        ({"content": "no", "success": False}, "Exit code 1\nno", ActionResult.FAILED),
        ([{"type": "input_text", "text": "yes"}], "yes", ActionResult.DONE),
        ("{broken", "{broken", ActionResult.DONE),
        (None, "", ActionResult.DONE),
    ],
)
def test_outputs_of_codex(output, text, outcome):
    """The exit code in the head of an output, or beside it, decides whether a call failed."""
    call = {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "1"}
    answered = {"type": "custom_tool_call_output", "call_id": "1", "output": output}
    records = [{"type": "response_item", "payload": item} for item in (call, answered)]
    (action,) = read(*records).items

    assert (action.arguments, action.result, action.outcome) == ({"input": "*** Begin"}, text, outcome)


@pytest.mark.parametrize(
    "record",
    [
        {
            "type": "assistant",
            "message": {"content": [None, 3, {"type": "tool_use"}, {"type": "tool_use", "id": {}}]},
        },
        {"type": "user", "message": {"content": {"type": "tool_result"}}},
        {"type": "response_item", "payload": {"type": "function_call", "arguments": 7, "name": []}},
        {"kind": "ObservationEvent", "source": 3, "observation": [], "tool_call_id": {}},
        {"kind": "ActionEvent", "source": [], "action": 3, "tool_name": {}},
        {"source": "agent", "action": "run", "args": 7, "id": []},
        {"source": "agent", "observation": "run", "cause": {}, "extras": {"metadata": 3}},
    ],
)
def test_malformed_records_are_no_error(record):
    """Values of a wrong type are counted, left out or ignored, and never raise an error."""
    assert read(record).form in FORMATS
