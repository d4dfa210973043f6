"""
Touches: which paths were touched since some moment, as far as the system reports it.

The scan asks the system after each step, and each answer is given only once. A restore needs the answers of
all scans since the state that it goes back to.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness.execution.platform.linux_inotify import TouchedPaths
from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Touched:
    """
    What was touched since some moment.

    Attributes:
        folders: The folders of which that is known, with everything in them.
        paths: What was written, made, removed, renamed or got another mode there. If it is a folder,
            everything in it may have been touched.
        removed: Those that were removed since.
    """

    folders: tuple[str, ...]
    paths: frozenset[str]
    removed: frozenset[str]


class TouchLog:
    """The paths that were touched, each with its latest scan; ``moment`` counts the scans."""

    def __init__(self, folders: Sequence[str]) -> None:
        """Begin before the first scan; ``folders`` are watched with everything in them."""
        self.moment = 0
        self._folders = tuple(folders)
        self._touched: dict[str, int] = {}
        self._removed: dict[str, int] = {}
        # The last scan before which anything may have been touched.
        self._unknown = 0

    def note(self, touched: TouchedPaths | None) -> None:
        """Note what one more scan heard of; ``None`` if it does not know."""
        self.moment += 1
        if touched is None:
            self._unknown = self.moment
            return
        self._touched |= dict.fromkeys(touched.paths | touched.folders, self.moment)
        self._removed |= dict.fromkeys(touched.removed, self.moment)

    def since(self, moment: int) -> Touched | None:
        """Return what scans after a moment heard of; ``None`` if they do not know everything."""
        if self._unknown > moment:
            return None
        paths = frozenset(path for path, heard in self._touched.items() if heard > moment)
        removed = frozenset(path for path, heard in self._removed.items() if heard > moment)
        return Touched(self._folders, paths, removed)
