"""Namesakes: files with the name of a script that is missing where a command names it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

# Folders of what is installed or built, or kept by Git. A built script is no namesake of another one.
OF_TOOLS = frozenset(
    ["dist", "build", "out", "target", "node_modules", ".venv", "venv", "vendor", "bin", ".git"]
)
# Folders of scripts that are there to be tested or shown.
_FOR_SHOW = frozenset(["test", "tests", "spec", "fixture", "fixtures", "example", "examples", "demo"])
_MOST_FILES = 20_000


def namesakes(root: Path, missing: Iterable[str]) -> dict[str, str]:
    """
    Return, for each missing path, the project's only file of that name.

    Args:
        root: The folder of the project.
        missing: Paths in it or elsewhere, as commands give them.
    """
    wanted = {path: path.rpartition("/")[2] for path in missing if OF_TOOLS.isdisjoint(path.split("/")[:-1])}
    names, found, seen = {*wanted.values()}, dict[str, list[str]](), 0
    for folder, folders, files in os.walk(root) if wanted else ():
        folders[:] = sorted({*folders} - OF_TOOLS - _FOR_SHOW)
        seen += len(files)
        if seen > _MOST_FILES:
            # The files not read may include another one.
            return {}
        for name in names.intersection(files):
            found.setdefault(name, []).append(os.path.relpath(Path(folder, name), root))
    return {path: found[name][0] for path, name in wanted.items() if len(found.get(name, ())) == 1}
