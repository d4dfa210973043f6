"""
Transcripts of Claude Code: JSON lines with ``type`` and ``message``, as version 2.1.329 writes them.

A failed result carries ``is_error``, a line of a subagent ``agentId``, and a line that the host wrote by
itself ``isMeta``. After every stop the host writes a ``stop_hook_summary``.
"""

from __future__ import annotations

import re

from pytest_hookharness.hosts.transcripts.session_stream import (
    SessionStream,
    bare_reason,
    list_of,
    object_of,
    string_of,
    text_of,
)
from pytest_hookharness.model.actions import COMPACTED, ActionResult, HookRefusal
from pytest_hookharness.model.protocol import Payload

_STOP_FEEDBACK = "Stop hook feedback:\n"
# Written by the host in the name of the user.
_INTERRUPTED = "[Request interrupted by user"
_DENIED = re.compile(r"\A(?:Error: )?(?P<event>\w+):\S* hook error: (?P<reason>.*)\Z", re.DOTALL)
# The newest commit, in the status that the agent was shown at the start.
_COMMIT = re.compile(r"Recent commits:\s*([0-9a-f]{7,40})\b")


def is_claude_message(record: Payload) -> bool:
    """Return whether only Claude Code writes such a record."""
    message = record.get("message")
    # Qwen Code writes `parts` instead of `content`.
    return record.get("type") in ("user", "assistant") and "content" in object_of(message)


def read_claude_line(stream: SessionStream, record: Payload) -> None:
    """Add a line to a stream."""
    agent, message = string_of(record.get("agentId")), object_of(record.get("message"))
    is_new = ("cwd" in record and not stream.cwd) or ("version" in record and not stream.version)
    if is_new or not stream.session:
        stream.note(cwd=record.get("cwd"), version=record.get("version"), session=record.get("sessionId"))
    match record.get("type"):
        case "assistant" if message:
            stream.messages += 1
            _read_assistant_message(stream, message, agent)
        case "user" if message:
            stream.messages += 1
            _read_user_message(stream, record, message, agent)
        case "system":
            _read_system_line(stream, record, agent)
        case "attachment":
            _read_attachment(stream, object_of(record.get("attachment")), agent)
        case _:
            return


def _read_assistant_message(stream: SessionStream, message: Payload, agent: str) -> None:
    content = message.get("content")
    called, say = False, text_of(content)
    for block in map(object_of, list_of(content)):
        if block.get("type") == "tool_use":
            given = block.get("id"), block.get("name"), block.get("input")
            stream.add_call(*given, agent=agent, message=message.get("id"), say="" if called else say)
            called = True
    if not called and message.get("stop_reason") == "end_turn":
        stream.add_break("stop", agent, say)


def _read_user_message(stream: SessionStream, record: Payload, message: Payload, agent: str) -> None:
    content = message.get("content")
    answers = False
    for block in map(object_of, list_of(content)):
        if block.get("type") == "tool_result":
            answers = True
            _read_result(stream, record, block)
    if answers:
        return
    text = text_of(content)
    if text.startswith(_STOP_FEEDBACK):
        hook, reason = bare_reason(text.removeprefix(_STOP_FEEDBACK))
        stream.refuse_stop([HookRefusal(event=_stop_event(agent), hook=hook, reason=reason)], agent)
    elif text.startswith(_INTERRUPTED):
        stream.add_break("interrupted", agent, text)
    elif True not in (record.get("isMeta"), record.get("isCompactSummary")):
        stream.add_prompt(text, agent)


def _read_result(stream: SessionStream, record: Payload, block: Payload) -> None:
    call, text = block.get("tool_use_id"), text_of(block.get("content"))
    decided = object_of(record.get("permissionDecision"))
    is_error = block.get("is_error") is True
    denied = _DENIED.match(text) if is_error else None
    by_hook = decided.get("source") == "hook" and decided.get("decision") == "reject"
    if denied is None and not by_hook:
        stream.add_result(call, text, ActionResult.FAILED if is_error else ActionResult.DONE)
        return
    hook, reason = bare_reason(denied["reason"] if denied else text)
    event = denied["event"] if denied else string_of(decided.get("reasonCode")).removeprefix("hook:")
    stream.add_result(call, text, ActionResult.REFUSED)
    stream.refuse_call(call, HookRefusal(event=event or "PreToolUse", hook=hook, reason=reason))


def _read_system_line(stream: SessionStream, record: Payload, agent: str) -> None:
    if record.get("subtype") == "stop_hook_summary":
        infos = [object_of(info) for info in list_of(record.get("hookInfos"))]
        only = string_of(infos[0].get("command")) if len(infos) == 1 else ""
        # Hooks that failed in another way than by a refusal are among the errors.
        failed = list_of(record.get("failedHookErrorIndexes"))
        errors = [error for n, error in enumerate(list_of(record.get("hookErrors"))) if n not in failed]
        found = [bare_reason(error) for error in errors if isinstance(error, str)]
        event = _stop_event(agent)
        refusals = [HookRefusal(event=event, hook=hook or only, reason=reason) for hook, reason in found]
        stream.refuse_stop(refusals, agent)
    elif record.get("subtype") == "compact_boundary":
        stream.add_break(COMPACTED, agent, string_of(object_of(record.get("compactMetadata")).get("trigger")))
    elif "overriding and ending turn" in string_of(record.get("content")):
        stream.note(overridden=record.get("content"))


def _read_attachment(stream: SessionStream, attached: Payload, agent: str) -> None:
    if attached.get("type") == "session_context":
        status = string_of(object_of(attached.get("context")).get("gitStatus"))
        commit = _COMMIT.search(status)
        stream.note(commit=commit[1] if commit else "")
    elif attached.get("type") == "hook_blocking_error":
        error, event = object_of(attached.get("blockingError")), string_of(attached.get("hookEvent"))
        hook, reason = bare_reason(string_of(error.get("blockingError")))
        hook = string_of(error.get("command")) or hook
        refusal = HookRefusal(event=event, hook=hook, reason=reason)
        if event in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
            stream.refuse_call(attached.get("toolUseID"), refusal)
        elif event in ("Stop", "SubagentStop"):
            stream.refuse_stop([refusal], agent)


def _stop_event(agent: str) -> str:
    return "SubagentStop" if agent else "Stop"
