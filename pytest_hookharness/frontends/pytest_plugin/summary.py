"""
What a pytest run prints about its simulations.

An xdist worker sends it to the controller as JSON in ``user_properties``.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_hookharness.frontends.output import incident_files
from pytest_hookharness.frontends.pytest_plugin import ci_files, options, update_files
from pytest_hookharness.frontends.pytest_plugin.test_context import TestResults
from pytest_hookharness.frontends.replay_command import TraceItem, replay_command, stress_command
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.reports.redaction import redacted
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal import (
    durations,
    host_matrix,
    host_paths,
    story,
    stress_table,
    table,
)
from pytest_hookharness.reports.terminal.turns import write_response

# A test that plays hundreds of simulations still needs a readable report.
MOST_STORIES = 5
# Without --hook-durations: the number of slowest hooks that are printed, and their least duration in seconds.
USUAL, LEAST = 5, 0.1


def enrich(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport, seen: TestResults
) -> None:
    """
    Add to the report of a test: its row of the table and, for a failed Python test, the stories.
    """
    is_scenario = hasattr(item, "scenario")
    # A scenario fails only by its expectations; any other exception is an error of the harness.
    broken = call.excinfo is not None and call.excinfo.typename == "ScenarioFailed"
    if is_scenario and report.failed and not broken:
        report.user_properties.append(("hook_error", True))
    if report.failed:
        for response in seen.responses[-MOST_STORIES:]:
            report.sections.append(("hook fire", write_response(response)))
    outcomes = seen.outcomes
    if not outcomes:
        return
    if seen.seconds is not None:
        report.duration = seen.seconds
    if is_scenario:
        report.user_properties.append(("hook_row", table.row(outcomes[-1])))
        if outcomes[-1].varied:
            report.user_properties.append(("hook_varied", list(outcomes[-1].varied)))
        if item.config.getoption("--hook-host") or getattr(item, "among_hosts", False):
            report.user_properties.append(("hook_way", host_paths.way(outcomes[-1])))
    report.user_properties.append(("hook_timings", durations.rows(outcomes)))
    if is_scenario and item.config.getoption("--hook-update"):
        report.user_properties.append((update_files.PROPERTY, update_files.result_of(item, outcomes[-1])))
    properties = [(f"hook.{name}", value) for name, value in table.properties(outcomes[-1]).items()]
    report.user_properties.extend(properties)
    # The JUnit report has the item's properties at teardown; after a rerun, only the last may remain.
    others = (pair for pair in item.user_properties if not pair[0].startswith("hook."))
    item.user_properties[:] = [*others, *properties]
    if report.failed and not is_scenario:
        for outcome in outcomes[-MOST_STORIES:]:
            report.sections.append(
                (
                    "hook story",
                    story.story(outcome, again=TraceItem.of_test(item.nodeid, outcome.seed).replay),
                )
            )
    if report.failed and item.config.getoption("--hook-stress"):
        report.sections.append(("hook stress", _table(item, outcomes[-1])))
    if report.failed and item.config.getoption("--hook-sarif") is not None:
        message = "" if call.excinfo is None else call.excinfo.exconly().partition("\n")[0]
        report.user_properties.append((ci_files.NAME, ci_files.sarif_results(item, outcomes, message)))
    folder = item.config.getoption("--hook-incident-dir")
    if report.failed and folder is not None:
        report.user_properties.append(("hook_incident", _write_incident(item, Path(folder), seen)))
    if report.failed:
        for outcome in outcomes:
            if outcome.kept_workspace:
                report.sections.append(("hook workspace", f"kept in {plain(outcome.kept_workspace, 400)}"))


def _table(item: pytest.Item, outcome: Outcome) -> str:
    settings = options.settings(item.config)
    return stress_table.table(
        outcome, lambda words: stress_command(words, outcome.scenario, settings), width=160
    )


def _write_incident(item: pytest.Item, folder: Path, seen: TestResults) -> str:
    outcome = incident_files.most_informative(seen.outcomes)
    by_pytest = TraceItem.of_test(item.nodeid, outcome.seed).replay
    replay = replay_command(outcome.scenario, options.settings(item.config)) or by_pytest
    name = redacted(item.nodeid, incident_files.secrets_of(outcome.scenario))
    return str(incident_files.write_in(folder, name, incident_files.compose(outcome, replay, seen.responses)))


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
    """
    Write the tables and lines about the simulations of a run.
    """
    found = [dict(getattr(report, "user_properties", ())) for report in reports]
    played = [properties for properties in found if "hook_row" in properties]
    if played:
        _write_table(terminalreporter, played)
    _write_durations(terminalreporter, [row for each in found for row in each.get("hook_timings", ())])
    if reports and ci_files.is_wanted(terminalreporter.config):
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
    for line in table.render(rows, width=width).splitlines():
        terminalreporter.write_line(line)
    if terminalreporter.verbosity > 0:
        _write_varied(terminalreporter, properties)
    runs = [
        host_matrix.HostRun(found["hook_row"], found["hook_way"])
        for found in properties
        if "hook_way" in found
    ]
    compared = host_matrix.render(runs, width=width)
    if compared:
        terminalreporter.section("hosts compared")
    for line in compared.splitlines():
        terminalreporter.write_line(line)


def _write_durations(terminalreporter: pytest.TerminalReporter, rows: Sequence[durations.Row]) -> None:
    most = terminalreporter.config.getoption("--hook-durations")
    least = LEAST if most is None and terminalreporter.verbosity <= 0 else 0.0
    lines = durations.render(durations.read(rows), most=USUAL if most is None else most, least=least)
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
    terminalreporter.section("interrupted simulation")
    for line in story.story(outcome).splitlines():
        terminalreporter.write_line(line)
