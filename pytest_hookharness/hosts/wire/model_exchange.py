"""What a real agent and its model say to each other: requests as we read them, replies as we write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Payload

# A request or a part of it, as JSON that somebody else wrote.
Body: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the conversation that a request repeats: a text, or a tool call of the model."""

    text: str
    own: bool = False
    call: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """
    One request of the program to its model, with the conversation so far.

    Other requests than ``main``, in which the agent asks for its next move, are for titles, summaries and the
    like.
    """

    main: bool
    entries: tuple[Entry, ...] = ()

    def texts_since(self, calls: Collection[str]) -> tuple[str, ...]:
        """
        Return what is new since the model's last message: prompts, results and words of hooks.

        The results of the calls in that message may stand between them.
        """
        made = [place for place, entry in enumerate(self.entries) if entry.call and entry.call in calls]
        own = made[:1] or [place for place, entry in enumerate(self.entries) if entry.own][-1:]
        fresh = self.entries[own[0] :] if own else self.entries
        return tuple(entry.text for entry in fresh if not entry.own)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireCall:
    """One tool call as the model writes it."""

    id: str
    name: str
    input: Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One message of the model, with the number of those before it."""

    number: int
    text: str = ""
    calls: tuple[WireCall, ...] = ()


@dataclass(frozen=True, slots=True)
class WireFormat:
    """
    How a program and its model talk.

    Attributes:
        path: How the path of a request for a reply ends, without its query.
        write: Returns the body of the answer to a main request, a stream of events.
        side: The reply to any other request for a reply.
        others: Answers to requests with other endings of the path.
        kind: The content type of the answer to a request for a reply.
    """

    path: str
    read: Callable[[Body], ModelRequest]
    write: Callable[[ModelReply], bytes]
    side: str = "Done."
    others: Mapping[str, Payload] = field(default_factory=dict)
    kind: str = "text/event-stream"


def events(items: Iterable[tuple[str, Body]], end: str = "\n\n") -> bytes:
    """Return server-sent events, each with its name and its data; one without a name has data only."""
    parts = []
    for name, data in items:
        head = f"event: {name}\n" if name else ""
        parts.append(f"{head}data: {json.dumps(data, separators=(',', ':'))}{end}")
    return "".join(parts).encode()


def texts_of(content: Any) -> list[str]:
    """Return the texts of a message's content: a text, or a list of blocks with texts in them."""
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, Sequence) else []
    return [str(block["text"]) for block in blocks if isinstance(block, Mapping) and "text" in block]
