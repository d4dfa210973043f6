"""
Problems of a check as scenario files.

A file is written only if it loads, fails its expectation and shows the problem.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pytest_hookharness import scenario_files
from pytest_hookharness.campaigns.check.session_scenario import alone
from pytest_hookharness.campaigns.check.static.correctable_hooks import rename_hooks, right_commands
from pytest_hookharness.execution.paths import WorkspaceError, remove_tree
from pytest_hookharness.execution.user_files import create_file
from pytest_hookharness.execution.workspace.project_files import copy_folder
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.judging.findings.finding_catalogue import NOT_RUN
from pytest_hookharness.model.checkup import CheckReport, CheckSession, HookSet, Problem, Symptom
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import BudgetEnded
from pytest_hookharness.scenario_files.schema.texts import REPOSITORY, find_folder
from pytest_hookharness.scenario_files.writer import Unwritable, write

if TYPE_CHECKING:
    from pytest_hookharness.campaigns.check.check_run import CheckRun

# Plays a scenario; returns whether it fails its expectation and shows a symptom.
Shows = Callable[[Scenario, Symptom], bool]
SUFFIX = ".scenario.yaml"
_COPY = "project"
_ALONE = (
    "Only this hook is configured, because others have problems too; if its command changes, change it here."
)
_NO_TIME = "none, because the time budget ended before one was seen to show it; give more with --budget"
_NOT_RED = "none, because a scenario of it would pass; the command above shows it again"
_NEEDS_EXPECT = (
    "none, because it would pass unless you write `expect: {}` at the move; the command above shows it again"
)
# The decision that a scenario must expect at the move; only the author of the guard knows it.
_EXPECTED = {"BYPASS": "deny", "MISSED-SECRET": "deny", "UNASKED": "ask", "OVERBLOCK": "allow"}


def export(checkup: CheckReport, folder: Path, shows: Shows) -> CheckReport:
    """Write a scenario file for each problem; return the report with the files, or with why there is none."""
    if not checkup.problems:
        return checkup
    if checkup.interrupted:
        return _unwritten(checkup, "none, because the check was interrupted")
    copied = not (folder / _COPY).exists()
    try:
        project = _project(checkup.place, folder)
        filed = [_file(checkup, problem, folder, project, shows) for problem in checkup.problems]
        if copied and project == _COPY and not any(problem.file for problem in filed):
            # Nothing names the copy, and nobody would know what it is for.
            remove_tree(folder / _COPY)
    except (OSError, WorkspaceError) as error:
        # The check took minutes, so its report must not be lost because of a file.
        return _unwritten(checkup, f"none, because {folder} cannot be used: {error}")
    return replace(checkup, problems=tuple(filed))


def shows(run: CheckRun, scenario: Scenario, wanted: Symptom) -> bool:
    """
    Return whether a scenario fails its expectation and shows a given symptom, within the time of its check.

    Raises:
        BudgetEnded: The time ended before that was known.
    """
    (played,) = run.try_out([CheckSession(title="what is written", scenario=scenario)], "a scenario")
    outcome = played.outcome
    found = find_symptoms(outcome) if outcome is not None and not outcome.passed else []
    # A session may run another command in the place of one that does not find its script.
    place = run.place.found or run.place
    causes = {wanted.cause, rename_hooks(wanted, right_commands(place)).cause}
    if any(one.cause in causes for one in found):
        return True
    if not run.seconds_left():
        raise BudgetEnded("the scenario that was written was played")
    return False


def _unwritten(checkup: CheckReport, why: str) -> CheckReport:
    return replace(checkup, problems=tuple(replace(problem, unwritten=why) for problem in checkup.problems))


def _project(hook_set: HookSet, folder: Path) -> str:
    """Return how scenario files in a folder name the project: as their repository, a path, or a copy."""
    whole = folder.resolve()
    if find_folder(REPOSITORY, whole, confined=True) == hook_set.root:
        return REPOSITORY
    if hook_set.root.is_relative_to(whole):
        path = os.path.relpath(hook_set.root, whole)
        return f"./{path}" if path == REPOSITORY else path
    if not (whole / _COPY).exists():
        _copy(hook_set.root, whole)
    return _COPY


def _copy(project: Path, folder: Path) -> None:
    """Copy a project into a folder. If the folder is part of the project, it is left out of the copy."""
    with (
        TemporaryDirectory(prefix="hookharness-check-") as base,
        # In the same folder, so that it gets its name in one step: the next check would use half a copy.
        TemporaryDirectory(prefix=".hookharness-check-", dir=folder) as beside,
    ):
        fresh = Path(base, _COPY)
        fresh.mkdir()
        copy_folder(project, fresh, {folder})
        shutil.move(fresh, beside)
        Path(beside, _COPY).rename(folder / _COPY)


def _file(checkup: CheckReport, problem: Problem, folder: Path, project: str, shows: Shows) -> Problem:
    if not problem.scenario.script.acts:
        return replace(problem, unwritten="none, because the settings or the script show it, not a session")
    name = f"{checkup.place.host}-{problem.id}"
    path = folder / f"{name}{SUFFIX}"
    taken = replace(problem, unwritten=f"none, because {path} exists already; move it away")
    if path.exists():
        return taken
    try:
        for scenario, why in _choices(checkup, problem):
            text = write(scenario, name=name, why=why, folder=project)
            (loaded,) = scenario_files.loads(text, path)
            if shows(loaded, problem.symptom):
                create_file(path, text)
                return replace(problem, file=path)
    except FileExistsError:
        return taken
    except BudgetEnded:
        return replace(problem, unwritten=_NO_TIME)
    except (Unwritable, scenario_files.ScenarioErrors) as error:
        return replace(problem, unwritten=f"none, because it cannot be written: {error}")
    expected = _EXPECTED.get(problem.symptom.kind)
    return replace(problem, unwritten=_NEEDS_EXPECT.format(expected) if expected else _NOT_RED)


def _choices(checkup: CheckReport, problem: Problem) -> Iterator[tuple[Scenario, str]]:
    """
    Yield scenarios that may show a problem, each with its description, the best first.

    If other hooks have problems too, a scenario with all hooks would still fail when this one is fixed.
    """
    symptom, lent = problem.symptom, checkup.place.lent_env
    # What is lent of somebody's HOME is not there on other machines.
    env = {name: value for name, value in problem.scenario.env.items() if name not in lent}
    scenario = replace(problem.scenario, env=env)
    own = [hook for hook in checkup.place.hooks if hook.command == symptom.hook and hook.args is None]
    others = any(other.symptom.hook != symptom.hook for other in checkup.problems)
    if own and others and symptom.code != NOT_RUN.code:
        yield alone(scenario, *own), f"{symptom.text} {_ALONE}"
    yield scenario, symptom.text
