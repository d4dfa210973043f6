"""
Events: what the engine of process hooks is told.

Each carries its time, in seconds since the run began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStarted:
    """
    The person started a thread of their own.
    """

    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Detached:
    """
    Somebody asked for a process to be started and left to itself, with its hooks and their context.

    Attributes:
        name: Which process.
        by: The thread in whose own tool call that happened; ``None`` for a side path, of which nobody knows
            which thread is behind it.
    """

    name: str
    by: int | None
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """
    A process runs.
    """

    process: str
    pid: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLine:
    """
    A process printed a line, on whichever stream.
    """

    process: str
    text: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessExited:
    """
    A process ended.

    Attributes:
        code: Its exit code; 128 and the number of the signal that ended it.
        lines: Lines that it printed in all, also while nobody watched.
        tail: The last of them.
    """

    process: str
    code: int
    at: float
    lines: int = 0
    tail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """
    Whoever watches was gone, and is back with what it wrote down.
    """

    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadEnded:
    """
    The thread that ran has ended.
    """

    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """
    Time has passed.
    """

    at: float


Event: TypeAlias = (
    UserStarted | Detached | Started | OutputLine | ProcessExited | Restarted | ThreadEnded | Tick
)
