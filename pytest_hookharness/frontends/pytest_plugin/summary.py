"""
What a pytest run prints about its simulations.

An xdist worker sends it to the controller as JSON in ``user_properties``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import Any

import pytest

from pytest_hookharness.frontends.pytest_plugin.test_context import TestResults
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal import durations, table

# Without --hook-durations: the number of slowest hooks that are printed, and their least duration in seconds.
USUAL, LEAST = 5, 0.1


def enrich(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport, seen: TestResults
) -> None:
    """Add to the report of a test what the tables need and, if it failed, its stories."""
    is_scenario = hasattr(item, "scenario")
    # A scenario fails only by its expectations; any other exception is an error of the harness.
    broken = call.excinfo is not None and call.excinfo.typename == "ScenarioFailed"
    if is_scenario and report.failed and not broken:
        report.user_properties.append(("hook_error", True))
    if seen.outcomes:
        _add_properties(item, report, seen)
    if report.failed:
        from pytest_hookharness.frontends.pytest_plugin import failure_report

        failure_report.attach(item, call, report, seen)


def _add_properties(item: pytest.Item, report: pytest.TestReport, seen: TestResults) -> None:
    """Add the rows of the tables, as JSON."""
    last = seen.outcomes[-1]
    if seen.seconds is not None:
        report.duration = seen.seconds
    if hasattr(item, "scenario"):
        report.user_properties.append(("hook_row", table.row(last)))
        if last.varied:
            report.user_properties.append(("hook_varied", list(last.varied)))
        if item.config.getoption("--hook-host") or getattr(item, "among_hosts", False):
            from pytest_hookharness.reports.terminal import host_paths

            report.user_properties.append(("hook_way", host_paths.path_of(last)))
        if item.config.getoption("--hook-update"):
            from pytest_hookharness.frontends.pytest_plugin import update_files

            report.user_properties.append((update_files.PROPERTY, update_files.result_of(item, last)))
    report.user_properties.append(("hook_timings", durations.rows(seen.outcomes)))
    properties = [(f"hook.{name}", value) for name, value in table.properties(last).items()]
    report.user_properties.extend(properties)
    # The JUnit report has the item's properties at teardown; after a rerun, only the last may remain.
    others = (pair for pair in item.user_properties if not pair[0].startswith("hook."))
    item.user_properties[:] = [*others, *properties]


def _write_incidents_line(terminalreporter: pytest.TerminalReporter) -> None:
    paths = {
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "hook_incident"
    }
    folder = terminalreporter.config.getoption("--hook-incident-dir")
    number = "1 incident report" if len(paths) == 1 else f"{len(paths)} incident reports"
    terminalreporter.write_line(f"hook harness: {number} written to {plain(str(folder), 400)}")


def write(
    terminalreporter: pytest.TerminalReporter, reports: Sequence[Any], interrupted: Outcome | None
) -> None:
    """Write the tables and lines about the simulations of a run."""
    found = [dict(getattr(report, "user_properties", ())) for report in reports]
    played = [properties for properties in found if "hook_row" in properties]
    if played:
        _write_table(terminalreporter, played)
    _write_durations(terminalreporter, [row for each in found for row in each.get("hook_timings", ())])
    if reports and _is_for_github(terminalreporter.config):
        from pytest_hookharness.frontends.pytest_plugin import ci_files

        ci_files.write(terminalreporter, reports)
    if terminalreporter.config.getoption("--hook-incident-dir") is not None:
        _write_incidents_line(terminalreporter)
    traces = terminalreporter.config.getoption("--hook-trace-dir")
    if traces is not None:
        where = plain(str(traces), 400)
        terminalreporter.write_line(
            f"hook harness: trace files are in {where}; hookharness report reads them"
        )
    if interrupted is not None:
        _write_interrupted(terminalreporter, interrupted)


def _write_table(terminalreporter: pytest.TerminalReporter, properties: Sequence[dict[str, Any]]) -> None:
    rows = [found["hook_row"] for found in properties]
    terminalreporter.section("hook scenarios")
    # A file or a CI log has no width that names must fit.
    width = shutil.get_terminal_size().columns if terminalreporter.isatty else 1000
    for line in table.render_table(rows, width=width).splitlines():
        terminalreporter.write_line(line)
    if terminalreporter.verbosity > 0:
        _write_varied(terminalreporter, properties)
    if any("hook_way" in found for found in properties):
        _write_comparison(terminalreporter, properties, width)


def _write_comparison(
    terminalreporter: pytest.TerminalReporter, properties: Sequence[dict[str, Any]], width: int
) -> None:
    from pytest_hookharness.reports.terminal import host_matrix

    runs = [
        host_matrix.HostRun(found["hook_row"], found["hook_way"])
        for found in properties
        if "hook_way" in found
    ]
    compared = host_matrix.render_matrix(runs, width=width)
    if compared:
        terminalreporter.section("hosts compared")
    for line in compared.splitlines():
        terminalreporter.write_line(line)


def _write_durations(terminalreporter: pytest.TerminalReporter, rows: Sequence[durations.Row]) -> None:
    most = terminalreporter.config.getoption("--hook-durations")
    least = LEAST if most is None and terminalreporter.verbosity <= 0 else 0.0
    lines = durations.render_durations(
        durations.read(rows), most=USUAL if most is None else most, least=least
    )
    if lines:
        terminalreporter.section("slowest hooks")
    for line in lines:
        terminalreporter.write_line(line)


def _write_varied(terminalreporter: pytest.TerminalReporter, properties: Sequence[dict[str, Any]]) -> None:
    for found in properties:
        row = found["hook_row"]
        for sentence in found.get("hook_varied", ()):
            name = f"{plain(row['scenario'], 100)} on {plain(row['host'], 40)}"
            terminalreporter.write_line(f"{name}: {plain(sentence, 400)}")


def _write_interrupted(terminalreporter: pytest.TerminalReporter, outcome: Outcome) -> None:
    from pytest_hookharness.reports.terminal import story

    terminalreporter.section("interrupted simulation")
    for line in story.story(outcome).splitlines():
        terminalreporter.write_line(line)


def _is_for_github(config: pytest.Config) -> bool:
    """Return whether GitHub Actions reads the output of this process, or the option is given."""
    if hasattr(config, "workerinput"):
        return False
    return bool(config.getoption("--hook-github") or os.environ.get("GITHUB_ACTIONS") == "true")
