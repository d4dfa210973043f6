"""
The words in which a host tells its agent, and where it writes them down.

The lines of a transcript.

The form follows what hooks that read transcripts rely on; it is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_hookharness.model.protocol import Json, Payload, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLine:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """
    The words in which the agent's model is told; ``str.format`` templates.

    Attributes:
        label: How an event is called where it has a target.
        refusal: What a refused tool call gives; over ``label``, ``reason``, ``event``, ``tool`` and
            ``subject``, the command or file of the call.
        replaced: What stands in for the result of a call whose refusal replaces it; over ``reason``.
        asked: What a call gives that somebody would have to be asked about.
        feedback: A refused stop; over ``event``, ``reason``, ``index`` (of the hook) and ``source`` (its
            file).
        blocked: The notice that goes before it, or stands for it where nothing is held up; empty for none,
            and for the bare reason where nothing is held up.
        context: A text that a hook adds.
        modified: What is put behind the result of a call whose input a hook changed; over ``changed``,
            the keys. Empty for nothing.
        denied: A refused permission for which no reason was given.
    """

    label: str = "{event}"
    refusal: str = "{reason}"
    replaced: str = "{reason}"
    asked: str = "{reason}"
    feedback: str = "{reason}"
    blocked: str = ""
    context: str = "{text}"
    modified: str = ""
    denied: str = "Permission to use {tool} was denied."


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRules:
    """
    Where the host writes the conversation.

    Attributes:
        path: A template over ``home``, ``slug`` and ``session``, ``short`` (eight digits of that),
            ``project`` (name of the folder), ``year`` ``month`` ``day`` ``hour`` ``minute`` and ``second``.
            Empty if it writes none.
        subagent_path: The same for a subagent, over ``agent`` as well; empty if it writes none.
        hold: A line with a message in it: the line, its kind, the message, and further keys.
        rule: Where this is known from.
    """

    path: str = ""
    subagent_path: str = ""
    hold: Callable[[TranscriptLine, str, Payload, Mapping[str, Json]], dict[str, Json]] = TranscriptLine.hold
    rule: Rule
