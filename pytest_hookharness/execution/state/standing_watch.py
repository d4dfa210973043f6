"""
Watches that stay on a folder from one session to the next, with what was found in it.

A scan begins with the status of every file, and so does a restore. Where the system has reported every path
that was touched since a scanner knew the whole folder, only those paths are looked at.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Self

from pytest_hookharness.execution.paths import lies_in
from pytest_hookharness.execution.platform.linux_inotify import InotifyPool, InotifyWatch, TouchedPaths
from pytest_hookharness.execution.state.touches import Touched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_hookharness.execution.state.survey import Survey, SurveyedFiles


def take_watch(pool: InotifyPool) -> InotifyWatch | None:
    """Take a watch from a pool; ``None`` if the system cannot tell what is touched."""
    try:
        return pool.take()
    except OSError:
        return None


class StandingWatch:
    """
    One folder that sessions use in turns, watched also while none of them does.

    Attributes:
        folder: Where it is now; the real path.
        known: What a scanner found; ``None`` before the first one. See `is_complete`.
    """

    def __init__(self, watch: InotifyWatch | None, folder: str) -> None:
        """Watch nothing yet; without ``watch``, the system cannot tell what is touched."""
        self.folder = os.path.realpath(folder)
        self.known: SurveyedFiles | None = None
        self._watch = watch
        # Whether each folder in it is watched.
        self._watched = False
        # What was touched since the scanner noted what it found, and since the folder was restored.
        self._since_known = TouchedPaths(lost=True)
        self._since_restored = TouchedPaths(lost=True)

    @property
    def is_complete(self) -> bool:
        """Whether nothing differs from what is known but the paths that `since_known` returns."""
        return self._watched and self.known is not None and not self.since_known().lost

    def since_known(self) -> TouchedPaths:
        """Return what was touched since the folder was known."""
        self.look()
        return self._since_known

    def note(self, known: SurveyedFiles | None) -> None:
        """Note what a scanner found that looked at the whole folder, or at all that was touched in it."""
        self.known = known
        self._watched = known is not None and self._watch is not None
        self._since_known = TouchedPaths(lost=not self._watched)

    def distrust(self) -> None:
        """Take nothing for known: something may have been touched without a report."""
        self._watched = False
        self._since_known.lost = self._since_restored.lost = True

    def add_folder(self, path: str) -> None:
        """Watch a folder in it; raise `OSError` where that cannot be done."""
        if self._watch is None:
            return
        try:
            self._watch.add_folder(path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                self.distrust()
            raise

    def forget_below(self, path: str) -> None:
        """End the watches on a folder and on everything below it."""
        if self._watch is not None:
            self._watch.forget_below(path)

    def look(self) -> TouchedPaths:
        """Return what happened since the last look."""
        touched = self._watch.look() if self._watch is not None else TouchedPaths(lost=True)
        self._add(touched)
        return touched

    def _add(self, touched: TouchedPaths) -> None:
        for since in (self._since_known, self._since_restored):
            since.add(touched)

    def move(self, folder: str) -> None:
        """Move the folder to another place of its file system; raise `OSError` if that is refused."""
        self.look()
        os.rename(self.folder, folder)
        before, self.folder = self.folder, os.path.realpath(folder)
        if self._watch is None:
            return
        self._watch.follow(before, self.folder)
        for since in (self._since_known, self._since_restored):
            for known in (since.paths, since.folders, since.removed):
                paths = {_moved(path, before, self.folder) for path in known}
                known.clear()
                known.update(paths)
        touched = self._watch.look()
        # This is only the move itself.
        touched.folders.discard(self.folder)
        touched.paths.discard(self.folder)
        self._add(touched)

    def since_restored(self) -> Touched | None:
        """Return what was touched since the folder was as it should be; ``None`` if that is unknown."""
        self.look()
        seen = self._since_restored
        if seen.lost:
            return None
        return Touched((self.folder,), frozenset(seen.paths | seen.folders), frozenset(seen.removed))

    def settle(self) -> None:
        """Take the folder as it is for restored, and watch the folders that were made for that."""
        self.look()
        if self.is_complete:
            self._watch_anew(self._since_restored.folders)
        self._since_restored = TouchedPaths(lost=not self.is_complete)

    def _watch_anew(self, folders: Iterable[str]) -> None:
        """Watch folders that may have been replaced by others of their names."""
        for top in folders:
            self.forget_below(top)
            if os.path.islink(top):
                continue
            try:
                for folder, _, _ in os.walk(top, onerror=_raise):
                    self.add_folder(folder)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                self.distrust()
                return

    def close(self) -> None:
        """Watch nothing any more."""
        if self._watch is not None:
            self._watch.close()


class RoutedWatch:
    """The watch of one scanner: its own one, but for folders that have standing watches."""

    def __init__(self, own: InotifyWatch, standing: Iterable[StandingWatch]) -> None:
        self.own = own
        self._standing = {one.folder: one for one in standing}

    @classmethod
    def take(cls, pool: InotifyPool, standing: Iterable[StandingWatch]) -> Self | None:
        """Take a scanner's own watch from a pool; ``None`` if there is none."""
        own = take_watch(pool)
        return cls(own, standing) if own is not None else None

    def add_folder(self, path: str) -> None:
        """Watch a folder; raise `OSError` where that cannot be done."""
        self._of(path).add_folder(path)

    def add_file(self, path: str) -> bool:
        """Watch a file for being opened; false if it does not exist."""
        return self.own.add_file(path)

    def forget_below(self, path: str) -> None:
        """End the watches on a folder and on everything below it."""
        self._of(path).forget_below(path)

    def look(self) -> TouchedPaths:
        """Return what happened since the last look."""
        touched = self.own.look()
        for one in self._standing.values():
            touched.add(one.look())
        return touched

    def _of(self, path: str) -> InotifyWatch | StandingWatch:
        for folder, one in self._standing.items():
            if lies_in(path, [folder]):
                return one
        return self.own


def assume_known(
    survey: Survey, roots: Collection[str], standing: Mapping[str, StandingWatch]
) -> tuple[set[str], TouchedPaths]:
    """Have a survey take over what is known; return the roots that must be walked, and paths to look at."""
    unknown, touched = {*roots}, TouchedPaths()
    for name, one in standing.items():
        if one.known is not None:
            survey.assume(one.known)
        if one.is_complete:
            touched.add(one.since_known())
            unknown.discard(name)
    return unknown, touched


def _moved(path: str, before: str, after: str) -> str:
    return after + path[len(before) :] if lies_in(path, [before]) else path


def _raise(error: OSError) -> None:
    raise error
