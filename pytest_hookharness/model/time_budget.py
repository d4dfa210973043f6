"""The real time that is left for what runs now, for steps whose length a scenario decides."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from pytest_hookharness.model.fast_dataclass import dataclass


class BudgetEnded(Exception):
    """The time ended in the middle of a step, which is a clause such as ``/usr/lib/x was read``."""

    def __init__(self, step: str) -> None:
        self.step = step
        super().__init__(step)

    def __str__(self) -> str:
        return (
            f"the time budget ended while {self.step}; give more time with --hook-budget "
            "(--budget of the shell command), or less to read"
        )


@dataclass(frozen=True, slots=True)
class _Deadline:
    clock: Callable[[], float]
    at: float
    outer: _Deadline | None

    def left(self) -> float:
        """Return the seconds until this deadline or an outer one, which may go by another clock."""
        left = self.at - self.clock()
        return left if self.outer is None else min(left, self.outer.left())


# A variable of the running context and not an argument: every loop over files would have to pass it on.
_deadline: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def limited_to(seconds: float, clock: Callable[[], float] = time.monotonic) -> Generator[None]:
    """Let the steps of a block end after some seconds of a clock, and no later than an outer block allows."""
    with _until(_Deadline(clock, clock() + seconds, _deadline.get())):
        yield


@contextmanager
def granted(seconds: float) -> Generator[None]:
    """Let the steps of a block take some seconds, even if an outer block has no time left."""
    with _until(_Deadline(time.monotonic, time.monotonic() + seconds, None)):
        yield


@contextmanager
def _until(deadline: _Deadline) -> Generator[None]:
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def remaining() -> float:
    """Return the seconds that are left; infinite outside of any limit."""
    deadline = _deadline.get()
    return float("inf") if deadline is None else max(0.0, deadline.left())


def check_time(step: str) -> None:
    """Raise ``BudgetEnded`` in a step if no time is left."""
    deadline = _deadline.get()
    if deadline is not None and deadline.left() < 0:
        raise BudgetEnded(step)


_UNITS = (("year", 365 * 86400.0), ("day", 86400.0), ("h", 3600.0), ("min", 60.0))


def format_duration(seconds: float, digits: int = 3) -> str:
    """Format a time in seconds in the unit that people would use, with a number of digits."""
    for name, unit in _UNITS:
        if seconds >= unit:
            number = f"{seconds / unit:.{digits}g}"
            return f"{number} {name}s" if name in ("year", "day") and number != "1" else f"{number} {name}"
    return f"{seconds:.{digits}g} s"
