"""
This module is concerned with durations: how long something takes, as people say it.

Middle floor: judging. Pure.
"""

from __future__ import annotations

_UNITS = (("year", 365 * 86400.0), ("day", 86400.0), ("h", 3600.0), ("min", 60.0))


def duration(seconds: float) -> str:
    """
    A time in the unit that people would use.
    """
    for name, unit in _UNITS:
        if seconds >= unit:
            number = f"{seconds / unit:.3g}"
            return f"{number} {name}s" if name in ("year", "day") and number != "1" else f"{number} {name}"
    return f"{seconds:.3g} s"
