"""
This module is concerned with the state of a repository: which of git's own files decide how things go on.

Middle floor: execution. Pure. Everything below a ``.git`` counts (HEAD, refs, configuration, hooks,
a merge under way, a lock left behind), with three exceptions: objects, which nothing refers to until a
ref does; logs, except that of the stash, which is the stash; and of the index only its entries, for git
writes times into it whenever somebody asks for the status.
"""

from __future__ import annotations

import struct
from hashlib import blake2b, sha1

_FILES = ("HEAD", "config", "index", "packed-refs")
_FOLDERS = ("hooks", "info", "logs", "modules", "objects", "refs", "worktrees")
_OF_A_REPOSITORY = frozenset(_FILES + _FOLDERS)
_CHECKSUM = 20
_STAGE_AND_FLAGS = 0xF000
_EXTENDED = 0x4000
_SIGNATURE = b"DIRC"


def counts(path: str) -> bool:
    """
    Whether a state path counts at all; below a folder that does not count, nothing does.
    """
    place = _place(path)
    if place[:1] == ["objects"]:
        return False
    stash = ["logs", "refs", "stash"]
    return place[:1] != ["logs"] or place == stash[: len(place)]


def is_index(path: str) -> bool:
    """
    Whether a state path is that of an index.
    """
    return _place(path) == ["index"]


def _place(path: str) -> list[str]:
    """
    Where a path stands in its repository: of the repository itself, of a submodule or of a worktree.
    """
    if "/.git/" not in path:
        return []
    place = path.rpartition("/.git/")[2].split("/")
    while place[0] in ("modules", "worktrees") and len(place) > 2:
        # The name of a submodule may be several folders deep.
        inner = next((n for n, word in enumerate(place) if n > 1 and word in _OF_A_REPOSITORY), None)
        if inner is None:
            break
        place = place[inner:]
    return place


def index_digest(data: bytes) -> str:
    """
    A digest of the entries of an index; of all its bytes if it is written in a way not known here.
    """
    digest = blake2b(digest_size=16)
    try:
        for entry in _entries(data):
            digest.update(entry)
    except (ValueError, struct.error):
        return "raw:" + blake2b(data, digest_size=16).hexdigest()
    return "entries:" + digest.hexdigest()


def _entries(data: bytes) -> list[bytes]:
    signature, version, number = struct.unpack_from(">4sII", data)
    body, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    if signature != _SIGNATURE or version not in (2, 3, 4):
        raise ValueError("not an index")
    # Git may be told to leave the checksum out; then it is zero. Longer object names fail here.
    if checksum not in (bytes(_CHECKSUM), sha1(body, usedforsecurity=False).digest()):
        raise ValueError("another kind of checksum")
    found: list[bytes] = []
    position, name = 12, b""
    for _ in range(number):
        start = position
        mode, blob, flags = struct.unpack_from(">24xI12x20sH", body, start)
        position += 62
        more = 0
        if flags & _EXTENDED:
            (more,) = struct.unpack_from(">H", body, position)
            position += 2
        if version == 4:
            strip, position = _varint(body, position)
            end = body.index(b"\0", position)
            name = name[: len(name) - strip] + body[position:end]
            position = end + 1
        else:
            end = body.index(b"\0", position)
            name = body[position:end]
            position = start + (end - start) // 8 * 8 + 8
        found.append(struct.pack(">I20sHHI", mode, blob, flags & _STAGE_AND_FLAGS, more, len(name)) + name)
    _check_extensions(body, position)
    return found


def _varint(data: bytes, position: int) -> tuple[int, int]:
    byte = data[position]
    value = byte & 0x7F
    while byte & 0x80:
        position += 1
        byte = data[position]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, position + 1


def _check_extensions(body: bytes, position: int) -> None:
    while position < len(body):
        name, size = struct.unpack_from(">4sI", body, position)
        # Names in small letters are those that must be understood: here the other half of the entries
        # stands in another file, or whole folders are one entry.
        if not name[:1].isupper():
            raise ValueError("an extension that changes what the entries mean")
        position += 8 + size
