"""
The Responses format of OpenAI, as Codex 0.169.0 uses it.

Observed: shell commands are calls of ``exec_command``, which hooks see as ``Bash``; a patch is the input of a
custom tool.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_hookharness.hosts.wire.model_exchange import (
    Body,
    Entry,
    ModelReply,
    ModelRequest,
    WireCall,
    WireFormat,
    events,
    texts_of,
)

_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = tuple(f"{name}_output" for name in _CALLS)
_PATCH = "apply_patch"
# With --approve-for-me another agent reviews each request for a permission that no hook decides.
_REVIEWER = "You are judging one planned coding-agent action"
_REVIEW = '{"outcome": "allow", "risk_level": "low", "user_authorization": "high", "rationale": "-"}'


def read(body: Body) -> ModelRequest:
    """Return a request."""
    entries = [entry for item in body.get("input", []) for entry in _entries(item)]
    reviews = any(entry.text.startswith(_REVIEWER) for entry in entries)
    return ModelRequest(main=bool(body.get("tools")) and not reviews, entries=tuple(entries))


def _entries(item: Body) -> Iterator[Entry]:
    kind = item.get("type", "message")
    if kind in _CALLS:
        yield Entry("", own=True, call=str(item.get("call_id")))
    elif kind in _OUTPUTS:
        output: Any = item.get("output")
        yield Entry("\n".join(texts_of(output.get("content", "") if isinstance(output, dict) else output)))
    elif kind == "message":
        for text in texts_of(item.get("content")):
            yield Entry(text, own=item.get("role") == "assistant")


def write(reply: ModelReply) -> bytes:
    """Return a message of the model, with its calls, as a stream."""
    name = f"resp_{reply.number:06d}"
    items: list[Body] = []
    if reply.text or not reply.calls:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        message = {"type": "message", "role": "assistant", "id": f"msg_{reply.number:06d}"}
        items.append({**message, "content": content})
    items += [_call(call) for call in reply.calls]
    usage = {
        "input_tokens": 1,
        "input_tokens_details": None,
        "output_tokens": 1,
        "output_tokens_details": None,
        "total_tokens": 2,
    }
    done = [
        {"type": "response.output_item.done", "output_index": place, "item": item}
        for place, item in enumerate(items)
    ]
    stream: list[Body] = [
        {"type": "response.created", "response": {"id": name}},
        *done,
        {"type": "response.completed", "response": {"id": name, "output": items, "usage": usage}},
    ]
    return events((str(data["type"]), data) for data in stream)


def _call(call: WireCall) -> Body:
    known = {"id": f"item_{call.id}", "call_id": call.id}
    if call.name == _PATCH:
        text = str(call.input.get("command", ""))
        return {"type": "custom_tool_call", **known, "name": _PATCH, "input": text}
    name, given = call.name, call.input
    if name == "Bash":
        name = "exec_command"
        given = {"cmd" if key == "command" else key: value for key, value in call.input.items()}
    return {"type": "function_call", **known, "name": name, "arguments": json.dumps(given)}


FORMAT = WireFormat(
    path="/v1/responses",
    read=read,
    write=write,
    side=_REVIEW,
    others={"/models": {"object": "list", "data": [], "models": []}},
)
