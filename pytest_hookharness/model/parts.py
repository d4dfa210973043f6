"""
This module is concerned with parts: what differs between two moments of a loop that are otherwise alike.

Ground floor: values only.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

_LONG, _LONG_NAME = 60, 28


class PartKind(enum.Enum):
    """
    What a part is, as far as its values tell.
    """

    STAMP = "time stamp"
    COUNTER = "counter"
    NUMBER = "number"
    GROWTH = "growing text"
    FILES = "growing number of files"
    IDENTIFIER = "identifier"
    DIGEST = "content hash"
    PROCESS = "process number"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """
    One thing that differs from lap to lap.

    Attributes:
        path: State path of the file, or of the folder that gets more files.
        name: Where in it: a JSON path (``$.queue[0].count``), a key, ``line 3``, ``file name``; empty
            for the whole of it.
        kind: What it is.
        before: Its value one lap ago, shortened; empty for what has grown.
        after: Its value now, shortened; what was added, for what has grown.
        step: By how much a counter moves each lap.
        unit: What the number of a time stamp counts: ``s``, ``ms``, ``us``, ``ns``, ``text``.
        stamped: Whether it is a time stamp, or time stamps are part of what is added, so that it can age.
    """

    path: str
    name: str = ""
    kind: PartKind
    before: str = ""
    after: str = ""
    step: int | float | None = None
    unit: str = ""
    stamped: bool = False

    @property
    def file(self) -> str:
        """
        The state path, without the folders in the middle of a long one.
        """
        first, _, rest = self.path.partition("/")
        name = rest.rpartition("/")[2]
        if len(name) > _LONG_NAME:
            name = f"{name[:8]}...{name[-10:]}"
        return f"{first}/.../{name}" if len(self.path) > _LONG else self.path

    @property
    def place(self) -> str:
        """
        The part in few words: where it stands.
        """
        return f"{self.name} in {self.file}" if self.name else self.file


class Pushing(enum.Enum):
    """
    What an experiment does to parts.
    """

    OLDER = "put back to its older value"
    AHEAD = "pushed ahead"
    AGED = "made older, as if time had passed"
    WAITED = "left alone for a while"
    REPLACED = "replaced by another of its kind"
    TRANSCRIPT = "the transcript grown tenfold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """
    One change of the state, made by experiment.

    Attributes:
        parts: The parts that are changed, as places in the list of all parts.
        how: What is done to them.
        laps: How many laps ahead; for ``AHEAD``.
        seconds: How much time passes; for ``AGED`` and ``WAITED``.
        pace: Seconds that the clock of the hooks goes on with each lap; for ``AHEAD``.
    """

    parts: tuple[int, ...]
    how: Pushing
    laps: int = 0
    seconds: float = 0.0
    pace: float = 0.0
