"""The disposal of workspaces that are no longer used: put aside at once, removed at the end of the run."""

from __future__ import annotations

import itertools
import os
import threading
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_hookharness.execution.paths import WorkspaceError, make_folders, remove_folder
from pytest_hookharness.execution.workspace.mount_points import SpareMountPoints

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# What may be put aside until it is removed: bytes, and this part of what was free.
_MOST_BYTES, _MOST_PART = 1 << 30, 10
# Where a file system tells the disk of each freed block at once, to remove a folder is to wait for the disk,
# which serves several at a time: four threads took a seventh of the time of one. Few folders need no thread.
_THREADS, _FEW = 4, 16


class Disposal(AbstractContextManager["Disposal"]):
    """
    Puts workspaces aside and removes them. All of them are gone once it is closed.

    They are removed at the end, or on threads of its own as soon as they take too much of the disk: for some
    minutes ext4 gives no new file the place of a deleted one, so with many deleted files each new one takes
    long to make. In runs of many small tests this was a fifth of all processor time.

    Any thread may use it until it is closed.

    Attributes:
        mount_points: Private folders of workspaces that were removed, for later ones.
    """

    def __init__(self, folder: Path) -> None:
        """Start nothing yet; ``folder`` is made to hold what is to be removed, beside the workspaces."""
        self.mount_points = SpareMountPoints(folder)
        self._folder = folder
        self._numbers = itertools.count(1)
        self._waiting: list[Path] = []
        # Bytes and files that were free when the first of those that wait was put aside.
        self._free = 0, 0
        self._removals: list[Future[None]] = []
        self._failures: list[WorkspaceError] = []
        self._threads: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def remove(self, folder: Path) -> None:
        """
        Move a folder out of the way at once, so that the next one may have its name, and remove it later.

        Raises:
            WorkspaceError: Something in it could not be removed, and it could not be put aside either.
        """
        place = self._folder / str(next(self._numbers))
        try:
            make_folders(self._folder)
            free = _free(self._folder)
            folder.rename(place)
        except OSError:
            remove_folder(folder)
            return
        with self._lock:
            self._free = self._free if self._waiting else free
            self._waiting.append(place)
            if _too_much(self._free, free):
                self._begin()

    def _begin(self) -> None:
        """Begin to remove what waits, after what was begun before; where no thread can start, remove it."""
        from concurrent.futures import ThreadPoolExecutor, wait  # few runs put so much aside

        # Where the disk removes more slowly than tests write, they wait: otherwise it would fill up.
        wait(self._removals)
        self._threads = self._threads or ThreadPoolExecutor(_THREADS, "hook-disposal")
        for place in self._waiting:
            try:
                self._removals.append(self._threads.submit(self._remove, place))
            except RuntimeError:
                # No thread can start, so all the rest is removed in this one. A thread that did start may
                # have been given this folder all the same, and is waited for.
                self._threads.shutdown()
                self._remove(place)
        self._waiting.clear()

    def _remove(self, place: Path) -> None:
        try:
            remove_folder(place)
        except WorkspaceError as error:
            self._failures.append(error)

    def close(self) -> None:
        """
        Remove everything that is left; at the end, raise `WorkspaceError` if something could not be removed.
        """
        with self._lock:
            self._waiting += self.mount_points.take_all()
            if len(self._waiting) > _FEW:
                self._begin()
            for place in self._waiting:
                self._remove(place)
            self._waiting.clear()
        if self._threads is not None:
            self._threads.shutdown()
        with suppress(OSError):
            self._folder.rmdir()
        if self._failures:
            raise self._failures[0]

    def __exit__(self, *_: object) -> None:
        self.close()


def _free(folder: Path) -> tuple[int, int]:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize, found.f_favail


def _too_much(before: tuple[int, int], now: tuple[int, int]) -> bool:
    """Return whether so much less is free now that what waits must be removed."""
    used_bytes, used_files = (one - other for one, other in zip(before, now, strict=True))
    return used_bytes > min(_MOST_BYTES, before[0] // _MOST_PART) or used_files > before[1] // _MOST_PART
