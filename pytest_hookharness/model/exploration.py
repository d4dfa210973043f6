"""
Exploration: what an agent can do in every state that it can bring about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_hookharness.model.moves import Move
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace

Fate: TypeAlias = Literal["state", "stopped", "held", "unknown"]
# Why a move was not made in a state, or led to a state that was not looked into.
LATE = "not tried, because the time was over"
BEYOND = "leads to one state more than may be tried"
LEFT = "named after there were enough moves"
INTERRUPTED = "not tried to the end, because it was interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """
    How far the moves of a free agent are explored.

    Attributes:
        moves: What the agent can do in every state; empty for what the hooks and the workspace suggest.
        states: Most states that are tried.
        seconds: Seconds of real time for all of it.
    """

    moves: tuple[Move, ...] = ()
    states: int = 200
    seconds: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """
    What came of one move.

    Attributes:
        fate: ``state``: the agent goes on. ``stopped``: hooks let it stop, by their own decision. ``held``:
            the session is over without that, or waits for ever. ``unknown``: nothing can be said.
        digest: Fingerprint of the state in which it goes on.
        why: Why it is held or unknown.
        steps: What took place.
    """

    fate: Fate
    digest: str = ""
    why: str = ""
    steps: tuple[Step, ...] = ()

    @property
    def refusals(self) -> Iterator[HookRun]:
        """
        The fires that refused something, as far as the host honoured it.
        """
        for step in self.steps:
            match step.exchange:
                case HookEvent(decision=decision, hook_runs=fires) if decision.refused:
                    yield from (fire for fire in fires if fire.reply.ruling is decision.ruling)
                case _:
                    continue


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """
    One state with what came of moves that were made in it.

    Attributes:
        digest: Its fingerprint; empty if it was not reached.
        successors: What came of each move, in order.
        steps: What took place on the way to it.
        why: Why it was not reached.
    """

    digest: str
    successors: tuple[Successor, ...] = ()
    steps: tuple[Step, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapState:
    """
    A state from which no move that was given leads to a stop, and the shortest way into it.

    Attributes:
        way: The moves that lead into it; empty if the session begins in it.
        trace: The same as it took place.
        met: What came of each move of the menu in it.
        holding: A refusal of each hook that refuses something in it, or in a state that can be reached.
        digest: Its fingerprint.
        states: How many states can be reached from it, itself included; all of them were tried.
    """

    way: tuple[Move, ...]
    trace: Trace
    met: tuple[Successor, ...]
    holding: tuple[HookRun, ...]
    digest: str
    states: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """
    What the moves of a free agent lead to.

    Attributes:
        menu: The moves that were tried in each state.
        states: How many states were found.
        tried: How many times a move was made.
        stopping: From how many states a way to a stop is known.
        open: How many moves lead to what is not known, by the reason; nothing if all was covered.
        trap: The lock-out that is nearest to the beginning; ``None`` if there is none as far as is known.
        since: The turn of a proved loop from which a way out was looked for; ``None`` if none was played.
        escape: The shortest way out of that loop, its last move the stop; empty if none is known.
        wall: Seconds that it took.
    """

    menu: tuple[Move, ...]
    states: int
    tried: int
    stopping: int
    open: Mapping[str, int] = field(default_factory=dict)
    trap: TrapState | None = None
    since: int | None = None
    escape: tuple[Move, ...] = ()
    wall: float = 0.0

    @property
    def covered(self) -> bool:
        """
        Whether every move was tried in every state that can be reached.
        """
        return not self.open
