"""
Permissions that are widened for a while.

A user without rights over the machine may look into and restore all of its own files, but first has to give
itself the permission. Nothing but the permission and the time of the last status change shows that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager


class Permissions:
    """Permissions that were widened so that a user without rights over the machine can look and restore."""

    def __init__(self) -> None:
        # With the number of the inode, for another file may stand there when this is undone.
        self._modes: dict[str, tuple[int, int]] = {}
        self._uid = os.geteuid()

    def open(self, path: str, mode: int, bits: int) -> None:
        """Widen the permissions of a file or folder; raise `OSError` if it is not ours."""
        if self._uid != 0 and mode & bits != bits:
            os.chmod(path, stat.S_IMODE(mode) | bits)
            self._modes.setdefault(path, (stat.S_IMODE(mode), os.lstat(path).st_ino))

    @property
    def opened(self) -> frozenset[str]:
        """The paths whose permissions are still widened."""
        return frozenset(self._modes)

    def forget(self) -> None:
        """Leave all permissions as they are now."""
        self._modes.clear()

    def restore(self) -> None:
        """Reset all widened permissions."""
        for path, (mode, number) in sorted(self._modes.items(), reverse=True):
            if os.path.lexists(path) and os.lstat(path).st_ino == number:
                os.chmod(path, mode)
        self._modes.clear()

    @contextmanager
    def readable(self, path: str, status: os.stat_result) -> Generator[None]:
        """Make one of our own files readable for the time of a block."""
        mode = status.st_mode
        if self._uid == 0 or not stat.S_ISREG(mode) or mode & stat.S_IRUSR or status.st_uid != self._uid:
            yield
            return
        os.chmod(path, stat.S_IMODE(mode) | stat.S_IRUSR)
        try:
            yield
        finally:
            os.chmod(path, stat.S_IMODE(mode))
