"""
Timings: the durations of a hook's runs, and their percentiles.

Percentiles use the nearest rank, so each is the duration of an actual run; with fewer than 20 runs the 95th
percentile is the slowest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import assert_never

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import (
    Cut,
    Exited,
    HeldOpen,
    NotStarted,
    ProcessResult,
    Signaled,
    TimedOut,
)
from pytest_hookharness.model.trace import Trace

MEDIAN, NEARLY_ALL = 0.5, 0.95


@dataclass(frozen=True, slots=True, order=True)
class RunTime:
    """The seconds that the host waited for one hook run; one that was cut sorts after all others."""

    cut: bool
    seconds: float
    turn: int = 0

    @classmethod
    def of(cls, run: ProcessResult, turn: int) -> RunTime:
        """Return the time until the process had ended and the host no longer waited for its output."""
        match run.ending:
            case Exited() | Signaled() | NotStarted():
                return cls(cut=False, seconds=run.wall, turn=turn)
            case HeldOpen(waited=waited):
                return cls(cut=False, seconds=run.wall + waited, turn=turn)
            case TimedOut(by=Cut.BACKGROUND):
                return cls(cut=False, seconds=run.wall, turn=turn)
            case TimedOut(after=after):
                return cls(cut=True, seconds=max(run.wall, after), turn=turn)
            case _:
                assert_never(run.ending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """
    The durations of all runs of one hook, shortest first.

    The host's time limit is the smallest if it varies; ``None`` if unknown. In seconds.
    """

    event: str
    command: str
    hook_runs: tuple[RunTime, ...]
    limit: float | None = None

    def within(self, share: float) -> RunTime:
        """Return the percentile for a share between 0 and 1."""
        return self.hook_runs[math.ceil(share * len(self.hook_runs)) - 1]

    @property
    def slowness(self) -> RunTime:
        """The 95th percentile, by which hooks are compared."""
        return self.within(NEARLY_ALL)


def timings(trace: Trace) -> tuple[Timing, ...]:
    """Return the timings of all hooks of a trace, in the order of their first runs."""
    return joined(
        Timing(
            event=hook_run.hook.event,
            command=hook_run.hook.command,
            hook_runs=(RunTime.of(hook_run.run, step.turn),),
            limit=hook_run.run.limit,
        )
        for step, hook_run in trace.hook_runs()
        if hook_run.run is not None
    )


def joined(several: Iterable[Timing]) -> tuple[Timing, ...]:
    """Return one timing for each hook, from timings of several simulations."""
    found: dict[tuple[str, str], list[Timing]] = {}
    for timing in several:
        found.setdefault((timing.event, timing.command), []).append(timing)
    return tuple(
        Timing(
            event=event,
            command=command,
            hook_runs=tuple(sorted(duration for part in parts for duration in part.hook_runs)),
            limit=min((part.limit for part in parts if part.limit is not None), default=None),
        )
        for (event, command), parts in found.items()
    )
