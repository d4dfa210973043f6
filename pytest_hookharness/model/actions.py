"""
Streams of actions, and with the loops that are seen in them.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_hookharness.model.protocol import Payload

LoopName: TypeAlias = Literal["repetition", "cycle", "failures"]


class ActionResult(enum.Enum):
    """
    What became of an action.
    """

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """
    One tool call, with what it gave.

    Attributes:
        tool: The host's name of the tool.
        arguments: Its input.
        outcome: What became of it.
        result: What the agent was told; the error or the reason, if it failed or was refused.
        agent: Which agent made it; empty for the main one.
        place: Where it was read, in words; empty if nowhere.
    """

    tool: str
    arguments: Payload = field(default_factory=dict)
    outcome: ActionResult = ActionResult.UNKNOWN
    result: str = ""
    agent: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """
    Somebody else spoke, or the agent wanted to stop.

    Attributes:
        why: In a word, such as ``prompt``.
        agent: Whose stream it parts.
    """

    why: str
    agent: str = ""


StreamItem: TypeAlias = Action | Break


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedLoop:
    """
    A loop of an agent's own moves.

    Attributes:
        name: ``repetition``, ``cycle`` or ``failures``.
        period: Length of one lap in actions; 0 for failures, which need not be alike.
        count: Laps that were gone round, or failures.
        repetition: The actions of one lap, each in a few words.
        drifting: Whether its laps differ in what counts as noise.
        error: The error text of failures.
        agent: Whose loop it is; empty for the main agent's.
        first: Where it began.
        last: Where it was last seen.
        text: What was seen, in one sentence.
        advice: What to do next.
    """

    name: LoopName
    period: int
    count: int
    repetition: tuple[str, ...] = ()
    drifting: bool = False
    error: str = ""
    agent: str = ""
    first: str = ""
    last: str = ""
    text: str = ""
    advice: str = ""

    @property
    def title(self) -> str:
        """
        The loop as scenario files name it, such as ``cycle of 4``.
        """
        return f"{self.name} of {self.period}" if self.name == "cycle" else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """
    What the detectors say of one transcript.

    Attributes:
        source: Where it was read.
        form: The host whose form it has.
        actions: How many actions it holds.
        unanswered: How many of them have no result in it.
        unread: Parts that could not be understood, by the reason, with how many.
        own: Refusals by the guard itself, which count for nothing.
        loops: The loops, in order.
    """

    source: str
    form: str
    actions: int
    unanswered: int = 0
    unread: Mapping[str, int] = field(default_factory=dict)
    own: int = 0
    loops: tuple[DetectedLoop, ...] = ()
