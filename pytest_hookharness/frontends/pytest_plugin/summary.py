"""
What a pytest run reports about its simulations: in the report of each test, and at the end.

An xdist worker sends it to the controller as JSON in ``user_properties``. What only a failed test needs is
imported when one fails.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_hookharness.frontends import screen
from pytest_hookharness.frontends.pytest_plugin import options
from pytest_hookharness.frontends.pytest_plugin.fixtures import TestResults
from pytest_hookharness.frontends.replay_command import TraceItem, replay_command, stress_command
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.reports.safe_text import plain

if TYPE_CHECKING:
    from pytest_hookharness.model.outcome import Outcome
    from pytest_hookharness.reports.terminal import table

# Without --hook-durations: the number of slowest hooks that are printed, and their least duration in seconds.
USUAL, LEAST = 5, 0.1
# A test that plays hundreds of simulations still needs a readable report.
MOST_STORIES = 5


def enrich(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport, seen: TestResults
) -> None:
    """Add to the report of a test what the tables need and, if it failed, its stories."""
    # A scenario fails only by its expectations; any other exception is an error of the harness.
    broken = call.excinfo is not None and call.excinfo.typename in ("ScenarioFailed", "LiveDiffers")
    if hasattr(item, "scenario") and report.failed and not broken:
        report.user_properties.append(("hook_error", True))
    if seen.outcomes:
        _add_properties(item, report, seen)
    if report.failed:
        _add_failure(item, call, report, seen)


def _add_properties(item: pytest.Item, report: pytest.TestReport, seen: TestResults) -> None:
    """Add the rows of the tables, as JSON."""
    from pytest_hookharness.reports.terminal import table

    last = seen.outcomes[-1]
    if seen.seconds is not None:
        report.duration = seen.seconds
    if hasattr(item, "scenario"):
        report.user_properties.append(("hook_row", table.row(last)))
        if last.varied:
            report.user_properties.append(("hook_varied", list(last.varied)))
        if item.config.getoption("--hook-host") or getattr(item, "among_hosts", False):
            from pytest_hookharness.reports.terminal import host_matrix

            report.user_properties.append(("hook_path", host_matrix.path_of(last)))
        if item.config.getoption("--hook-update"):
            from pytest_hookharness.frontends.pytest_plugin import update_files

            report.user_properties.append((update_files.PROPERTY, update_files.result_of(item, last)))
    report.user_properties.append(("hook_timings", table.duration_rows(seen.outcomes)))
    properties = [(f"hook.{name}", value) for name, value in table.properties(last).items()]
    report.user_properties.extend(properties)
    # The JUnit report has the item's properties at teardown; after a rerun, only the last may remain.
    others = (pair for pair in item.user_properties if not pair[0].startswith("hook."))
    item.user_properties[:] = [*others, *properties]


def _add_failure(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport, seen: TestResults
) -> None:
    """Add stories, tables, SARIF results and an incident report."""
    from pytest_hookharness.frontends.pytest_plugin.failed_asserts import without_class
    from pytest_hookharness.reports.terminal import story, turns

    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and call.excinfo is not None:
        crash.message = without_class(crash.message, call.excinfo)
    verbose, brief = options.is_verbose(item.config), options.is_brief(item.config)
    for response in () if brief else seen.responses[-MOST_STORIES:]:
        report.sections.append(("hook fire", turns.render_response(response, verbose=verbose)))
    if item.config.getoption("--hook-sarif") is not None and (seen.outcomes or seen.responses):
        from pytest_hookharness.frontends.pytest_plugin import ci_files

        message = "" if call.excinfo is None else call.excinfo.exconly().partition("\n")[0]
        report.user_properties.append((ci_files.NAME, ci_files.sarif_results(item, seen.outcomes, message)))
    if not seen.outcomes:
        return
    if not (brief or hasattr(item, "scenario")):
        for outcome in seen.outcomes[-MOST_STORIES:]:
            replay = TraceItem.of_test(item.nodeid, outcome.seed).replay
            text = story.story(outcome, width=screen.width(), replay_command=replay, verbose=verbose)
            report.sections.append(("hook story", text))
    for outcome in seen.outcomes[-MOST_STORIES:]:
        for sections in item.config.hook.pytest_hook_report_sections(outcome=outcome):
            report.sections += [(plain(title, 100), text) for title, text in sections]
    if item.config.getoption("--hook-stress"):
        report.sections.append(("hook stress", _stress_table(item, seen.outcomes[-1])))
    folder = item.config.getoption("--hook-incident-dir")
    if folder is not None:
        report.user_properties.append(("hook_incident", _write_incident(item, Path(folder), seen)))
    for outcome in seen.outcomes:
        if outcome.kept_workspace:
            report.sections.append(("hook workspace", f"kept in {plain(outcome.kept_workspace, 400)}"))


def _stress_table(item: pytest.Item, outcome: Outcome) -> str:
    from pytest_hookharness.reports.terminal.campaign_report import table

    settings = options.settings(item.config)
    return table(
        outcome,
        lambda words: stress_command(words, outcome.scenario, settings),
        width=160,
        verbose=options.is_verbose(item.config),
    )


def _write_incident(item: pytest.Item, folder: Path, seen: TestResults) -> str:
    from pytest_hookharness.frontends.output import simulation_files
    from pytest_hookharness.reports.redaction import redacted

    # The first outcome that failed its expectations, or else the last.
    outcome = next((outcome for outcome in seen.outcomes if not outcome.passed), seen.outcomes[-1])
    by_pytest = TraceItem.of_test(item.nodeid, outcome.seed).replay
    replay = replay_command(outcome.scenario, options.settings(item.config)) or by_pytest
    name = redacted(item.nodeid, simulation_files.secrets_of(outcome.scenario))
    return str(
        simulation_files.write_incident(
            folder, name, simulation_files.compose_incident(outcome, replay, seen.responses)
        )
    )


def _write_folders(reporter: pytest.TerminalReporter, incidents: Collection[str]) -> None:
    if (folder := reporter.config.getoption("--hook-incident-dir")) is not None:
        number = counted(len(incidents), "incident report")
        reporter.write_line(f"hook harness: {number} written to {plain(str(folder), 400)}")
    if (traces := reporter.config.getoption("--hook-trace-dir")) is not None:
        where = plain(str(traces), 400)
        reporter.write_line(f"hook harness: trace files are in {where}; hookharness report reads them")


def write(reporter: pytest.TerminalReporter, reports: Sequence[Any], interrupted: Outcome | None) -> None:
    """Write the tables and lines about the simulations of a run."""
    found = [dict(getattr(report, "user_properties", ())) for report in reports]
    played = [properties for properties in found if "hook_row" in properties]
    if played:
        _write_tables(reporter, played)
    if any(report.failed for report in reports) and reporter.config.getoption("--hook-report") is None:
        reporter.write_line("hook harness: --hook-report page.html shows these simulations in a browser")
    _write_durations(reporter, [row for each in found for row in each.get("hook_timings", ())])
    if reports and _is_for_github(reporter.config):
        from pytest_hookharness.frontends.pytest_plugin import ci_files

        ci_files.write(reporter, reports)
    _write_folders(reporter, {each["hook_incident"] for each in found if "hook_incident" in each})
    if interrupted is not None:
        from pytest_hookharness.reports.terminal import story

        _write_section(reporter, "interrupted simulation", story.story(interrupted).splitlines())


def _write_section(reporter: pytest.TerminalReporter, title: str, lines: Iterable[str]) -> None:
    """Write lines below a title; nothing if there are none."""
    from pytest_hookharness.reports.terminal import table

    for place, line in enumerate(lines):
        if not place:
            reporter.section(title)
        reporter.write_line(line, red=f"  {table.FAILED}" in line)


def _write_tables(reporter: pytest.TerminalReporter, properties: Sequence[dict[str, Any]]) -> None:
    from pytest_hookharness.reports.terminal import table

    # A file or a CI log has no width that names must fit.
    width = shutil.get_terminal_size().columns if reporter.isatty else 1000
    lines = table.render_table([found["hook_row"] for found in properties], width=width).splitlines()
    if reporter.verbosity > 0:
        lines += [
            f"{plain(row['scenario'], 100)} on {plain(row['host'], 40)}: {plain(sentence, 400)}"
            for row, found in ((found["hook_row"], found) for found in properties)
            for sentence in found.get("hook_varied", ())
        ]
    _write_section(reporter, "hook scenarios", lines)
    if paths := [(found["hook_row"], found["hook_path"]) for found in properties if "hook_path" in found]:
        from pytest_hookharness.reports.terminal.host_matrix import HostRun, render_matrix

        runs = [HostRun(row["scenario"], row["host"], row["verdict"], path) for row, path in paths]
        matrix = render_matrix(runs, width=width)
        _write_section(reporter, "hosts compared", matrix.splitlines())


def _write_durations(reporter: pytest.TerminalReporter, rows: Sequence[table.DurationRow]) -> None:
    if not rows:
        return
    from pytest_hookharness.reports.terminal import table

    most = reporter.config.getoption("--hook-durations")
    least = LEAST if most is None and reporter.verbosity <= 0 else 0.0
    number = USUAL if most is None else most
    lines = table.render_durations(table.read_durations(rows), most=number, least=least)
    _write_section(reporter, "slowest hooks", lines)


def _is_for_github(config: pytest.Config) -> bool:
    """Return whether GitHub Actions reads the output of this process, or the option is given."""
    if hasattr(config, "workerinput"):
        return False
    return bool(config.getoption("--hook-github") or os.environ.get("GITHUB_ACTIONS") == "true")
