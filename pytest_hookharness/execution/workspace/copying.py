"""
Copying a project into the workspace, without the files that git ignores.

Modes and times are kept; hard links become separate files; the top ``.git`` and every ``.git`` file (which
points to a repository elsewhere) are left out. Ignored files (installed packages, caches, secrets) are not
copied. Ignored folders are linked: a link leads to the real ones, whose files no write reaches.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Self

from pytest_hookharness.execution.paths import WorkspaceError, lies_in
from pytest_hookharness.execution.workspace.git_repository import list_ignored
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.trace import is_cache

_MAX_LINKS = 40


def copy_folder(source: Path, target: Path, without: Collection[Path] = ()) -> None:
    """
    Copy a folder into an existing, empty one.

    Args:
        source: The folder.
        target: The other one.
        without: Paths below it that are left out.

    Raises:
        WorkspaceError: It is not a folder, cannot be read, or holds something that cannot be copied: a link
            that leaves it, a pipe, a socket or a device.
    """
    source = Path(os.path.realpath(source))
    if not source.is_dir():
        raise WorkspaceError(source, "is not a folder; name an existing one")
    if lies_in(target, [source]):
        raise WorkspaceError(source, f"holds {target}, where it is to be copied; choose another base folder")
    try:
        _copy_below(source, source, target, without)
    except OSError as error:
        where = error.filename or source
        raise WorkspaceError(str(where), f"cannot be copied: {error.strerror or error}") from error


def _copy_below(top: Path, source: Path, target: Path, without: Collection[Path]) -> None:
    with os.scandir(source) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        place = target / entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        # A nested repository (a folder) is copied; a worktree's or submodule's ``.git`` file points out of
        # the project.
        if (entry.name == ".git" and (source == top or not is_folder)) or source / entry.name in without:
            continue
        if is_folder:
            place.mkdir()
            _copy_below(top, Path(entry.path), place, without)
        elif entry.is_symlink():
            # Links are copied as links. One that leaves the project would let a hook write to the developer's
            # files.
            place.symlink_to(_checked_target(top, Path(entry.path)))
        elif entry.is_file(follow_symlinks=False):
            shutil.copy2(entry.path, place)
        else:
            raise WorkspaceError(entry.path, "is neither file, folder nor link; remove it from the project")
    # Last, since copying into a folder changes its time.
    shutil.copystat(source, target)


def _checked_target(top: Path, link: Path) -> str:
    target = os.readlink(link)
    folder = link.parent.relative_to(top).parts
    if not stays_below(top, folder, target):
        raise WorkspaceError(
            link, f"links to {target}, which leaves the project; make it a relative link within {top}"
        )
    return target


def stays_below(top: Path, folder: tuple[str, ...], target: str) -> bool:
    """
    Return whether a link never leaves a folder, on any step of its way, so that its copy does not either.

    Args:
        top: The folder.
        folder: Where the link stands, relative to it.
        target: The target that the link names.
    """
    done = list(folder)
    pending = target.split("/")[::-1]
    links = 1
    if target.startswith("/"):
        return False
    while pending:
        part = pending.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not done:
                return False
            done.pop()
            continue
        place = top.joinpath(*done, part)
        if not place.is_symlink():
            done.append(part)
            continue
        onward = os.readlink(place)
        links += 1
        if onward.startswith("/") or links > _MAX_LINKS:
            return False
        pending.extend(onward.split("/")[::-1])
    return True


_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class IgnoredFiles:
    """
    The files of a project that are not copied.

    Attributes:
        project: The project.
        folders: Folders that can be linked, relative to it.
        files: Files that are left out.
    """

    project: Path
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, project: Path, home: Path) -> Self:
        """
        Return what git ignores, if the project is a repository.

        Args:
            project: The project.
            home: A folder without any git configuration.

        Raises:
            WorkspaceError: Git refuses.
        """
        real = Path(os.path.realpath(project))
        paths = list_ignored(real, home)
        folders = tuple(path.rstrip("/") for path in paths if path.endswith("/"))
        return cls(real, folders, tuple(path for path in paths if not path.endswith("/")))

    @property
    def paths(self) -> frozenset[Path]:
        """All of them, as full paths."""
        return frozenset(self.project / path for path in (*self.folders, *self.files))

    def make_links(self, root: Path) -> None:
        """Link to the folders from a copy of the project."""
        for path in self.folders:
            place = root / path
            if place.parent.is_dir() and not os.path.lexists(place):
                place.symlink_to(self.project / path)

    def describe(self, what: str, *, linked: bool) -> str:
        """Return a sentence about them; empty if nothing is ignored."""
        away = self.files if linked else (*self.folders, *self.files)
        parts = [f"linked and not watched: {_named(self.folders)}"] if linked and self.folders else []
        parts += [f"left out: {_named(away)}"] if away else []
        return f"Of what git ignores in the {what}, {'; '.join(parts)}." if parts else ""


class LinkedFiles:
    """The ignored files of a workspace's project and plugin."""

    def __init__(self, home: Path) -> None:
        """
        Begin with nothing.

        Args:
            home: A folder without any git configuration.
        """
        self._home = home
        self._made: dict[str, tuple[IgnoredFiles, Path]] = {}

    def copy(self, what: str, source: Path, target: Path) -> None:
        """
        Copy the project, or the plugin, into an existing, empty folder.

        Raises:
            WorkspaceError: It cannot be copied, or git refuses.
        """
        files = IgnoredFiles.of(source, self._home)
        copy_folder(source, target, without=files.paths)
        self._made[what] = files, target

    def make_links(self) -> None:
        """Link to the folders that were not copied."""
        for files, target in self._made.values():
            files.make_links(target)

    def folders(self, target: Path) -> tuple[str, ...]:
        """Return the folders that a copy lacks, relative to it."""
        return tuple(
            path for files, place in self._made.values() if place == target for path in files.folders
        )

    def describe(self, *, linked: bool) -> Iterator[str]:
        """Yield a sentence for the project and the plugin, where something is ignored."""
        yield from filter(
            None, (files.describe(what, linked=linked) for what, (files, _) in self._made.items())
        )


def _named(paths: tuple[str, ...]) -> str:
    telling = [path for path in paths if not is_cache(path)]
    more = len(telling) - _MAX_NAMED
    named = ", ".join(telling[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
    return ", ".join(filter(None, (named, "caches" if len(telling) < len(paths) else "")))
