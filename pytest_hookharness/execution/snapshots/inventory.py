"""
The inventory: the type, status, attributes and content of all files in some folders.

Links are never followed, and only regular files and folders are opened. A file is read again only if its
status differs, or if its last change is so recent that a later write could have the same time.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections import Counter
from collections.abc import Container, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import field
from operator import attrgetter
from typing import TypeAlias

from pytest_hookharness.execution.paths import Stamp, lies_in, open_unnoticed, reason_of, stamp_of
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.snapshots.content_store import ContentStore
from pytest_hookharness.execution.state.file_contents import LARGEST, RACY, READING
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.time_budget import check_time

Number: TypeAlias = tuple[int, int]
Attributes: TypeAlias = tuple[tuple[str, bytes], ...]

# Attributes of other kinds, such as security labels, are set by the system itself.
_SPACES = ("user.", "trusted.", "system.posix_acl_")
_CAPABILITY = "security.capability"
_COMPARED = attrgetter("mode", "owner", "size", "modified", "device", "content", "attributes")
_NOTHING = nullcontext()


class SnapshotError(Exception):
    """
    Folders cannot be recorded or restored.

    Attributes:
        path: Where.
        found: What was found there.
        reason: Why that cannot be restored, and what to do.
    """

    def __init__(self, path: str, found: str, reason: str) -> None:
        self.path = path
        self.found = found
        self.reason = reason
        super().__init__(path, found, reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.found}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryEntry:
    """
    What was found at one path.

    Attributes:
        mode: Kind and permissions.
        owner: User and group.
        size: Bytes; zero for folders, where it means nothing.
        modified: Nanoseconds.
        accessed: Nanoseconds; never compared, because reading is no change.
        device: The number of a device node.
        content: The digest of a file, or what stands for it; the target of a link; otherwise empty.
        attributes: Extended attributes and access lists that programs and people set.
        number: File system and inode.
        foreign: How many names the inode has outside of the folders.
        unkept: Why the content was not kept; empty if it was.
    """

    mode: int
    owner: tuple[int, int]
    size: int
    modified: int
    accessed: int = field(compare=False)
    device: int
    content: str
    attributes: Attributes
    number: Number
    foreign: int
    unkept: str = ""

    def resembles(self, other: InventoryEntry) -> bool:
        """Return whether there is nothing to restore between the two."""
        return self is other or _COMPARED(self) == _COMPARED(other)


@dataclass(frozen=True, slots=True)
class FolderScan:
    """
    What one walk through the folders saw.

    Attributes:
        statuses: The status of each path, folders before what is in them.
        inside: How many names of each inode were seen, of inodes that have several.
        too_deep: Folders whose path is too long to list.
    """

    statuses: Mapping[str, os.stat_result]
    inside: Mapping[Number, int]
    too_deep: tuple[str, ...]

    def foreign(self, status: os.stat_result) -> int:
        """Return how many names an inode has that were not seen."""
        return status.st_nlink - self.inside[number_of(status)] if has_other_names(status) else 0


class Permissions:
    """
    Permissions that are widened for a while.

    A user without rights over the machine may look into and restore all of its own files, but first has to
    give itself the permission. Nothing but the permission and the time of the last status change shows that.
    """

    def __init__(self) -> None:
        # With the number of the inode, because another file may be there when this is undone.
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


class Inventory:
    """
    Everything known of the files in some folders.

    Attributes:
        folders: Their real paths.
        permissions: Permissions that were widened to look.
    """

    def __init__(self, folders: Sequence[str], store: ContentStore) -> None:
        self.folders = tuple(sorted(set(folders)))
        self._tops = [each for each in self.folders if not lies_in(os.path.dirname(each), self.folders)]
        self.store = store
        self.permissions = Permissions()
        # The entry, its status at that time, and the time.
        self._known: dict[str, tuple[InventoryEntry, Stamp, int]] = {}

    def walk(self) -> FolderScan:
        """Scan the folders and everything in them, as `look` does."""
        return self.look(self._tops)

    def look(self, paths: Iterable[str], alone: Iterable[str] = ()) -> FolderScan:
        """
        Scan some paths, and everything in those that are folders; what is missing is left out.

        For folders in ``alone``, nothing in them is scanned.

        Raises:
            SnapshotError: One of the folders is none any more, or something cannot be listed.
        """
        statuses: dict[str, os.stat_result] = {}
        too_deep: list[str] = []
        pending: list[str] = []
        for path, inside in [*((path, True) for path in paths), *((path, False) for path in alone)]:
            try:
                statuses[path] = status = os.lstat(path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            if stat.S_ISDIR(status.st_mode):
                pending += [path] if inside else []
            elif path in self.folders:
                reason = "another one is not what other programs have open"
                raise SnapshotError(path, "it is not a folder", reason)
        while pending:
            folder = pending.pop()
            check_time(f"{folder} was listed")
            try:
                children = self._list(folder, statuses[folder].st_mode)
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    too_deep.append(folder)
                    continue
                found = f"it cannot be listed: {reason_of(error)}"
                raise SnapshotError(folder, found, "what is there is not known; make it readable") from error
            for name, status in children:
                path = f"{folder}/{name}"
                statuses[path] = status
                if stat.S_ISDIR(status.st_mode):
                    pending.append(path)
        several = filter(has_other_names, statuses.values())
        return FolderScan(statuses, Counter(map(number_of, several)), tuple(too_deep))

    def _list(self, folder: str, mode: int) -> list[tuple[str, os.stat_result]]:
        self.permissions.open(folder, mode, 0o500)
        descriptor = open_unnoticed(folder, READING | os.O_DIRECTORY)
        try:
            with os.scandir(descriptor) as entries:
                return [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        finally:
            os.close(descriptor)

    def recall(self, path: str, scan: FolderScan) -> InventoryEntry | None:
        """Return what was found at a scanned path, if that must still be true but for the time of access."""
        known = self._known.get(path)
        if known is None:
            return None
        found, key, when = known
        status = scan.statuses[path]
        if key != stamp_of(status) or status.st_ctime_ns >= when - RACY:
            return None
        return found if found.foreign == scan.foreign(status) else None

    def find(self, path: str, scan: FolderScan, *, keep: bool) -> InventoryEntry:
        """
        Return what is known of a scanned path, and ``keep`` the content of a file.

        Raises:
            SnapshotError: The path cannot be read.
        """
        status = scan.statuses[path]
        known = self.recall(path, scan)
        if known is not None and not (keep and self._is_missing(known)):
            same = known.accessed == status.st_atime_ns
            return known if same else replace(known, accessed=status.st_atime_ns)
        check_time(f"{path} was recorded")
        when = time.time_ns()
        try:
            with self.permissions.readable(path, status) if stat.S_ISREG(status.st_mode) else _NOTHING:
                found = self._read(path, status, scan.foreign(status), keep=keep)
            # Taken after reading: making a file readable changes its status.
            key = stamp_of(os.lstat(path) if stat.S_ISREG(status.st_mode) else status)
        except OSError as error:
            problem = f"it cannot be read: {reason_of(error)}"
            raise SnapshotError(path, problem, "what it is is unknown") from error
        self._known[path] = (found, key, when)
        return found

    def _is_missing(self, found: InventoryEntry) -> bool:
        return stat.S_ISREG(found.mode) and not found.unkept and found.content not in self.store

    def _read(self, path: str, status: os.stat_result, foreign: int, *, keep: bool) -> InventoryEntry:
        kind, content, unkept = stat.S_IFMT(status.st_mode), "", ""
        if kind == stat.S_IFLNK:
            content = os.readlink(path)
        elif kind == stat.S_IFREG:
            content, unkept = self._content(path, keep=keep)
            content = content or repr(stamp_of(status))
        return InventoryEntry(
            mode=status.st_mode,
            owner=(status.st_uid, status.st_gid),
            size=0 if kind == stat.S_IFDIR else status.st_size,
            modified=status.st_mtime_ns,
            accessed=status.st_atime_ns,
            device=status.st_rdev if kind in (stat.S_IFCHR, stat.S_IFBLK) else 0,
            content=content,
            # What stands for a content that was not kept stands for these too.
            attributes=() if unkept else attributes_of(path),
            number=number_of(status),
            foreign=foreign,
            unkept=unkept,
        )

    def _content(self, path: str, *, keep: bool) -> tuple[str, str]:
        """Return the digest of a file, or why there is none."""
        try:
            descriptor = open_unnoticed(path, READING)
        except PermissionError as error:
            return "", f"it cannot be read: {reason_of(error)}"
        try:
            digest = self.store.digest(descriptor, keep=keep)
        finally:
            os.close(descriptor)
        return digest, "" if digest else f"it is larger than {LARGEST >> 20} MiB"

    def record(self, path: str, found: InventoryEntry) -> None:
        """Record what a path was made to be."""
        status = os.lstat(path)
        self._known[path] = (replace(found, number=number_of(status)), stamp_of(status), time.time_ns())

    def forget(self, there: Container[str]) -> None:
        """Drop what is known of paths that no longer exist."""
        for path in [path for path in self._known if path not in there]:
            del self._known[path]


def has_other_names(status: os.stat_result) -> bool:
    """Return whether something has more than one name; folders never do."""
    return status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode)


def number_of(status: os.stat_result) -> Number:
    """Return what identifies an inode as long as it exists."""
    return status.st_dev, status.st_ino


def attributes_of(path: str) -> Attributes:
    """Return the attributes and access lists that programs set on a path; raise `OSError` if unreadable."""
    return tuple(system.read_attributes(path, _is_kept).items())


def _is_kept(name: str) -> bool:
    return name.startswith(_SPACES) or name == _CAPABILITY or system.is_of_a_program(name)
