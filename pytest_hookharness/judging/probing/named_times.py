"""
Times that scripts name: those at which several fields of the calendar have the values that stand in a script.

A hook may allow the stop at 3 on Sundays only. No regular steps through the time meet each hour of each day
of the week or of the month. So the fields that a script asks for are formatted for each hour of a year and
each minute of a day; a time at which the text stands in the script, or the values of most fields do, is worth
trying.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

# A format of date or strftime: directives with separators between them.
_FORMAT = re.compile(r"(?:%-?[aAbBdeFhHIjklmMpRTuUVwWy][-:/. _]{0,2})+")
# How Python, JavaScript and Perl ask for a field, and the format that gives it.
_FIELDS: Mapping[str, str] = {
    r"\.hour\b|\.getHours\(|localtime\)?\[2\]|\.tm_hour": "%H",
    r"\.minute\b|\.getMinutes\(|localtime\)?\[1\]|\.tm_min": "%M",
    r"\.weekday\(|\.tm_wday": "weekday",
    r"\.isoweekday\(": "%u",
    r"\.getDay\(|localtime\)?\[6\]": "%w",
    r"\.day\b|\.getDate\(|localtime\)?\[3\]|\.tm_mday": "%d",
    r"\.month\b|\.tm_mon": "%m",
    r"\.getMonth\(|localtime\)?\[4\]": "month",
    r"\.tm_yday|localtime\)?\[7\]": "%j",
}
_WORD = re.compile(r"[0-9A-Za-z]+")
_MINUTE, _HOUR = 60, 3600
_MINUTES, _HOURS = 24 * 60, 372 * 24
MOST = 12


def find_named_times(sources: Iterable[bytes], now: float) -> tuple[float, ...]:
    """
    Return the seconds until the times that scripts name, likeliest first.

    Args:
        sources: The scripts.
        now: The present, in seconds of the epoch.
    """
    text = "\n".join(source.decode("utf-8", "replace") for source in sources)
    fields = [*_fields_of(text)]
    # Each hour and each day of the week is tried in any case.
    if len(fields) < 2 and not any(field.count("%") > 1 or field[-1] in "djmeFbB" for field in fields):
        return ()
    stands_in = _lookup(text)
    first: dict[tuple[str, ...], float] = {}
    for moment in _moments(now):
        parts = time.gmtime(moment)
        values = (_value(field, parts) for field in fields)
        hits = tuple(value if stands_in(value) else "" for value in values)
        if any(hits):
            first.setdefault(hits, moment)
    likeliest = sorted(first, key=lambda hits: (-sum(map(bool, hits)), first[hits]))
    # A little after the moment, because time passes until the hook asks.
    return tuple(first[hits] - now + 1 for hits in likeliest[:MOST])


def _fields_of(text: str) -> Iterator[str]:
    found = [one.rstrip("-:/. _") for one in _FORMAT.findall(text)]
    found += [field for pattern, field in _FIELDS.items() if re.search(pattern, text)]
    yield from dict.fromkeys(found)


def _moments(now: float) -> Iterator[float]:
    minute, hour = now - now % _MINUTE, now - now % _HOUR
    yield from (minute + number * _MINUTE for number in range(1, _MINUTES + 1))
    yield from (hour + number * _HOUR for number in range(1, _HOURS + 1))


def _value(field: str, parts: time.struct_time) -> str:
    match field:
        case "weekday":
            return str(parts.tm_wday)
        case "month":
            return str(parts.tm_mon - 1)
        case _:
            return time.strftime(field, parts)


def _lookup(text: str) -> Callable[[str], bool]:
    """Return whether a value stands in a text as words of its own; a number also without leading zeros."""
    words = set(_WORD.findall(text))
    numbers = {int(word) for word in words if word.isdecimal() and len(word) < 5}
    known: dict[str, bool] = {}

    def stands_in(value: str) -> bool:
        if value not in known:
            if value.isdecimal():
                known[value] = value in words or (len(value) < 4 and int(value) in numbers)
            else:
                known[value] = words.issuperset(_WORD.findall(value)) and value in text
        return known[value]

    return stands_in
