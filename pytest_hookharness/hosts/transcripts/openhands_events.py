"""
Events of OpenHands: one JSON object for each event.

The SDK (seen: 1.58.0) writes ``kind: ActionEvent``, and a ``HookExecutionEvent`` for each hook that ran. The
program before it wrote ``action`` and ``args``, answered by ``observation`` and ``cause``.
"""

from __future__ import annotations

from pytest_hookharness.hosts.transcripts.session_stream import (
    SessionStream,
    object_of,
    string_of,
    text_of,
    value_of,
)
from pytest_hookharness.model.actions import ActionResult, HookRefusal
from pytest_hookharness.model.protocol import Json, Payload

_KINDS = (
    "ActionEvent",
    "ObservationEvent",
    "MessageEvent",
    "SystemPromptEvent",
    "AgentErrorEvent",
    "UserRejectObservation",
    "ConversationStateUpdateEvent",
    "HookExecutionEvent",
)
_FEEDBACK = "[Stop hook feedback]"
# The older form calls these actions, although the agent calls no tool in them.
_NO_CALLS = frozenset({"message", "system", "recall", "change_agent_state", "null", "finish"})


def is_openhands_event(record: Payload) -> bool:
    """Return whether only OpenHands writes such a record."""
    if "kind" in record:
        return record.get("kind") in _KINDS and "source" in record
    return "source" in record and ("action" in record or "observation" in record)


class OpenHandsReader:
    """
    Reads the events of one conversation.

    Attributes:
        early: Refusals of calls whose event comes later, by the identifier of that event.
        calls: Identifiers of the calls, by that of their events.
        finished: Identifiers of calls of ``finish``, which are stops.
    """

    def __init__(self) -> None:
        self.early: dict[str, list[HookRefusal]] = {}
        self.calls: dict[str, Json] = {}
        self.finished: set[str] = set()

    def read(self, stream: SessionStream, record: Payload) -> None:
        """Add an event to a stream."""
        call_id = record.get("tool_call_id")
        if string_of(call_id) in self.finished:
            return
        match record.get("kind"):
            case "ActionEvent":
                stream.messages += 1
                self._read_call(stream, record)
            case "ObservationEvent":
                seen = object_of(record.get("observation"))
                failed = seen.get("is_error") is True or _has_failed(seen)
                _add_observation(stream, call_id, seen.get("content"), failed=failed)
            case "AgentErrorEvent":
                _add_observation(stream, call_id, record.get("error"), failed=True)
            case "UserRejectObservation":
                stream.add_result(call_id, text_of(record.get("rejection_reason")), ActionResult.REFUSED)
            case "MessageEvent":
                stream.messages += 1
                _read_message(stream, record)
            case "HookExecutionEvent":
                self._read_hook(stream, record)
            case None:
                _read_older_event(stream, record)
            case _:
                return

    def _read_call(self, stream: SessionStream, record: Payload) -> None:
        call_id, event = record.get("tool_call_id"), string_of(record.get("id"))
        action, written = object_of(record.get("action")), object_of(record.get("tool_call"))
        given = {key: value for key, value in action.items() if key != "kind"}
        tool = record.get("tool_name") or written.get("name")
        say = text_of(record.get("thought"))
        if tool == "finish" and action:
            self.finished.add(string_of(call_id))
            stream.add_break("stop", text=string_of(given.get("message")) or say)
            return
        # For invalid arguments and unknown tools, there is only the text of the call.
        arguments = given if action else value_of(written.get("arguments"))
        message = record.get("llm_response_id")
        stream.add_call(call_id, tool, arguments, message=message, say=say)
        self.calls[event] = call_id
        for refusal in self.early.pop(event, ()):
            stream.refuse_call(call_id, refusal)

    def _read_hook(self, stream: SessionStream, record: Payload) -> None:
        if record.get("blocked") is not True:
            return
        event = string_of(record.get("hook_event_type"))
        reason = text_of(record.get("reason")) or string_of(record.get("stderr")) or _said(record)
        hook = string_of(record.get("hook_command"))
        refusal = HookRefusal(event=event, hook=hook, reason=reason.strip())
        action = string_of(record.get("action_id"))
        if event in ("Stop", "SubagentStop"):
            stream.refuse_stop([refusal])
        elif action in self.calls:
            stream.refuse_call(self.calls[action], refusal)
        elif action:
            self.early.setdefault(action, []).append(refusal)


def _said(record: Payload) -> str:
    """Return the reason in a hook's standard output: of JSON its key ``reason``."""
    text = string_of(record.get("stdout"))
    parsed = value_of(text)
    return string_of(object_of(parsed).get("reason")) or text


def _read_message(stream: SessionStream, record: Payload) -> None:
    text = text_of(object_of(record.get("llm_message")).get("content"))
    match record.get("source"):
        case "user":
            stream.add_prompt(text)
        case "agent":
            stream.add_break("stop", text=text)
        case _ if text.startswith(_FEEDBACK):
            last = stream.last_of("")
            # Usually the hook's own event came before, and says more.
            if last is None or not stream.items[last].refusals:
                reason = text.removeprefix(_FEEDBACK).strip()
                stream.refuse_stop([HookRefusal(event="Stop", reason=reason)])
        case _:
            return


def _read_older_event(stream: SessionStream, record: Payload) -> None:
    action, number = record.get("action"), record.get("id")
    if isinstance(action, str):
        stream.messages += 1
        if action in ("message", "finish"):
            args = object_of(record.get("args"))
            text = string_of(args.get("content") or args.get("final_thought"))
            stream.add_break("prompt" if record.get("source") == "user" else "stop", text=text)
        elif action not in _NO_CALLS and record.get("source") == "agent":
            given = {key: value for key, value in object_of(record.get("args")).items() if key != "thought"}
            stream.add_call(str(number), action, given)
    elif isinstance(record.get("observation"), str) and record.get("cause") is not None:
        extras, cause = object_of(record.get("extras")), str(record.get("cause"))
        failed = record.get("observation") == "error" or _has_failed(extras)
        # Actions of the host itself were not added as calls: an observation of one is not counted as lost.
        if stream.expects_result(cause):
            _add_observation(stream, cause, record.get("content"), failed=failed)


def _add_observation(stream: SessionStream, call_id: Json, content: Json, *, failed: bool) -> None:
    stream.add_result(call_id, text_of(content), ActionResult.FAILED if failed else ActionResult.DONE)


def _has_failed(seen: Payload) -> bool:
    # A command that is still running has the exit code -1.
    codes = (seen.get("exit_code"), object_of(seen.get("metadata")).get("exit_code"))
    return any(isinstance(code, int) and code not in (0, -1) for code in codes)
