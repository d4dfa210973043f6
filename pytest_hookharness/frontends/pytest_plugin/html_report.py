"""
``--hook-report``: the trace page of one run of pytest.

A plugin of its own, for runs that ask for a page. It is made from the trace files of the run, so
that a simulation that was broken off is on it too, and workers of xdist have nothing to hand over.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_hookharness.frontends.output.trace_files import SUFFIX, read_file
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.reports.html.page import page
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.trace.read import TraceRun, UnreadableTrace

# Under this word a worker of xdist is told where to write.
_FOLDER = "hook_report_traces"


def expect_page(config: pytest.Config) -> None:
    """
    Have the simulations of this process written down, and in the process that starts all others a page made.

    Raises:
        pytest.UsageError: The file of the page cannot be written.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None:
        config.pluginmanager.register(HtmlReport(config))
    else:
        config.option.hook_trace_dir = worker[_FOLDER]


class HtmlReport:
    """
    Has simulations written down, and makes a page of them when the run is over.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._file = _writable(config.invocation_params.dir, str(config.getoption("--hook-report")))
        self._said: list[str] = []
        self._passed: dict[str, bool] = {}
        # Nobody asked to keep them: they are there until the page is.
        self._passing = config.getoption("--hook-trace-dir") is None
        if self._passing:
            made = tempfile.TemporaryDirectory(prefix="hookharness-traces-")
            config.add_cleanup(made.cleanup)
            config.option.hook_trace_dir = made.name
        self._folder = Path(str(config.getoption("--hook-trace-dir")))
        self._earlier = frozenset(self._folder.iterdir())

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """
        Tell an xdist worker where to write.
        """
        node.workerinput[_FOLDER] = str(self._folder)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """
        Remember which tests passed and which failed, for only they know what they expect.
        """
        # One that was skipped after all, or was expected to fail, says nothing of what it saw.
        if report.when == "call" and not report.skipped:
            self._passed[report.nodeid] = report.passed

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """
        Write the page, now that nothing is played any more.
        """
        if self._passing:
            session.config.option.hook_trace_dir = None
        runs = self._runs()
        self._said.append(self._write(runs) if runs else "no simulation was played, so there is no page")
        if self._file.exists() and not self._file.stat().st_size:
            self._file.unlink()

    def _write(self, runs: Sequence[TraceRun]) -> str:
        where = plain(str(self._file), 400)
        try:
            self._file.write_text(page(runs, self._passed), encoding="utf-8")
        except OSError as error:
            return f"--hook-report: {where} could not be written ({error.strerror})"
        return f"a page of {counted(len(runs), 'simulation')} is in {where}"

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """
        Say where the page is, and what could not be put on it.
        """
        for sentence in self._said:
            terminalreporter.write_line(f"hook harness: {sentence}")

    def _runs(self) -> list[TraceRun]:
        runs: list[TraceRun] = []
        # Debugging entries may lie there as well.
        fresh = (path for path in self._folder.glob(f"*{SUFFIX}") if path not in self._earlier)
        for path in sorted(fresh, key=_last_written):
            try:
                run = read_file(path)
            except (UnreadableTrace, OSError) as error:
                self._said.append(f"left out of the page: {plain(str(error), 400)}")
            else:
                runs += [run] if run is not None else []
        return sorted(runs, key=lambda run: str(run.begin["id"]))


def _last_written(path: Path) -> int:
    return path.stat().st_mtime_ns


def _writable(here: Path, named: str) -> Path:
    """
    The file that is named, which can be written.

    Raises:
        pytest.UsageError: It cannot.
    """
    if not named.strip():
        raise pytest.UsageError("--hook-report: names no file; name one, such as report.html")
    file = here / named
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # What is there stays until there is something to put in its place.
        file.open("ab").close()
    except OSError as error:
        raise pytest.UsageError(
            f"--hook-report: {file} cannot be written ({error.strerror}); name a file that can"
        ) from None
    return file
