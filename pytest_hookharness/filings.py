"""
This module is concerned with filings: the problems of a check-up as scenario files.

Upper floor. A file is kept only if it loads, breaks its promise and shows the problem when it is played.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import loading
from pytest_hookharness.execution.confinement import WorkspaceError
from pytest_hookharness.execution.copying import copy_folder
from pytest_hookharness.loading.folders import REPOSITORY, find_folder
from pytest_hookharness.model.checkups import Checkup, Complaint, Place, Problem
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.settings import SimulationError

# Whether a scenario breaks its promise and shows what was complained of.
Shows = Callable[[Scenario, Complaint], bool]
SUFFIX = ".scenario.yaml"
_COPY = "project"
_NOT_RED = "none, for a scenario of it breaks no promise; the command above shows it again"


def file_away(checkup: Checkup, folder: Path, shows: Shows) -> Checkup:
    """
    Write a scenario file for each problem, and tell where it is, or why there is none.

    Args:
        checkup: What was found.
        folder: Where files are written; made if it is not there.
        shows: Plays a scenario.

    Raises:
        SimulationError: The folder cannot be used.
    """
    if not checkup.problems:
        return checkup
    try:
        folder.mkdir(parents=True, exist_ok=True)
        project = _project(checkup.place, folder)
    except (OSError, WorkspaceError) as error:
        raise SimulationError(f"--write-scenarios: {folder} cannot be used: {error}") from error
    filed = (_file(checkup.place, problem, folder, project, shows) for problem in checkup.problems)
    return replace(checkup, problems=tuple(filed))


def _project(place: Place, folder: Path) -> str:
    """
    The project as files of a folder name it: as their repository, by its path, or a copy of it.
    """
    if find_folder(REPOSITORY, folder, confined=True) == place.root:
        return REPOSITORY
    if place.root.is_relative_to(folder.resolve()):
        path = os.path.relpath(place.root, folder.resolve())
        return f"./{path}" if path == REPOSITORY else path
    copy = folder / _COPY
    if not copy.exists():
        copy.mkdir()
        copy_folder(place.root, copy)
    return _COPY


def _file(place: Place, problem: Problem, folder: Path, project: str, shows: Shows) -> Problem:
    if not problem.scenario.script.acts:
        return replace(problem, unwritten="none, for no session wakes this hook")
    name = f"{place.host}-{problem.id}"
    path = folder / f"{name}{SUFFIX}"
    if path.exists():
        return replace(problem, unwritten=f"none, for {path} is there already; move it away")
    try:
        text = loading.write(problem.scenario, name=name, why=problem.complaint.text, folder=project)
        (scenario,) = loading.loads(text, path)
    except (loading.Unwritable, loading.ScenarioErrors) as error:
        return replace(problem, unwritten=f"none, for it cannot be written: {error}")
    if not shows(scenario, problem.complaint):
        return replace(problem, unwritten=_NOT_RED)
    path.write_text(text, "utf-8")
    return replace(problem, file=path)
