"""
``--hook-sarif``: findings as a SARIF file. ``--hook-github``: annotations and a summary for GitHub Actions.

The results of a test are made where it runs, and an xdist worker sends them to the controller as JSON. Only
the controller writes.
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

# The beginning of every message of the loader.
_LOCATED = re.compile(r"(?P<file>.+?):(?P<line>\d+):\d+ (?P<message>.*)")


def write(terminalreporter: pytest.TerminalReporter, reports: Sequence[Any]) -> None:
    """Write an annotation for each failure, and the step summary if there is a file for it."""
    root = repository(terminalreporter.config)
    # Reruns and expected failures have other outcomes than `failed`.
    here = terminalreporter.config.rootpath
    failures = [_failure(report, root, here) for report in reports if report.outcome == "failed"]
    for failure in failures:
        terminalreporter.ensure_newline()
        terminalreporter.write_line(annotation(failure))
    if not (file := os.environ.get("GITHUB_STEP_SUMMARY")):
        return
    try:
        # Earlier runs of the same step may have written to it.
        left = MOST_BYTES - (Path(file).stat().st_size if Path(file).exists() else 0)
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(step_summary([*_rows(reports)], failures, most=left))
    except OSError as problem:
        message = plain(str(problem), 400)
        terminalreporter.write_line(f"hook harness: the step summary could not be written: {message}")


def repository(config: pytest.Config) -> Path:
    """Return the folder that printed paths are relative to: the checkout, or pytest's root folder."""
    checkout = Path(os.environ.get("GITHUB_WORKSPACE") or config.rootpath).resolve()
    return checkout if config.rootpath.resolve().is_relative_to(checkout) else config.rootpath.resolve()


def _rows(reports: Sequence[Any]) -> Iterator[Row]:
    for report in reports:
        found = dict(getattr(report, "user_properties", ()))
        if "hook_timings" in found and report.outcome != "rerun":
            # The expectations of a Python test are its own; a skipped test says nothing.
            passed = {"passed": True, "failed": False}.get(report.outcome)
            own = {} if "hook_row" in found else {"scenario": report.nodeid, "passed": passed}
            yield {name.removeprefix("hook."): value for name, value in found.items()} | own


def _failure(report: Any, root: Path, here: Path) -> FailureAnnotation:
    text = report.longreprtext.strip()
    stories = [story for name, story in report.sections if name == "hook story"]
    place, line, headline = _locate(report, text)
    # The last simulation says more than the assertion of a Python test.
    headline = stories[-1] if stories else headline
    path = (here / place).resolve()
    if not path.is_relative_to(root):
        # The test failed in a file outside the repository, which GitHub cannot show.
        path, line = (here / report.nodeid.partition("::")[0]).resolve(), 1
    return FailureAnnotation(
        name=report.nodeid,
        file=path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path),
        line=line,
        headline=(headline.splitlines() or ["failed"])[0],
        story="\n".join(stories) or text,
    )


def _locate(report: Any, text: str) -> tuple[str, int, str]:
    """Return the file, the line and the message of a failure."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.path), int(crash.lineno), str(crash.message)
    if found := _LOCATED.match(text):
        return found["file"], int(found["line"]), found["message"]
    return report.nodeid.partition("::")[0], 1, text


_VARIABLE = re.compile(r"^\$\{?\w+\}?/+")
_SUFFIX = ".scenario.yaml"
NAME = "hook_sarif"


def register(config: pytest.Config, named: str) -> None:
    """
    Have the SARIF file written at the end of the run, unless this is an xdist worker.

    Raises:
        pytest.UsageError: Its folder does not exist.
    """
    file = config.invocation_params.dir / named
    if hasattr(config, "workerinput"):
        return
    if not named.strip() or file.is_dir():
        raise pytest.UsageError(f"--hook-sarif: {named!r} is not a file; name one, such as hooks.sarif")
    if not file.parent.is_dir():
        raise pytest.UsageError(
            f"--hook-sarif: folder {file.parent} does not exist; make it, or name another one"
        )
    config.pluginmanager.register(SarifFile(file), "hook-sarif-file")


class SarifFile:
    """Collects the results in the reports of a run, and writes the SARIF file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._found: list[dict[str, Any]] = []
        self._errors: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the error of a scenario file that could not be read."""
        if report.failed and report.nodeid.endswith(_SUFFIX):
            self._errors.append(report.longreprtext)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the results of a failed test, or why it has none."""
        if report.outcome != "failed":
            return
        found: dict[str, Any] = dict(report.user_properties)
        self._found += found.get(NAME, ())
        if found.get("hook_error") or (report.when != "call" and f"{_SUFFIX}::" in report.nodeid):
            self._errors.append(f"{report.nodeid}: {report.longreprtext}")

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the file."""
        version, status = __version__, int(exitstatus)
        whole = log(self._found, catalogue(), version=version, status=status, trouble=self._errors)
        self._file.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


def sarif_results(item: pytest.Item, outcomes: Sequence[Outcome], message: str) -> list[dict[str, Any]]:
    """Return the SARIF results of a failed test; its own message if nothing is wrong with its simulations."""
    root = repository(item.config)
    _, line, _ = item.location
    place = SarifLocation(item.path.resolve(), (line or 0) + 1)

    def info(scenario: Scenario) -> SarifRunInfo:
        return SarifRunInfo(item.nodeid, place, root, lambda command: find_script(command, scenario, root))

    found = [result for outcome in outcomes for result in results(outcome, info(outcome.scenario))]
    # A scenario without results could not be played, which is an error and not a result.
    if found or hasattr(item, "scenario"):
        return found
    return [of_test(message, SarifRunInfo(item.nodeid, place, root, lambda _: None))]


def find_script(command: str, scenario: Scenario, root: Path) -> SarifLocation | None:
    """Return where the script of a command is in the repository: in the project, or in the scenario file."""
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
            exists = isfile(path)  # noqa: PTH113 -- pathlib raises where a word is too long for a name
            if exists and path.resolve().is_relative_to(root):
                return SarifLocation(path.resolve())
        key = scenario.mark(f"files.{Path(inside)}")
        if scenario.origin is not None and key in scenario.origin.marks:
            return SarifLocation(scenario.origin.file.resolve(), scenario.origin.line(key))
    return None
