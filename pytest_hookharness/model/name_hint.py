"""Unknown names: the error, and the end of its message."""

import difflib
from collections.abc import Iterable

# How alike two names are, from 0 to 1: so that one is suggested, and so that it was surely meant.
_ALIKE, _NEAR = 0.6, 0.8


class UnknownName(ValueError):
    """There is nothing of this name."""


def name_hint(name: str, known: Iterable[str], what: str) -> str:
    """Return the end of a message about an unknown name: the nearest known name, then all of them."""
    lowered = {one.lower(): one for one in known}
    near = _nearest(name, lowered, _ALIKE)
    hint = f" did you mean {lowered[near[0]]!r}?" if near else ""
    return f";{hint} known {what}: {', '.join(lowered.values())}"


def is_near(name: str, known: Iterable[str]) -> bool:
    """Return whether a name is probably a misspelling of a known one."""
    return bool(_nearest(name, [one.lower() for one in known], _NEAR))


def _nearest(name: str, lowered: Iterable[str], least: float) -> list[str]:
    return difflib.get_close_matches(name.lower(), [*lowered], n=1, cutoff=least)


def without_events(text: str) -> str:
    """Return a message about an unknown event without the list of all events after the nearest one."""
    return text.partition(" known events: ")[0].removesuffix(";")
