"""
The Messages format of Anthropic, as Claude Code 2.1.329 uses it.

Observed: it always asks for a stream; the main agent sends more than one tool, side requests none or one.
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

_USAGE = {
    "input_tokens": 1,
    "output_tokens": 1,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def read(body: Body) -> ModelRequest:
    """Return a request."""
    entries = [entry for message in body.get("messages", []) for entry in _entries(message)]
    return ModelRequest(main=len(body.get("tools") or ()) > 1, entries=tuple(entries))


def _entries(message: Body) -> Iterator[Entry]:
    own, content = message.get("role") == "assistant", message.get("content")
    for block in [{"text": content}] if isinstance(content, str) else content or ():
        if block.get("type") == "tool_use":
            yield Entry("", own=own, call=str(block.get("id")))
        elif block.get("type") == "tool_result":
            yield Entry("\n".join(texts_of(block.get("content"))))
        elif "text" in block:
            yield Entry(str(block["text"]), own=own)


def write(reply: ModelReply) -> bytes:
    """Return a message of the model as a stream."""
    return events((str(data["type"]), data) for data in _stream(reply))


def _stream(reply: ModelReply) -> Iterator[Body]:
    message: Body = {
        "id": f"msg_{reply.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _USAGE,
    }
    yield {"type": "message_start", "message": message}
    blocks: list[tuple[Body, Body]] = []
    if reply.text or not reply.calls:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": reply.text}))
    for call in reply.calls:
        opened: Body = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        blocks.append((opened, {"type": "input_json_delta", "partial_json": json.dumps(call.input)}))
    for index, (begun, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if reply.calls else "end_turn"
    ended = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


FORMAT = WireFormat(path="/v1/messages", read=read, write=write, side='{"title":"t","isNewTopic":false}')
