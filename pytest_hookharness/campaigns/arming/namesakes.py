"""Namesakes: files of a project that a command means, and names by a path where they are not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

# Folders of what is installed or built, or kept by Git. A built script is no namesake of another one.
OF_TOOLS = frozenset(
    [
        "dist",
        "build",
        "out",
        "target",
        "node_modules",
        ".venv",
        "venv",
        "vendor",
        "bin",
        "__pycache__",
        ".git",
    ]
)
_MOST_FILES = 20_000


def namesakes(root: Path, missing: Sequence[str]) -> Iterator[str]:
    """
    Yield the only file of a project with the name of one that is missing, by its path.

    Args:
        root: The folder of the project.
        missing: Paths in it, or what is left of paths elsewhere.
    """
    wanted = {path.rpartition("/")[2] for path in missing if OF_TOOLS.isdisjoint(path.split("/")[:-1])}
    if not wanted:
        return
    found: dict[str, list[str]] = {}
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted({*folders} - OF_TOOLS)
        seen += len(files)
        if seen > _MOST_FILES:
            # Of the rest it is not known whether it has another one.
            return
        for name in sorted(wanted.intersection(files)):
            found.setdefault(name, []).append(os.path.relpath(Path(folder, name), root))
    yield from (paths[0] for paths in found.values() if len(paths) == 1)
