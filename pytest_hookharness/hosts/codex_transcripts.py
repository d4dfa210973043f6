"""
This module is concerned with the lines of a Codex transcript.

Middle floor: hosts. Each line is an item with its time. The form follows what is publicly known of such
files; it is assumed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_hookharness.hosts.transcripts import Line
from pytest_hookharness.model.protocol import Json, Payload


def hold(line: Line, kind: str, message: Payload, _extra: Mapping[str, Json]) -> dict[str, Json]:
    """
    The line with a message in it, as an item of the conversation.
    """
    return {"timestamp": line.time, "type": "response_item", "payload": _item(kind, message)}


def _item(kind: str, message: Payload) -> Payload:
    content = message.get("content")
    blocks = content if isinstance(content, Sequence) and not isinstance(content, str) else ()
    block = blocks[0] if blocks else content
    if not isinstance(block, Mapping):
        return _said(kind, "input_text", block)
    match block.get("type"):
        case "tool_use":
            given = json.dumps(block.get("input"), separators=(",", ":"), ensure_ascii=False)
            return {
                "type": "function_call",
                "name": block.get("name"),
                "arguments": given,
                "call_id": block.get("id"),
            }
        case "tool_result":
            output = block.get("content")
            return {"type": "function_call_output", "call_id": block.get("tool_use_id"), "output": output}
        case _:
            return _said(kind, "output_text", block.get("text"))


def _said(role: str, kind: str, text: Json) -> Payload:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
