"""
This module is concerned with the content of entries: a digest of what a file holds, and of what is set on it.

Middle floor: execution. Never more is read than a bound, and nothing but regular files is opened.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b

# Bytes of the largest file that is read: a sparse one of any size is made at once.
LARGEST = 256 << 20
_CHUNK = 1 << 20
_LISTS = ("system.posix_acl_access", "system.posix_acl_default")
_KINDS: Mapping[int, str] = {stat.S_IFDIR: "folder", stat.S_IFLNK: "link", stat.S_IFREG: "file"}
_OTHERS: Mapping[int, str] = {
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}


def kind_of(mode: int) -> str:
    """
    The kind of an entry.
    """
    return _KINDS.get(stat.S_IFMT(mode), "other")


def content_of(real: str, status: os.stat_result, digest: Callable[[bytes], str] | None) -> str:
    """
    What stands for the content of an entry.

    Args:
        real: The path.
        status: What the system says of it.
        digest: Makes a digest of the bytes of a file; ``None`` for one of all of them.

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
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(real, flags)
    try:
        if digest is not None:
            return digest(b"".join(_parts(descriptor, status.st_size)))
        return _digest(descriptor, status.st_size)
    finally:
        os.close(descriptor)


def attributes_of(real: str) -> str:
    """
    A digest of the extended attributes that programs and people set; empty if there are none.
    """
    if sys.platform != "linux":
        return ""
    try:
        names = os.listxattr(real, follow_symlinks=False)
        # Those of an overlay are its own book-keeping.
        found = {
            name: os.getxattr(real, name, follow_symlinks=False)
            for name in sorted(names)
            if name in _LISTS or (name.startswith("user.") and not name.startswith("user.overlay."))
        }
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.ENODATA):
            return ""
        raise
    return blake2b(repr(found).encode(), digest_size=16).hexdigest() if found else ""


def _digest(descriptor: int, size: int) -> str:
    data = os.read(descriptor, min(size, _CHUNK) + 1)
    if len(data) <= _CHUNK and len(data) <= size:
        return blake2b(data, digest_size=16).hexdigest()
    digest = blake2b(data, digest_size=16)
    for part in _parts(descriptor, size):
        digest.update(part)
    return digest.hexdigest()


def _parts(descriptor: int, size: int) -> Iterator[bytes]:
    """
    The content of a file, up to the most that is read.

    Raises:
        OSError: It is larger.
    """
    while size <= LARGEST:
        data = os.read(descriptor, _CHUNK)
        if not data:
            return
        yield data
        size = max(size, os.lseek(descriptor, 0, os.SEEK_CUR))
    raise OSError(errno.EFBIG, f"it is larger than {LARGEST >> 20} MiB")
