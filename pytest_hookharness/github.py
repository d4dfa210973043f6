"""
This module is concerned with runs under GitHub Actions: lines in the log, and a file for the summary.

Top floor. Only the process that prints the report writes; workers of xdist have none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_hookharness.reports.github import MOST_BYTES, Failure, annotation, step_summary
from pytest_hookharness.reports.plain import plain
from pytest_hookharness.reports.table import Row

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


def _failure(report: Any, root: Path, here: Path) -> Failure:
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
    return Failure(
        name=report.nodeid,
        file=path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path),
        line=line,
        headline=(headline.splitlines() or ["failed"])[0],
        story="\n".join(stories) or told,
    )
