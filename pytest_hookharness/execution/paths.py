"""
Paths, files and folders, with the guarantee that no path leads out of the harness's own folders.

A path is resolved first and compared afterwards; then the resolved path is opened, never through one more
link.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

from pytest_hookharness.execution.real_paths import real_path, real_paths
from pytest_hookharness.model.time_budget import check_time

# The folder of our own code; our processes and test doubles need it where hooks run, too.
PACKAGE = Path(__file__).parents[1]
# Where the system's own tools are, whatever a scenario hides or replaces.
TOOLS_PATH = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin"
# Values that the system changes with a path: times, number, mode, and more. No program can set the time of
# the change (ctime); the other values are for clocks that are too coarse.
Stamp: TypeAlias = tuple[int, ...]
stamp_of: Callable[[os.stat_result], Stamp] = attrgetter(
    *("st_ctime_ns", "st_mtime_ns", "st_ino", "st_mode", "st_uid", "st_gid", "st_nlink", "st_size", "st_dev")
)
_MAX_PATH = 600
_FOLDER_MODE = 0o755
# Only Linux has this flag.
_NOATIME: int = getattr(os, "O_NOATIME", 0)


class WorkspaceError(Exception):
    """
    The harness could not make, read or remove a part of a workspace. Never a fault of a hook.

    Attributes:
        path: Where.
        reason: What was seen there, and what to do.
    """

    def __init__(self, path: str | Path, reason: str) -> None:
        self.path = str(path)
        self.reason = reason
        super().__init__(self.path, reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


def lies_in(path: str | Path, folders: Iterable[str | Path]) -> bool:
    """Return whether a path is one of some folders or lies below one, without resolving links."""
    text = str(path)
    return any(text == name or text.startswith(f"{name.rstrip('/')}/") for name in map(str, folders))


def confine(path: str | Path, folders: Iterable[Path]) -> Path:
    """Return an absolute path with links resolved; raise `WorkspaceError` if it is outside these folders."""
    given = [str(folder) for folder in folders]
    resolved = real_path(path, given)
    # Mostly, the folders are given by their real paths.
    if lies_in(resolved, given):
        return Path(resolved)
    allowed = [*real_paths(given).values()]
    if not lies_in(resolved := real_path(path), allowed):
        raise WorkspaceError(path, f"leads to {resolved}, which is outside of {', '.join(allowed)}")
    return Path(resolved)


def read_bytes(path: Path, *, most: int | None = None) -> bytes | None:
    """
    Return all of a regular file; ``None`` if nothing is at that path.

    Raises:
        WorkspaceError: It cannot be read, has more than ``most`` bytes, or is not a regular file.
    """
    try:
        # Non-blocking: opening a named pipe without a writer would never return.
        descriptor = open_unnoticed(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise WorkspaceError(path, f"cannot be read: {reason_of(error)}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise WorkspaceError(path, "is not a regular file")
        parts: list[bytes] = []
        size = 0
        while data := os.read(descriptor, 1 << 20):
            check_time(f"{path} was read")
            parts.append(data)
            size += len(data)
            if most is not None and size > most:
                raise WorkspaceError(path, f"is larger than {most} bytes")
        return b"".join(parts)
    except OSError as error:
        raise WorkspaceError(path, f"cannot be read: {reason_of(error)}") from error
    finally:
        os.close(descriptor)


def open_unnoticed(path: str | Path, flags: int) -> int:
    """Open a file, if possible without a change of its access time, because a hook may look at that."""
    try:
        return os.open(path, flags | _NOATIME)
    except PermissionError:
        return os.open(path, flags)


def is_file(path: str | Path) -> bool:
    """Return whether a file exists at a path, which may be too long for the system."""
    # ``pathlib`` raises an error for such a path.
    return os.path.isfile(path)


def write_all(stream: io.RawIOBase, data: bytes) -> None:
    """Write all bytes to an unbuffered stream, which may take only a part of them at a time."""
    left = memoryview(data)
    while left:
        left = left[stream.write(left) or 0 :]


def write_bytes(path: Path, data: bytes, *, append: bool = False) -> bool:
    """
    Write a regular file in place, with the folders above it; return whether such a folder was missing.

    Raises:
        WorkspaceError: It cannot be written, or is not a regular file.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    flags |= os.O_APPEND if append else 0
    missing = False
    try:
        try:
            descriptor = os.open(path, flags, 0o644)
        except FileNotFoundError:
            missing = True
            make_folders(path.parent)
            descriptor = os.open(path, flags, 0o644)
        with os.fdopen(descriptor, "wb", buffering=0) as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise WorkspaceError(path, "is not a regular file")
            write_all(stream, data)
            # Not emptied before: ext4 then waits for the disk, up to 10 ms.
            if not append and status.st_size >= len(data):
                stream.truncate()
    except OSError as error:
        raise WorkspaceError(path, f"cannot be written: {reason_of(error)}") from error
    return missing


def make_folders(path: Path) -> None:
    """Make a folder and those above it, with the same mode whatever the developer's umask is."""
    missing, folder = [], os.fspath(path)
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for folder in reversed(missing):
        os.mkdir(folder)
        os.chmod(folder, _FOLDER_MODE)


def make_new_folder(base: Path, name: str) -> Path:
    """
    Make a new folder in ``base``, named after ``name``, with a number if that exists already.

    Raises:
        WorkspaceError: ``base`` cannot hold a folder.
    """
    # A predictable name, because it shows in what hooks print, and a short one, for the paths of sockets.
    stem = re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip(".-")[:32] or "item"
    try:
        base.mkdir(parents=True, exist_ok=True)
        base = Path(os.path.realpath(base))
        number = 1
        while True:
            folder = base / (stem if number == 1 else f"{stem}.{number}")
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                number += 1
                continue
            return folder
    except OSError as error:
        raise WorkspaceError(base, f"cannot hold a workspace: {error.strerror}") from error


def remove_tree(path: Path) -> list[str]:
    """Remove a folder with everything in it, but not what links lead to; return what is left, and why."""
    left: list[str] = []
    top = os.fspath(path)
    pending = [top]
    while pending:
        # What lies too deep for a path is moved up first, and removed from there.
        _remove(pending.pop(), top, pending, left)
    if not left:
        _try(partial(os.rmdir, top), top, left)
    return left


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it; raise `WorkspaceError` if something could not be removed."""
    left = remove_tree(folder)
    if left:
        raise WorkspaceError(folder, f"{len(left)} paths could not be removed: {'; '.join(left[:5])}")


def _remove(folder: str, top: str, pending: list[str], left: list[str]) -> None:
    # With plain strings: a run removes tens of thousands of folders, and each path object takes as long.
    _make_writable(folder)
    try:
        with os.scandir(folder) as listing:
            entries = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in listing]
    except FileNotFoundError:
        return
    except OSError as error:
        left.append(f"{folder}: {reason_of(error)}")
        return
    for place, is_folder in entries:
        if not is_folder:
            _try(partial(os.unlink, place), place, left)
        elif len(place) - len(top) > _MAX_PATH:
            nearer = os.path.join(top, f"too-deep-{len(pending)}-{os.lstat(place).st_ino}")
            _try(partial(os.rename, place, nearer), place, left)
            pending.append(nearer)
        else:
            _remove(place, top, pending, left)
    if folder != top:
        _try(partial(os.rmdir, folder), folder, left)


def _try(action: Callable[[], object], place: str, left: list[str]) -> None:
    try:
        action()
    except FileNotFoundError:
        return
    except OSError as error:
        # A folder that is not empty is not worth a line beside the one about what it holds.
        if error.errno != errno.ENOTEMPTY or not left:
            left.append(f"{place}: {reason_of(error)}")


def _make_writable(folder: str) -> None:
    try:
        mode = os.lstat(folder).st_mode
        if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
            os.chmod(folder, stat.S_IMODE(mode) | 0o700)
    except OSError:
        # The removal reports what prevents it.
        return


def reason_of(error: OSError) -> str:
    """Return what the system says about an error."""
    return error.strerror or str(error)


def paths_below(folders: Iterable[Path]) -> Iterator[str]:
    """Yield the paths of all files and folders in some folders, and of these: each folder after its files."""
    for top in folders:
        for folder, _, names in os.walk(top, topdown=False):
            yield from (os.path.join(folder, name) for name in names)
            yield folder


def stamps_below(folder: str | Path, without: Collection[str] = ()) -> dict[str, Stamp]:
    """Return by path the stamps of a folder and of each path below it, except those in ``without``."""
    pending = [os.fspath(folder)]
    found = {pending[0]: stamp_of(os.lstat(folder))}
    while pending:
        with os.scandir(pending.pop()) as listing:
            for entry in listing:
                if entry.path in without:
                    continue
                seen = entry.stat(follow_symlinks=False)
                found[entry.path] = stamp_of(seen)
                if stat.S_ISDIR(seen.st_mode):
                    pending.append(entry.path)
    return found


def have_stamps(stamps: Mapping[str, Stamp]) -> bool:
    """
    Return whether paths still have their stamps.

    If they are all of `stamps_below`, that means that there are no other paths either: a new one changes the
    stamp of its folder, unless that is too recent to trust (`state.file_contents.RACY`).
    """
    try:
        return all(stamp_of(os.lstat(path)) == stamp for path, stamp in stamps.items())
    except OSError:
        return False


def append_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> bool:
    """Append lines of JSON to a file at once; return whether a folder above it was missing."""
    # Characters that UTF-8 cannot encode are written as \\udc80, as JSON escapes them.
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    return write_bytes(path, text.encode("utf-8", "backslashreplace"), append=True)
