"""
This module is concerned with corruption: harm done to a file between turns.

Middle floor: execution. Always the same harm to the same file.
"""

from __future__ import annotations

from pathlib import Path

from pytest_hookharness.execution.confinement import (
    WorkspaceError,
    confine,
    read_bytes,
    remove_tree,
    write_bytes,
)
from pytest_hookharness.model.moves import Corrupt

_BOM = b"\xef\xbb\xbf"
_GARBAGE = b"\x00\xff\xfe{\x80garbage"
_WAYS = ("delete", "empty", "truncate", "garbage", "crlf", "bom", "chmod", "replace")


def corrupt(root: Path, event: Corrupt) -> None:
    """
    Harm a file of the workspace. Deleting what is not there is no error, for it is gone.

    Raises:
        WorkspaceError: The file is outside, or is not there to be harmed, or the way is not known.
    """
    # Only the folder is resolved: a link is harmed itself where it is deleted.
    named = root / event.file
    if named == root:
        raise WorkspaceError(root, "is the workspace itself; name a file in it")
    place = confine(named.parent, [root]) / named.name
    if event.how == "delete":
        _delete(place)
        return
    place = confine(named, [root])
    if event.how == "replace":
        write_bytes(place, event.text.encode("utf-8", "surrogateescape"))
    elif event.how == "chmod":
        _change_mode(place, event.text or "0000")
    elif event.how in _WAYS:
        data = read_bytes(place)
        if data is None:
            raise WorkspaceError(place, f"cannot be harmed ({event.how}), for there is no such file")
        write_bytes(place, harmed(data, event.how))
    else:
        raise WorkspaceError(place, f"there is no harm {event.how!r}; allowed: {', '.join(_WAYS)}")


def harmed(data: bytes, how: str) -> bytes:
    """
    Content after a harm that depends on the content alone.
    """
    match how:
        case "truncate":
            return data[: len(data) // 2]
        case "garbage":
            return (_GARBAGE * (len(data) // len(_GARBAGE) + 1))[: max(len(data), len(_GARBAGE))]
        case "crlf":
            return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        case "bom":
            return _BOM + data.removeprefix(_BOM)
        case _:
            return b""


def _delete(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        left = remove_tree(place)
        if left:
            raise WorkspaceError(place, f"cannot be deleted: {left[0]}")
        return
    try:
        place.unlink(missing_ok=True)
    except NotADirectoryError:
        return
    except OSError as error:
        raise WorkspaceError(place, f"cannot be deleted: {error.strerror}") from error


def _change_mode(place: Path, mode: str) -> None:
    try:
        place.chmod(int(mode, 8))
    except ValueError as error:
        raise WorkspaceError(place, f"{mode!r} is not an octal mode such as 0644") from error
    except OSError as error:
        raise WorkspaceError(place, f"cannot get the mode {mode}: {error.strerror}") from error
