"""
The content of covered files: digests for their entries, and reading and changing it by state path.

Only regular files are opened, never more than a limit is read, and all of it happens while no process of a
hook run lives. In a SQLite database what changes is a row and not a byte, so its content is read and changed
as statements.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path

from pytest_hookharness.execution.paths import (
    WorkspaceError,
    confine,
    make_folders,
    open_unnoticed,
    paths_below,
    read_bytes,
    reason_of,
    write_bytes,
)
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.model.time_budget import check_time

# Bytes of the largest file that is read; a sparse file of any size takes no time to make.
LARGEST = 256 << 20
# Nanoseconds: two ticks of the coarsest clock by which kernels stamp files. A later write within one tick has
# the same time, so the same status means the same content only if the last change is older than this.
RACY = 20_000_000
READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1 << 20
_KINDS: Mapping[int, str] = {stat.S_IFDIR: "folder", stat.S_IFLNK: "link", stat.S_IFREG: "file"}
_OTHERS: Mapping[int, str] = {
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}


def kind_of(mode: int) -> str:
    """Return the kind of an entry."""
    return _KINDS.get(stat.S_IFMT(mode), "other")


def content_of(real: str, status: os.stat_result, digest: Callable[[bytes], str] | None) -> str:
    """
    Return what stands for the content of an entry.

    Without ``digest``, a digest of all bytes stands for the content of a file.

    Raises:
        OSError: It cannot be read, or is too large.
    """
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFDIR:
        return ""
    if kind == stat.S_IFLNK:
        return os.readlink(real)
    if kind != stat.S_IFREG:
        return _OTHERS.get(kind, "unknown")
    descriptor = open_unnoticed(real, READING)
    try:
        if digest is not None:
            return digest(b"".join(_parts(descriptor, status.st_size, real)))
        return _digest(descriptor, status.st_size, real)
    finally:
        os.close(descriptor)


def attributes_of(real: str) -> str:
    """Return a digest of the extended attributes that programs and people set; empty if there are none."""
    try:
        found = system.read_attributes(real, system.is_of_a_program)
    except OSError as error:
        if error.errno == errno.ENODATA:
            return ""
        raise
    return blake2b(repr(found).encode(), digest_size=16).hexdigest() if found else ""


def _digest(descriptor: int, size: int, path: str) -> str:
    data = os.read(descriptor, min(size, _CHUNK) + 1)
    if len(data) <= _CHUNK and len(data) <= size:
        return blake2b(data, digest_size=16).hexdigest()
    digest = blake2b(data, digest_size=16)
    for part in _parts(descriptor, size, path):
        digest.update(part)
    return digest.hexdigest()


def _parts(descriptor: int, size: int, path: str) -> Iterator[bytes]:
    """Yield the content of a file; one that is larger than what is read is an ``OSError``."""
    while size <= LARGEST:
        check_time(f"{path} was read")
        data = os.read(descriptor, _CHUNK)
        if not data:
            return
        yield data
        size = max(size, os.lseek(descriptor, 0, os.SEEK_CUR))
    raise OSError(errno.EFBIG, f"it is larger than {LARGEST >> 20} MiB")


# Numbers in the header that programs may set and that no statement shows.
_HEADS = ("user_version", "application_id")
_MAGIC = b"SQLite format 3\0"


def is_database(data: bytes) -> bool:
    """Return whether some bytes are those of a SQLite file."""
    return data.startswith(_MAGIC)


def is_statements(text: bytes | None) -> bool:
    """Return whether a content is the statements that make a database, as `statements` returns them."""
    return text is not None and text.startswith(f"PRAGMA {_HEADS[0]}=".encode())


def statements(data: bytes) -> bytes:
    """Return the statements that make a database; the bytes themselves if it cannot be read."""
    import sqlite3

    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(data)
        heads = [f"PRAGMA {name}={connection.execute(f'PRAGMA {name}').fetchone()[0]};" for name in _HEADS]
        return "\n".join([*heads, *connection.iterdump()]).encode()
    except sqlite3.Error:
        return data
    finally:
        connection.close()


def database(text: bytes) -> bytes:
    """Return the database that some statements make; raise `ValueError` if they make none."""
    import sqlite3

    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(text.decode())
        return connection.serialize()
    except sqlite3.Error as error:
        raise ValueError(f"no database can be made of it: {error}") from error
    finally:
        connection.close()


# Bytes of the largest file whose content the prober reads and changes.
LARGEST_STATE_FILE = 4 << 20


class Contents:
    """The contents of the covered folders of one simulation."""

    def __init__(self, roots: Mapping[str, Path]) -> None:
        self._roots = roots

    def read(self, path: str) -> bytes | None:
        """
        Return the content of a covered file, as statements if it is a database; ``None`` if there is none.

        Raises:
            WorkspaceError: It is not a regular file, is larger than 4 MiB, or cannot be read.
        """
        data = read_bytes(self._place(path), most=LARGEST_STATE_FILE)
        return statements(data) if data is not None and is_database(data) else data

    def write(self, files: Mapping[str, bytes | None]) -> None:
        """
        Write contents to files, in the form of `read`: ``None`` removes a file, a missing one is made.

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
                raise WorkspaceError(place, f"cannot be changed: {reason_of(error)}") from error

    def _as_kept(self, place: Path, data: bytes) -> bytes:
        before = read_bytes(place, most=LARGEST_STATE_FILE)
        if before is None or not is_database(before) or is_database(data):
            return data
        try:
            return database(data)
        except ValueError as error:
            raise WorkspaceError(place, str(error)) from error

    def age(self, seconds: float) -> None:
        """Move the times of all covered files and folders back, as if time had passed since."""
        by = round(seconds * 1e9)
        for place in paths_below(self._roots.values()):
            try:
                status = os.lstat(place)
                times = (status.st_atime_ns - by, status.st_mtime_ns - by)
                os.utime(place, ns=times, follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise WorkspaceError(place, f"cannot be made older: {reason_of(error)}") from error

    def _place(self, path: str) -> Path:
        # The longest name first: one covered folder may lie in another.
        for name in sorted(self._roots, key=len, reverse=True):
            if path.startswith(f"{name}/"):
                root = self._roots[name]
                return confine(root / path[len(name) + 1 :], [root])
        raise WorkspaceError(path, f"is not a state path; it begins with one of {', '.join(self._roots)}")
