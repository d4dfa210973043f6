"""
Script arguments: what the command line of an interpreter says of its script.

Loaded by the supervisor too.
"""

from __future__ import annotations

import os

from pytest_hookharness.execution.platform import linux_clock_calls as clock_calls
from pytest_hookharness.execution.platform import linux_read_calls as read_calls

_INLINE = (b"c", b"m", b"e", b"p")


def script_of_system(named: str, path: str, arguments: bytes) -> str:
    """Return the script of an interpreter if it is an installed one, which is not searched for words."""
    words = [named] if named != path else map(os.fsdecode, arguments.split(b"\0")[1:])
    return next((word for word in words if read_calls.is_of_system(word) and os.path.isfile(word)), "")


def names_script(task: int, arguments: bytes) -> bool:
    """Return whether the arguments of an interpreter contain its script, or name its file or folder."""
    words = arguments.split(b"\0")[1:-1]
    plain = [word for word in words if not word.startswith((b"-W", b"-X"))]
    if any(word.startswith(b"-") and word.endswith(_INLINE) for word in plain):
        return True
    places = [clock_calls.find(task, word) for word in plain if word]
    return b"-" not in words and any(os.path.isfile(place) or os.path.isdir(place) for place in places)
