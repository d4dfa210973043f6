"""The formats of requests to models and of their replies, as the real programs of hosts use them."""

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
from pytest_hookharness.model.fast_dataclass import replace

# The Messages format of Anthropic, as Claude Code 2.1.329 uses it. Observed: it always asks for a stream;
# the main agent sends more than one tool, side requests none or one.
_ANTHROPIC_USAGE = {
    "input_tokens": 1,
    "output_tokens": 1,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def _read_messages(body: Body) -> ModelRequest:
    entries = [entry for message in body.get("messages", []) for entry in _entries_of_message(message)]
    return ModelRequest(main=len(body.get("tools") or ()) > 1, entries=tuple(entries))


def _entries_of_message(message: Body) -> Iterator[Entry]:
    own, content = message.get("role") == "assistant", message.get("content")
    for block in [{"text": content}] if isinstance(content, str) else content or ():
        if block.get("type") == "tool_use":
            yield Entry("", own=own, call=str(block.get("id")))
        elif block.get("type") == "tool_result":
            yield Entry("\n".join(texts_of(block.get("content"))))
        elif "text" in block:
            yield Entry(str(block["text"]), own=own)


def _write_messages(reply: ModelReply) -> bytes:
    """Return a message of the model as a stream."""
    return events((str(data["type"]), data) for data in _message_events(reply))


_EMPTY_MESSAGE: Body = {
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": _ANTHROPIC_USAGE,
}


def _message_events(reply: ModelReply) -> Iterator[Body]:
    yield {"type": "message_start", "message": {"id": f"msg_{reply.number:06d}", **_EMPTY_MESSAGE}}
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


ANTHROPIC_MESSAGES = WireFormat(
    path="/v1/messages", read=_read_messages, write=_write_messages, side='{"title":"t","isNewTopic":false}'
)


# The generateContent format of Gemini, as Gemini CLI 0.61.0 uses it. Observed: the main agent asks for a
# stream and sends its tools; one chunk may hold the whole answer.
_GEMINI_USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}


def _read_contents(body: Body) -> ModelRequest:
    entries = [entry for content in body.get("contents", []) for entry in _entries_of_content(content)]
    return ModelRequest(main=bool(body.get("tools")), entries=tuple(entries))


def _entries_of_content(content: Body) -> Iterator[Entry]:
    own = content.get("role") == "model"
    for part in content.get("parts") or ():
        if "functionCall" in part:
            yield Entry("", own=own, call=str(part["functionCall"].get("id")))
        elif "functionResponse" in part:
            yield Entry(_function_result(part["functionResponse"].get("response") or {}))
        elif "text" in part:
            yield Entry(str(part["text"]), own=own)


def _function_result(response: Body) -> str:
    texts = [response[key] for key in ("output", "error") if isinstance(response.get(key), str)]
    return "\n".join(texts) if texts else json.dumps(response)


def _write_contents(reply: ModelReply) -> bytes:
    """Return a message of the model as a stream of one chunk."""
    return events([("", _gemini_message(reply))], end="\r\n\r\n")


def _gemini_message(reply: ModelReply) -> Body:
    parts: list[Body] = [{"text": reply.text}] if reply.text or not reply.calls else []
    parts += [
        {"functionCall": {"name": call.name, "args": call.input, "id": call.id}} for call in reply.calls
    ]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": _GEMINI_USAGE}


GEMINI_CONTENTS = WireFormat(
    path=":streamGenerateContent",
    read=_read_contents,
    write=_write_contents,
    others={
        ":generateContent": _gemini_message(ModelReply(number=0, text="Done.")),
        ":countTokens": {"totalTokens": 10},
    },
)


# The Chat Completions format of OpenAI, as Qwen Code 0.24.4 and the OpenHands SDK 1.58.0 use it. Observed:
# the main agent of Qwen Code asks for a stream and sends its tools. OpenHands asks for no stream.
_CHAT_USAGE = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
_DONE = b"data: [DONE]\n\n"


def _read_streamed_chat(body: Body) -> ModelRequest:
    """Return a request of Qwen Code."""
    return replace(_read_chat(body), main=bool(body.get("tools")) and bool(body.get("stream")))


def _read_chat(body: Body) -> ModelRequest:
    """Return a request of OpenHands."""
    entries = [entry for message in body.get("messages", []) for entry in _entries_of_chat(message)]
    return ModelRequest(main=bool(body.get("tools")), entries=tuple(entries))


def _entries_of_chat(message: Body) -> Iterator[Entry]:
    # What a hook says at the start of a session stands in the system's message.
    role = message.get("role")
    for text in texts_of(message.get("content")):
        yield Entry(text, own=role == "assistant")
    for call in message.get("tool_calls") or ():
        yield Entry("", own=True, call=str(call.get("id")))


def _chat_message(reply: ModelReply) -> tuple[dict[str, object], str]:
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


def _write_streamed_chat(reply: ModelReply) -> bytes:
    """Return a message of the model as a stream of chunks."""
    delta, reason = _chat_message(reply)
    choices = [
        [{"index": 0, "delta": delta, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": reason}],
        [],
    ]
    chunk = _chat_head(reply, "chat.completion.chunk")
    chunks: list[Body] = [{**chunk, "choices": one} for one in choices]
    chunks[-1] = {**chunks[-1], "usage": _CHAT_USAGE}
    return events(("", one) for one in chunks) + _DONE


def _chat_head(reply: ModelReply, kind: str) -> Body:
    return {"id": f"chatcmpl-{reply.number}", "created": 1, "model": "mock-model", "object": kind}


def _write_chat(reply: ModelReply) -> bytes:
    """Return a message of the model as one JSON object."""
    message, reason = _chat_message(reply)
    choice = {"index": 0, "message": {"content": None, **message}, "finish_reason": reason}
    return json.dumps(
        {**_chat_head(reply, "chat.completion"), "choices": [choice], "usage": _CHAT_USAGE}
    ).encode()


OPENAI_CHAT = WireFormat(
    path="/chat/completions", read=_read_chat, write=_write_chat, kind="application/json"
)
OPENAI_CHAT_STREAM = WireFormat(
    path="/chat/completions", read=_read_streamed_chat, write=_write_streamed_chat
)


# The Responses format of OpenAI, as Codex 0.169.0 uses it. Observed: shell commands are calls of
# exec_command, which hooks see as Bash; a patch is the input of a custom tool.
_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = tuple(f"{name}_output" for name in _CALLS)
_RESPONSES_USAGE = {
    "input_tokens": 1,
    "input_tokens_details": None,
    "output_tokens": 1,
    "output_tokens_details": None,
    "total_tokens": 2,
}
_PATCH = "apply_patch"
# With --approve-for-me another agent reviews each request for a permission that no hook decides.
_REVIEWER = "You are judging one planned coding-agent action"
_REVIEW = '{"outcome": "allow", "risk_level": "low", "user_authorization": "high", "rationale": "-"}'


def _read_responses(body: Body) -> ModelRequest:
    entries = [entry for item in body.get("input", []) for entry in _entries_of_item(item)]
    reviews = any(entry.text.startswith(_REVIEWER) for entry in entries)
    return ModelRequest(main=bool(body.get("tools")) and not reviews, entries=tuple(entries))


def _entries_of_item(item: Body) -> Iterator[Entry]:
    kind = item.get("type", "message")
    if kind in _CALLS:
        yield Entry("", own=True, call=str(item.get("call_id")))
    elif kind in _OUTPUTS:
        output: Any = item.get("output")
        yield Entry("\n".join(texts_of(output.get("content", "") if isinstance(output, dict) else output)))
    elif kind == "message":
        for text in texts_of(item.get("content")):
            yield Entry(text, own=item.get("role") == "assistant")


def _write_responses(reply: ModelReply) -> bytes:
    """Return a message of the model, with its calls, as a stream."""
    name = f"resp_{reply.number:06d}"
    items: list[Body] = []
    if reply.text or not reply.calls:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        message = {"type": "message", "role": "assistant", "id": f"msg_{reply.number:06d}"}
        items.append({**message, "content": content})
    items += [_response_call(call) for call in reply.calls]
    done = [
        {"type": "response.output_item.done", "output_index": place, "item": item}
        for place, item in enumerate(items)
    ]
    stream: list[Body] = [
        {"type": "response.created", "response": {"id": name}},
        *done,
        {"type": "response.completed", "response": {"id": name, "output": items, "usage": _RESPONSES_USAGE}},
    ]
    return events((str(data["type"]), data) for data in stream)


def _response_call(call: WireCall) -> Body:
    known = {"id": f"item_{call.id}", "call_id": call.id}
    if call.name == _PATCH:
        text = str(call.input.get("command", ""))
        return {"type": "custom_tool_call", **known, "name": _PATCH, "input": text}
    name, given = call.name, call.input
    if name == "Bash":
        name = "exec_command"
        given = {"cmd" if key == "command" else key: value for key, value in call.input.items()}
    return {"type": "function_call", **known, "name": name, "arguments": json.dumps(given)}


OPENAI_RESPONSES = WireFormat(
    path="/v1/responses",
    read=_read_responses,
    write=_write_responses,
    side=_REVIEW,
    others={"/models": {"object": "list", "data": [], "models": []}},
)
