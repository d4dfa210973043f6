"""
Paths that are resolved, sooner than by the standard library where there are few links.

Loaded by the supervisor too, so it imports few modules.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_NO_NAMES = ("", ".", "..")
# No recursion beyond it: a path may have more parts than Python has frames.
_LONGEST = 600


def real_path(path: str | Path, below: Iterable[str] = ()) -> str:
    """Return the real path of one path; below some folders, their own path is taken for the real one."""
    return _real_path(str(path), {"/": "/", **{folder: folder for folder in below}})


def real_paths(paths: Iterable[str | Path]) -> dict[str, str]:
    """Return paths, each with its real path; what stands above several of them is looked at once."""
    known = {"/": "/"}
    return {text: _real_path(text, known) for text in map(str, paths)}


def _real_path(path: str, known: dict[str, str]) -> str:
    if path in known:
        return known[path]
    head, _, name = path.rpartition("/")
    if name in _NO_NAMES or path[0] != "/" or len(path) > _LONGEST:
        return os.path.realpath(path)
    above = _real_path(head or "/", known)
    whole = f"{above}/{name}" if above != "/" else f"/{name}"
    try:
        is_link = stat.S_ISLNK(os.lstat(whole).st_mode)
    except OSError:
        is_link = False
    known[path] = real = os.path.realpath(whole) if is_link else whole
    return real
