"""
The state of a repository: which of git's own files decide how things go on.

Pure. Everything below a ``.git`` counts (HEAD, refs, configuration, hooks,
a merge under way, a lock left behind, and whatever is none of git's own), with three exceptions: objects
under the names that git gives them, which nothing refers to until a ref does; of a log of refs the times
in its lines; and of the index all but its entries, for git writes times into it whenever somebody asks
for the status.
"""

from __future__ import annotations

import re
import struct
from hashlib import blake2b, sha1

_FILES = ("HEAD", "config", "index", "packed-refs")
_FOLDERS = ("hooks", "info", "logs", "modules", "objects", "refs", "worktrees")
_OF_A_REPOSITORY = frozenset(_FILES + _FOLDERS)
_CHECKSUM = 20
_STAGE_AND_FLAGS = 0xF000
_EXTENDED = 0x4000
_SIGNATURE = b"DIRC"

_NAME = "[0-9a-f]{40}(?:[0-9a-f]{24})?"
# Not what tells git where to find further objects, or which to keep.
_OBJECT = re.compile(
    "objects/(?:[0-9a-f]{2}/[0-9a-f]{38}(?:[0-9a-f]{24})?"
    rf"|pack/(?:pack-{_NAME}\.(?:pack|idx|rev|bitmap|mtimes)|multi-pack-index(?:-{_NAME}\.(?:rev|bitmap))?)"
    rf"|info/(?:packs|commit-graph|commit-graphs/(?:commit-graph-chain|graph-{_NAME}\.graph)))"
)
_OBJECTS = re.compile("objects/(?:[0-9a-f]{2}|info/commit-graphs)")
_LOG = re.compile("logs/(?:HEAD|refs/.+)", re.DOTALL)
_LOGGED = re.compile(
    rf"^({_NAME} {_NAME} [^\n<>]*<[^\n<>]*> )\d+ [+-]\d{{4}}(?=[\t\n])".encode(), re.MULTILINE
)


def counts(path: str, *, folder: bool = False) -> bool:
    """
    Whether a state path counts itself; below a folder that does not, something may count nevertheless.
    """
    if "/objects/" not in path:
        return True
    return (_OBJECTS if folder else _OBJECT).fullmatch("/".join(_place(path))) is None


def head_of_log(path: str, real: str) -> str:
    """
    Where the HEAD of a repository must stand if a path is that of a log of its refs; empty if it is not.

    Args:
        path: The state path.
        real: The path itself.
    """
    place = "/".join(_place(path)) if "/logs/" in path else ""
    return real.removesuffix(place) + "HEAD" if _LOG.fullmatch(place) else ""


def log_digest(data: bytes) -> str:
    """
    A digest of the lines of a log of refs, but for when they were written.
    """
    return "log:" + blake2b(_LOGGED.sub(rb"\1", data), digest_size=16).hexdigest()


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
