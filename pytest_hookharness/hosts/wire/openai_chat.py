"""
The Chat Completions format of OpenAI, as Qwen Code 0.24.4 and the OpenHands SDK 1.58.0 use it.

Observed: the main agent of Qwen Code asks for a stream and sends its tools. OpenHands asks for no stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from pytest_hookharness.hosts.wire.model_exchange import (
    Body,
    Entry,
    ModelReply,
    ModelRequest,
    WireFormat,
    events,
    texts_of,
)
from pytest_hookharness.model.fast_dataclass import replace

_USAGE = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
_DONE = b"data: [DONE]\n\n"


def read(body: Body) -> ModelRequest:
    """Return a request of Qwen Code."""
    return replace(read_whole(body), main=bool(body.get("tools")) and bool(body.get("stream")))


def read_whole(body: Body) -> ModelRequest:
    """Return a request of OpenHands."""
    entries = [entry for message in body.get("messages", []) for entry in _entries(message)]
    return ModelRequest(main=bool(body.get("tools")), entries=tuple(entries))


def _entries(message: Body) -> Iterator[Entry]:
    # What a hook says at the start of a session stands in the system's message.
    role = message.get("role")
    for text in texts_of(message.get("content")):
        yield Entry(text, own=role == "assistant")
    for call in message.get("tool_calls") or ():
        yield Entry("", own=True, call=str(call.get("id")))


def _message(reply: ModelReply) -> tuple[dict[str, object], str]:
    """Return a message and the reason why it ends."""
    delta: dict[str, object] = {"role": "assistant"}
    if reply.text or not reply.calls:
        delta["content"] = reply.text
    if reply.calls:
        delta["tool_calls"] = [
            {
                "index": index,
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.input)},
            }
            for index, call in enumerate(reply.calls)
        ]
    return delta, "tool_calls" if reply.calls else "stop"


def write(reply: ModelReply) -> bytes:
    """Return a message of the model as a stream of chunks."""
    delta, reason = _message(reply)
    choices = [
        [{"index": 0, "delta": delta, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": reason}],
        [],
    ]
    chunk = _head(reply, "chat.completion.chunk")
    chunks: list[Body] = [{**chunk, "choices": one} for one in choices]
    chunks[-1] = {**chunks[-1], "usage": _USAGE}
    return events(("", one) for one in chunks) + _DONE


def _head(reply: ModelReply, kind: str) -> Body:
    return {"id": f"chatcmpl-{reply.number}", "created": 1, "model": "mock-model", "object": kind}


def write_whole(reply: ModelReply) -> bytes:
    """Return a message of the model as one JSON object."""
    message, reason = _message(reply)
    choice = {"index": 0, "message": {"content": None, **message}, "finish_reason": reason}
    return json.dumps({**_head(reply, "chat.completion"), "choices": [choice], "usage": _USAGE}).encode()


WHOLE = WireFormat(path="/chat/completions", read=read_whole, write=write_whole, kind="application/json")
FORMAT = WireFormat(path="/chat/completions", read=read, write=write)
