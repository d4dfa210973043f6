"""
Progress: one line about the simulation that is waited for, while it is.

The line stands below what pytest has written, on the terminal itself and not on standard output,
which pytest captures meanwhile; it is gone before pytest writes again.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TextIO

import pytest

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.safe_text import fit, plain

# Seconds: what is over sooner needs no line, and a line that changes more often cannot be read.
_PATIENCE, _PAUSE = 1.0, 0.5
# A machine that reads the log wants to see no line twice.
_MACHINES = ("CI", "BUILD_NUMBER")
_UP, _CLEAR = "\x1b[A", "\r\x1b[K"


@dataclass(slots=True)
class ProgressEntry:
    """
    What was heard of one simulation so far.

    Attributes:
        name: Its name.
        began: When it was first heard of.
        said: What is told of it.
        probes: How many experiments were made on its states.
    """

    name: str
    began: float = field(default_factory=time.monotonic)
    said: str = "turn 0"
    probes: int = 0

    def turn(self, turn: int, hook_runs: int) -> None:
        """
        A turn is over.
        """
        self.said = f"turn {turn}, {counted(hook_runs, 'fire')}"

    def probe(self) -> None:
        """
        An experiment was made.
        """
        self.probes += 1

    def trial(self, _: Outcome, made: int, number: int) -> None:
        """
        The scenario was played once more with something different.
        """
        self.said = f"trying {made} of {number}"

    def __str__(self) -> str:
        tried = f", {counted(self.probes, 'experiment')}" if self.probes else ""
        return f"{plain(self.name, 60)}: {self.said}{tried}, {int(time.monotonic() - self.began)} s"


class ProgressLine:
    """
    The line, and what it may be asked to tell of.
    """

    def __init__(
        self,
        write: Callable[[str], object] | None = None,
        *,
        width: int = 80,
        column: Callable[[], int] = lambda: 0,
        hook_timeout: float = _PATIENCE,
    ) -> None:
        """
        Make ready to write.

        Args:
            write: Writes to the terminal at once; ``None`` if there is none.
            width: Columns of the terminal.
            column: Tells how many of them are filled where the cursor stands.
            hook_timeout: Seconds in which nothing is shown.
        """
        self._write = write
        self._width = width
        self._column = column
        self._patience = hook_timeout
        self._seen: dict[str, ProgressEntry] = {}

    def seen_of(self, scenario: Scenario) -> ProgressEntry:
        """
        Where to say what is seen of a simulation, whether the line is about it or not.
        """
        return self._seen.setdefault(scenario.id, ProgressEntry(scenario.id))

    @contextmanager
    def about(self, scenario: Scenario) -> Generator[None]:
        """
        Tell of one simulation, once it has taken a while, until it is over.
        """
        try:
            if self._write is None:
                yield
            else:
                with self._drawn(self.seen_of(scenario), self._write):
                    yield
        finally:
            self._seen.pop(scenario.id, None)

    @contextmanager
    def _drawn(self, seen: ProgressEntry, write: Callable[[str], object]) -> Generator[None]:
        over, column = threading.Event(), self._column()

        def draw() -> None:
            if over.wait(self._patience):
                return
            write("\n" if column else "")
            while True:
                write(_CLEAR + fit(str(seen), self._width - 1).rstrip())
                if over.wait(_PAUSE):
                    break
            write(_CLEAR + (f"{_UP}\x1b[{column}C" if column else ""))

        drawer = threading.Thread(target=draw, name="hook-progress", daemon=True)
        drawer.start()
        try:
            yield
        finally:
            over.set()
            drawer.join()


def shell_line(stream: TextIO) -> ProgressLine:
    """
    The line of a shell command, on a stream of its own; it shows nothing where that is no terminal.
    """
    if not stream.isatty():
        return ProgressLine()

    def write(text: str) -> None:
        stream.write(text)
        stream.flush()

    return ProgressLine(write, width=shutil.get_terminal_size().columns)


@contextmanager
def open_line(config: pytest.Config) -> Generator[ProgressLine]:
    """
    The line of a pytest run; it shows nothing where nobody watches a terminal, or where others write to it.
    """
    # Both are pytest's own; it does not say so in its types.
    reporter: Any = config.pluginmanager.getplugin("terminalreporter")
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    if reporter is None or capture is None or not is_watched(config, reporter):
        yield ProgressLine()
        return
    writer = config.get_terminal_writer()
    # While a test runs, standard output leads elsewhere.
    with capture.global_and_fixture_disabled():
        terminal = os.dup(sys.stdout.fileno())

    def write(text: str) -> None:
        # A terminal that is gone is no reason to fail.
        with suppress(OSError):
            os.write(terminal, text.encode(errors="replace"))

    try:
        yield ProgressLine(
            write,
            width=writer.fullwidth,
            column=lambda: writer.width_of_current_line % writer.fullwidth,
        )
    finally:
        os.close(terminal)


def is_watched(config: pytest.Config, reporter: pytest.TerminalReporter) -> bool:
    """
    Whether a person sees what is written to the terminal, and nothing else is written to it while tests run.
    """
    if hasattr(config, "workerinput") or any(os.environ.get(name) for name in _MACHINES):
        return False
    if os.environ.get("TERM", "dumb") == "dumb" or not reporter.isatty or config.option.verbose < 0:
        return False
    return bool(config.getoption("capture") != "no" and not config.getini("log_cli"))
