"""Fixtures of the replays: a harness, and the share of rows that match their recording."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import Settings

from .rows import rows

PROPERTY = "recorded row"


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    """One harness for all rows without long waits."""
    with Harness(Settings(base=tmp_path_factory.mktemp("replay"))) as made:
        yield made


@pytest.fixture(scope="session")
def simulate(harness: Harness) -> Callable[[Scenario], Outcome]:
    """The function that simulates a scenario, once for all rows that use the same session."""
    played: dict[str, Outcome] = {}

    def play(scenario: Scenario) -> Outcome:
        if not scenario.why:
            return harness.simulate(scenario)
        key = f"{scenario.host}: {scenario.why}"
        if key not in played:
            played[key] = harness.simulate(scenario)
        return played[key]

    return play


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Callable[[str, bool], None]:
    """The function that notes whether a row matches its recording."""

    def note(row: str, reached: bool) -> None:
        record_property(PROPERTY, json.dumps([row, reached]))

    return note


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for harnesses that run at the same time."""
    return tmp_path_factory.mktemp("replays")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the share of rows that match their recording, and the share among those set aside."""
    notes = [
        json.loads(str(value))
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if not notes:
        return
    by_id = {row.id: row for row in rows()}
    counts: Counter[tuple[str, str]] = Counter()
    for name, reached in notes:
        row = by_id[name]
        for part in ("all", "aside") if row.set_aside else ("all",):
            counts[row.host, part] += 1
            counts[row.host, f"{part} reached"] += reached
    terminalreporter.section("rows that match their recording")
    for host in sorted({host for host, _ in counts}):
        whole, aside = (_share(counts, host, part) for part in ("all", "aside"))
        terminalreporter.write_line(f"{host}: {whole}; of the fifth set aside {aside}")


def _share(counts: Counter[tuple[str, str]], host: str, part: str) -> str:
    number, reached = counts[host, part], counts[host, f"{part} reached"]
    return f"{reached} of {number}" + (f" ({reached / number:.1%})" if number else "")
