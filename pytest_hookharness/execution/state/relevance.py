"""
Relevance: which files, and which parts of their content, can influence later steps.

Of git's own files, everything below a ``.git`` counts (HEAD, refs,
configuration, hooks, an unfinished merge, a lock left behind, and files that are not git's own), with three
exceptions. Objects under the names that git gives them do not count, for nothing refers to them until a ref
does. Of a log of refs, the times in its lines do not count. Of the index only the entries count, for git
writes times into it whenever a program asks for the status.
"""

from __future__ import annotations

import re
import struct
from hashlib import blake2b, sha1

_FOLDERS = ("hooks", "info", "logs", "modules", "objects", "refs", "worktrees")
_OF_A_REPOSITORY = frozenset(("HEAD", "config", "index", "packed-refs", *_FOLDERS))
_CHECKSUM = 20
_STAGE_AND_FLAGS = 0xF000
_EXTENDED = 0x4000
_SIGNATURE = b"DIRC"

_NAME = "[0-9a-f]{40}(?:[0-9a-f]{24})?"
# Not the files that tell git where to find more objects, or which to keep.
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
    """Return whether a state path itself counts; below a folder that does not, something may still count."""
    if "/objects/" not in path:
        return True
    return (_OBJECTS if folder else _OBJECT).fullmatch("/".join(_path_in_repository(path))) is None


def head_of_log(path: str, real: str) -> str:
    """
    Return the path of the HEAD that belongs to a state path if that is a log of refs; empty if it is not.

    ``real`` is the real path of the log.
    """
    place = "/".join(_path_in_repository(path)) if "/logs/" in path else ""
    return real.removesuffix(place) + "HEAD" if _LOG.fullmatch(place) else ""


def log_digest(data: bytes) -> str:
    """Return a digest of the lines of a log of refs, without their times."""
    return "log:" + blake2b(_LOGGED.sub(rb"\1", data), digest_size=16).hexdigest()


def is_index(path: str) -> bool:
    """Return whether a state path is that of an index."""
    return _path_in_repository(path) == ["index"]


def _path_in_repository(path: str) -> list[str]:
    """Return the path inside its repository: of the repository itself, a submodule or a worktree."""
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
    Return a digest of the entries of an index; of all its bytes if its format is unknown.

    The format: https://git-scm.com/docs/index-format.
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
    # Git can be configured to leave the checksum out; then it is zero. Longer object names fail here.
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
        # Extensions named in small letters must be understood by a reader: with these, the other half of the
        # entries is in another file, or whole folders are one entry.
        if not name[:1].isupper():
            raise ValueError("an extension that changes what the entries mean")
        position += 8 + size
