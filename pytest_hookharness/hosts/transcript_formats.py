"""
Transcript formats: read what an agent did from the transcript that its host wrote.

A transcript can come from any source, so no value in it is trusted: a record that has not the expected
form is counted and left out. The form of each format is known from public transcripts, and assumed here.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from pytest_hookharness.model.actions import Action, ActionResult, Break, StreamItem
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json, Payload

# A transcript begins with its settings; one of the first records shows which host wrote it.
_MOST_SETTINGS = 200


class UnknownTranscript(ValueError):
    """No known host wrote this text as its transcript."""


class ActionStream:
    """
    The actions read from a transcript so far.

    Attributes:
        form: The host whose transcript format it is.
        items: Actions and breaks, in the order of the transcript.
        left_out: How many records were not understood, by reason.
    """

    def __init__(self, form: str) -> None:
        self.form = form
        self.items: list[StreamItem] = []
        self.left_out: Counter[str] = Counter()
        self._unanswered: dict[str, int] = {}

    def add_call(self, call_id: Json, tool: Json, arguments: Json, place: str, agent: str = "") -> None:
        """Append a call; its result arrives later under the same ``call_id``."""
        if not isinstance(tool, str) or not tool:
            self.leave_out("a call without the name of a tool")
            return
        if isinstance(call_id, str) and call_id:
            self._unanswered[call_id] = len(self.items)
        given = arguments if isinstance(arguments, Mapping) else {"input": arguments}
        self.items.append(Action(tool=tool, arguments=given, place=place, agent=agent))

    def add_result(self, call_id: Json, text: str, outcome: ActionResult) -> None:
        """Put the result of a call into its action."""
        index = self._unanswered.pop(call_id, None) if isinstance(call_id, str) else None
        action = self.items[index] if index is not None else None
        if index is None or not isinstance(action, Action):
            self.leave_out("a result without its call")
            return
        self.items[index] = replace(action, result=text, outcome=outcome)

    def expects_result(self, call_id: str) -> bool:
        """Return whether a call with this identifier has no result yet."""
        return call_id in self._unanswered

    def add_break(self, why: str, agent: str = "") -> None:
        """Append a break: a prompt, a stop, or another end of a series of actions."""
        self.items.append(Break(why=why, agent=agent))

    def leave_out(self, why: str) -> None:
        """Count a record that is not understood."""
        self.left_out[why] += 1


def text_of(content: Json) -> str:
    """Return the text of a message's content: a text, or a list of blocks."""
    blocks = list_of(content) or (content,)
    texts = (block if isinstance(block, str) else object_of(block).get("text") for block in blocks)
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def object_of(value: Json) -> Payload:
    """Return a JSON object as it is; an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: Json) -> Sequence[Json]:
    """Return a JSON list as it is; an empty one for any other value."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def read_transcript(records: Iterable[tuple[str, Json]]) -> ActionStream:
    """
    Return the actions in a transcript of any known host.

    Args:
        records: Each record, after the place where it was read, in words.

    Raises:
        UnknownTranscript: No record shows which host wrote it.
    """
    waiting: list[tuple[str, Json]] = []
    stream: ActionStream | None = None
    for place, value in records:
        if stream is None:
            waiting.append((place, value))
            form = _form_of(value)
            if form is not None:
                stream = ActionStream(form)
                for earlier in waiting:
                    _read_record(stream, *earlier)
            elif len(waiting) >= _MOST_SETTINGS:
                break
        else:
            _read_record(stream, place, value)
    if stream is None:
        raise UnknownTranscript(
            f"none of the first {len(waiting)} records has the form of a known transcript; known are "
            "Claude Code (JSON lines with `type` and `message`), Codex (a rollout: JSON lines with "
            "`type: response_item` and `payload`) and OpenHands (events with `kind`, or with `action`)"
        )
    return stream


def _form_of(value: Json) -> str | None:
    if not isinstance(value, Mapping):
        return None
    return next((name for name, form in FORMATS.items() if form.owns(value)), None)


def _read_record(stream: ActionStream, place: str, value: Json) -> None:
    if isinstance(value, Mapping):
        FORMATS[stream.form].read(stream, place, value)
    else:
        stream.leave_out("no JSON object")


# Claude Code. A failed result carries ``is_error``, a line of a subagent ``agentId``, and a line that the
# host wrote by itself ``isMeta``.
_STOP_FEEDBACK = "Stop hook feedback"


def _is_claude_message(record: Payload) -> bool:
    return record.get("type") in ("user", "assistant") and isinstance(record.get("message"), Mapping)


def _read_claude_line(stream: ActionStream, place: str, record: Payload) -> None:
    if not _is_claude_message(record):
        return
    message, agent = object_of(record.get("message")), record.get("agentId")
    subagent = agent if isinstance(agent, str) else ""
    if record.get("type") == "assistant":
        _read_assistant_message(stream, place, message, subagent)
    else:
        _read_user_message(stream, record, message, subagent)


def _read_assistant_message(stream: ActionStream, place: str, message: Payload, agent: str) -> None:
    called = False
    for block in map(object_of, list_of(message.get("content"))):
        if block.get("type") == "tool_use":
            called = True
            stream.add_call(block.get("id"), block.get("name"), block.get("input"), place, agent)
    if not called and message.get("stop_reason") == "end_turn":
        stream.add_break("stop", agent)


def _read_user_message(stream: ActionStream, record: Payload, message: Payload, agent: str) -> None:
    content = message.get("content")
    results = [block for block in map(object_of, list_of(content)) if block.get("type") == "tool_result"]
    for block in results:
        outcome = ActionResult.FAILED if block.get("is_error") is True else ActionResult.DONE
        stream.add_result(block.get("tool_use_id"), text_of(block.get("content")), outcome)
    # The host's own lines are no prompts, except the feedback that makes the agent continue.
    if not results and (record.get("isMeta") is not True or text_of(content).startswith(_STOP_FEEDBACK)):
        stream.add_break("prompt", agent)


# Codex: the rollout files of its sessions.
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


_EXIT = re.compile(r"^(?:Exit code|Process exited with code):? (-?\d+)\s*$", re.MULTILINE)


# The lines above a command's output, such as its exit code and wall time.
_HEAD = re.compile(r"\A(?:[A-Z][\w ]{0,60}:? ?[^\n]{0,80}\n){1,8}?Output:\n")


def _is_codex_item(record: Payload) -> bool:
    known = record.get("type") in ("response_item", "session_meta")
    return known and isinstance(record.get("payload"), Mapping)


def _read_codex_line(stream: ActionStream, place: str, record: Payload) -> None:
    item = object_of(record.get("payload"))
    kind = item.get("type")
    if record.get("type") == "event_msg":
        if kind in ("user_message", "task_complete", "turn_aborted"):
            stream.add_break(str(kind))
    elif record.get("type") == "response_item" and kind in _CALLS:
        _read_codex_call(stream, place, item)
    elif record.get("type") == "response_item" and kind in _OUTPUTS:
        stream.add_result(item.get("call_id"), *_codex_output(item.get("output")))
    elif kind == "message" and item.get("role") == "user":
        stream.add_break("prompt")


def _read_codex_call(stream: ActionStream, place: str, item: Payload) -> None:
    if item.get("type") == "local_shell_call":
        stream.add_call(item.get("call_id"), "local_shell", item.get("action"), place)
        return
    given = _parse_object(item.get("arguments", item.get("input")))
    stream.add_call(item.get("call_id"), item.get("name"), given, place)


def _parse_object(given: Json) -> Json:
    # A custom tool can get a text that is not JSON, such as a patch.
    if not isinstance(given, str) or not given.lstrip().startswith("{"):
        return given
    try:
        value: Json = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return value


def _codex_output(output: Json) -> tuple[str, ActionResult]:
    parsed = _parse_object(output)
    if isinstance(parsed, Mapping):
        text = text_of(parsed.get("output", parsed.get("content")))
        default = 0 if parsed.get("success") is not False else 1
        return _with_exit_code(text, object_of(parsed.get("metadata")).get("exit_code", default))
    text = text_of(parsed)
    head = _HEAD.match(text)
    exit_line = _EXIT.search(head[0] if head else text.partition("\n")[0])
    return _with_exit_code(text[head.end() :] if head else text, int(exit_line[1][:9]) if exit_line else 0)


def _with_exit_code(text: str, code: Json) -> tuple[str, ActionResult]:
    if not isinstance(code, int) or code == 0:
        return text, ActionResult.DONE
    return f"Exit code {code}\n{text}", ActionResult.FAILED


# OpenHands: one JSON object for each event. The SDK writes ``kind: ActionEvent``; the program before it
# wrote ``action`` and ``args``, answered by ``observation`` and ``cause``.
_KINDS = (
    "ActionEvent",
    "ObservationEvent",
    "MessageEvent",
    "SystemPromptEvent",
    "AgentErrorEvent",
    "UserRejectObservation",
    "ConversationStateUpdateEvent",
)


# The older form calls these actions, although the agent calls no tool in them.
_NO_CALLS = frozenset({"message", "system", "recall", "change_agent_state", "null", "finish"})


def _is_openhands_event(record: Payload) -> bool:
    if "kind" in record:
        return record.get("kind") in _KINDS and "source" in record
    return "source" in record and ("action" in record or "observation" in record)


def _read_openhands_event(stream: ActionStream, place: str, record: Payload) -> None:
    call_id = record.get("tool_call_id")
    match record.get("kind"):
        case "ActionEvent":
            action = object_of(record.get("action"))
            given = {key: value for key, value in action.items() if key != "kind"}
            stream.add_call(call_id, record.get("tool_name"), given, place)
        case "ObservationEvent":
            seen = object_of(record.get("observation"))
            failed = seen.get("is_error") is True or _has_failed(seen)
            _add_observation(stream, call_id, seen.get("content"), failed=failed)
        case "AgentErrorEvent":
            _add_observation(stream, call_id, record.get("error"), failed=True)
        case "UserRejectObservation":
            stream.add_result(call_id, text_of(record.get("rejection_reason")), ActionResult.REFUSED)
        case "MessageEvent":
            stream.add_break("prompt" if record.get("source") == "user" else "stop")
        case None:
            _read_older_event(stream, place, record)
        case _:
            return


def _read_older_event(stream: ActionStream, place: str, record: Payload) -> None:
    action, number = record.get("action"), record.get("id")
    if isinstance(action, str):
        if action in ("message", "finish"):
            stream.add_break("prompt" if record.get("source") == "user" else "stop")
        elif action not in _NO_CALLS and record.get("source") == "agent":
            args = {key: value for key, value in object_of(record.get("args")).items() if key != "thought"}
            stream.add_call(str(number), action, args, place)
    elif isinstance(record.get("observation"), str) and record.get("cause") is not None:
        extras, cause = object_of(record.get("extras")), str(record.get("cause"))
        failed = record.get("observation") == "error" or _has_failed(extras)
        # Actions of the host itself were not added as calls: an observation of one is not counted as lost.
        if stream.expects_result(cause):
            _add_observation(stream, cause, record.get("content"), failed=failed)


def _add_observation(stream: ActionStream, call_id: Json, content: Json, *, failed: bool) -> None:
    stream.add_result(call_id, text_of(content), ActionResult.FAILED if failed else ActionResult.DONE)


def _has_failed(seen: Payload) -> bool:
    # A command that is still running has the exit code -1.
    codes = (seen.get("exit_code"), object_of(seen.get("metadata")).get("exit_code"))
    return any(isinstance(code, int) and code not in (0, -1) for code in codes)


@dataclass(frozen=True, slots=True)
class _TranscriptFormat:
    """
    How the transcripts of one host are read.

    Attributes:
        owns: Whether only this host writes such a record.
        read: Adds a record, with the place where it was read, to a stream.
    """

    owns: Callable[[Payload], bool]
    read: Callable[[ActionStream, str, Payload], None]


FORMATS: Mapping[str, _TranscriptFormat] = {
    "claude-code": _TranscriptFormat(_is_claude_message, _read_claude_line),
    "codex": _TranscriptFormat(_is_codex_item, _read_codex_line),
    "openhands": _TranscriptFormat(_is_openhands_event, _read_openhands_event),
}
