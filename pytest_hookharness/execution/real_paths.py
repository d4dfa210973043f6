"""
Several paths that are resolved together.

Loaded by the supervisor too, so it imports few modules.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_NO_NAMES = ("", ".", "..")
# No recursion beyond it: a path may have more parts than Python has frames.
_LONGEST = 600


def real_paths(paths: Iterable[str | Path]) -> dict[str, str]:
    """Return paths, each with its real path; what stands above several of them is looked at once."""
    known = {"/": "/"}
    return {text: _real_path(text, known) for text in map(str, paths)}


def _real_path(path: str, known: dict[str, str]) -> str:
    if path in known:
        return known[path]
    head, _, name = path.rpartition("/")
    if not path.startswith("/") or name in _NO_NAMES or len(path) > _LONGEST:
        return os.path.realpath(path)
    whole = os.path.join(_real_path(head or "/", known), name)
    known[path] = real = os.path.realpath(whole) if os.path.islink(whole) else whole
    return real
