"""
``--hook-update``: write observed results into scenario files as expectations.

Under xdist the workers report the results of their items as JSON in ``user_properties``, and the controller
writes the files at the end.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.execution.user_files import replace_file
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.scenario_files.update.revise import ObservedRun
from pytest_hookharness.scenario_files.update.update import update

PROPERTY = "hook_seen"
LONGEST_LINE = 1000
_DIGEST = pytest.StashKey[str]()


def result_of(item: pytest.Item, outcome: Outcome) -> dict[str, Any]:
    """Return the result of a scenario file's item as JSON."""
    key = {"file": str(item.path), "item": outcome.scenario.id, "digest": item.stash.get(_DIGEST, "")}
    return {**key, "seen": ObservedRun.of(outcome).to_json()}


class Updates:
    """The updates of one pytest run; with ``trouble`` endless loops and other defects may be expected too."""

    def __init__(self, config: pytest.Config) -> None:
        self.trouble = config.getoption("--hook-update") == "all"
        self.results: list[dict[str, Any]] = []
        self.lines: list[str] = []

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Keep a digest of the file that an item was read from."""
        if hasattr(item, "scenario"):
            item.stash[_DIGEST] = _digest(item.path.read_bytes())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the result of an item."""
        self.results += [
            value for name, value in report.user_properties if name == PROPERTY and isinstance(value, dict)
        ]

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the files, except in an xdist worker, which does not know all items."""
        if hasattr(session.config, "workerinput"):
            return
        if exitstatus == pytest.ExitCode.INTERRUPTED:
            self.lines.append("the run was interrupted: nothing is written")
            return
        for file in dict.fromkeys(result["file"] for result in self.results):
            self.lines += self._write(Path(file), [each for each in self.results if each["file"] == file])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print which files were changed and how, and what was not written."""
        terminalreporter.section("hook updates")
        for line in self.lines or ["no expectation to change"]:
            indent = "  " if line.startswith(" ") else ""
            terminalreporter.write_line(indent + plain(line, LONGEST_LINE))

    def _write(self, file: Path, results: list[dict[str, Any]]) -> Iterator[str]:
        name = os.path.relpath(file)
        try:
            data = file.read_bytes()
            if {one["digest"] for one in results} != {_digest(data)}:
                yield f"{name}: not changed: the file was edited during the run; run it again"
                return
            seen: dict[str, list[ObservedRun]] = {}
            for one in results:
                seen.setdefault(one["item"], []).append(ObservedRun.from_json(one["seen"]))
            text = data.decode()
            made = update(text, file, seen, trouble=self.trouble)
            if made.text != text:
                replace_file(file, data, made.text.encode())
        except (OSError, scenario_files.ScenarioErrors) as error:
            yield f"{name}: not changed: {error}"
            return
        if made.text != text:
            yield f"{name}: changed; run it again to confirm"
            yield from _difference(text, made.text)
        yield from (f"{name}: not changed: {why}" for why in made.refused)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _difference(before: str, after: str) -> Iterator[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    yield from (f"  {line}" for line in lines if not line.startswith(("---", "+++", "@@")))
