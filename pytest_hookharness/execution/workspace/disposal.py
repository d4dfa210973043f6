"""The disposal of workspaces that are no longer used: put aside at once, removed at the end of the run."""

from __future__ import annotations

import itertools
import os
import threading
from contextlib import AbstractContextManager, ExitStack, suppress
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

    def remove_large(self, folder: Path) -> None:
        """Remove a folder with many files in the same way, but in parts: threads can share the work."""
        for part in _parts(folder):
            self.remove(part)
        self.remove(folder)

    def _begin(self) -> None:
        """Begin to remove what waits, after what was begun before; where no thread can start, remove it."""
        from concurrent.futures import ThreadPoolExecutor, wait  # few runs put so much aside

        # Where the disk removes more slowly than tests write, they wait: otherwise it would fill up.
        wait(self._removals)
        self._threads = self._threads or ThreadPoolExecutor(_THREADS, "hook-disposal")
        self._removals += [_begin_removal(place, self._threads) for place in self._waiting]
        self._waiting.clear()

    def close(self) -> None:
        """
        Remove everything that is left.

        Raises:
            WorkspaceError: Something could not be removed; all the rest is.
        """
        with self._lock:
            self._waiting += self.mount_points.take_all()
            if len(self._waiting) > _FEW:
                self._begin()
            waiting, self._waiting = self._waiting, []
        # A stack goes on after an error. In reverse order: what waits, what the threads have to do, the rest.
        with ExitStack() as stack:
            for removal in self._removals:
                stack.callback(removal.result)
            stack.callback(self._remove_own_folder)
            if self._threads is not None:
                stack.callback(self._threads.shutdown)
            for place in waiting:
                stack.callback(remove_folder, place)

    def _remove_own_folder(self) -> None:
        with suppress(OSError):
            self._folder.rmdir()

    def __exit__(self, *_: object) -> None:
        self.close()


def _parts(folder: Path) -> list[Path]:
    """Return folders below a folder, all of the first depth at which there are enough for all threads."""
    parts, below = list[Path](), [folder]
    # What cannot be read is removed, or reported, with the folder above it.
    with suppress(OSError):
        while below and len(parts) < _THREADS * _FEW:
            parts = below
            found = (entry for part in parts for entry in os.scandir(part))
            below = [Path(entry.path) for entry in found if entry.is_dir(follow_symlinks=False)]
    return [part for part in parts if part != folder]


def _begin_removal(place: Path, threads: ThreadPoolExecutor) -> Future[None]:
    from concurrent.futures import Future  # few runs put so much aside

    try:
        return threads.submit(remove_folder, place)
    except RuntimeError:
        # No thread can start, so all the rest is removed in this one. A thread that did start may have been
        # given this folder all the same, and is waited for.
        threads.shutdown()
    removal: Future[None] = Future()
    try:
        remove_folder(place)
        removal.set_result(None)
    except WorkspaceError as error:
        removal.set_exception(error)
    return removal


def _free(folder: Path) -> tuple[int, int]:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize, found.f_favail


def _too_much(before: tuple[int, int], now: tuple[int, int]) -> bool:
    """Return whether so much less is free now that what waits must be removed."""
    used_bytes, used_files = (one - other for one, other in zip(before, now, strict=True))
    return used_bytes > min(_MOST_BYTES, before[0] // _MOST_PART) or used_files > before[1] // _MOST_PART
