"""
Chats of Qwen Code, as version 0.24.4 writes them: like Claude Code's, with ``parts`` instead of ``content``.

It does not record what Stop hooks say. A refused stop shows only as an end of a turn after which the agent
continues without a prompt.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.transcripts.gemini_chat import read_response
from pytest_hookharness.hosts.transcripts.session_stream import (
    SessionStream,
    list_of,
    object_of,
    string_of,
    text_of,
)
from pytest_hookharness.model.actions import Break, HookRefusal
from pytest_hookharness.model.protocol import Payload

_DOUBT = "Qwen Code does not record what Stop hooks say; a refused stop looks like this."
_REFUSED = HookRefusal(event="Stop", doubt=_DOUBT)


def is_qwen_message(record: Payload) -> bool:
    """Return whether only Qwen Code writes such a record."""
    return record.get("type") in ("user", "assistant") and "parts" in object_of(record.get("message"))


def read_qwen_line(stream: SessionStream, record: Payload) -> None:
    """Add a line to a stream."""
    agent, message = string_of(record.get("agentId")), object_of(record.get("message"))
    stream.note(cwd=record.get("cwd"), version=record.get("version"), session=record.get("sessionId"))
    parts = [object_of(part) for part in list_of(message.get("parts"))]
    match record.get("type"):
        case "assistant":
            stream.messages += 1
            _read_assistant(stream, record, parts, agent)
        case "tool_result":
            status = object_of(record.get("toolCallResult")).get("status")
            for answer in (object_of(part.get("functionResponse")) for part in parts):
                response = object_of(answer.get("response"))
                stream.add_result(answer.get("id"), *read_response(response, failed=status == "error"))
        case "user":
            stream.messages += 1
            text = text_of(list_of(message.get("parts")))
            if record.get("provenance") == "system":
                stream.add_break("host", agent, text)
            else:
                stream.add_prompt(text, agent)
        case _:
            return


def _read_assistant(stream: SessionStream, record: Payload, parts: list[Payload], agent: str) -> None:
    calls = [call for part in parts if (call := object_of(part.get("functionCall")))]
    text = text_of([part for part in parts if part.get("thought") is not True])
    if not calls and not text:
        return
    last = stream.last_of(agent)
    before = stream.items[last] if last is not None else None
    if last is not None and isinstance(before, Break) and before.why == "stop":
        stream.items[last] = replace(before, refusals=(_REFUSED,))
    for position, call in enumerate(calls):
        given = call.get("id"), call.get("name"), call.get("args")
        stream.add_call(*given, agent=agent, message=record.get("uuid"), say="" if position else text)
    if not calls:
        stream.add_break("stop", agent, text)
