"""
This module is concerned with lending: what a project has on this machine and is no part of it.

Middle floor: execution. What git ignores (packages that were installed, caches, secrets) is not copied. Its
folders are lent: a link leads to the real ones, where nothing that is written reaches them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pytest_hookharness.execution.copying import copy_folder
from pytest_hookharness.execution.repository import list_ignored
from pytest_hookharness.model.caches import is_cache

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Lending:
    """
    What of a project is not copied.

    Attributes:
        project: The project.
        folders: Folders that can be lent, relative to it.
        files: Files that stay away.
    """

    project: Path
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, project: Path, home: Path) -> Self:
        """
        What git ignores, if the project is a repository.

        Args:
            project: The project.
            home: A folder without any configuration of git.

        Raises:
            WorkspaceError: Git refuses.
        """
        real = Path(os.path.realpath(project))
        paths = list_ignored(real, home)
        folders = tuple(path.rstrip("/") for path in paths if path.endswith("/"))
        return cls(real, folders, tuple(path for path in paths if not path.endswith("/")))

    @property
    def paths(self) -> frozenset[Path]:
        """
        All of it, as full paths.
        """
        return frozenset(self.project / path for path in (*self.folders, *self.files))

    def lend(self, root: Path) -> None:
        """
        Link to the folders from a copy of the project.
        """
        for path in self.folders:
            place = root / path
            if place.parent.is_dir() and not os.path.lexists(place):
                place.symlink_to(self.project / path)

    def told(self, what: str, *, lent: bool) -> str:
        """
        A sentence about it; empty if nothing is ignored.
        """
        away = self.files if lent else (*self.folders, *self.files)
        said = [f"lent as links and not watched: {_named(self.folders)}"] if lent and self.folders else []
        said += [f"left out: {_named(away)}"] if away else []
        return f"Of what git ignores in the {what}, {'; '.join(said)}." if said else ""


class Loans:
    """
    What of the project and of the plugin of a workspace is not copied.
    """

    def __init__(self, home: Path) -> None:
        """
        Begin with nothing.

        Args:
            home: A folder without any configuration of git.
        """
        self._home = home
        self._made: dict[str, tuple[Lending, Path]] = {}

    def copy(self, what: str, source: Path, target: Path) -> None:
        """
        Copy the project, or the plugin, into an existing, empty folder.

        Raises:
            WorkspaceError: It cannot be copied, or git refuses.
        """
        lending = Lending.of(source, self._home)
        copy_folder(source, target, without=lending.paths)
        self._made[what] = lending, target

    def lend(self) -> None:
        """
        Link to the folders that were not copied.
        """
        for lending, target in self._made.values():
            lending.lend(target)

    def folders(self, target: Path) -> tuple[str, ...]:
        """
        The folders that a copy is without, relative to it.
        """
        return tuple(
            path for lending, place in self._made.values() if place == target for path in lending.folders
        )

    def told(self, *, lent: bool) -> Iterator[str]:
        """
        A sentence about each of them of which something is ignored.
        """
        yield from filter(None, (lending.told(what, lent=lent) for what, (lending, _) in self._made.items()))


def _named(paths: tuple[str, ...]) -> str:
    telling = [path for path in paths if not is_cache(path)]
    more = len(telling) - _MOST_NAMED
    named = ", ".join(telling[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return ", ".join(filter(None, (named, "caches" if len(telling) < len(paths) else "")))
