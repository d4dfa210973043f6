"""
This module is concerned with the state of process hooks: what was detached, spawned, and still waits.

Middle floor: values only. The state is all that the engine remembers; it can be written down and read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_hookharness.model.process_hooks import (
    Denial,
    HookThread,
    ThreadLimits,
    TrackedProcess,
    TrackedRun,
)
from pytest_hookharness.processes.actions import SpawnThread


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """
    What does not change: the processes that may be detached, and the limits.
    """

    processes: Mapping[str, TrackedProcess]
    limits: ThreadLimits = ThreadLimits()


@dataclass(frozen=True, slots=True)
class Counted:
    """
    What one hook of one process has done.

    Attributes:
        spawned: Threads.
        fired: It fires no more: its moment comes only once, or a limit has silenced it.
    """

    spawned: int = 0
    fired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """
    A process with what its hooks need to know of it.

    Attributes:
        run: What was seen of it.
        hooks: What each of its hooks has done.
        tail: Its last lines.
    """

    run: TrackedRun
    hooks: tuple[Counted, ...]
    tail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """
    All that the engine remembers.

    Attributes:
        watched: Every process, in the order in which they were detached, by id.
        threads: Every thread that is due, runs or has ended, in order.
        waiting: The threads that are due, the next one first.
        busy: A thread runs, the person's or a hook's.
        starts: When threads were started, as far back as the rate limit looks.
        denials: What was refused.
    """

    watched: Mapping[str, Watched] = field(default_factory=dict)
    threads: tuple[HookThread, ...] = ()
    waiting: tuple[SpawnThread, ...] = ()
    busy: bool = False
    starts: tuple[float, ...] = ()
    denials: tuple[Denial, ...] = ()

    @property
    def living(self) -> tuple[str, ...]:
        """
        The processes that have not ended.
        """
        return tuple(name for name, each in self.watched.items() if each.run.ended is None)

    @property
    def quiet(self) -> bool:
        """
        Whether nothing can happen any more unless somebody detaches a process.
        """
        return not self.living and not self.waiting and not self.busy
