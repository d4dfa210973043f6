"""
The events of OpenHands, as it keeps them: one JSON object for each.

Two forms are known from public code and files, and assumed here: that of the SDK
(``kind: ActionEvent``), and the older one (``action`` and ``args``, answered by ``observation`` and
``cause``).
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.hosts.transcript_readers.pairing import Gathering, mapping, text_of
from pytest_hookharness.model.actions import ActionResult
from pytest_hookharness.model.protocol import Json, Payload

_KINDS = (
    "ActionEvent",
    "ObservationEvent",
    "MessageEvent",
    "SystemPromptEvent",
    "AgentErrorEvent",
    "UserRejectObservation",
    "ConversationStateUpdateEvent",
)
# What the older form calls actions and is none of the agent's doing.
_NO_CALLS = frozenset({"message", "system", "recall", "change_agent_state", "null", "finish"})


def knows(record: Payload) -> bool:
    """
    Whether a record can only be one of these.
    """
    if "kind" in record:
        return record.get("kind") in _KINDS and "source" in record
    return "source" in record and ("action" in record or "observation" in record)


def take(gathering: Gathering, place: str, record: Payload) -> None:
    """
    Read one event.
    """
    match record.get("kind"):
        case "ActionEvent":
            action = mapping(record.get("action"))
            given = {key: value for key, value in action.items() if key != "kind"}
            gathering.call(record.get("tool_call_id"), record.get("tool_name"), given, place)
        case "ObservationEvent":
            seen = mapping(record.get("observation"))
            failed = seen.get("is_error") is True or _failed(seen)
            _answer(gathering, record.get("tool_call_id"), text_of(seen.get("content")), failed=failed)
        case "AgentErrorEvent":
            _answer(gathering, record.get("tool_call_id"), text_of(record.get("error")), failed=True)
        case "UserRejectObservation":
            text = text_of(record.get("rejection_reason"))
            gathering.result(record.get("tool_call_id"), text, ActionResult.REFUSED)
        case "MessageEvent":
            gathering.part("prompt" if record.get("source") == "user" else "stop")
        case None:
            _older(gathering, place, record)
        case _:
            return


def _older(gathering: Gathering, place: str, record: Payload) -> None:
    action, number = record.get("action"), record.get("id")
    if isinstance(action, str):
        if action in ("message", "finish"):
            gathering.part("prompt" if record.get("source") == "user" else "stop")
        elif action not in _NO_CALLS and record.get("source") == "agent":
            args = {key: value for key, value in mapping(record.get("args")).items() if key != "thought"}
            gathering.call(str(number), action, args, place)
    elif isinstance(record.get("observation"), str) and record.get("cause") is not None:
        extras = mapping(record.get("extras"))
        failed = record.get("observation") == "error" or _failed(extras)
        # What the host itself did has no call either, so an answer without one is nothing to count.
        if gathering.awaits(str(record.get("cause"))):
            _answer(gathering, str(record.get("cause")), text_of(record.get("content")), failed=failed)


def _answer(gathering: Gathering, name: Json, text: str, *, failed: bool) -> None:
    gathering.result(name, text, ActionResult.FAILED if failed else ActionResult.DONE)


def _failed(seen: Payload) -> bool:
    # A command that runs on has the exit code -1.
    metadata = seen.get("metadata")
    codes = (seen.get("exit_code"), metadata.get("exit_code") if isinstance(metadata, Mapping) else None)
    return any(isinstance(code, int) and code not in (0, -1) for code in codes)
