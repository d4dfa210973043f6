"""The disposal of workspaces that are no longer used, on a thread of its own while the next ones are used."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from pytest_hookharness.execution.paths import make_folders, remove_folder

# How many may wait for their removal: more only fill the disk.
_MOST_PENDING = 16


class Disposal(AbstractContextManager["Disposal"]):
    """
    Removes workspaces in the background. All of them are gone once it is closed.

    Any thread may use it until it is closed.
    """

    def __init__(self, folder: Path) -> None:
        """Start nothing yet; ``folder`` is made to hold what is to be removed, beside the workspaces."""
        self._folder = folder
        self._numbers = itertools.count(1)
        self._pending: deque[Future[None]] = deque()
        self._thread: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def remove(self, folder: Path) -> None:
        """
        Move a folder out of the way at once, so that the next one may have its name, and remove it soon.

        Raises:
            WorkspaceError: Something in this folder or in an earlier one could not be removed.
        """
        place = self._folder / str(next(self._numbers))
        try:
            make_folders(self._folder)
            folder.rename(place)
        except OSError:
            remove_folder(folder)
            return
        with self._lock:
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, "hook-disposal")
            self._pending.append(self._thread.submit(remove_folder, place))
            first = self._pending[0]
            due = first.done() or len(self._pending) > _MOST_PENDING
            if due:
                self._pending.popleft()
        if due:
            first.result()

    def close(self) -> None:
        """
        Wait until everything is removed.

        Raises:
            WorkspaceError: Something could not be removed; all the rest is.
        """
        if self._thread is not None:
            self._thread.shutdown()
        with suppress(OSError):
            self._folder.rmdir()
        for removal in self._pending:
            removal.result()

    def __exit__(self, *_: object) -> None:
        self.close()
