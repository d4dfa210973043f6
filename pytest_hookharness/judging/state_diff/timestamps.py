"""
Times in texts, and the tokens of a text.

Times: which formats are recognised, which times are near the session's clock, and how to make them older.
Tokens: pieces of a text, whose *shape* leaves out their value; all tokens joined are the text again.
The machine's time zone matters, because a time without a zone may be local.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from pytest_hookharness.judging.state_diff.number_formats import Notation, SessionClock, format_number
from pytest_hookharness.model.fast_dataclass import dataclass

TEXT = "text"
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FIELDS = {
    "Y": r"(?P<Y>(?:19|20)\d\d)",
    "M": r"(?P<M>0[1-9]|1[0-2])",
    "B": rf"(?P<B>{'|'.join(_MONTHS)})",
    "A": rf"(?P<A>{'|'.join(_DAYS)})",
    "D": r"(?P<D>0[1-9]|[12]\d|3[01])",
    "d": r"(?P<D>[ 0]?[1-9]|[12]\d|3[01])",
    "h": r"(?P<h>[01]\d|2[0-3])",
    "m": r"(?P<m>[0-5]\d)",
    "s": r"(?P<s>[0-5]\d)",
    "f": r"(?:[.,](?P<f>\d{1,9}))?",
    "P": r"(?: (?P<P>[AP]M))?",
    "Z": r"(?: (?P<Z>[-+]\d{4}|[-+]\d\d|[A-Z]{2,5}))?",
    "I": r"(?P<Z>Z| ?[-+]\d\d:?\d\d| UTC| GMT)?",
}
_GUARD = (r"(?<![0-9A-Za-z])", r"(?![0-9A-Za-z])")
_FORMATS = tuple(
    f"{_GUARD[0]}{text.format_map(_FIELDS)}{_GUARD[1]}"
    for text in (
        # RFC 2822, and the output of `date` in some languages.
        "(?:{A},? )?{d} {B} {Y} {h}:{m}:{s}{P}{Z}",
        # `date` and asctime.
        "{A} {B} {d} {h}:{m}:{s}{P}{Z} {Y}",
        # ISO 8601, also a date alone, and its variants in file names.
        "{Y}[-/]{M}[-/]{D}(?:[T _-]{h}[:-]{m}(?:[:-]{s}{f})?{I})?",
        "{Y}{M}{D}[T_-]?{h}{m}{s}{f}(?P<Z>Z)?",
        # The time of day alone.
        "(?<![:.+-]){h}:{m}:{s}{f}{P}(?!:)",
    )
)
_PATTERNS = tuple(map(re.compile, _FORMATS))

EXPRESSION = "|".join(re.sub(r"\(\?P<\w>", "(?:", text) for text in _FORMATS)


# Large expressions take milliseconds to compile, and most runs need none of them.
@cache
def _likely() -> re.Pattern[str]:
    return re.compile(
        rf"(?=[0-9MTWFS])(?:(?P<text>{EXPRESSION})|(?<!\d)(?P<number>\d{{9,20}}(?:\.\d+)?)(?!\d))"
    )


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # compared with what a text says, in whatever zone it means


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A value near the clock at some indexes of a text: ``s``, ``ms``, ``us``, ``ns`` or ``text``."""

    start: int
    end: int
    unit: str


def timestamps_in(text: str, clock: SessionClock) -> Iterator[Timestamp]:
    """Yield all values of a text that are near the clock."""
    for match in _likely().finditer(text):
        if match["text"] is not None:
            unit = TEXT if is_near(match["text"], clock) else ""
        else:
            unit = unit_of(match["number"], clock)
        if unit:
            yield Timestamp(match.start(), match.end(), unit)


def age_timestamps(text: str, seconds: float, clock: SessionClock) -> str:
    """Return a text with all times near the clock made older, by seconds."""
    pieces, last = [], 0
    for timestamp in timestamps_in(text, clock):
        pieces += [
            text[last : timestamp.start],
            age(text[timestamp.start : timestamp.end], timestamp.unit, seconds),
        ]
        last = timestamp.end
    return "".join([*pieces, text[last:]])


def unit_of(number: str, clock: SessionClock) -> str:
    """Return the unit in which a number is a time near the clock; empty if there is none."""
    if not 9 <= len(number.partition(".")[0]) <= 20 or not number[0].isdigit():
        return ""
    value = float(number)
    return next((unit for unit, factor in UNITS.items() if clock.spans(value / factor)), "")


def is_near(text: str, clock: SessionClock) -> bool:
    """Return whether a text is a time near the clock, in the zone that it names, or else local or UTC."""
    match = _match(text)
    if match is None:
        return False
    try:
        return any(clock.spans(first, first + _span(match)) for first in _instants(match, clock))
    except (ValueError, OverflowError, OSError):
        return False


def age(text: str, unit: str, seconds: float) -> str:
    """Return a time made older by seconds, in its own format; the result is never before 1970."""
    if unit != TEXT:
        places = len(text.partition(".")[2])
        value = Fraction(text) - Fraction(seconds) * UNITS[unit]
        return format_number(max(Fraction(0), value), Notation(least=places, most=places))
    if (match := _match(text)) is None:
        return text
    fields = match.groupdict()
    if fields.get("h") is None:
        # Without a time of day only whole days can pass.
        seconds = round(seconds / 86400) * 86400
    try:
        moment = _said(match) - timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        moment = _EPOCH
    if "Y" in fields:
        return _rewritten(match, max(_EPOCH, moment))
    return _rewritten(match, _EPOCH + timedelta(seconds=(moment - _EPOCH).total_seconds() % 86400))


def _match(text: str) -> re.Match[str] | None:
    return next(filter(None, (pattern.fullmatch(text) for pattern in _PATTERNS)), None)


def _said(match: re.Match[str]) -> datetime:
    fields = match.groupdict()
    number = {name: int(text) for name, text in fields.items() if text and name in "YMDhms"}
    if fields.get("B"):
        number["M"] = _MONTHS.index(fields["B"]) + 1
    hour = number.get("h", 0)
    if fields.get("P"):
        hour = hour % 12 + 12 * (fields["P"] == "PM")
    micro = int((fields.get("f") or "").ljust(6, "0")[:6])
    day = (number.get("Y", 1970), number.get("M", 1), number.get("D", 1))
    return datetime(*day, hour, number.get("m", 0), number.get("s", 0), micro)  # noqa: DTZ001  # see _EPOCH


def _instants(match: re.Match[str], clock: SessionClock) -> list[float]:
    said = _said(match)
    zone = (match.groupdict().get("Z") or "").strip().replace(":", "")
    if zone in ("Z", "UTC", "GMT"):
        return [said.replace(tzinfo=UTC).timestamp()]
    if zone[:1] in ("+", "-") and len(zone) in (3, 5):
        offset = timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[3:]) if zone[3:] else 0)
        return [said.replace(tzinfo=timezone(offset)).timestamp()]
    # Without a zone a time may be local or UTC, so both are returned.
    if "Y" in match.groupdict():
        return [said.timestamp(), said.replace(tzinfo=UTC).timestamp()]
    # A time of day means today, or yesterday if the session went past midnight.
    days = [datetime.fromtimestamp(when, UTC) for when in (clock.started, clock.now)]
    spread = [day + timedelta(days=shift) for day in days for shift in (-1, 0, 1)]
    datetimes = [said.replace(year=day.year, month=day.month, day=day.day) for day in spread]
    return [moment.timestamp() for moment in datetimes] + [
        moment.replace(tzinfo=UTC).timestamp() for moment in datetimes
    ]


def _span(match: re.Match[str]) -> float:
    fields = match.groupdict()
    if fields.get("h") is None:
        return 86400.0
    return 1.0 if fields.get("s") is not None else 60.0


def _fields_of(moment: datetime, *, twelve: bool) -> Mapping[str, str]:
    hour = ((moment.hour - 1) % 12 + 1) if twelve else moment.hour
    return {
        "Y": f"{moment.year:04d}",
        "M": f"{moment.month:02d}",
        "B": _MONTHS[moment.month - 1],
        "A": _DAYS[moment.weekday()],
        "h": f"{hour:02d}",
        "m": f"{moment.minute:02d}",
        "s": f"{moment.second:02d}",
        "P": "AM" if moment.hour < 12 else "PM",
    }


def _rewritten(match: re.Match[str], moment: datetime) -> str:
    said = _fields_of(moment, twelve=bool(match.groupdict().get("P")))
    text, pieces, last = match[0], [], 0
    fields = [(match.span(name), name) for name, value in match.groupdict().items() if value is not None]
    for (start, end), name in sorted(fields):
        if name == "D":
            fill = "0" if text[start] != " " and end - start == 2 else " "
            new = f"{moment.day}".rjust(end - start, fill)
        elif name == "f":
            new = f"{moment.microsecond:06d}"[: end - start] + text[start + 6 : end]
        else:
            new = said.get(name, text[start:end])
        pieces += [text[last:start], new]
        last = end
    return "".join([*pieces, text[last:]])


# No longer token contains one of these, so a text may be cut next to them.
BOUNDS = '\n"{}[]()=;|<>'


class TokenKind(enum.Enum):
    """The kind of a token, from its form."""

    TIME = "time"
    UUID = "uuid"
    NUMBER = "number"
    RUN = "run"
    OTHER = "other"


class Reading(enum.Enum):
    """
    How texts are cut, and which tokens may replace each other; from strict to lenient.

    ``PLAIN``: any number replaces any number, also inside words. ``RANDOM``: long runs of letters and digits
    replace runs of the same length. ``HEXADECIMAL``: any hexadecimal number replaces any other. ``LETTERS``:
    each character is a token, and replaces only itself.
    """

    PLAIN = "plain"
    RANDOM = "random"
    HEXADECIMAL = "hexadecimal"
    LETTERS = "letters"


class Token(NamedTuple):
    """A piece of a text."""

    kind: TokenKind
    text: str


@cache
def _expression(reading: Reading) -> re.Pattern[str]:
    # An underscore joins two words, but can be a character of a random text.
    word = "A-Za-z0-9_" if reading is Reading.RANDOM else "A-Za-z0-9"
    uuid = r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z])"
    sign = r"(?:(?<![\w)\]\"'.+-])[-+])?"
    number = rf"{sign}\d+(?:\.\d+)?(?:[eE][-+]\d{{1,3}})?(?![{word}])"
    return re.compile(
        rf"(?P<time>(?=[0-9MTWFS])(?:{EXPRESSION}))|(?P<uuid>{uuid})|(?P<number>{number})"
        rf"|(?P<run>[{word}]+)|(?P<other>\r\n|[ \t]+|[^\x00-\x7f]+|[\x00-\x7f])",
        re.ASCII,
    )


_KINDS = {kind.value: kind for kind in TokenKind}
_DIGITS = re.compile(r"[0-9]+")
_HEXADECIMAL = re.compile(r"(?:0[xX])?[0-9a-fA-F]+")
_LONG = 6


def tokenize(text: str, reading: Reading) -> list[Token]:
    """Return the tokens of a text."""
    if reading is Reading.LETTERS:
        return [Token(TokenKind.OTHER, letter) for letter in text]
    return [
        Token(_KINDS[match.lastgroup or ""], match.group()) for match in _expression(reading).finditer(text)
    ]


def shape(token: Token, reading: Reading) -> str:
    """Return what two tokens have in common if one may replace the other."""
    kind, text = token
    if kind is TokenKind.OTHER:
        return text
    if kind is TokenKind.TIME or kind is TokenKind.UUID:
        return f"\0{kind.value}"
    if reading is Reading.RANDOM and len(text) >= _LONG and (kind is TokenKind.RUN or len(text) > _LONG):
        # A random text may happen to consist of digits, and then looks like a number.
        if kind is TokenKind.RUN or text.isdecimal():
            return f"\0{len(text)}"
    elif reading is Reading.HEXADECIMAL and _HEXADECIMAL.fullmatch(text):
        return "\0hexadecimal"
    return f"\0{kind.value}" if kind is TokenKind.NUMBER else _DIGITS.sub("\0", text)
