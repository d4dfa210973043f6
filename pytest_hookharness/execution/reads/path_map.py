"""
Where the paths lie that observed hook runs looked at, and which of them changed.

Paths are those that hook runs see; in some tiers the machine has these files elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pytest_hookharness.execution.real_paths import real_paths

OUTSIDE = "outside"


class PathMap:
    """Where paths lie that hook runs looked at."""

    def __init__(
        self, roots: Mapping[str, Path], private: Mapping[str, str], visible: Sequence[str], base: Path
    ) -> None:
        """
        Prepare to name paths.

        Args:
            roots: The covered folders by the name that begins their state paths.
            private: Folders that hook runs see in place of others, by the place where they see them.
            visible: Paths that hook runs see at their own place nevertheless.
            base: The folder with everything that belongs to the simulation.
        """
        real = real_paths((base, *visible, *roots.values()))
        self._base = real[str(base)]
        found: dict[str, tuple[str | None, str]] = {real[path]: (None, path) for path in visible}
        names = {str(root): name for name, root in reversed([*roots.items()])}
        for point, folder in private.items():
            found[point] = (names.get(folder), folder)
        for name, root in roots.items():
            if name != OUTSIDE:
                found[real[str(root)]] = (name, str(root))
        # The longest first: the folder that a path lies in is the innermost one.
        self._folders = sorted(found.items(), key=lambda item: -len(item[0]))

    def locate(self, path: str) -> tuple[str | None, str]:
        """Return the state path of a path, if it lies in a covered folder, and its real place."""
        for prefix, (name, place) in self._folders:
            if path == prefix or path.startswith(f"{prefix}/"):
                rest = path[len(prefix) :]
                return (None if name is None else f"{name}{rest}"), f"{place}{rest}"
        return None, path

    def is_around(self, path: str) -> bool:
        """Return whether a path is a folder that the workspace lies in."""
        return f"{self._base}/".startswith(f"{path.rstrip('/')}/")

    def is_own(self, path: str) -> bool:
        """Return whether a path lies in the simulation's own folder and not in what it covers."""
        return path.startswith(f"{self._base}/") and self.locate(path)[0] is None


def written_since(places: Iterable[str], since: int) -> frozenset[str]:
    """Return which paths exist and were made or changed, with their status, at that time or later."""
    return frozenset(place for place in places if _changed(place) >= since)


def _changed(place: str) -> int:
    try:
        return os.lstat(place).st_ctime_ns
    except OSError:
        return -1


def exists(place: str) -> bool:
    """Return whether there is something."""
    return os.path.lexists(place)
