"""Timeouts that were probably meant in another unit than that of the host."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.model.checkup import HookSet

# As many seconds were meant as milliseconds, and less than a second the other way round.
_LONG, _SHORT = 2000.0, 1.0
_TIMEOUT = re.compile(r'("timeout(?:Sec|Ms)?"\s*:\s*)(\d+)(?=\s*[,}\n])')
_HOUR, _THOUSAND = 3600.0, 1000


def odd_timeouts(hook_set: HookSet) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield what is odd about the timeouts of each settings file, with the positions of the hooks."""
    limits = hosts.find(hook_set.host).config.limits
    if limits.milliseconds_from is not None:
        return
    found: dict[str, dict[int, float]] = {}
    for number, hook in enumerate(hook_set.hooks, 1):
        if hook.timeout is not None and is_odd(hook.timeout, limits.unit):
            found.setdefault(hook.source, {})[number] = hook.timeout
    for entries in found.values():
        yield _describe([*dict.fromkeys(entries.values())], limits.unit, hook_set.host), [*entries]


def short_timeouts(hook_set: HookSet) -> frozenset[float]:
    """Return the timeouts, in seconds, that end hooks at once, because they are meant in another unit."""
    unit = hosts.find(hook_set.host).config.limits.unit
    given = {hook.timeout for hook in hook_set.hooks if hook.timeout is not None}
    return frozenset(one for one in given if unit < 1 and is_odd(one, unit))


def is_odd(seconds: float, unit: float) -> bool:
    """Return whether a timeout in seconds was probably meant in another unit than the host's, in seconds."""
    if unit == 1:
        return seconds >= _LONG and seconds % _THOUSAND == 0
    return unit < 1 and 0 < seconds < _SHORT


def in_other_unit(seconds: float, unit: float) -> float:
    """Return the timeout in seconds that is meant."""
    return seconds / _THOUSAND if unit == 1 else seconds * _THOUSAND


def in_right_unit(text: str, timeouts: Collection[float], unit: float) -> tuple[str, dict[int, int]]:
    """
    Return the settings with these timeouts in the host's unit, and a map from old to new numbers.

    ``timeouts`` and ``unit`` are in seconds; the timeouts are those that are meant in another unit.
    """
    written = {round(one / unit): round(in_other_unit(one, unit) / unit) for one in sorted(timeouts)}
    found = {int(one[2]): written[int(one[2])] for one in _TIMEOUT.finditer(text) if int(one[2]) in written}
    return _TIMEOUT.sub(lambda one: f"{one[1]}{written.get(int(one[2]), one[2])}", text), found


def _describe(timeouts: Sequence[float], unit: float, host: str) -> str:
    whose, means = ("its timeout", "means") if len(timeouts) == 1 else ("their timeouts", "mean")
    written = _join(f"{seconds / unit:g}" for seconds in timeouts)
    known = _join(_duration(seconds) for seconds in timeouts)
    counted = "seconds" if unit == 1 else "milliseconds"
    meant = _join(f"{in_other_unit(seconds, unit) / unit:g}" for seconds in timeouts)
    return f"{whose} {written} {means} {known}, as {host} counts {counted}; {meant} may be meant"


def _duration(seconds: float) -> str:
    if seconds > _HOUR:
        return f"{seconds / _HOUR:.1f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds >= _LONG else f"{seconds:g} s"


def _join(words: Iterator[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
