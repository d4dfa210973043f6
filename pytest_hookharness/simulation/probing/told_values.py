"""
Times and ids in the input of hooks, and scripts that name them.

They differ in each turn, and most hooks ignore them. For a script that names a time, the clock is moved; one
that compares times, or computes something from an id, may decide by it at any later turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.simulation.testbed.hook_scripts import HookSource

# Endings of the names of ids, and of all that a host makes up: ids and times.
_IDS = ("id", "uuid")
MADE_UP = (*_IDS, "timestamp", "_at", "_ms")
# What compares a time, or makes a number of it, in the line that names it.
_COMPARES = re.compile(
    rb"-(?:lt|gt|le|ge)\b|fromisoformat|strptime|strftime|Date\.parse|new Date|\bdate -d|mktime|fromdate"
    rb"|todate|timedelta|/ *1000\b|(?:timestamp|_at|_ms)[\"']?[\])]\s*[-<]|\$\{\w+:\d|\[\d*:\d*\]"
    rb"|\bslice\(|\bcut -"
)
# What computes something from an id, anywhere in a script that names one.
_HASHES = re.compile(
    rb"md5|\bsha\d|hashlib|cksum|crc32|createHash|\bhash\(|16#|\bint\([^()\n]{0,80},\s*16\)|parseInt"
)
_COMMENT = re.compile(rb"(?m)^[ \t]*(?:#|//).*$")


@dataclass(frozen=True, slots=True)
class ToldValues:
    """
    What scripts do with times and ids of their input, each in words.

    Attributes:
        times: The times that they name.
        compared: Those of scripts that compare times.
        drawn: The ids of scripts that make numbers of them.
    """

    times: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()


def find_told(payloads: Iterable[Json], scripts: Iterable[HookSource], session_id: str = "") -> ToldValues:
    """Return what scripts do with the times and ids in some inputs; the id of the session does not count."""
    items = dict(item for payload in payloads for item in _items(payload))
    times = [key for key in items if _is_time(key)]
    ids = [key for key, value in items.items() if key.endswith(_IDS) and value != session_id]
    told, compared, drawn = dict[str, None](), dict[str, None](), dict[str, None]()
    for script in scripts:
        text = _COMMENT.sub(b"", script.text)
        for key in times:
            words = f"the time `{key}` in its input ({script.name})"
            lines = _lines(text, key)
            told |= dict.fromkeys([words] if lines else [])
            compared |= dict.fromkeys([words] if any(map(_COMPARES.search, lines)) else [])
        used = (key for key in ids if _HASHES.search(text) and _lines(text, key))
        drawn |= dict.fromkeys(f"the id `{key}` in its input ({script.name})" for key in used)
    return ToldValues(tuple(told), tuple(compared), tuple(drawn))


def has_times(payload: Json) -> bool:
    """Return whether an input has a time."""
    return any(_is_time(key) for key, _ in _items(payload))


def _is_time(key: str) -> bool:
    """Return whether a key has a time, and not how long something took."""
    return key.endswith(("timestamp", "_at")) or (key.endswith("_ms") and "time" in key)


def _lines(text: bytes, key: str) -> list[bytes]:
    """Return the lines of a script that name a key."""
    named = re.compile(rb"(?<![\w-])%s(?![\w-])" % re.escape(key.encode()))
    return [line for line in text.splitlines() if named.search(line)]


def _items(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the keys of a value at any depth, with their values."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key, item
            yield from _items(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _items(item)
