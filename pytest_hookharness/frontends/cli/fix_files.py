"""
``hookharness check --fix``: write the files of fixes that were played.

All of them are written or none: if one cannot be written, or was edited since it was read, those before it
get their old contents back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from pytest_hookharness.execution.user_files import ChangedMeanwhile, create_file, replace_file
from pytest_hookharness.model.file_change import FileChange


class FixNotWritten(OSError):
    """The files of a fix could not be written; the message says in what state they are."""


def write_changes(root: Path, changes: Sequence[FileChange]) -> None:
    """
    Write the changed files of a project, new files first, so that no settings name a file that is missing.

    Raises:
        FixNotWritten: One cannot be written; all files are as they were, or are named.
    """
    begun: list[FileChange] = []
    try:
        for change in sorted(changes, key=lambda change: change.before is not None):
            path = root / change.file
            if _is_written(path, change):
                continue
            if change.before is None:
                _create(path, change)
                begun.append(change)
            else:
                begun.append(change)
                _replace(path, change)
    except BaseException as error:
        left = [change.file for change in reversed(begun) if not _restored(root / change.file, change)]
        if not isinstance(error, OSError):
            raise
        state = f"restore {', '.join(left)} by hand" if left else "no file is changed"
        raise FixNotWritten(f"--fix: {error}; {state}") from error


def _is_written(path: Path, change: FileChange) -> bool:
    """Return whether a file is as the fix leaves it: the fix of another host may be the same."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o7777 == change.mode and path.read_bytes() == change.after
    return False


def _create(path: Path, change: FileChange) -> None:
    create_file(path, change.after.decode())
    try:
        path.chmod(change.mode)
    except BaseException:
        path.unlink()
        raise


def _replace(path: Path, change: FileChange) -> None:
    if path.stat().st_mode & 0o7777 != change.mode_before or path.read_bytes() != change.before:
        raise ChangedMeanwhile(path)
    if change.before is not None and change.after != change.before:
        replace_file(path, change.before, change.after)
    if change.mode != change.mode_before:
        path.chmod(change.mode)


def _restored(path: Path, change: FileChange) -> bool:
    """Undo a change, or the part of it that was made; return whether the file is as it was, or somebody's."""
    with contextlib.suppress(OSError):
        if change.before is None:
            if path.read_bytes() == change.after:
                path.unlink()
            return True
        if path.read_bytes() == change.after != change.before:
            replace_file(path, change.after, change.before)
        if path.stat().st_mode & 0o7777 == change.mode != change.mode_before:
            path.chmod(change.mode_before)
        return True
    return not path.exists()
