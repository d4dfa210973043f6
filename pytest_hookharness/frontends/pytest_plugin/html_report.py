"""
``--hook-report``: an HTML page of the simulations of a pytest run.

A pytest plugin of its own, registered only if the option is given. The page is made from the trace files of
the run: so it includes simulations that were interrupted, and xdist workers need not transfer anything.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_hookharness.frontends.output.simulation_files import SUFFIX, read_file
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.reports.html.page import page
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.trace.read import TraceRun, UnreadableTrace

# The key under which an xdist worker is given the folder of the trace files.
_FOLDER = "hook_report_traces"


def expect_page(config: pytest.Config) -> None:
    """
    Have trace files written in this process, and the page in the controller.

    Raises:
        pytest.UsageError: The file of the page cannot be written.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None:
        config.pluginmanager.register(HtmlReport(config))
    else:
        config.option.hook_trace_dir = worker[_FOLDER]


class HtmlReport:
    """Has trace files written, and makes a page of them at the end of the run."""

    def __init__(self, config: pytest.Config) -> None:
        self._file = _writable(config.invocation_params.dir, str(config.getoption("--hook-report")))
        self._notes: list[str] = []
        self._passed: dict[str, bool] = {}
        self._reported: set[str] = set()
        # Without --hook-trace-dir the trace files are removed after the page is made.
        self._is_temporary = config.getoption("--hook-trace-dir") is None
        if self._is_temporary:
            made = tempfile.TemporaryDirectory(prefix="hookharness-traces-")
            config.add_cleanup(made.cleanup)
            config.option.hook_trace_dir = made.name
        self._folder = Path(str(config.getoption("--hook-trace-dir")))
        self._earlier = frozenset(self._folder.iterdir())

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell an xdist worker where to write trace files."""
        node.workerinput[_FOLDER] = str(self._folder)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep which tests passed and which failed, because only a Python test knows what it expects."""
        self._reported.add(report.nodeid)
        # A skipped or expected failure says nothing about its simulations.
        if report.when == "call" and not report.skipped:
            self._passed[report.nodeid] = report.passed

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the page after the last simulation."""
        if self._is_temporary:
            session.config.option.hook_trace_dir = None
        runs = self._runs()
        if session.shouldfail:
            # With -x, simulations that were begun beside the one that failed belong to items that never ran.
            runs = [run for run in runs if self._is_reported(str(run.begin["id"]))]
        self._notes.append(self._write(runs) if runs else "no simulation ran, so no page was written")
        if self._file.exists() and not self._file.stat().st_size:
            self._file.unlink()

    def _is_reported(self, item: str) -> bool:
        # One is relative to pytest's root folder, the other to where it was started.
        return any(item.endswith(node) or node.endswith(item) for node in self._reported)

    def _write(self, runs: Sequence[TraceRun]) -> str:
        where = plain(str(self._file), 400)
        try:
            self._file.write_text(page(runs, self._passed), encoding="utf-8")
        except OSError as error:
            return f"--hook-report: {where} could not be written ({error.strerror})"
        of_tests = sum(run.begin["file"] is None for run in runs)
        # The table above counts only those of scenario files.
        which = f" ({of_tests} of Python tests)" if 0 < of_tests < len(runs) else ""
        return f"a page of {counted(len(runs), 'simulation')}{which} is in {where}"

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print where the page is, and what is missing on it."""
        for sentence in self._notes:
            terminalreporter.write_line(f"hook harness: {sentence}")

    def _runs(self) -> list[TraceRun]:
        runs: list[TraceRun] = []
        # The folder may also have incident reports.
        fresh = (path for path in self._folder.glob(f"*{SUFFIX}") if path not in self._earlier)
        for path in sorted(fresh, key=lambda path: path.stat().st_mtime_ns):
            try:
                run = read_file(path)
            except (UnreadableTrace, OSError) as error:
                self._notes.append(f"missing on the page: {plain(str(error), 400)}")
            else:
                runs += [run] if run is not None else []
        return sorted(runs, key=lambda run: str(run.begin["id"]))


def _writable(here: Path, named: str) -> Path:
    """Return the named file after checking that it can be written."""
    if not named.strip():
        raise pytest.UsageError("--hook-report: names no file; name one, such as report.html")
    file = here / named
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Opened for appending: an earlier page stays until there is a new one.
        file.open("ab").close()
    except OSError as error:
        raise pytest.UsageError(
            f"--hook-report: {file} cannot be written ({error.strerror}); name a file that can"
        ) from None
    return file
