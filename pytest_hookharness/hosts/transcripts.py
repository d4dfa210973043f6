"""
This module is concerned with the lines of a transcript.

Middle floor: hosts. The form follows what hooks that read transcripts rely on; it is assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_hookharness.model.protocol import Json, Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """
    What distinguishes a line of a transcript.

    Attributes:
        uuid: Its own identifier.
        parent: That of the line before; empty for none.
        session: The session.
        cwd: The current folder.
        version: The host's version.
        time: When it was written.
        agent: The subagent that it belongs to; empty for the main one.
    """

    uuid: str
    parent: str
    session: str
    cwd: str
    version: str
    time: str
    agent: str = ""

    def hold(self, kind: str, message: Payload, extra: Mapping[str, Json]) -> dict[str, Json]:
        """
        The line with a message in it.
        """
        side: dict[str, Json] = {"isSidechain": bool(self.agent)}
        if self.agent:
            side["agentId"] = self.agent
        return {
            "parentUuid": self.parent or None,
            **side,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": "",
            "type": kind,
            "message": message,
            **extra,
            "uuid": self.uuid,
            "timestamp": self.time,
        }


def user_message(text: str) -> dict[str, Json]:
    """
    What a person, or the host in a person's place, says.
    """
    return {"role": "user", "content": text}


def result_message(use_id: str, text: str, *, failed: bool) -> dict[str, Json]:
    """
    The result of a tool call.
    """
    block: dict[str, Json] = {"tool_use_id": use_id, "type": "tool_result", "content": text}
    return {"role": "user", "content": [{**block, "is_error": True} if failed else block]}


def assistant_message(name: str, model: str, block: Payload, reason: str) -> dict[str, Json]:
    """
    One block of what the model says.
    """
    return {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
