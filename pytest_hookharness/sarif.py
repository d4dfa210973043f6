"""
This module is concerned with ``--hook-sarif``: what a run found, in a file for viewers of static analysis.

Top floor. Results are made where a test runs and cross to the controller as JSON; it alone writes the file.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from os.path import isfile
from pathlib import Path
from typing import Any

import pytest

from pytest_hookharness import __version__
from pytest_hookharness.github import repository
from pytest_hookharness.judging.codes import catalogue
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.sarif import Place, Surroundings, log, of_test, results

_VARIABLE = re.compile(r"^\$\{?\w+\}?/+")
_SUFFIX = ".scenario.yaml"
NAME = "hook_sarif"


def register(config: pytest.Config, named: str) -> None:
    """
    Have the file written at the end of the run, unless this is a worker of xdist.

    Raises:
        pytest.UsageError: There is no folder for it.
    """
    file = config.invocation_params.dir / named
    if hasattr(config, "workerinput"):
        return
    if not named.strip() or file.is_dir():
        raise pytest.UsageError(f"--hook-sarif: {named!r} is no file; name one, such as hooks.sarif")
    if not file.parent.is_dir():
        raise pytest.UsageError(
            f"--hook-sarif: there is no folder {file.parent}; make it, or name another one"
        )
    config.pluginmanager.register(SarifFile(file), "hook-sarif-file")


class SarifFile:
    """
    Gathers what the reports of a run carry.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._found: list[dict[str, Any]] = []
        self._trouble: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """
        Take note of a scenario file that could not be read.
        """
        if report.failed and report.nodeid.endswith(_SUFFIX):
            self._trouble.append(report.longreprtext)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """
        Take the results of a test that failed for good, or note why there are none.
        """
        if report.outcome != "failed":
            return
        found: dict[str, Any] = dict(report.user_properties)
        self._found += found.get(NAME, ())
        if found.get("hook_error") or (report.when != "call" and f"{_SUFFIX}::" in report.nodeid):
            self._trouble.append(f"{report.nodeid}: {report.longreprtext}")

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """
        Write the file.
        """
        whole = log(
            self._found,
            catalogue(),
            version=__version__,
            status=int(exitstatus),
            trouble=self._trouble,
        )
        self._file.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


def told(item: pytest.Item, outcomes: Sequence[Outcome], said: str) -> list[dict[str, Any]]:
    """
    The results of a test that failed; what it said itself if nothing is wrong about its simulations.
    """
    root = repository(item.config)
    _, line, _ = item.location
    place = Place(item.path.resolve(), (line or 0) + 1)

    def around(scenario: Scenario) -> Surroundings:
        return Surroundings(item.nodeid, place, root, lambda command: find_script(command, scenario, root))

    found = [result for outcome in outcomes for result in results(outcome, around(outcome.scenario))]
    # All that a scenario promises is among them; else it could not be played.
    return found if found or hasattr(item, "scenario") else [of_test(said, around(outcomes[-1].scenario))]


def find_script(command: str, scenario: Scenario, root: Path) -> Place | None:
    """
    Where the script of a command lies in the repository: beside the test, in the project, or in the scenario.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    folders = [folder for folder in (scenario.project, scenario.plugin) if folder is not None]
    for word in words:
        inside = _VARIABLE.sub("", word)
        if not inside.strip("./"):
            continue
        for path in [Path(word)] if word.startswith("/") else [folder / inside for folder in folders]:
            there = isfile(path)  # noqa: PTH113 -- pathlib raises where a word is too long for a name
            if there and path.resolve().is_relative_to(root):
                return Place(path.resolve())
        key = scenario.mark(f"files.{Path(inside)}")
        if scenario.origin is not None and key in scenario.origin.marks:
            return Place(scenario.origin.file.resolve(), scenario.origin.line(key))
    return None
