"""
The lines of a transcript, and the texts in which a host passes replies of hooks to the agent.

The form of the lines is what hooks that read transcripts rely on; it is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json, Payload, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLine:
    """
    What distinguishes one line of a transcript from another.

    Attributes:
        uuid: Its own identifier.
        parent: The identifier of the line before; empty for none.
        session: The session.
        cwd: The current folder.
        version: The host's version.
        time: When it was written.
        agent: The subagent that it belongs to; empty for the main agent.
    """

    uuid: str
    parent: str
    session: str
    cwd: str
    version: str
    time: str
    agent: str = ""

    def put_message(self, kind: str, message: Payload, extra: Mapping[str, Json]) -> dict[str, Json]:
        """Return the line with a message in it."""
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
    """Return a message of the user, or of the host in the user's place."""
    return {"role": "user", "content": text}


def result_message(use_id: str, text: str, *, failed: bool) -> dict[str, Json]:
    """Return the message with the result of a tool call."""
    block: dict[str, Json] = {"tool_use_id": use_id, "type": "tool_result", "content": text}
    return {"role": "user", "content": [{**block, "is_error": True} if failed else block]}


def assistant_message(name: str, model: str, block: Payload, reason: str) -> dict[str, Json]:
    """Return a message of the model with one block."""
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
    The texts that the agent's model reads about hooks; ``str.format`` templates.

    Attributes:
        label: The name of an event that has a target.
        refusal: The result of a refused tool call; over ``label``, ``reason``, ``event``, ``tool`` and
            ``subject``, the command or file of the call.
        replaced: What replaces the result of a call on an event that replaces results; over ``reason``.
        asked: The result of a call that needs the permission of a person who is not there.
        feedback: A refused stop; over ``event``, ``reason``, ``index`` (of the hook) and ``source`` (the
            settings file of the hook).
        blocked: The notice before the feedback, or in its place where a refusal stops nothing. Empty for no
            notice; where a refusal stops nothing, the agent then reads the reason alone.
        context: A text that a hook adds.
        modified: What is added to the result of a call whose input a hook changed; over ``changed``, the
            keys. Empty for nothing.
        denied: A denied permission without a reason.
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
        path: A template over ``home``, ``slug``, ``session``, ``short`` (the first eight digits of the
            session), ``project`` (the name of the folder), ``year`` ``month`` ``day`` ``hour`` ``minute`` and
            ``second``. Empty if the host writes none.
        subagent_path: The same for a subagent, over ``agent`` as well; empty if the host writes none.
        put_message: Returns a line with a message in it, given the line, its type, the message and more keys.
        rule: The fact about the transcript.
    """

    path: str = ""
    subagent_path: str = ""
    put_message: Callable[[TranscriptLine, str, Payload, Mapping[str, Json]], dict[str, Json]] = (
        TranscriptLine.put_message
    )
    rule: Rule
