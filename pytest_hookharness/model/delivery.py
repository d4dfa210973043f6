"""
Terminals: what hooks ask a person, and what is typed.

Deliveries: how standard input may reach a hook, other than as its host writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Inlet: TypeAlias = Literal["", "socket", "pipe", "pty", "null", "closed"]
Form: TypeAlias = Literal["whole", "empty", "partial-line", "partial-json", "bom"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """
    A way of writing standard input that is not the host's usual one.

    Attributes:
        kind: What standard input is connected to; empty for what the host uses.
        close: Whether end of file is signalled afterwards.
        chunk: Write in pieces of this many bytes; ``None`` for all at once.
        delay: Seconds before the first byte and between pieces.
        shape: What is written: the ``whole`` input, nothing (``empty``), all but the end of the line
            (``partial-line``), the first half (``partial-json``), or all behind a byte order mark (``bom``).
        size: Bytes that the input has at least, by one more key that nobody knows; 0 for as it is.
        events: Ways of single events, which hold in place of this one.
    """

    kind: Inlet = ""
    close: bool = True
    chunk: int | None = None
    delay: float = 0.0
    shape: Form = "whole"
    size: int = 0
    events: Mapping[str, Delivery] = field(default_factory=dict)

    def of(self, event: str) -> Delivery:
        """
        The way for one event.
        """
        return self.events.get(event, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedAnswer:
    """
    What is typed whenever a question is asked.

    Attributes:
        expect: A regular expression that the question matches.
        send: What is typed; Enter is pressed after it, unless it ends with one.
    """

    expect: str
    send: str

    @property
    def keys(self) -> str:
        """
        All that is typed.
        """
        return self.send if self.send.endswith("\n") else f"{self.send}\n"


@dataclass(frozen=True, slots=True)
class Terminal:
    """
    A controlling terminal for each fire.

    Attributes:
        answers: What is typed on it; nobody types anything else.
    """

    answers: tuple[TypedAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """
    A question that was answered.

    Attributes:
        question: Its last line, bounded.
        answer: What was typed.
    """

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """
    What passed over the terminal of a fire.

    Attributes:
        shown: What was written to it, as far as it was kept.
        total: How many bytes were written in all.
        asked: The first questions that were answered, in order.
        unanswered: The last line that was written after the last answer, bounded; empty for none.
    """

    shown: bytes = b""
    total: int = 0
    asked: tuple[Asked, ...] = ()
    unanswered: str = ""
