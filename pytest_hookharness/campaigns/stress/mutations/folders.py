"""Mutations of folders: where hooks are started, and where the workspace lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.stress.first_run import HookTraits, ReplayScript
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import VaryRequest, WorkingFolder
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario


@dataclass(frozen=True, slots=True)
class StartedIn(Mutation, family="folder", fault=True):
    """Hooks that are started in another folder."""

    words: str
    folder: WorkingFolder

    def __str__(self) -> str:
        return f"started in {self.words}"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, cwd=self.folder)


@dataclass(frozen=True, slots=True)
class InWorktree(Mutation, family="folder", fault=True):
    """A session in a linked worktree of the repository."""

    worktree: str = "elsewhere"

    def __str__(self) -> str:
        return "in a linked worktree"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, worktree=self.worktree)


@dataclass(frozen=True, slots=True)
class Placed(Mutation, family="path", fault=True):
    """A workspace whose path ends with a folder that breaks commands which do not quote it."""

    words: str
    folder: str

    def __str__(self) -> str:
        return f"{self.words} in the path of the workspace"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, place=self.folder)


_PLACES = (
    Placed("a space", "my project"),
    Placed("a quote", "it's"),
    Placed("a dollar sign", "a$HOME"),
    Placed("a line end", "two\nlines"),
    Placed("a letter beyond ASCII", "h\u00e4user"),
)


def plan(request: VaryRequest, outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    """Yield other working folders, a linked worktree, and paths with unusual characters."""
    if request.family == "faults":
        yield from _folders(outcome)
        yield from _PLACES


def _folders(outcome: Outcome) -> Iterator[Mutation | NotTried]:
    scenario = outcome.scenario
    if scenario.cwd is not None:
        yield NotTried("folder", "the scenario names one itself (`cwd`)", "started in another folder")
        return
    yield StartedIn("a sub-directory", WorkingFolder("a-sub-directory"))
    yield StartedIn("another folder", WorkingFolder("/"))
    yield StartedIn("a folder that is gone", WorkingFolder("a-folder", removed=True))
    if scenario.git and not scenario.worktree and hosts.find(scenario.host).worktrees is not None:
        yield InWorktree()
    else:
        why = "it takes `git: true`, and a host that starts sessions in one"
        yield NotTried("folder", why, str(InWorktree()))
