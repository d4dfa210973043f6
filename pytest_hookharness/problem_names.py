"""
This module is concerned with the names of problems: how each is called, and what can be one of given hooks.

Upper floor. Pure.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence

from pytest_hookharness.judging.codes import catalogue
from pytest_hookharness.judging.endless import ENDLESS
from pytest_hookharness.model.checkups import Complaint, Place
from pytest_hookharness.records import short_name
from pytest_hookharness.settings import SimulationError

_COUNTED = re.compile(r"-\d+$")


def name_problem(complaint: Complaint, taken: Collection[str]) -> str:
    """
    A name that is the same in the next check-up, as long as the same is wrong.

    Args:
        complaint: What is wrong.
        taken: The names of other problems.
    """
    base = _name(complaint.kind, "" if complaint.shared else complaint.hook)
    free = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in free if name not in taken)


def _name(kind: str, command: str) -> str:
    return "-".join(filter(None, (kind.lower(), short_name(command).lower())))


def require_name(name: str, places: Sequence[Place]) -> None:
    """
    See that a problem of some place can be called so.

    Where hooks start agents of another host, a problem may bear the name of a hook of another place.

    Raises:
        SimulationError: None can.
    """
    known = {known for place in places for known in _names(place)}
    if not known & {name, _COUNTED.sub("", name)}:
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise SimulationError(
            f"--only: no problem of these hooks can be called {name!r}; allowed is a name as the `again` "
            f"line of a report has it, such as livelock-SCRIPT{meant}"
        )


def _names(place: Place) -> Iterator[str]:
    for kind in (code.name for code in (*catalogue(), *ENDLESS)):
        yield kind.lower()
        yield from (_name(kind, hook.command) for hook in place.hooks)
