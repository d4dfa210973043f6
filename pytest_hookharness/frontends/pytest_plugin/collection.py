"""Scenario files as pytest modules, their items as test functions."""

from __future__ import annotations

import itertools
import os
import re
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from pytest_hookharness import hosts, scenario_files
from pytest_hookharness.frontends import harness, screen
from pytest_hookharness.frontends.pytest_plugin import options
from pytest_hookharness.frontends.replay_command import replay_command
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.verdict_text import first_line, most_severe

# Markers of items that may not be run.
_SKIPPING = frozenset({"skip", "skipif", "xfail"})
# Scopes of fixtures that the items of one file share.
_SHARED_SCOPES = ("module", "package", "session")
_MATERIAL = re.compile(r"\b(?:project|plugin):\s*(\"[^\"]+\"|'[^']+'|[^\"'\s#,}]+)")


class ScenarioFailed(Exception):
    """A scenario failed its expectations."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__(first_line(outcome))


class ScenarioFile(pytest.Module):
    """One scenario file."""

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path) -> ScenarioFile:
        """Return the collector of a file; xdist transfers no node id that is not UTF-8."""
        if _is_utf8(path):
            return cls.from_parent(parent, path=path)
        return cls.from_parent(parent, path=path, nodeid=f"{parent.nodeid}/{path.name!a}")

    def _getobj(self) -> types.ModuleType:
        # A scenario file has no Python module, but pytest keeps fixtures and markers in one.
        return types.ModuleType(self.path.name.split(".")[0])

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one item for each variant and host."""
        if not _is_utf8(self.path):
            raise self.CollectError(f"{str(self.path)!a}: its path is not UTF-8; rename it")
        wanted = self.config.getoption("--hook-host") or []
        if harness.ALL_HOSTS in wanted:
            wanted = [name for name in hosts.names() if "@" in name]
        try:
            scenarios = scenario_files.load(
                _short(self.path),
                hosts=wanted or None,
                known_hosts=hosts.names(),
                known_findings=harness.finding_names(),
                known_behaviours=harness.known_behaviours(self.config.hook),
            )
        except scenario_files.ScenarioErrors as errors:
            raise self.CollectError(str(errors)) from None
        if self.config.getoption("--hook-stress"):
            from pytest_hookharness.campaigns.scenario_from_settings import with_all_trials

            scenarios = tuple(map(with_all_trials, scenarios))
        play = _play
        if self.config.getoption("--hook-live"):
            from pytest_hookharness.frontends.pytest_plugin.live_items import play_live

            play = play_live
        for scenario in scenarios:
            item = ScenarioItem.from_parent(self, name=scenario.id, callobj=play(scenario), scenario=scenario)
            item.add_marker(pytest.mark.hook_scenario(name=scenario.name, host=scenario.host))
            item.among_hosts = len({other.host for other in scenarios}) > 1
            yield item


def _is_utf8(path: Path) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in str(path))


def _short(path: Path) -> Path:
    # Replay commands are pasted into a shell in the folder where pytest was started.
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _play(scenario: Scenario) -> Callable[..., None]:
    def play(_hook_context: Any, request: pytest.FixtureRequest) -> None:
        outcome = _hook_context.play(scenario, request.node.upcoming)
        if not outcome.passed:
            raise ScenarioFailed(outcome)

    return play


class ScenarioItem(pytest.Function):
    """One scenario on one host."""

    scenario: Scenario
    among_hosts: bool = False

    def __init__(self, *, scenario: Scenario, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scenario = scenario
        self._process = os.getpid()
        # From 9.2 on, pytest keeps a structured id, and parses it when it reads its cache. A bracket that
        # does not come from parametrize must be parsed here in the same way, or --lf finds nothing.
        parse = getattr(type(getattr(self, "_id", None)), "parse", None)
        if parse is not None:
            self._id = parse(self.nodeid)

    def upcoming(self) -> Iterator[Scenario]:
        """Yield the scenarios that this process will play next, up to one that must wait for its turn."""
        # An xdist worker does not know which items it will be given.
        if hasattr(self.config, "workerinput") or os.getpid() != self._process:
            return
        items = self.session.items
        for other in itertools.islice(items, items.index(self) + 1, None):
            if not isinstance(other, ScenarioItem) or not self._is_prepared(other):
                return
            yield other.scenario

    def _is_prepared(self, other: ScenarioItem) -> bool:
        """Return whether a later item needs no setup but that of this one, and will certainly run."""
        if any(mark.name in _SKIPPING for mark in other.iter_markers()):
            return False
        # What fixtures of other plugins set up must neither be missing nor be there too early.
        shared = _SHARED_SCOPES if other.parent is self.parent else ("session",)
        own, used = self._fixtureinfo.name2fixturedefs, other._fixtureinfo.name2fixturedefs
        return own == used and all(
            name == "_hook_context" or found[-1].scope in shared for name, found in used.items()
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the line of the scenario's expectation, for editors and summaries."""
        return self.path, _line(self.scenario, "expect") - 1, self.name

    def _tell(self, outcome: Outcome) -> str:
        if options.is_brief(self.config):
            return first_line(outcome)
        from pytest_hookharness.reports.terminal import story

        replay = replay_command(self.scenario, options.settings(self.config))
        verbose = options.is_verbose(self.config)
        return story.story(outcome, width=screen.width(), replay_command=replay, verbose=verbose)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """Return the story of a failure at its line in the file, without a frame of the harness."""
        problem = excinfo.value
        if isinstance(problem, ScenarioFailed):
            outcome = problem.outcome
            broken = most_severe(outcome)
            place = _line(self.scenario, broken.path if broken else "expect")
            return failure(self.path, place, first_line(outcome), self._tell(outcome))
        if self.config.getoption("--hook-live"):
            from pytest_hookharness.frontends.pytest_plugin.live_items import LiveDiffers

            if isinstance(problem, LiveDiffers):
                return failure(self.path, _line(self.scenario, "name"), str(problem), problem.report)
        if isinstance(problem, harness.USER_ERRORS):
            message = plain(str(problem), 1000)
            place = _line(self.scenario, "name")
            return failure(self.path, place, message, f"{self.name} could not be played: {message}")
        return super().repr_failure(excinfo)


def failure(path: Path, line: int, message: str, text: str) -> ReprExceptionInfo:
    """Return a failure as pytest represents it: where it is, in one line and in full."""
    # xdist transfers only these classes from a worker to the controller.
    return ReprExceptionInfo(
        reprtraceback=ReprTraceback([ReprEntryNative([text + "\n"])], None, "native"),
        reprcrash=ReprFileLocation(str(path), line, message),
    )


def _line(scenario: Scenario, path: str) -> int:
    return scenario.origin.line(scenario.mark(path)) if scenario.origin is not None else 1


def scenario_folders(config: pytest.Config) -> list[str]:
    """Return what is collected if no path is named; raise ``pytest.UsageError`` if none exists."""
    folders = [config.rootpath / name for name in config.getini("hook_scenario_paths")]
    found = [str(folder) for folder in folders if folder.exists()]
    if not found:
        raise pytest.UsageError(
            f"--hook-scenarios: none of the scenario folders exists: {', '.join(map(str, folders))}; "
            "name a folder or file on the command line, or set hook_scenario_paths"
        )
    return found


def is_material(folder: Path) -> bool:
    """Return whether a folder is the project or plugin of a scenario next to it."""
    return any(folder.resolve() in _material(file) for file in folder.parent.glob("*.scenario.yaml"))


def _material(file: Path) -> frozenset[Path]:
    try:
        scenarios = scenario_files.load(file)
    except scenario_files.ScenarioErrors:
        # The error is reported when the file is collected. A search of its text finds the folders.
        found = _MATERIAL.findall(file.read_text("utf-8", "replace")) if file.is_file() else []
        return frozenset((file.parent / name.strip("\"'")).resolve() for name in found)
    named = (folder for scenario in scenarios for folder in (scenario.project, scenario.plugin))
    return frozenset(folder.resolve() for folder in named if folder is not None)
