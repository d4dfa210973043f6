"""
This module is concerned with the clock of a session: which times are near enough to be stamps of it.

Middle floor: judging. Pure: the present is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass

_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class Clock:
    """
    The time that a session spans.

    Attributes:
        started: Its beginning, in seconds of the epoch.
        now: The present, in seconds of the epoch.
    """

    started: float
    now: float

    def spans(self, first: float, last: float | None = None) -> bool:
        """
        Whether a moment, or some moment of a span, lies within the session, with five seconds' grace.
        """
        return first <= self.now + _GRACE and (first if last is None else last) >= self.started - _GRACE
