"""
This module is concerned with copies: a project without what it holds that cannot be copied.

Upper floor. A virtual environment links to an interpreter elsewhere, a server leaves its socket: what hooks
have to do with such things is not seen, and that is told.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness.execution.copying import stays_below
from pytest_hookharness.execution.lending import Lending
from pytest_hookharness.model.checkups import Place

_SHOWN = 3


@contextmanager
def copyable(place: Place) -> Generator[tuple[Place, str]]:
    """
    A place whose project can be copied, and what is left out of it in a sentence; empty for nothing.
    """
    with TemporaryDirectory(prefix="hookharness-check-") as folder:
        # What git ignores is not copied anyway.
        odd = {*_uncopyable(place.root, Lending.of(place.root, Path(folder)).paths)}
        if not odd:
            yield place, ""
            return
        root = Path(folder, place.root.name)
        shutil.copytree(place.root, root, symlinks=True, ignore=_leave_out(place.root, odd))
        yield replace(place, root=root), _told(place.root, odd)


def _uncopyable(root: Path, ignored: Collection[Path]) -> Generator[Path]:
    for folder, folders, files in os.walk(root):
        left_out = {root / ".git", *ignored}
        folders[:] = [name for name in folders if Path(folder, name) not in left_out]
        files[:] = [name for name in files if Path(folder, name) not in left_out]
        inside = Path(folder).relative_to(root).parts
        for path in (Path(folder, name) for name in (*folders, *files)):
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                if not stays_below(root, inside, str(path.readlink())):
                    yield path
            elif not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                yield path


def _leave_out(root: Path, odd: Collection[Path]) -> Callable[[str, list[str]], list[str]]:
    def choose(folder: str, names: list[str]) -> list[str]:
        top = Path(folder) == root
        return [name for name in names if Path(folder, name) in odd or (top and name == ".git")]

    return choose


def _told(root: Path, odd: Collection[Path]) -> str:
    names = sorted(str(path.relative_to(root)) for path in odd)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"Left out of the copies, for they lead out of the project: {', '.join(names[:_SHOWN])}{more}."
