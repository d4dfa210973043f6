"""
This module is concerned with caches: what tools leave in a project, and nobody would look for by name.

Ground floor: values only.
"""

from __future__ import annotations

from pathlib import PurePath

_NAMES = frozenset({
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".coverage", ".cache",
    ".tox", ".nox", "htmlcov",
})  # fmt: skip


def is_cache(path: str) -> bool:
    """
    Whether a path leads to a cache, or into one.
    """
    return not _NAMES.isdisjoint(PurePath(path).parts)
