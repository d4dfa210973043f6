"""
This module is concerned with copying: a project as it was written, and nothing but it.

Middle floor: execution. Modes and times are kept; hard links become files of their own; the top
``.git`` and every ``.git`` file (which points to a repository elsewhere) are left out.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path

from pytest_hookharness.execution.confinement import WorkspaceError, lies_in

_MOST_LINKS = 40


def copy_folder(source: Path, target: Path, without: Collection[Path] = ()) -> None:
    """
    Copy a folder into an existing, empty one.

    Args:
        source: The folder.
        target: The other one.
        without: Paths below it that are left out.

    Raises:
        WorkspaceError: It is no folder, cannot be read, or holds something that cannot be copied: a
            link that leaves it, a pipe, a socket or a device.
    """
    source = Path(os.path.realpath(source))
    if not source.is_dir():
        raise WorkspaceError(source, "is not a folder; name an existing one")
    if lies_in(target, [source]):
        raise WorkspaceError(source, f"holds {target}, where it is to be copied; choose another base folder")
    try:
        _copy_below(source, source, target, without)
    except OSError as error:
        where = error.filename or source
        raise WorkspaceError(str(where), f"cannot be copied: {error.strerror or error}") from error


def _copy_below(top: Path, source: Path, target: Path, without: Collection[Path]) -> None:
    with os.scandir(source) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        place = target / entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if (entry.name == ".git" and (source == top or not is_folder)) or source / entry.name in without:
            continue
        if is_folder:
            place.mkdir()
            _copy_below(top, Path(entry.path), place, without)
        elif entry.is_symlink():
            place.symlink_to(_harmless(top, Path(entry.path)))
        elif entry.is_file(follow_symlinks=False):
            shutil.copy2(entry.path, place)
        else:
            raise WorkspaceError(entry.path, "is neither file, folder nor link; remove it from the project")
    shutil.copystat(source, target)


def _harmless(top: Path, link: Path) -> str:
    target = os.readlink(link)
    folder = link.parent.relative_to(top).parts
    if not stays_below(top, folder, target):
        raise WorkspaceError(
            link, f"links to {target}, which leaves the project; make it a relative link within {top}"
        )
    return target


def stays_below(top: Path, folder: tuple[str, ...], target: str) -> bool:
    """
    Whether a link never leaves a folder, on no step of its way, so that its copy does not either.

    Args:
        top: The folder.
        folder: Where the link stands, relative to it.
        target: What it says.
    """
    done = list(folder)
    pending = target.split("/")[::-1]
    links = 1
    if target.startswith("/"):
        return False
    while pending:
        part = pending.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not done:
                return False
            done.pop()
            continue
        place = top.joinpath(*done, part)
        if not place.is_symlink():
            done.append(part)
            continue
        onward = os.readlink(place)
        links += 1
        if onward.startswith("/") or links > _MOST_LINKS:
            return False
        pending.extend(onward.split("/")[::-1])
    return True
