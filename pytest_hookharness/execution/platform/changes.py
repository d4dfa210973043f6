"""
The detection of changed files, as an operating system offers it.

Where there is none, all files are looked at anew.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(slots=True)
class TouchedPaths:
    """
    What happened to watched files since the last look.

    Attributes:
        paths: Paths that were written, made, removed, renamed or got another mode.
        folders: Those of them whose content may differ, so that it must be listed anew.
        opened: Single files that were opened, moved or removed.
        written: How often each file was written or moved into place. Seldom too low: the system merges two
            equal events that follow each other directly.
        lost: The system could not keep up; anything may have been touched.
    """

    paths: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    written: Counter[str] = field(default_factory=Counter)
    lost: bool = False

    def add(self, later: TouchedPaths) -> None:
        """Add what happened afterwards."""
        self.paths |= later.paths
        self.folders |= later.folders
        self.opened |= later.opened
        self.written += later.written
        self.lost = self.lost or later.lost


class Watch(Protocol):
    """A watch on folders for writes, and on single files for being opened."""

    def add_folder(self, path: str) -> None:
        """
        Watch a folder, but not the folders in it.

        Raises:
            OSError: It is not a folder, or the system has no more watches.
        """

    def add_file(self, path: str) -> bool:
        """
        Watch a file for being opened; false if it does not exist. A watched file stays watched.

        Raises:
            OSError: It cannot be watched.
        """
        ...

    def forget_below(self, path: str) -> None:
        """End the watches on a folder and on everything below it."""

    def look(self) -> TouchedPaths:
        """Return what happened since the last look."""
        ...

    def forget_all(self) -> None:
        """End the watches on everything; the object can be used for something else."""

    def close(self) -> None:
        """End all watches."""


class WatchPool(Protocol):
    """Watches, for one user after the other."""

    def take(self) -> Watch:
        """
        Return a watch on nothing yet.

        Raises:
            OSError: The system has none, or no more of them.
        """
        ...

    def give_back(self, watch: Watch) -> None:
        """Keep a watch for the next user."""

    def close(self) -> None:
        """Close the watches that nobody uses."""
