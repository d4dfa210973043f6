"""
Times and ids that hosts put into the input of hooks, and the scripts that use them.

They differ in each turn, and most hooks ignore them. For a script that names a time, the clock is moved. A
script that compares times, or computes something from an id, may decide by it at any later turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.simulation.testbed.hook_scripts import HookSource

# How the names of ids end, and those of all values that a host makes up: ids and times.
_IDS = ("id", "uuid")
MADE_UP = (*_IDS, "timestamp", "_at", "_ms")
# Code that compares a time, or makes a number of it, in the line that names it.
_COMPARES = re.compile(
    rb"-(?:lt|gt|le|ge)\b|fromisoformat|strptime|strftime|Date\.parse|new Date|\bdate -d|mktime|fromdate"
    rb"|todate|timedelta|/ *1000\b|(?:timestamp|_at|_ms)[\"']?[\])]\s*[-<]|\$\{\w+:\d|\[\d*:\d*\]"
    rb"|\bslice\(|\bcut -"
)
# Code that computes something from an id, anywhere in a script that names one.
_HASHES = re.compile(
    rb"md5|\bsha\d|hashlib|cksum|crc32|createHash|\bhash\(|16#|\bint\([^()\n]{0,80},\s*16\)|parseInt"
)
_COMMENT = re.compile(rb"(?m)^[ \t]*(?:#|//).*$")


@dataclass(frozen=True, slots=True)
class HostValues:
    """
    The times and ids of the input that scripts use, each in words.

    Attributes:
        times: Times that a script names.
        compared: Times that a script also compares.
        hashed: Ids from which a script computes something.
    """

    times: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    hashed: tuple[str, ...] = ()


def find_host_values(inputs: Iterable[Json], scripts: Iterable[HookSource], session: str = "") -> HostValues:
    """Return the times and ids of some inputs that scripts use; the id of the session does not count."""
    items = dict(item for payload in inputs for item in _items(payload))
    times = [key for key in items if _is_time(key)]
    ids = [key for key, value in items.items() if key.endswith(_IDS) and value != session]
    named, compared, hashed = dict[str, None](), dict[str, None](), dict[str, None]()
    for script in scripts:
        text = _COMMENT.sub(b"", script.text)
        for key in times:
            words = f"the time `{key}` in its input ({script.name})"
            lines = _lines(text, key)
            named |= dict.fromkeys([words] if lines else [])
            compared |= dict.fromkeys([words] if any(map(_COMPARES.search, lines)) else [])
        used = (key for key in ids if _HASHES.search(text) and _lines(text, key))
        hashed |= dict.fromkeys(f"the id `{key}` in its input ({script.name})" for key in used)
    return HostValues(tuple(named), tuple(compared), tuple(hashed))


def has_times(payload: Json) -> bool:
    """Return whether an input has a time."""
    return any(_is_time(key) for key, _ in _items(payload))


def _is_time(key: str) -> bool:
    """Return whether the value of a key is a time, and not a duration."""
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
