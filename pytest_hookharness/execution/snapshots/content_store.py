"""
The content store: contents of files that may have to be written again.

Contents are named by their digest, so equal ones are kept once. Blocks of zeros are neither digested nor
kept, and holes are not even read. Small contents share one file, since making a file costs more than writing
it; each large content has its own.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from pytest_hookharness.execution.state.file_contents import LARGEST
from pytest_hookharness.model.fast_dataclass import dataclass, replace

Block: TypeAlias = tuple[int, bytes]

_BLOCK = 256 << 10
_ZEROS = bytes(_BLOCK)
# At most a block, so that a small content is read at once.
_SMALL = 64 << 10
# What is kept instead of being deleted, at most.
_MOST_FILES_ASIDE, _MOST_BYTES_ASIDE = 50_000, 64 << 20


class ContentStore:
    """A folder that keeps contents of files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._small = Pack(folder / "small")
        self._large: set[str] = set()
        folder.mkdir(mode=0o700, parents=True)
        # How often folders were moved here, how many files and bytes.
        self._aside = 0, 0, 0

    def __contains__(self, digest: str) -> bool:
        return digest in self._small or digest in self._large

    def digest(self, descriptor: int, *, keep: bool) -> str:
        """
        Return the digest of an open file, and ``keep`` its content; empty if it is too large.

        Raises:
            OSError: The file cannot be read, or the content cannot be kept.
        """
        size = os.fstat(descriptor).st_size
        if size > LARGEST:
            most = LARGEST // _BLOCK + 1
            if sum(1 for _ in islice(_places(descriptor, size), most)) == most:
                return ""
        if size > _SMALL:
            digest = _digest(size, _blocks(descriptor, size))
            if keep and digest not in self:
                self._keep(digest, descriptor, size)
            return digest
        blocks = tuple(_blocks(descriptor, size))
        digest = _digest(size, blocks)
        if keep and digest not in self:
            self._small.add(digest, size, b"".join(data for _, data in blocks))
        return digest

    def _keep(self, digest: str, descriptor: int, size: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        copy = os.open(self.folder / digest, flags, 0o600)
        try:
            _fill(copy, size, _blocks(descriptor, size))
        finally:
            os.close(copy)
        self._large.add(digest)

    def write(self, digest: str, descriptor: int) -> None:
        """Replace the content of an open file by a kept one; raise `OSError` if the kept copy was changed."""
        if digest in self._small:
            size, data = self._small.read(digest)
            blocks = ((0, data),) if data else ()
            if _digest(size, blocks) != digest:
                raise _changed(self._small.path)
            if not data:
                _fill(descriptor, size, blocks)
                return
            # Not emptied before, as there are no holes: shortening a file may wait for the disk.
            _write(descriptor, data, 0)
            if os.fstat(descriptor).st_size != size:
                os.ftruncate(descriptor, size)
            return
        path = self.folder / digest
        kept = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            # A hook that knows the place could have written to the copy; that must not reach the folders.
            if self.digest(kept, keep=False) != digest:
                raise _changed(path)
            size = os.fstat(kept).st_size
            _fill(descriptor, size, _blocks(kept, size))
        finally:
            os.close(kept)

    def place_for(self, files: int, size: int) -> Path | None:
        """
        Return a new folder for files that are no longer needed; ``None`` if too much is kept already.

        It is removed with the store, and not at once: for some time ext4 gives no new file the place of a
        deleted one, and after many deletions each new one takes long to make.
        """
        number, files_before, size_before = self._aside
        self._aside = number + 1, files_before + files, size_before + size
        if self._aside[1] > _MOST_FILES_ASIDE or self._aside[2] > _MOST_BYTES_ASIDE:
            return None
        place = self.folder / f"aside-{number}"
        place.mkdir(mode=0o700)
        return place

    def free(self, needed: Collection[str] = ()) -> None:
        """Remove all contents but the needed ones; raise `OSError` if one cannot be removed."""
        self._small.free(needed)
        for digest in self._large.difference(needed):
            (self.folder / digest).unlink(missing_ok=True)
            self._large.discard(digest)


@dataclass(frozen=True, slots=True)
class PackSlot:
    """Where a content is in a pack; one of zeros alone has a ``size``, but no bytes are stored."""

    place: int
    length: int
    size: int


class Pack:
    """A file that holds small contents one after the other; it exists, and is open, while there are any."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        # In the order of their places in the file.
        self._slots: dict[str, PackSlot] = {}
        self._end = 0

    def __contains__(self, digest: str) -> bool:
        return digest in self._slots

    def add(self, digest: str, size: int, data: bytes) -> None:
        """Append a content; one without data is all zeros. Raise `OSError` if it cannot be written."""
        _write(self._open(), data, self._end)
        self._slots[digest] = PackSlot(self._end, len(data), size)
        self._end += len(data)

    def read(self, digest: str) -> tuple[int, bytes]:
        """Return the size of a content and its data; raise `OSError` if it cannot be read."""
        slot = self._slots[digest]
        return slot.size, os.pread(self._open(), slot.length, slot.place)

    def free(self, needed: Collection[str]) -> None:
        """Remove all contents but the needed ones, and close the gaps; raise `OSError` if that fails."""
        if self._descriptor is None:
            return
        descriptor, end = self._descriptor, 0
        for digest, slot in list(self._slots.items()):
            if digest not in needed:
                del self._slots[digest]
                continue
            if slot.place != end:
                _write(descriptor, os.pread(descriptor, slot.length, slot.place), end)
                self._slots[digest] = replace(slot, place=end)
            end += slot.length
        self._end = end
        if self._slots:
            os.ftruncate(descriptor, end)
            return
        self._descriptor = None
        os.close(descriptor)
        self.path.unlink(missing_ok=True)

    def _open(self) -> int:
        if self._descriptor is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o600)
        return self._descriptor


def _changed(path: Path) -> OSError:
    return OSError(errno.EIO, f"its copy, {path}, was changed")


def _digest(size: int, blocks: Iterable[Block]) -> str:
    digest = blake2b(str(size).encode(), digest_size=20)
    for place, data in blocks:
        digest.update(b"%d:" % place)
        digest.update(data)
    return digest.hexdigest()


def _fill(target: int, size: int, blocks: Iterable[Block]) -> None:
    if os.fstat(target).st_size:
        # One byte is kept and cleared: some file systems write a file that was truncated to nothing to the
        # disk before they continue.
        os.ftruncate(target, 1)
        os.pwrite(target, b"\0", 0)
    os.ftruncate(target, size)
    for place, data in blocks:
        _write(target, data, place)


def _write(target: int, data: bytes, place: int) -> None:
    left = memoryview(data)
    while left:
        left = left[os.pwrite(target, left, place + len(data) - len(left)) :]


def _blocks(descriptor: int, size: int) -> Iterator[Block]:
    """Yield the blocks that hold anything but zeros, each with its place."""
    for place in _places(descriptor, size):
        block = os.pread(descriptor, _BLOCK, place)
        if block != _ZEROS[: len(block)]:
            yield place, block


def _places(descriptor: int, size: int) -> Iterator[int]:
    """Yield where the blocks begin that are no holes."""
    # Asking for the holes of a small file costs more than reading it.
    if size <= _BLOCK:
        yield from range(min(size, 1))
        return
    place = 0
    while place < size:
        try:
            place = os.lseek(descriptor, place, os.SEEK_DATA) // _BLOCK * _BLOCK
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            # This file system does not know its holes: then all of it is data.
            if error.errno != errno.EINVAL:
                raise
        yield place
        place += _BLOCK
