"""
``--hook-sarif``: what a run found, in a file for viewers of static analysis.

Results are made where a test runs and cross to the controller as JSON; it alone writes the file.

Runs under GitHub Actions: lines in the log, and a file for the summary.

Only the process that prints the report writes; workers of xdist have none.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from os.path import isfile
from pathlib import Path
from typing import Any

import pytest

from pytest_hookharness import __version__
from pytest_hookharness.judging.findings.finding_catalogue import catalogue
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.ci.github import MOST_BYTES, FailureAnnotation, annotation, step_summary
from pytest_hookharness.reports.ci.sarif import SarifLocation, SarifRunInfo, log, of_test, results
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.table import Row

# How the loader begins each of its messages.
_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+):\d+ (?P<said>.*)")


def is_wanted(config: pytest.Config) -> bool:
    """
    Whether GitHub reads what this process prints, or somebody asks for what it would be told.
    """
    if hasattr(config, "workerinput"):
        return False
    return bool(config.getoption("--hook-github") or os.environ.get("GITHUB_ACTIONS") == "true")


def write(terminalreporter: pytest.TerminalReporter, reports: Sequence[Any]) -> None:
    """
    Write an annotation for each failure, and the summary of the step if there is a file for it.
    """
    root = repository(terminalreporter.config)
    # For good: what was run again, or was expected to fail, has other outcomes.
    here = terminalreporter.config.rootpath
    failures = [_failure(report, root, here) for report in reports if report.outcome == "failed"]
    for failure in failures:
        terminalreporter.ensure_newline()
        terminalreporter.write_line(annotation(failure))
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    try:
        # Earlier runs of the same step have written to it.
        room = MOST_BYTES - (Path(file).stat().st_size if Path(file).exists() else 0)
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(step_summary([*_rows(reports)], failures, most=room))
    except OSError as problem:
        said = plain(str(problem), 400)
        terminalreporter.write_line(f"hook harness: the summary of the step could not be written: {said}")


def repository(config: pytest.Config) -> Path:
    """
    The folder that paths are told relative to: the checkout around the run, or else the root of pytest.
    """
    checkout = Path(os.environ.get("GITHUB_WORKSPACE") or config.rootpath).resolve()
    return checkout if config.rootpath.resolve().is_relative_to(checkout) else config.rootpath.resolve()


def _rows(reports: Sequence[Any]) -> Iterator[Row]:
    for report in reports:
        found = dict(getattr(report, "user_properties", ()))
        if "hook_timings" in found and report.outcome != "rerun":
            # What a test in Python plays is promised by the test; one that was skipped says nothing.
            kept = {"passed": True, "failed": False}.get(report.outcome)
            own = {} if "hook_row" in found else {"scenario": report.nodeid, "passed": kept}
            yield {name.removeprefix("hook."): value for name, value in found.items()} | own


def _failure(report: Any, root: Path, here: Path) -> FailureAnnotation:
    crash = getattr(report.longrepr, "reprcrash", None)
    told = report.longreprtext.strip()
    stories = [text for name, text in report.sections if name == "hook story"]
    place, line, headline = report.nodeid.partition("::")[0], 1, told
    if crash is not None:
        place, line, headline = str(crash.path), int(crash.lineno), str(crash.message)
    elif found := _PLACE.match(told):
        place, line, headline = found["file"], int(found["line"]), found["said"]
    # What a Python test asserts says less than what its last simulation showed.
    headline = stories[-1] if stories else headline
    path = (here / place).resolve()
    if not path.is_relative_to(root):
        # It broke in a file of somebody else, where nobody would look for it.
        path, line = (here / report.nodeid.partition("::")[0]).resolve(), 1
    return FailureAnnotation(
        name=report.nodeid,
        file=path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path),
        line=line,
        headline=(headline.splitlines() or ["failed"])[0],
        story="\n".join(stories) or told,
    )


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
    place = SarifLocation(item.path.resolve(), (line or 0) + 1)

    def around(scenario: Scenario) -> SarifRunInfo:
        return SarifRunInfo(item.nodeid, place, root, lambda command: find_script(command, scenario, root))

    found = [result for outcome in outcomes for result in results(outcome, around(outcome.scenario))]
    # All that a scenario promises is among them; else it could not be played.
    return found if found or hasattr(item, "scenario") else [of_test(said, around(outcomes[-1].scenario))]


def find_script(command: str, scenario: Scenario, root: Path) -> SarifLocation | None:
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
                return SarifLocation(path.resolve())
        key = scenario.mark(f"files.{Path(inside)}")
        if scenario.origin is not None and key in scenario.origin.marks:
            return SarifLocation(scenario.origin.file.resolve(), scenario.origin.line(key))
    return None
