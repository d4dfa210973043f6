"""
The transcripts of Claude Code.

The form is that of ``hosts/transcripts.py``; that a failed result carries
``is_error``, that a subagent's lines carry ``agentId`` and that the host's own words carry ``isMeta`` is
assumed, as known from public transcripts.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.hosts.transcript_readers.pairing import Gathering, items, mapping, text_of
from pytest_hookharness.model.actions import ActionResult
from pytest_hookharness.model.protocol import Payload

_FEEDBACK = "Stop hook feedback"


def knows(record: Payload) -> bool:
    """
    Whether a record can only be one of these.
    """
    return record.get("type") in ("user", "assistant") and isinstance(record.get("message"), Mapping)


def take(gathering: Gathering, place: str, record: Payload) -> None:
    """
    Read one line; those that are no message tell nothing of moves.
    """
    if not knows(record):
        return
    message, agent = mapping(record.get("message")), record.get("agentId")
    side = agent if isinstance(agent, str) else ""
    if record.get("type") == "assistant":
        _said(gathering, place, message, side)
    else:
        _heard(gathering, record, message, side)


def _said(gathering: Gathering, place: str, message: Payload, side: str) -> None:
    called = False
    for block in map(mapping, items(message.get("content"))):
        if block.get("type") == "tool_use":
            called = True
            gathering.call(block.get("id"), block.get("name"), block.get("input"), place, side)
    if not called and message.get("stop_reason") == "end_turn":
        gathering.part("stop", side)


def _heard(gathering: Gathering, record: Payload, message: Payload, side: str) -> None:
    content = message.get("content")
    results = [block for block in map(mapping, items(content)) if block.get("type") == "tool_result"]
    for block in results:
        outcome = ActionResult.FAILED if block.get("is_error") is True else ActionResult.DONE
        gathering.result(block.get("tool_use_id"), text_of(block.get("content")), outcome)
    if not results and (record.get("isMeta") is not True or text_of(content).startswith(_FEEDBACK)):
        gathering.part("prompt", side)
