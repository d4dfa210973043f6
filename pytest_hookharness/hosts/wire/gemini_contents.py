"""
The ``generateContent`` format of Gemini, as Gemini CLI 0.61.0 uses it.

Observed: the main agent asks for a stream and sends its tools; one chunk may hold the whole answer.
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
)

_USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}


def read(body: Body) -> ModelRequest:
    """Return a request."""
    entries = [entry for content in body.get("contents", []) for entry in _entries(content)]
    return ModelRequest(main=bool(body.get("tools")), entries=tuple(entries))


def _entries(content: Body) -> Iterator[Entry]:
    own = content.get("role") == "model"
    for part in content.get("parts") or ():
        if "functionCall" in part:
            yield Entry("", own=own, call=str(part["functionCall"].get("id")))
        elif "functionResponse" in part:
            yield Entry(_result(part["functionResponse"].get("response") or {}))
        elif "text" in part:
            yield Entry(str(part["text"]), own=own)


def _result(response: Body) -> str:
    texts = [response[key] for key in ("output", "error") if isinstance(response.get(key), str)]
    return "\n".join(texts) if texts else json.dumps(response)


def write(reply: ModelReply) -> bytes:
    """Return a message of the model as a stream of one chunk."""
    return events([("", _message(reply))], end="\r\n\r\n")


def _message(reply: ModelReply) -> Body:
    parts: list[Body] = [{"text": reply.text}] if reply.text or not reply.calls else []
    parts += [
        {"functionCall": {"name": call.name, "args": call.input, "id": call.id}} for call in reply.calls
    ]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": _USAGE}


FORMAT = WireFormat(
    path=":streamGenerateContent",
    read=read,
    write=write,
    others={
        ":generateContent": _message(ModelReply(number=0, text="Done.")),
        ":countTokens": {"totalTokens": 10},
    },
)
