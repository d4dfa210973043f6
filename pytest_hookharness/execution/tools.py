"""
This module is concerned with the tools that need no process: writing, editing and reading a file.

Middle floor: execution. What goes wrong is a value that the agent will see, never an exception.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from pytest_hookharness.execution.confinement import (
    WorkspaceError,
    confine,
    lies_in,
    read_bytes,
    write_bytes,
)
from pytest_hookharness.model.moves import Edit, Performance, Read
from pytest_hookharness.model.processes import Exited, HeldOpen, NotStarted, Run, Signaled, TimedOut


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
        private: Mount points that the hooks see, and the folders that really stand behind them.
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
    # Half a character, which JSON can say and UTF-8 cannot, becomes a question mark.
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


def performance_of(run: Run) -> Performance:
    """
    What a shell command did, as its tool sees it.
    """
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
            raise TypeError(f"an exit that nobody knows: {ending.exit!r}")
        case _:
            assert_never(ending)
