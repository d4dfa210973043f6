"""
Numbers and times in hooks: whole numbers that they may compare with a count, and times.

They only suggest what to try and are never evidence. A limit that acts at one exact value, and not from there
on, is found only by trying it.

A hook may also allow the stop at 3 on Sundays only. No regular steps through the time meet each hour of each
day of the week or of the month. So the fields of the calendar that a script asks for are formatted for each
hour of a year and each minute of a day; a time at which the text stands in the script, or the values of most
fields do, is worth trying.
"""

from __future__ import annotations

import calendar
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import combinations_with_replacement

from pytest_hookharness.judging.probing.sizes import find_sizes
from pytest_hookharness.model.fast_dataclass import dataclass

# Not a part of a word, of a version or of a fraction; the end of a range such as {1..30} is one.
_BEFORE, _AFTER = rb"(?<!\w)(?<!\d\.)", rb"(?!\w|\.\d)"
_DECIMAL = re.compile(_BEFORE + rb"\d(?:_?\d){0,6}" + _AFTER)
_HEXADECIMAL = re.compile(_BEFORE + rb"0[xX]([0-9a-fA-F]{1,6})" + _AFTER)
_OCTAL = re.compile(_BEFORE + rb"0[oO]?([0-7]{1,7})" + _AFTER)
_EXPRESSION = re.compile(_BEFORE + rb"(\d{1,7})\s*(\*\*|<<|[*+-])\s*(\d{1,7})" + _AFTER)
_FACTOR_AND_MODULUS = re.compile(rb"(?:\*\s*(\d{1,6})\s*\)?\s*)?%\s*(\d{1,6})" + _AFTER)
_LARGEST = 10_000_000
# If there are more numbers, not all pairs are tried.
_MOST_PAIRED = 60


@dataclass(frozen=True, slots=True)
class Remainder:
    """A remainder that a hook computes of a multiple of a count: ``count * factor % modulus``."""

    factor: int
    modulus: int


@dataclass(frozen=True, slots=True)
class KnownNumbers:
    """
    Numbers to compare with.

    Attributes:
        written: In the source of the hooks, also computed from two literals there.
        read: In files that they read, and the numbers of lines and items of these files.
        remainders: What the source computes remainders of.
    """

    written: frozenset[int] = frozenset()
    read: frozenset[int] = frozenset()
    remainders: frozenset[Remainder] = frozenset()

    def ranks(self) -> Iterator[frozenset[int]]:
        """Yield groups of numbers, the likeliest limits first, each number once."""
        numbers = self.written | {0}
        yield numbers
        yield self.read - numbers
        paired = self.written | self.read
        if len(paired) > _MOST_PAIRED:
            paired = self.written
        if len(paired) <= _MOST_PAIRED:
            yield frozenset(_combined(paired)) - numbers - self.read


def find_limits(sources: Iterable[bytes], files: Iterable[bytes]) -> KnownNumbers:
    """Return the numbers in commands and scripts (``sources``), and in other files that hooks read."""
    written: set[int] = set()
    remainders: set[Remainder] = set()
    for text in sources:
        written |= {*_numbers(text), *_computed(text)}
        for factor, modulus in _FACTOR_AND_MODULUS.findall(text):
            if int(modulus) > 1:
                remainders.add(Remainder(int(factor or b"1"), int(modulus)))
    read = {number for text in files for number in (*_numbers(text), *find_sizes(text))}
    return KnownNumbers(frozenset(written), frozenset(read), frozenset(remainders))


def _numbers(text: bytes) -> Iterator[int]:
    yield from (int(number) for number in _DECIMAL.findall(text))
    yield from (int(number, 16) for number in _HEXADECIMAL.findall(text))
    # A number that begins with 0 is octal to shells, and decimal to others.
    yield from (int(number, 8) for number in _OCTAL.findall(text))


def _computed(text: bytes) -> Iterator[int]:
    for one, sign, other in _EXPRESSION.findall(text):
        left, right = int(one), int(other)
        match sign:
            case b"*":
                yield left * right
            case b"+":
                yield left + right
            case b"-":
                yield abs(left - right)
            case b"<<" if right < 24:
                yield left << right
            case b"**" if right < 24 and left <= 100:
                yield left**right
            case _:
                pass


def _combined(numbers: Collection[int]) -> Iterator[int]:
    """Yield the products and the sums of two numbers."""
    for one, other in combinations_with_replacement(sorted(numbers), 2):
        yield one + other
        if one * other <= _LARGEST:
            yield one * other


# A format of date or strftime: directives with separators between them.
_FORMAT = re.compile(r"(?:%-?[aAbBdeFhHIjklmMpRTuUVwWy][-:/. _]{0,2}){1,12}")
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
# A day, as in 2027-03-01, 20270301 or date(2027, 3, 1), and seconds of the epoch after the year 2023.
_DATE = re.compile(
    r"(?<!\d)(20\d\d)(?:[-/._]|, ?)?(1[0-2]|0?[1-9])(?:[-/._]|, ?)?([12]\d|3[01]|0?[1-9])(?!\d)"
)
_EPOCH = re.compile(r"(?<!\d)(1[7-9]\d{8}|2\d{9})(?!\d)")
_WORD = re.compile(r"[0-9A-Za-z]+")
_MINUTE, _HOUR = 60, 3600
_MINUTES, _HOURS = 24 * 60, 372 * 24
MOST = 12


def find_named_times(sources: Iterable[bytes], now: float) -> tuple[float, ...]:
    """Return the seconds from ``now`` (of the epoch) until the times that scripts name, likeliest first."""
    text = "\n".join(source.decode("utf-8", "replace") for source in sources)
    dates = tuple(moment - now + 1 for moment in _dates(text) if moment > now)[:MOST]
    fields = [*_fields_of(text)]
    # Each hour and each day of the week is tried in any case.
    if len(fields) < 2 and not any(field.count("%") > 1 or field[-1] in "djmeFbB" for field in fields):
        return dates
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
    return (*dates, *(first[hits] - now + 1 for hits in likeliest[: MOST - len(dates)]))


def _dates(text: str) -> Iterator[float]:
    """Yield the moments that a text names: the start and the end of each day, and seconds of the epoch."""
    for year, month, day in dict.fromkeys(_DATE.findall(text)):
        start = calendar.timegm((int(year), int(month), int(day), 0, 0, 0))
        yield from (start, start + 24 * _HOUR)
    yield from (float(seconds) for seconds in dict.fromkeys(_EPOCH.findall(text)))


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
