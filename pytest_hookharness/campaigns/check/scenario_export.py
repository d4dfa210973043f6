"""
Filings: the problems of a check-up as scenario files.

A file is kept only if it loads, breaks its promise and shows the problem when it is played.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness import scenario_files
from pytest_hookharness.campaigns.check.sessions import alone
from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.workspace.copying import copy_folder
from pytest_hookharness.judging.findings.finding_catalogue import NOT_RUN
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem, Symptom
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.scenario_files.schema.project_folders import REPOSITORY, find_folder

# Whether a scenario breaks its promise and shows what was complained of.
Shows = Callable[[Scenario, Symptom], bool]
SUFFIX = ".scenario.yaml"
_COPY = "project"
_ALONE = "Played is this hook alone, as it was configured, for others have problems too."
_NOT_RED = "none, for a scenario of it breaks no promise; the command above shows it again"


def file_away(checkup: CheckReport, folder: Path, shows: Shows) -> CheckReport:
    """
    Write a scenario file for each problem, and tell where it is, or why there is none.

    Args:
        checkup: What was found.
        folder: Where files are written; it is there.
        shows: Plays a scenario.
    """
    if not checkup.problems:
        return checkup
    if checkup.interrupted:
        return _unwritten(checkup, "none, for it was interrupted")
    try:
        project = _project(checkup.place, folder)
        filed = [_file(checkup, problem, folder, project, shows) for problem in checkup.problems]
    except (OSError, WorkspaceError) as error:
        # What was found took minutes, so it is told whatever becomes of the files.
        return _unwritten(checkup, f"none, for {folder} cannot be used: {error}")
    return replace(checkup, problems=tuple(filed))


def _unwritten(checkup: CheckReport, why: str) -> CheckReport:
    return replace(checkup, problems=tuple(replace(problem, unwritten=why) for problem in checkup.problems))


def _project(place: HookSet, folder: Path) -> str:
    """
    The project as files of a folder name it: as their repository, by its path, or a copy of it.
    """
    whole = folder.resolve()
    if find_folder(REPOSITORY, whole, confined=True) == place.root:
        return REPOSITORY
    if place.root.is_relative_to(whole):
        path = os.path.relpath(place.root, whole)
        return f"./{path}" if path == REPOSITORY else path
    if not (whole / _COPY).exists():
        _copy(place.root, whole)
    return _COPY


def _copy(project: Path, folder: Path) -> None:
    """
    Copy a project into a folder, which may be one of its own and is then left out.
    """
    with TemporaryDirectory(prefix="hookharness-check-") as base:
        fresh = Path(base, _COPY)
        fresh.mkdir()
        copy_folder(project, fresh, {folder})
        shutil.move(fresh, folder / _COPY)


def _file(checkup: CheckReport, problem: Problem, folder: Path, project: str, shows: Shows) -> Problem:
    if not problem.scenario.script.acts:
        return replace(problem, unwritten="none, for no session wakes this hook")
    name = f"{checkup.place.host}-{problem.id}"
    path = folder / f"{name}{SUFFIX}"
    if path.exists():
        return replace(problem, unwritten=f"none, for {path} is there already; move it away")
    try:
        for scenario, why in _choices(checkup, problem):
            text = scenario_files.write(scenario, name=name, why=why, folder=project)
            (loaded,) = scenario_files.loads(text, path)
            if shows(loaded, problem.symptom):
                path.write_text(text, "utf-8")
                return replace(problem, file=path)
    except (scenario_files.Unwritable, scenario_files.ScenarioErrors) as error:
        return replace(problem, unwritten=f"none, for it cannot be written: {error}")
    return replace(problem, unwritten=_NOT_RED)


def _choices(checkup: CheckReport, problem: Problem) -> Iterator[tuple[Scenario, str]]:
    """
    Scenarios of a problem, with what each says of itself, the best first.

    Where other hooks have problems as well, a file with all of them stays red when this hook is mended.
    """
    complaint = problem.symptom
    own = [hook for hook in checkup.place.hooks if hook.command == complaint.hook and hook.args is None]
    others = any(other.symptom.hook != complaint.hook for other in checkup.problems)
    if own and others and complaint.code != NOT_RUN.code:
        yield alone(problem.scenario, *own), f"{complaint.text} {_ALONE}"
    yield problem.scenario, complaint.text
