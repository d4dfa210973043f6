"""
This module is concerned with surroundings: what a scenario wants of folders before anything starts in them.

Middle floor: execution.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_hookharness.execution.confinement import WorkspaceError, make_folders
from pytest_hookharness.model.scenario import Scenario


def furnish_surroundings(
    scenario: Scenario, in_workspace: Callable[[str], Path], locate: Callable[[str], Path]
) -> None:
    """
    Make the folders that hooks start in and those without room, and look for those that are read-only.

    Args:
        scenario: The scenario.
        in_workspace: Gives the place of a path below the workspace.
        locate: Gives the place of a state path.

    Raises:
        WorkspaceError: A folder cannot be what the scenario wants.
    """
    cwd = scenario.cwd
    if cwd is not None and not cwd.removed and not cwd.path.startswith("/"):
        make_folders(in_workspace(cwd.path))
    for path in scenario.full:
        folder = locate(path)
        make_folders(folder)
        if any(folder.iterdir()):
            raise WorkspaceError(folder, "is not empty, and a full disk would hide what it holds (`full`)")
    for path in scenario.readonly:
        if not locate(path).exists():
            raise WorkspaceError(path, "is not there, so it cannot be made read-only (`readonly`)")
