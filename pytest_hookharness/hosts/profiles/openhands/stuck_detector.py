"""
The look of the OpenHands SDK 1.58 for agents that go round in circles.

Only calls are compared; a text between two of them changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Moves: TypeAlias = tuple[tuple[str, str], ...]

_SAME = 4
_FAILING = 3
_ALTERNATING = 6
_TEXTS = 3

# The host looks at its newest 20 events only. A call is two of them, and a text three: itself, the fire of
# the stop and the feedback. Fires of other hooks are events too, but are not known here.
_EVENTS = 20
_EVENTS_OF = {"call": 2, "failed": 2, "stop": 3}


def look(recent: Moves) -> str:
    """
    Why the newest moves are taken for a circle; empty if they are not.
    """
    calls = _in_sight(recent)
    if _are_alike(calls[-_SAME:], _SAME):
        return f"the agent made the same call {_SAME} times with the same result"
    failing = calls[-_FAILING:]
    if _are_alike(failing, _FAILING) and all(kind == "failed" for kind, _ in failing):
        return f"the agent made the same call {_FAILING} times in error"
    newest = calls[-_ALTERNATING:]
    if len(newest) == _ALTERNATING and newest[:-2] == newest[2:]:
        return f"the agent alternates between two calls, {_ALTERNATING} times"
    return ""


def look_also_at_texts(recent: Moves) -> str:
    """
    The same for releases to which what a stop's hooks say does not part one text from the next.
    """
    newest = recent[-_TEXTS:]
    if len(newest) == _TEXTS and all(kind == "stop" for kind, _ in newest):
        return f"the agent wrote {_TEXTS} texts and made no call between them"
    return look(recent)


def _are_alike(calls: Sequence[tuple[str, str]], number: int) -> bool:
    return len(calls) == number and len(set(calls)) == 1


def _in_sight(recent: Moves) -> Moves:
    left, seen = _EVENTS, 0
    for kind, _ in reversed(recent):
        left -= _EVENTS_OF.get(kind, 1)
        if left < 0:
            break
        seen += 1
    newest = recent[len(recent) - seen :]
    return tuple((kind, digest) for kind, digest in newest if kind in ("call", "failed"))
