"""
Parallel fires: how many at once, and in what they must all be counted.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedIn:
    """
    A file in which every fire must leave something.

    Attributes:
        file: Its path, relative to the workspace.
        json: The keys down to a number, or to a list or mapping whose length counts, with dots between them;
            ``.`` for the whole; empty if its lines count.
    """

    file: str
    json: str = ""

    def __str__(self) -> str:
        return f"{self.json} in {self.file}" if self.json else f"the lines of {self.file}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    """
    Fires of the same hooks side by side.

    Attributes:
        event: The event that wakes them; they are tried at the first one that the session comes to.
        width: How often each hook is fired at once.
        waves: How often all of that is done, each time on what the time before has left.
        apart: Seconds between the starts of two fires.
        hook: A word of the command of the only hook that is fired; empty for all that the event wakes.
        counts: In what they must be counted.
    """

    event: str
    width: int = 8
    waves: int = 1
    apart: float = 0.0
    hook: str = ""
    counts: tuple[CountedIn, ...] = ()
