"""A table below the run: what the check-up found in the two sets of hooks."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

PROPERTY = "checked-up project"


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Note what was found in a project and what had to be."""

    def note(name: str, wanted: list[str], found: list[str], seconds: float, *, right: bool) -> None:
        row = {"name": name, "wanted": wanted, "found": found, "seconds": round(seconds), "right": right}
        record_property(PROPERTY, json.dumps(row))

    return note


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print hits and false alarms, and a line for each project."""
    rows = [
        json.loads(str(value))
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if not rows:
        return
    terminalreporter.section("hooks by which the check-up is judged")
    for row in sorted(rows, key=lambda row: (bool(row["wanted"]), row["name"])):
        sign = "  " if row["right"] else "! "
        wanted, found = ", ".join(row["wanted"]) or "nothing", ", ".join(row["found"]) or "nothing"
        terminalreporter.write_line(
            f"{sign}{row['name']}: wanted {wanted}; found {found} ({row['seconds']} s)"
        )
    silent = [row["right"] for row in rows if not row["wanted"]]
    named = [row["right"] for row in rows if row["wanted"]]
    terminalreporter.write_line(f"silent on {sum(silent)} of {len(silent)} hooks that behave")
    terminalreporter.write_line(f"named the defect of {sum(named)} of {len(named)} hooks with one")
