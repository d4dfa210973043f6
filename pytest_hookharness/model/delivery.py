"""Standard input and terminal of hooks, where a scenario changes them, and calls of test doubles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass

Inlet: TypeAlias = Literal["", "socket", "pipe", "pty", "null", "closed"]
Form: TypeAlias = Literal["whole", "empty", "partial-line", "partial-json", "bom"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """
    How standard input is written to a hook, instead of the host's usual way.

    Attributes:
        kind: What standard input is connected to. Empty: what the host uses.
        close: Whether end of file follows; without it, a hook may wait for more.
        chunk: Number of bytes per write. ``None``: all at once.
        delay: Time before the first byte and between writes. In seconds.
        shape: What is written: all, nothing, all without the end of the line, the first half, or all after a
            byte order mark.
        size: Minimum number of bytes, reached with an additional key. 0: no minimum.
        events: Settings for single events, instead of these.
    """

    kind: Inlet = ""
    close: bool = True
    chunk: int | None = None
    delay: float = 0.0
    shape: Form = "whole"
    size: int = 0
    events: Mapping[str, Delivery] = field(default_factory=dict)

    def of(self, event: str) -> Delivery:
        """Return the settings for one event."""
        return self.events.get(event, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedAnswer:
    """
    The answer to one question on the terminal.

    Attributes:
        expect: A regular expression that matches the question.
        send: Text that is typed each time the question appears. Enter is added unless the text ends with a
            line end.
    """

    expect: str
    send: str

    @property
    def keys(self) -> str:
        """All bytes to type, with Enter, as text."""
        return self.send if self.send.endswith("\n") else f"{self.send}\n"


@dataclass(frozen=True, slots=True)
class Terminal:
    """
    A controlling terminal for each hook run.

    Attributes:
        answers: The answers that are typed on it; nothing else is typed.
    """

    answers: tuple[TypedAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was answered: its last line, shortened, and the text that was typed."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """
    The dialogue on the terminal of one hook run.

    Attributes:
        shown: The output, up to the number of bytes that is kept.
        total: Number of bytes written in total.
        asked: The first answered questions, in order.
        unanswered: The last line after the last answer, shortened; empty if there is none.
    """

    shown: bytes = b""
    total: int = 0
    asked: tuple[Asked, ...] = ()
    unanswered: str = ""


@dataclass(frozen=True, slots=True)
class DoubleCall:
    """
    One call of a test double.

    Attributes:
        argv: Its arguments, its own name first.
        stdin: The first bytes of its standard input; ``None`` if its caller may read that stream itself.
        stdin_kind: ``pipe``, ``socket``, ``file``, ``null``, ``terminal``, ``closed`` or ``other``.
    """

    argv: tuple[str, ...]
    cwd: str = ""
    stdin: bytes | None = None
    stdin_kind: str = "other"
