"""
The transcripts of Codex: the rollout files of its sessions.

The form is that of ``hosts/codex_transcripts.py``; custom calls, the head above a
command's output and the exit code in it are assumed, as known from public rollouts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pytest_hookharness.hosts.transcript_readers.pairing import Gathering, mapping, text_of
from pytest_hookharness.model.actions import ActionResult
from pytest_hookharness.model.protocol import Json, Payload

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_EXIT = re.compile(r"^(?:Exit code|Process exited with code):? (-?\d+)\s*$", re.MULTILINE)
_HEAD = re.compile(r"\A(?:[A-Z][\w ]{0,60}:? ?[^\n]{0,80}\n){1,8}?Output:\n")


def knows(record: Payload) -> bool:
    """
    Whether a record can only be one of these.
    """
    return record.get("type") in ("response_item", "session_meta") and isinstance(
        record.get("payload"), Mapping
    )


def take(gathering: Gathering, place: str, record: Payload) -> None:
    """
    Read one line.
    """
    item = mapping(record.get("payload"))
    kind = item.get("type")
    if record.get("type") == "event_msg":
        if kind in ("user_message", "task_complete", "turn_aborted"):
            gathering.part(str(kind))
    elif record.get("type") == "response_item" and kind in _CALLS:
        _call(gathering, place, item)
    elif record.get("type") == "response_item" and kind in _OUTPUTS:
        text, outcome = _output(item.get("output"))
        gathering.result(item.get("call_id"), text, outcome)
    elif kind == "message" and item.get("role") == "user":
        gathering.part("prompt")


def _call(gathering: Gathering, place: str, item: Payload) -> None:
    if item.get("type") == "local_shell_call":
        gathering.call(item.get("call_id"), "local_shell", item.get("action"), place)
        return
    given = item.get("arguments", item.get("input"))
    gathering.call(item.get("call_id"), item.get("name"), _parsed(given), place)


def _parsed(given: Json) -> Json:
    # A custom tool is given a text that is no JSON, such as a patch.
    if not isinstance(given, str) or not given.lstrip().startswith("{"):
        return given
    try:
        value: Json = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return value


def _output(output: Json) -> tuple[str, ActionResult]:
    """
    The text of an output, and whether the call was done.
    """
    parsed = _parsed(output)
    if isinstance(parsed, Mapping):
        text = text_of(parsed.get("output", parsed.get("content")))
        code = mapping(parsed.get("metadata")).get(
            "exit_code", 0 if parsed.get("success") is not False else 1
        )
        return _ended(text, code)
    text = text_of(parsed)
    head = _HEAD.match(text)
    said = _EXIT.search(head[0] if head else text.partition("\n")[0])
    return _ended(text[head.end() :] if head else text, int(said[1][:9]) if said else 0)


def _ended(text: str, code: Json) -> tuple[str, ActionResult]:
    if not isinstance(code, int) or code == 0:
        return text, ActionResult.DONE
    return f"Exit code {code}\n{text}", ActionResult.FAILED
