"""The text files of a project or a plugin."""

from __future__ import annotations

from pathlib import Path

from pytest_hookharness.simulation.testbed.run_settings import SimulationError


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
