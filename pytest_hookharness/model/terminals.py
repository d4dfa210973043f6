"""
This module is concerned with terminals: what hooks ask a person, and what is typed.

Ground floor: values only.
"""

from __future__ import annotations

from dataclasses import dataclass


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
