"""
The Chat Completions format of OpenAI, as Qwen Code 0.24.4 uses it.

Observed: the main agent asks for a stream and sends its tools.
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

_USAGE = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
_DONE = b"data: [DONE]\n\n"


def read(body: Body) -> ModelRequest:
    """Return a request."""
    entries = [entry for message in body.get("messages", []) for entry in _entries(message)]
    return ModelRequest(main=bool(body.get("tools")) and bool(body.get("stream")), entries=tuple(entries))


def _entries(message: Body) -> Iterator[Entry]:
    # What a hook says at the start of a session stands in the system's message.
    role = message.get("role")
    for text in texts_of(message.get("content")):
        yield Entry(text, own=role == "assistant")
    for call in message.get("tool_calls") or ():
        yield Entry("", own=True, call=str(call.get("id")))


def write(reply: ModelReply) -> bytes:
    """Return a message of the model as a stream of chunks."""
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
    reason = "tool_calls" if reply.calls else "stop"
    choices = [
        [{"index": 0, "delta": delta, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": reason}],
        [],
    ]
    chunk: Body = {
        "id": f"chatcmpl-{reply.number}",
        "created": 1,
        "model": "mock-model",
        "object": "chat.completion.chunk",
    }
    chunks: list[Body] = [{**chunk, "choices": one} for one in choices]
    chunks[-1] = {**chunks[-1], "usage": _USAGE}
    return events(("", one) for one in chunks) + _DONE


FORMAT = WireFormat(path="/chat/completions", read=read, write=write)
