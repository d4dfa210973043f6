"""
The tools that need no process: writing, editing, reading and damaging a file.

An error of a tool is a value that the agent will see, never an exception. Damage between turns depends on the
content alone, so the same file is always damaged in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from pytest_hookharness.execution.paths import (
    WorkspaceError,
    confine,
    lies_in,
    read_bytes,
    remove_tree,
    write_bytes,
)
from pytest_hookharness.model.moves import Corrupt, Edit, Performance, Read
from pytest_hookharness.model.processes import Exited, HeldOpen, NotStarted, ProcessResult, Signaled, TimedOut


def perform(
    root: Path,
    operation: Edit | Read,
    *,
    folders: Sequence[Path] = (),
    private: Mapping[str, str] | None = None,
) -> Performance:
    """
    Carry out a tool call on a file.

    Args:
        root: The workspace; a relative path starts here.
        operation: What to do.
        folders: Further folders that the agent may reach by an absolute path.
        private: Mount points that the hooks see, and the folders behind them.
    """
    try:
        path = _locate(root, operation.file, folders, private or {})
        match operation:
            case Read():
                return _read(path)
            case Edit(old=None):
                return _write(path, operation.text)
            case Edit():
                return _replace(path, operation.old or "", operation.text)
            case _:
                assert_never(operation)
    except WorkspaceError as error:
        return Performance(error=str(error))


def _locate(root: Path, file: str, folders: Sequence[Path], private: Mapping[str, str]) -> Path:
    if not file or "\0" in file:
        raise WorkspaceError(file or "(no path)", "is not the path of a file")
    allowed = [root, *folders]
    target = os.path.normpath(root / file)
    if lies_in(target, allowed):
        return confine(target, [*allowed, *map(Path, private.values())])
    for point, folder in private.items():
        if lies_in(target, [point]):
            return confine(Path(folder) / os.path.relpath(target, point), [Path(folder)])
    return confine(target, allowed)


def _text(path: Path) -> str | None:
    data = read_bytes(path)
    return None if data is None else data.decode("utf-8", "replace")


def _data(text: str) -> bytes:
    # Half a character (a lone surrogate), which JSON can hold and UTF-8 cannot, becomes a question mark.
    return text.encode("utf-8", "replace")


def _read(path: Path) -> Performance:
    text = _text(path)
    if text is None:
        return Performance(error=f"{path}: there is no such file")
    return Performance(original=text, content=text)


def _write(path: Path, text: str) -> Performance:
    original = _text(path)
    write_bytes(path, _data(text))
    return Performance(original=original, content=text)


def _replace(path: Path, old: str, new: str) -> Performance:
    data = read_bytes(path)
    if data is None:
        return Performance(error=f"{path}: there is no such file")
    try:
        original = data.decode("utf-8")
    except UnicodeDecodeError:
        return Performance(error=f"{path}: is not UTF-8 text")
    found = original.count(old) if old else 0
    if found != 1:
        seen = f"is there {found} times" if old else "is empty"
        return Performance(
            original=original, error=f"{path}: the passage to replace {seen}; it must be there exactly once"
        )
    content = original.replace(old, new)
    write_bytes(path, _data(content))
    return Performance(original=original, content=content)


def performance_of(run: ProcessResult) -> Performance:
    """Return the result of a shell command, as its tool sees it."""
    ending, stdout, stderr = run.ending, run.stdout.text, run.stderr.text
    match ending:
        case Exited(code) | HeldOpen(Exited(code)):
            return Performance(exit=code, stdout=stdout, stderr=stderr)
        case Signaled(signal) | HeldOpen(Signaled(signal)):
            error = f"the command was ended by signal {signal}"
            return Performance(error=error, stdout=stdout, stderr=stderr)
        case TimedOut(after):
            return Performance(error=f"the command timed out after {after:g} s", stdout=stdout, stderr=stderr)
        case NotStarted(reason):
            return Performance(error=reason)
        case HeldOpen():
            raise TypeError(f"an unknown exit: {ending.exit!r}")
        case _:
            assert_never(ending)


_BOM = b"\xef\xbb\xbf"
_GARBAGE = b"\x00\xff\xfe{\x80garbage"
_KINDS_OF_DAMAGE = ("delete", "empty", "truncate", "garbage", "crlf", "bom", "chmod", "replace")


def corrupt(root: Path, event: Corrupt) -> None:
    """
    Damage a file of the workspace. Deleting a missing file is no error.

    Raises:
        WorkspaceError: The file is outside, does not exist, or the kind of damage is unknown.
    """
    # Only the folder is resolved: a link is deleted itself.
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
    elif event.how in _KINDS_OF_DAMAGE:
        data = read_bytes(place)
        if data is None:
            raise WorkspaceError(place, f"cannot be damaged ({event.how}): there is no such file")
        write_bytes(place, damaged(data, event.how))
    else:
        raise WorkspaceError(
            place, f"unknown kind of damage {event.how!r}; allowed: {', '.join(_KINDS_OF_DAMAGE)}"
        )


def damaged(data: bytes, how: str) -> bytes:
    """Return content after damage that depends on the content alone."""
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
