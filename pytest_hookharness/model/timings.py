"""
Timings: how long the fires of a hook took, and which of them stand for all.

Shares are taken by nearest rank, so each is the time of a fire that there was; of
fewer than twenty fires the slowest stands for 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from pytest_hookharness.model.processes import Exited, HeldOpen, NotStarted, ProcessResult, Signaled, TimedOut
from pytest_hookharness.model.trace import Trace

MEDIAN, NEARLY_ALL = 0.5, 0.95


@dataclass(frozen=True, slots=True, order=True)
class RunTime:
    """
    The time of one fire. What was cut is slower than all that came to an end.

    Attributes:
        cut: Whether it was cut, so that it would have taken longer still.
        seconds: How long its host stood still for it.
        turn: The turn it belongs to.
    """

    cut: bool
    seconds: float
    turn: int = 0

    @classmethod
    def of(cls, run: ProcessResult, turn: int) -> RunTime:
        """
        The time until a process had ended and its output was no longer waited for.
        """
        match run.ending:
            case Exited() | Signaled() | NotStarted():
                return cls(cut=False, seconds=run.wall, turn=turn)
            case HeldOpen(waited=waited):
                return cls(cut=False, seconds=run.wall + waited, turn=turn)
            case TimedOut(after=after):
                return cls(cut=True, seconds=max(run.wall, after), turn=turn)
            case _:
                assert_never(run.ending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """
    All fires of one hook.

    Attributes:
        event: The host's name of the event.
        command: The command.
        hook_runs: Their times, the quickest first.
        limit: Seconds that the host gives each of them, the least if it differs; ``None`` if not known.
    """

    event: str
    command: str
    hook_runs: tuple[RunTime, ...]
    limit: float | None = None

    def within(self, share: float) -> RunTime:
        """
        The slowest of the quickest fires that make up this share of all.
        """
        return self.hook_runs[math.ceil(share * len(self.hook_runs)) - 1]

    @property
    def slowness(self) -> RunTime:
        """
        The fire by which hooks are compared.
        """
        return self.within(NEARLY_ALL)


def timings(trace: Trace) -> tuple[Timing, ...]:
    """
    The timings of all hooks of a run, in the order in which they were first fired.
    """
    return joined(
        Timing(
            event=fire.hook.event,
            command=fire.hook.command,
            hook_runs=(RunTime.of(fire.run, step.turn),),
            limit=fire.run.limit,
        )
        for step, fire in trace.hook_runs()
        if fire.run is not None
    )


def joined(several: Iterable[Timing]) -> tuple[Timing, ...]:
    """
    One timing for each hook, whatever runs its fires were seen in.
    """
    found: dict[tuple[str, str], list[Timing]] = {}
    for timing in several:
        found.setdefault((timing.event, timing.command), []).append(timing)
    return tuple(
        Timing(
            event=event,
            command=command,
            hook_runs=tuple(sorted(fire for part in parts for fire in part.hook_runs)),
            limit=min((part.limit for part in parts if part.limit is not None), default=None),
        )
        for (event, command), parts in found.items()
    )
