"""Streams of an agent's actions, and the loops that detectors find in them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pytest_hookharness.model.protocol import Payload

LoopName: TypeAlias = Literal["repetition", "cycle", "failures", "refusals"]


class ActionResult(enum.Enum):
    """The result of an action."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRefusal:
    """
    A refusal by a hook, as a transcript tells it.

    Attributes:
        hook: The hook's command, or where it is configured; empty if the transcript does not say it.
        reason: Text for the agent; empty if the transcript does not contain it.
        doubt: Why it may be something else; empty if the transcript names it a refusal.
    """

    event: str
    hook: str = ""
    reason: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """
    One tool call with its result.

    Attributes:
        tool: The host's name of the tool.
        result: Text for the agent; the error or the reason, if the call failed or was refused.
        agent: Name of the agent; empty for the main one.
        place: Where it was read, in words; empty if unknown.
        message: The message that contains the call; calls with the same one were made at once. Empty: alone.
        say: Text of the agent before the call.
        at: Time in seconds since 1970; 0 if unknown.
        refusals: Refusals of the call, or of its result, by hooks.
    """

    tool: str
    arguments: Payload = field(default_factory=dict)
    outcome: ActionResult = ActionResult.UNKNOWN
    result: str = ""
    agent: str = ""
    place: str = ""
    message: str = ""
    say: str = ""
    at: float = 0.0
    refusals: tuple[HookRefusal, ...] = ()


# Why a break is none of the agent's: the host shortened its conversation.
COMPACTED = "compacted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """
    An interruption of an agent's stream: somebody else spoke, or the agent wanted to stop.

    Attributes:
        why: The reason: ``prompt``, ``stop``, ``compacted`` or another word.
        agent: Name of the agent.
        text: The prompt, or the agent's last words; what led to a compaction.
        place: Where it was read, in words.
        at: Time in seconds since 1970; 0 if unknown.
    """

    why: str
    agent: str = ""
    text: str = ""
    place: str = ""
    at: float = 0.0
    refusals: tuple[HookRefusal, ...] = ()


StreamItem: TypeAlias = Action | Break


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedLoop:
    """
    A loop of an agent's own moves.

    Attributes:
        name: ``repetition``, ``cycle`` or ``failures``.
        period: Number of actions in one repetition; 0 for failures and refusals, which need not be alike.
        count: Number of repetitions, failures or refusals.
        repetition: The actions of one repetition, each in a few words.
        drifting: Whether repetitions differ in irrelevant details, such as times.
        error: Error text of the failures; the reason of refusals.
        refusal: The refusal that is repeated; ``None`` for other loops.
        agent: Name of the agent; empty for the main one.
        first: Where it started, in words.
        last: Where it was last observed, in words.
        text: The observation, in one sentence.
    """

    name: LoopName
    period: int
    count: int
    repetition: tuple[str, ...] = ()
    drifting: bool = False
    error: str = ""
    refusal: HookRefusal | None = None
    agent: str = ""
    first: str = ""
    last: str = ""
    text: str = ""
    advice: str = ""

    @property
    def title(self) -> str:
        """The loop as scenario files name it, such as ``cycle of 4``."""
        if self.refusal is not None:
            return f"refusals of {self.refusal.event}"
        return f"{self.name} of {self.period}" if self.name == "cycle" else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """
    The detectors' result for one transcript.

    Attributes:
        source: Path of the transcript.
        form: The host whose format it has.
        unanswered: Number of actions without a result.
        unread: Number of parts that could not be read, by reason.
        own: Number of refusals by the guard hook itself, which do not count.
    """

    source: str
    form: str
    actions: int
    unanswered: int = 0
    unread: Mapping[str, int] = field(default_factory=dict)
    own: int = 0
    loops: tuple[DetectedLoop, ...] = ()
