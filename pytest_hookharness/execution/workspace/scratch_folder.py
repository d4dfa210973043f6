"""
The folder for everything that a run writes, when nobody named one.

A run that is killed cannot remove its folder, in which may be several copies of a large project. So its
process holds a lock on a file in it, which the system releases however the process ends. A later run removes
the folders whose lock nobody holds. It leaves alone what has no such file, and what belongs to another user.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_hookharness.execution.paths import remove_tree

_PREFIX = "hookharness-"
# A name that no workspace has.
_LOCK = ".owner"
_TEXT = b"pytest-hookharness removes this folder once no process holds a lock on this file.\n"
# Seconds that a run spends on the folders of others.
_LONGEST = 2.0


class ScratchFolder:
    """A new folder in the system's folder for temporary files."""

    def __init__(self, *, keep: bool) -> None:
        """``keep`` leaves it where it is if anything is in it in the end, also if this process is killed."""
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._descriptor: int | None = None
        if not keep:
            self._lock()

    def _lock(self) -> None:
        fresh = self.path / f"{_LOCK}.new"
        self._descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        os.write(self._descriptor, _TEXT)
        # Not before it is locked, so that no other run finds it without an owner.
        fresh.rename(self.path / _LOCK)

    def close(self) -> None:
        """Remove the folder, unless it is kept; then remove some that killed runs left behind."""
        if self._descriptor is None:
            # Only an empty one.
            with suppress(OSError):
                self.path.rmdir()
        else:
            remove_tree(self.path)
            os.close(self._descriptor)
        _remove_abandoned()


def _remove_abandoned() -> None:
    """Remove the folders of runs that were killed, for some seconds; the next run goes on."""
    end = time.monotonic() + _LONGEST
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        with _owned(folder) as ours:
            if ours:
                remove_tree(folder)
        if time.monotonic() > end:
            return


@contextmanager
def _owned(folder: Path) -> Generator[bool]:
    """Become the owner of a folder for a block; false if it has one, or is not the folder of a run."""
    descriptor = None
    try:
        if not folder.is_symlink() and folder.lstat().st_uid == os.geteuid():
            descriptor = os.open(folder / _LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        ours = False
    else:
        ours = descriptor is not None and os.read(descriptor, len(_TEXT) + 1) == _TEXT
    try:
        yield ours
    finally:
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)
