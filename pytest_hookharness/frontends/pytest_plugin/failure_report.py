"""
What the report of a failed test has beside the failure: stories, tables, SARIF results, an incident report.

Imported only if a test fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_hookharness.frontends.pytest_plugin import options
from pytest_hookharness.frontends.pytest_plugin.test_context import TestResults
from pytest_hookharness.frontends.replay_command import TraceItem, replay_command, stress_command
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal import story
from pytest_hookharness.reports.terminal.turns import render_response

# A test that plays hundreds of simulations still needs a readable report.
MOST_STORIES = 5


def attach(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport, seen: TestResults
) -> None:
    """Add sections and properties to the report of a failed test."""
    for response in seen.responses[-MOST_STORIES:]:
        report.sections.append(("hook fire", render_response(response)))
    if not seen.outcomes:
        return
    if not hasattr(item, "scenario"):
        for outcome in seen.outcomes[-MOST_STORIES:]:
            replay = TraceItem.of_test(item.nodeid, outcome.seed).replay
            report.sections.append(("hook story", story.story(outcome, replay_command=replay)))
    if item.config.getoption("--hook-stress"):
        report.sections.append(("hook stress", _stress_table(item, seen.outcomes[-1])))
    if item.config.getoption("--hook-sarif") is not None:
        from pytest_hookharness.frontends.pytest_plugin import ci_files

        message = "" if call.excinfo is None else call.excinfo.exconly().partition("\n")[0]
        report.user_properties.append((ci_files.NAME, ci_files.sarif_results(item, seen.outcomes, message)))
    folder = item.config.getoption("--hook-incident-dir")
    if folder is not None:
        report.user_properties.append(("hook_incident", _write_incident(item, Path(folder), seen)))
    for outcome in seen.outcomes:
        if outcome.kept_workspace:
            report.sections.append(("hook workspace", f"kept in {plain(outcome.kept_workspace, 400)}"))


def _stress_table(item: pytest.Item, outcome: Outcome) -> str:
    from pytest_hookharness.reports.terminal.stress_table import table

    settings = options.settings(item.config)
    return table(outcome, lambda words: stress_command(words, outcome.scenario, settings), width=160)


def _write_incident(item: pytest.Item, folder: Path, seen: TestResults) -> str:
    from pytest_hookharness.frontends.output import incident_files
    from pytest_hookharness.reports.redaction import redacted

    outcome = incident_files.most_informative(seen.outcomes)
    by_pytest = TraceItem.of_test(item.nodeid, outcome.seed).replay
    replay = replay_command(outcome.scenario, options.settings(item.config)) or by_pytest
    name = redacted(item.nodeid, incident_files.secrets_of(outcome.scenario))
    return str(incident_files.write_in(folder, name, incident_files.compose(outcome, replay, seen.responses)))
