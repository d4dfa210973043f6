"""
This module is concerned with contents: the bytes of covered files, read and changed by state path.

Middle floor: execution. Only for times at which no process of a fire lives.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_hookharness.execution.confinement import (
    WorkspaceError,
    confine,
    make_folders,
    read_bytes,
    write_bytes,
)
from pytest_hookharness.execution.databases import database, is_database, statements

# Bytes of the largest file whose content is looked into.
LARGEST = 4 << 20


class Contents:
    """
    The contents of the covered folders of one simulation.
    """

    def __init__(self, roots: Mapping[str, Path]) -> None:
        self._roots = roots

    def read(self, path: str) -> bytes | None:
        """
        The content of a covered file, the statements that make it if it is a database; ``None`` without one.

        Raises:
            WorkspaceError: It is no regular file, is larger than 4 MiB, or cannot be read.
        """
        data = read_bytes(self._place(path), most=LARGEST)
        return statements(data) if data is not None and is_database(data) else data

    def write(self, files: Mapping[str, bytes | None]) -> None:
        """
        Give files other contents, in the form of `read`; ``None`` removes one. A missing one is made.

        Raises:
            WorkspaceError: A path leads out of the covered folders, or cannot be written.
        """
        for path, data in files.items():
            place = self._place(path)
            try:
                if data is None:
                    place.unlink(missing_ok=True)
                    continue
                make_folders(place.parent)
                write_bytes(place, self._as_kept(place, data))
            except OSError as error:
                raise WorkspaceError(place, f"cannot be changed: {error.strerror or error}") from error

    def _as_kept(self, place: Path, data: bytes) -> bytes:
        before = read_bytes(place, most=LARGEST)
        if before is None or not is_database(before) or is_database(data):
            return data
        try:
            return database(data)
        except ValueError as error:
            raise WorkspaceError(place, str(error)) from error

    def age(self, seconds: float) -> None:
        """
        Move the times of all covered files and folders back, as if time had passed since.
        """
        by = round(seconds * 1e9)
        for place in self._all():
            try:
                status = os.lstat(place)
                times = (status.st_atime_ns - by, status.st_mtime_ns - by)
                os.utime(place, ns=times, follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise WorkspaceError(place, f"cannot be made older: {error.strerror or error}") from error

    def _all(self) -> Iterator[str]:
        for root in self._roots.values():
            for folder, _, names in os.walk(root, topdown=False):
                for name in names:
                    yield os.path.join(folder, name)
                yield folder

    def _place(self, path: str) -> Path:
        # The longest name first: one covered folder may lie in another.
        for name in sorted(self._roots, key=len, reverse=True):
            if path.startswith(f"{name}/"):
                root = self._roots[name]
                return confine(root / path[len(name) + 1 :], [root])
        raise WorkspaceError(path, f"is no state path; it begins with one of {', '.join(self._roots)}")
