"""
This module is concerned with load: whether what was fired works or only waits.

Middle floor: execution. Runs inside the keepers.
"""

from __future__ import annotations

import os

from pytest_hookharness.execution import proctable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

WAITS, WORKS = "waits", "works"
_NEVER = float("inf")
_FIRST, _INTERVAL = 0.05, 0.1
_IDLE = 0.2  # of one processor; what sleeps and looks about now and then needs less
_BUSY = "RD"


class Load:
    """
    A look at all descendants of this process every now and then.

    Attributes:
        due: When to look next.
    """

    def __init__(self, now: float, *, wanted: bool) -> None:
        self.due = now + _FIRST if wanted else _NEVER
        self._looked = now
        self._spent = _spent(()) if wanted else 0.0
        self._said = WORKS

    def look(self, now: float) -> str | None:
        """
        Tell whether they work or wait, if that has changed.
        """
        rows = [found for pid in proctable.descendants(os.getpid()) if (found := proctable.row(pid))]
        # The time of one whose parent does not ask for it is lost, and then the sum may shrink.
        spent, before = _spent(rows), self._spent
        idle = 0.0 <= spent - before < _IDLE * (now - self._looked)
        # On a machine that is overloaded a process that wants to work may get next to nothing.
        said = WAITS if idle and not any(each.state in _BUSY for each in rows) else WORKS
        self._spent, self._looked, self.due = spent, now, now + _INTERVAL
        news = None if said == self._said else said
        self._said = said
        return news


def _spent(rows: Iterable[proctable.Row]) -> float:
    """
    Seconds of processors that these have had, and all whose end this process has seen.
    """
    times = os.times()
    return times.children_user + times.children_system + sum(each.spent for each in rows)
