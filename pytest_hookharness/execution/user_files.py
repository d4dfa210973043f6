"""
Files of the user, written so that nothing is lost.

A file is written completely or not at all, also if this process is killed. Its owner, mode, extended
attributes and hard links stay. If another program changes it at the same time, its change stays, and the
caller learns of it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import uuid
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path

from pytest_hookharness.execution.paths import write_all
from pytest_hookharness.execution.platform.current import system

# Exit status of the process that writes in place: the file had other contents.
_CHANGED = 3


def user_folder(variable: str, usual: str) -> Path:
    """Return our own folder below the one of a variable, or else below a usual one in the home folder."""
    given = os.environ.get(variable, "")
    # The XDG specification says that a relative path is to be ignored.
    return (Path(given) if given.startswith("/") else Path.home() / usual) / "hookharness"


class ChangedMeanwhile(OSError):
    """A file has other contents than it had when it was read, so it was not written."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"{file} was changed by another program at the same time")


def replace_file(file: Path, before: bytes, after: bytes, *, inherited: Collection[int] = ()) -> None:
    """
    Replace the contents of a file; a symbolic link stays one.

    Args:
        before: The contents that it must have.
        after: The new contents.
        inherited: Descriptors that stay open until everything is written, even if this process is killed.

    Raises:
        ChangedMeanwhile: It has other contents, and keeps them.
        OSError: It cannot be written, and is unchanged.
    """
    real = file.resolve(strict=True)
    status = real.stat()
    if real.read_bytes() != before:
        raise ChangedMeanwhile(file)
    fresh = _store(real, after, 0o600)
    try:
        # Other names of the file, or attributes that only the system may set, would be lost with the file.
        if status.st_nlink > 1 or not _give_attributes(fresh, real, status):
            _write_in_place(fresh, real, before, inherited)
        else:
            _swap(fresh, real, before, after, status)
    finally:
        fresh.unlink(missing_ok=True)


def store_file(file: Path, data: bytes, mode: int) -> None:
    """Write a file of our own in one step, whether it exists or not; after an `OSError` it is unchanged."""
    fresh = _store(file, data, mode)
    try:
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def create_file(file: Path, text: str) -> None:
    """
    Create a file with a text in one step.

    Raises:
        FileExistsError: The file exists; somebody may have edited it.
        OSError: It cannot be written, and does not exist.
    """
    data = text.encode()
    fresh = _store(file, data, 0o666)
    try:
        # Unlike a rename, a link never replaces a file.
        os.link(fresh, file)
    except FileExistsError:
        raise
    except OSError:
        # The file system has no hard links.
        with file.open("xb") as stream:
            stream.write(data)
    finally:
        fresh.unlink(missing_ok=True)


def _store(file: Path, data: bytes, mode: int) -> Path:
    """Write a hidden file beside another one; return its path."""
    fresh = file.with_name(f".{file.name[:200]}-{uuid.uuid4().hex[:8]}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            # Without it, a crash of the machine after the rename may leave an empty file.
            os.fsync(descriptor)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    return fresh


def _give_attributes(fresh: Path, real: Path, status: os.stat_result) -> bool:
    """Give a new file the owner, mode and extended attributes of another one; return whether it has them."""

    def read(path: Path) -> dict[str, bytes]:
        return system.read_attributes(str(path), lambda _: True)

    # A forbidden change shows in the comparison.
    with contextlib.suppress(OSError):
        if (fresh.stat().st_uid, fresh.stat().st_gid) != (status.st_uid, status.st_gid):
            os.chown(fresh, status.st_uid, status.st_gid)
        own, wanted = read(fresh), read(real)
        changed = {name: value for name, value in wanted.items() if own.get(name) != value}
        system.change_attributes(str(fresh), own.keys() - wanted.keys(), changed)
        fresh.chmod(status.st_mode & 0o7777)
    now = fresh.stat()
    same = (now.st_uid, now.st_gid, now.st_mode) == (status.st_uid, status.st_gid, status.st_mode)
    return same and read(fresh) == read(real)


def _swap(fresh: Path, real: Path, before: bytes, after: bytes, status: os.stat_result) -> None:
    """
    Put a new file in the place of another one.

    The two are exchanged and then compared: between a comparison and a rename, an edit could be lost.
    """
    try:
        system.exchange(str(fresh), str(real))
    except OSError:
        # The file system cannot exchange files.
        if real.read_bytes() != before:
            raise ChangedMeanwhile(real) from None
        fresh.replace(real)
        return
    if fresh.lstat().st_ino == status.st_ino and fresh.read_bytes() == before:
        return
    system.exchange(str(fresh), str(real))
    if fresh.read_bytes() != after:
        # Somebody saved once more between the two exchanges: that is the newest.
        system.exchange(str(fresh), str(real))
    raise ChangedMeanwhile(real)


def _write_in_place(fresh: Path, real: Path, before: bytes, inherited: Collection[int]) -> None:
    """Copy a new file into another one, in a process that goes on if this one is killed."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", __name__, fresh, real, sha256(before).hexdigest()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=tuple(inherited),
        check=False,
    )
    if done.returncode == _CHANGED:
        raise ChangedMeanwhile(real)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").splitlines() or [f"status {done.returncode}"]
        raise OSError(f"{real} cannot be written in place, which keeps its links and owner: {lines[-1]}")


def copy_into(fresh: Path, real: Path, digest: str) -> int:
    """Copy a file into another one if that has the contents with a digest; return an exit status."""
    data = fresh.read_bytes()
    with real.open("r+b", buffering=0) as stream:
        if sha256(stream.read()).hexdigest() != digest:
            return _CHANGED
        stream.seek(0)
        write_all(stream, data)
        # Last, so that a reader never sees an empty file.
        stream.truncate(len(data))
        os.fsync(stream.fileno())
    fresh.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(copy_into(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
