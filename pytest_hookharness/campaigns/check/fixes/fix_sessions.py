"""The sessions that try a fix, here and on the other hosts that read the same settings."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import STOPS
from pytest_hookharness.campaigns.check import sessions as checkups
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.fixes.draft_files import DraftFiles
from pytest_hookharness.campaigns.check.fixes.fix_candidates import Candidate
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.execution.workspace.project_files import copy_folder
from pytest_hookharness.model.checkup import CheckSession, HookSet, Problem
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, RunCommand, Stop
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_AWAY: tuple[Act, ...] = (
    FIRST_PROMPT,
    RunCommand(command="mkdir away && cd away"),
    RunCommand(command="true"),
    Edit(file="away/notes.txt", text="text\n"),
    Stop(),
)


def plan_with(run: CheckRun, problem: Problem, candidate: Candidate) -> Iterator[CheckSession]:
    """Yield the sessions that try a change; a limiter is tried with every behaviour of an agent."""
    if problem.scenario.script.acts and not candidate.limits:
        scenario = problem.scenario
        yield CheckSession(title="the session that showed it", scenario=scenario, ends=False)
    if candidate.away:
        scenario = scenario_of(run.place, _AWAY)
        yield CheckSession(title="an agent in another folder", scenario=scenario, ends=False)
    usual = checkups.plan_usual(run.place, run.settings.seed)
    if not candidate.limits:
        yield usual
        return
    for session in (usual, *checkups.plan_behaviours(run.place)):
        yield with_checks_of(problem, session)


def with_checks_of(problem: Problem, session: CheckSession) -> CheckSession:
    """Return a session with the files and failing checks that make the hooks of a problem refuse."""
    scenario, shown = session.scenario, problem.scenario
    files, commands = {**shown.files, **scenario.files}, {**scenario.commands, **shown.commands}
    return replace(session, scenario=replace(scenario, files=files, commands=commands))


def plan_elsewhere(place: HookSet, candidate: Candidate) -> Iterator[CheckSession]:
    """Yield sessions of every other host, and other version of the host, that reads the changed settings."""
    for file in (name for name in candidate.files.changes if name in place.files and not place.plugin):
        for profile in hosts.known():
            newest = profile.id == hosts.find(place.host).id
            if newest or not any(fnmatchcase(f"workspace/{file}", one) for one in profile.settings_paths):
                continue
            try:
                (found,) = find_hook_sets(place.root / file, profile.id)
            except SimulationError:
                continue
            there = replace(found, host=profile.id, git=place.git)
            if checkups.roles(there) & STOPS:
                yield checkups.plan_usual(there, 0)
                yield from checkups.plan_behaviours(there)


@contextmanager
def changed_project(place: HookSet, files: DraftFiles) -> Generator[Callable[[Scenario], Scenario]]:
    """Yield what puts changed files into a scenario."""
    if not place.plugin:
        yield files.put_into
        return
    with TemporaryDirectory(prefix="hookharness-fix-") as folder:
        root = Path(folder, place.root.name)
        root.mkdir()
        copy_folder(place.root, root)
        files.write_below(root)
        yield lambda scenario: replace(scenario, plugin=root)


def with_change(
    session: CheckSession, change: Callable[[Scenario], Scenario], place: str = ""
) -> CheckSession:
    """Return a session whose project has a change, in a folder of another name if one is given."""
    scenario = change(session.scenario)
    return replace(session, scenario=replace(scenario, place=place or scenario.place))
