"""Claims about the formats in which real programs talk with their models, as plain values."""

import json

import pytest

from pytest_hookharness.hosts.wire import model_formats
from pytest_hookharness.hosts.wire.model_exchange import ModelReply, WireCall
from pytest_hookharness.hosts.wire.programs import find_program, known_programs

SHELL = WireCall(id="c1", name="Bash", input={"command": "echo hi"})


def data_of(stream):
    """The data of each event of a stream."""
    return [json.loads(line[6:]) for line in stream.decode().splitlines() if line.startswith("data: ")]


def test_a_message_with_a_call_for_claude_code():
    """A reply is streamed block by block, and its calls are the reason why it stops."""
    events = data_of(
        model_formats.ANTHROPIC_MESSAGES.write(ModelReply(number=0, text="Now.", calls=(SHELL,)))
    )

    assert [event["type"] for event in events if "block" in event["type"]] == [
        *("content_block_start", "content_block_delta", "content_block_stop") * 2
    ]
    assert events[4]["content_block"] == {"type": "tool_use", "id": "c1", "name": "Bash", "input": {}}
    assert json.loads(events[5]["delta"]["partial_json"]) == {"command": "echo hi"}
    assert events[-2]["delta"]["stop_reason"] == "tool_use"


def test_a_stop_for_claude_code():
    """A reply without calls ends the turn, also if its text is empty."""
    events = data_of(model_formats.ANTHROPIC_MESSAGES.write(ModelReply(number=0)))

    assert events[-2]["delta"]["stop_reason"] == "end_turn"
    assert sum(event["type"] == "content_block_start" for event in events) == 1


def test_calls_for_codex():
    """A shell command and a patch have other names on the wire than for hooks."""
    patch = WireCall(id="c2", name="apply_patch", input={"command": "*** Begin Patch"})
    *_, last = data_of(model_formats.OPENAI_RESPONSES.write(ModelReply(number=0, calls=(SHELL, patch))))
    shell, custom = last["response"]["output"]

    assert (shell["type"], shell["name"], json.loads(shell["arguments"])) == (
        "function_call",
        "exec_command",
        {"cmd": "echo hi"},
    )
    assert (custom["type"], custom["input"]) == ("custom_tool_call", "*** Begin Patch")


CLAUDE = {
    "tools": [{}, {}],
    "messages": [
        {"role": "user", "content": "Old."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "hi"}]},
                {"type": "text", "text": "a note"},
            ],
        },
    ],
}
CODEX = {
    "tools": [{}],
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Old."}]},
        {"type": "function_call", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "hi"},
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "a note"}]},
    ],
}


GEMINI = {
    "tools": [{}],
    "contents": [
        {"role": "user", "parts": [{"text": "Old."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run", "id": "c1"}}]},
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "run", "response": {"output": "hi"}}},
                {"text": "a note"},
            ],
        },
    ],
}
QWEN = {
    "stream": True,
    "tools": [{}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Old."}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "hi"},
        {"role": "user", "content": "a note"},
    ],
}


def test_a_message_for_gemini_cli():
    """A reply is one chunk with its text and calls."""
    (chunk,) = data_of(model_formats.GEMINI_CONTENTS.write(ModelReply(number=0, text="Now.", calls=(SHELL,))))

    assert chunk["candidates"][0]["content"]["parts"] == [
        {"text": "Now."},
        {"functionCall": {"name": "Bash", "args": {"command": "echo hi"}, "id": "c1"}},
    ]


def test_a_message_for_qwen_code():
    """A reply is a chunk with its text and calls, one with the reason of its end, and one with its size."""
    stream = model_formats.OPENAI_CHAT_STREAM.write(ModelReply(number=0, text="Now.", calls=(SHELL,)))
    *lines, end = [line for line in stream.decode().splitlines() if line]
    said, ended, size = (json.loads(line.removeprefix("data: ")) for line in lines)

    delta = said["choices"][0]["delta"]
    assert (delta["content"], delta["tool_calls"][0]["function"]["name"]) == ("Now.", "Bash")
    assert json.loads(delta["tool_calls"][0]["function"]["arguments"]) == {"command": "echo hi"}
    assert ended["choices"][0]["finish_reason"] == "tool_calls"
    assert (size["choices"], end) == ([], "data: [DONE]")


def test_a_message_for_openhands():
    """A reply is one JSON object with its text, its calls and the reason of its end."""
    said = json.loads(model_formats.OPENAI_CHAT.write(ModelReply(number=0, text="Now.", calls=(SHELL,))))

    (choice,) = said["choices"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("tool_calls", "Now.")
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "Bash"
    assert model_formats.OPENAI_CHAT.kind == "application/json"
    assert model_formats.OPENAI_CHAT.read({**QWEN, "stream": False}).main


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (model_formats.ANTHROPIC_MESSAGES, CLAUDE),
        (model_formats.OPENAI_RESPONSES, CODEX),
        (model_formats.GEMINI_CONTENTS, GEMINI),
        (model_formats.OPENAI_CHAT_STREAM, QWEN),
    ],
    ids=["claude-code", "codex", "gemini-cli", "qwen-code"],
)
def test_what_is_new_in_a_request(wire, body):
    """New are the texts behind the model's last message; before its first one, everything is."""
    request = wire.read(body)

    assert request.main
    assert request.texts_since(["c1"]) == ("hi", "a note")
    history = next(name for name in ("messages", "input", "contents") if name in body)
    first = {**body, history: body[history][:1]}
    assert wire.read(first).texts_since([]) == ("Old.",)


def test_results_between_the_calls_of_one_message():
    """If a host writes each result behind its call, the results of all calls of the last message are new."""
    items = [
        {"type": "function_call", "call_id": "old"},
        {"type": "function_call_output", "call_id": "old", "output": "old"},
        {"type": "function_call", "call_id": "a"},
        {"type": "function_call_output", "call_id": "a", "output": "one"},
        {"type": "function_call", "call_id": "b"},
        {"type": "function_call_output", "call_id": "b", "output": "two"},
    ]
    request = model_formats.OPENAI_RESPONSES.read({"input": items, "tools": [{}]})

    assert request.texts_since(["a", "b"]) == ("one", "two")
    assert request.texts_since(["b"]) == ("two",)


def test_a_side_request():
    """A request without the agent's tools does not ask for its next move."""
    assert not model_formats.ANTHROPIC_MESSAGES.read({**CLAUDE, "tools": [{}]}).main
    assert not model_formats.OPENAI_RESPONSES.read({**CODEX, "tools": []}).main
    assert not model_formats.GEMINI_CONTENTS.read({**GEMINI, "tools": []}).main
    assert not model_formats.OPENAI_CHAT_STREAM.read({**QWEN, "stream": False}).main


@pytest.mark.parametrize("host", known_programs())
def test_a_program_is_told_only_of_the_loopback(host):
    """The only address in arguments, variables and settings is on loopback, and the key is none."""
    program = find_program(host)
    words = [
        *program.argv("Go.", False, False, {}),
        *program.env.values(),
        *program.settings(lambda _: "", "/w", {}).values(),
    ]
    addresses = [word for text in words for word in text.split('"') if "://" in word]

    assert all(address.startswith("http://127.0.0.1:18080") for address in addresses)
    assert "dummy-key" in program.env.values()


def test_a_resumed_session():
    """The second prompt goes to the last session, and comes behind the options of the command."""
    assert find_program("claude-code").argv("Go.", True, False, {})[:3] == ["-c", "-p", "Go."]
    assert find_program("codex").argv("Go.", True, False, {})[-3:] == ["resume", "--last", "Go."]
    asking = {"permission_mode": "default"}
    assert "--approve-for-me" in find_program("codex").argv("Go.", False, False, asking)
