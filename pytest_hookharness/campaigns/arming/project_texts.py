"""The text files of a project or a plugin."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# Folders with the files of others: version control, packages and virtual environments.
_FOREIGN = frozenset({".git", "node_modules", ".venv", "venv"})


def project_files(root: Path) -> list[Path]:
    """Return the files of a project in order, links left out; those of others are not even looked for."""
    found: list[Path] = []
    for folder, folders, names in os.walk(root):
        folders[:] = {*folders} - _FOREIGN
        found += [Path(folder, name) for name in names]
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def read_text(file: Path) -> str | None:
    """
    Return the text of a file; ``None`` if there is no such file.

    Raises:
        SimulationError: It cannot be read.
    """
    try:
        return file.read_text("utf-8-sig") if file.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise SimulationError(f"{file}: cannot be read: {error}") from error
