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

# Endings of the names of times and ids.
TIMES = ("timestamp", "_at", "_ms")
IDS = ("id", "uuid")
# What takes a part of a text.
_PART = rb"%|\[-?\d*:-?\d*\]|\bslice\(|\bcut -"
# What compares a time, or makes a number of it. Not `>`, which redirects.
_COMPARES = re.compile(
    rb"-(?:lt|gt|le|ge|eq|ne)\b|fromisoformat|strptime|strftime|Date\.parse|new Date|\bdate -d|mktime"
    rb"|fromdate|todate|timedelta|/ *1000|(?:timestamp|_at|_ms)[\"'\])]*\s*[-<]|" + _PART
)
# What computes something from an id.
_HASHES = re.compile(
    rb"md5|sha\d|hashlib|cksum|crc32|createHash|\bhash\(|16#|\bint\([^\n]*16\)|parseInt|" + _PART
)
_COMMENT = re.compile(rb"(?m)(?<!\S)(?:#|//).*$")


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


def find_told(payloads: Iterable[Json], scripts: Iterable[HookSource]) -> ToldValues:
    """Return what scripts do with the times and ids in some inputs."""
    keys = {key for payload in payloads for key in _keys(payload)}
    times = [key for key in keys if key.endswith(TIMES)]
    # The id of a session is the same in all its turns.
    ids = [
        key for key in keys if key.endswith(IDS) and not key.endswith(TIMES) and "session" not in key.lower()
    ]
    told, compared, drawn = dict[str, None](), dict[str, None](), dict[str, None]()
    for script in scripts:
        text = _COMMENT.sub(b"", script.text)
        named = [key for key in times if _names(text, key)]
        told |= dict.fromkeys(f"the time `{key}` in its input ({script.name})" for key in named)
        if _COMPARES.search(text):
            compared |= dict.fromkeys(f"the time `{key}` in its input ({script.name})" for key in named)
        if _HASHES.search(text):
            used = (key for key in ids if _names(text, key))
            drawn |= dict.fromkeys(f"the id `{key}` in its input ({script.name})" for key in used)
    return ToldValues(tuple(told), tuple(compared), tuple(drawn))


def has_times(payload: Json) -> bool:
    """Return whether an input has a time."""
    return any(key.endswith(TIMES) for key in _keys(payload))


def _names(text: bytes, key: str) -> bool:
    return re.search(rb"(?<![\w-])%s(?![\w-])" % re.escape(key.encode()), text) is not None


def _keys(value: Json) -> Iterator[str]:
    """Yield the keys of a value at any depth."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _keys(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _keys(item)
