"""Exploration: every state that an agent can reach, and what each move does there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Move
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace

Fate: TypeAlias = Literal["state", "stopped", "held", "unknown"]
# Reasons why a move was not tried in a state, or why the state after it was not explored.
LATE = "not tried, because the time was over"
BEYOND = "leads to one state more than may be tried"
LEFT = "named after there were enough moves"
INTERRUPTED = "not tried to the end, because it was interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """
    Limits of an exploration.

    Attributes:
        moves: Moves that the agent can make in every state, in addition to a stop. Empty: candidate moves
            from the hooks and the workspace.
        states: Maximum number of states that are tried (200).
        seconds: Maximum time in total (30s). Real time, in seconds.
    """

    moves: tuple[Move, ...] = ()
    states: int = 200
    seconds: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """
    The result of one move in one state.

    Attributes:
        fate: ``state``: the session continues. ``stopped``: the hooks decided to allow the stop.
            ``held``: the session ended without such a decision, or waits forever. ``unknown``: no result.
        digest: Fingerprint of the state after the move.
        why: Reason for ``held`` or ``unknown``.
    """

    fate: Fate
    digest: str = ""
    why: str = ""
    steps: tuple[Step, ...] = ()

    @property
    def refusals(self) -> Iterator[HookRun]:
        """Yield the hook runs whose refusals the host honoured."""
        for step in self.steps:
            match step.exchange:
                case HookEvent(decision=decision) as hooked if decision.refused:
                    yield from hooked.deciding
                case _:
                    continue


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """
    One state with the results of the moves that were tried in it, and the recorded steps on the path to it.

    One that was not reached has no digest, and a reason.
    """

    digest: str
    successors: tuple[Successor, ...] = ()
    steps: tuple[Step, ...] = ()
    why: str = ""
    assumed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapState:
    """
    A trap state: no sequence of candidate moves leads from it to a stop.

    Attributes:
        path: The shortest path into it, as moves; empty if the session starts in it.
        trace: The recorded session of that path.
        met: The result of each candidate move in it.
        holding: One refusal of each hook that refuses something in it, or in a state reachable from it.
        digest: Fingerprint of the state.
        states: Number of states reachable from it, itself included; all of them were tried.
    """

    path: tuple[Move, ...]
    trace: Trace
    met: tuple[Successor, ...]
    holding: tuple[HookRun, ...]
    digest: str
    states: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """
    The result of an exploration.

    Attributes:
        states: Number of states found.
        tried: Number of moves tried.
        stopping: Number of states with a known path to a stop.
        open: Number of moves with unknown results, by reason; empty if the exploration is complete.
        trap: The trap state nearest to the start; ``None`` if none was found.
        since: The turn of a proved livelock from which a path out was searched; ``None`` if there was no
            livelock.
        escape: The shortest path out of that livelock; its last move is the stop. Empty if none is known.
        wall: Duration in seconds.
        assumed: What the merging of states takes for granted, in sentences.
    """

    candidates: tuple[Move, ...]
    states: int
    tried: int
    stopping: int
    open: Mapping[str, int] = field(default_factory=dict)
    trap: TrapState | None = None
    since: int | None = None
    escape: tuple[Move, ...] = ()
    wall: float = 0.0
    assumed: tuple[str, ...] = ()

    @property
    def covered(self) -> bool:
        """Whether every move was tried in every reachable state."""
        return not self.open
