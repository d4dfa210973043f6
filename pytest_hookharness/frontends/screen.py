"""
What the screen shows: the width of reports, colour where the terminal has it, and a line of progress.

The line of progress is about the simulation that is running. It is drawn below what pytest has written, on
the terminal itself and not on standard output, which pytest captures meanwhile. It is erased before pytest
writes again.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.reports.safe_text import fit, plain

if TYPE_CHECKING:
    import pytest

    from pytest_hookharness.model.outcome import Outcome

# Columns: a story is made for the first, and needs at least the second.
_USUAL, _LEAST = 100, 40
_COLOURS = {True: "\x1b[1;32m", False: "\x1b[1;31m", None: "\x1b[1;33m"}
_PLAIN = "\x1b[0m"
# Seconds. A shorter simulation needs no line, and a line that changes more often cannot be read.
_DELAY, _INTERVAL = 1.0, 0.5
# Variables that CI systems set: in a log file the line would be there many times.
_CI_VARIABLES = ("CI", "BUILD_NUMBER")
_UP, _CLEAR = "\x1b[A", "\r\x1b[K"


def width() -> int:
    """Return the columns of a story: those of the terminal, if it is narrower than usual."""
    return max(_LEAST, min(_USUAL, shutil.get_terminal_size((_USUAL, 0)).columns))


def headed(text: str, passed: bool | None) -> str:
    """Return a report whose first line is green, red or, if the answer is unknown, yellow on a terminal."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return text
    head, end, rest = text.partition("\n")
    return f"{_COLOURS[passed]}{head}{_PLAIN}{end}{rest}"


class ProgressEntry:
    """The progress of one simulation or check."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._began = time.monotonic()
        self.text = "turn 0"
        self.probes = 0

    def turn(self, turn: int, hook_runs: int) -> None:
        """Note that a turn ended."""
        self.text = f"turn {turn}, {counted(hook_runs, 'hook run')}"

    def probe(self) -> None:
        """Note that a probe ended."""
        self.probes += 1

    def trial(self, _: Outcome, done: int, number: int) -> None:
        """Note that a mutation was tried."""
        self.step("mutations", done, number)

    def step(self, what: str, done: int, number: int) -> None:
        """Note how many of a number of steps are done."""
        self.text = f"{what}: {done} of {number}"

    def __str__(self) -> str:
        probes = f", {counted(self.probes, 'probe')}" if self.probes else ""
        return f"{plain(self._name, 60)}: {self.text}{probes}, {int(time.monotonic() - self._began)} s"


class ProgressLine:
    """The line, and the entries that it can show."""

    def __init__(
        self,
        write: Callable[[str], object] | None = None,
        *,
        width: int = 80,
        column: Callable[[], int] = lambda: 0,
        delay: float = _DELAY,
    ) -> None:
        """
        Draw nothing yet, and then only after ``delay`` seconds.

        ``write`` writes to the terminal at once, if there is one, and ``column`` returns the column of its
        cursor.
        """
        self._write = write
        self._width = width
        self._column = column
        self._delay = delay
        self._entries: dict[str, ProgressEntry] = {}

    def entry_of(self, name: str) -> ProgressEntry:
        """Return the entry of a simulation, whether it is drawn or not: others run in the background."""
        return self._entries.setdefault(name, ProgressEntry(name))

    @contextmanager
    def about(self, name: str) -> Generator[ProgressEntry]:
        """Draw the entry of one simulation until it is over."""
        entry = self.entry_of(name)
        try:
            if self._write is None:
                yield entry
            else:
                with self._drawn(entry, self._write):
                    yield entry
        finally:
            self._entries.pop(name, None)

    @contextmanager
    def _drawn(self, entry: ProgressEntry, write: Callable[[str], object]) -> Generator[None]:
        over, column = threading.Event(), self._column()

        def draw() -> None:
            if over.wait(self._delay):
                return
            write("\n" if column else "")
            while True:
                write(_CLEAR + fit(str(entry), self._width - 1).rstrip())
                if over.wait(_INTERVAL):
                    break
            # The cursor goes back to where pytest left it, after the dots of its own line.
            write(_CLEAR + (f"{_UP}\x1b[{column}C" if column else ""))

        drawer = threading.Thread(target=draw, name="hook-progress", daemon=True)
        drawer.start()
        try:
            yield
        finally:
            over.set()
            drawer.join()


def shell_line(stream: TextIO) -> ProgressLine:
    """Return the line of a shell command; it shows nothing where no person watches the stream."""
    if not stream.isatty() or _is_log():
        return ProgressLine()

    def write(text: str) -> None:
        stream.write(text)
        stream.flush()

    return ProgressLine(write, width=shutil.get_terminal_size().columns)


@contextmanager
def open_line(config: pytest.Config) -> Generator[ProgressLine]:
    """Open the line of a pytest run; it shows nothing unless a person watches the terminal."""
    # Both are part of pytest, but `getplugin` has no type for them.
    reporter: Any = config.pluginmanager.getplugin("terminalreporter")
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    if reporter is None or capture is None or not is_watched(config, reporter):
        yield ProgressLine()
        return
    writer = config.get_terminal_writer()
    # While a test runs, file descriptor 1 is redirected; a duplicate made now still leads to the terminal.
    with capture.global_and_fixture_disabled():
        terminal = os.dup(sys.stdout.fileno())

    def write(text: str) -> None:
        # A terminal that was closed must not fail the run.
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
    """Return whether a person watches the terminal, and tests do not write to it while they run."""
    if hasattr(config, "workerinput") or _is_log() or not reporter.isatty or config.option.verbose < 0:
        return False
    return bool(config.getoption("capture") != "no" and not config.getini("log_cli"))


def _is_log() -> bool:
    """Return whether the terminal keeps all that is written, as that of a CI system or of an editor does."""
    return os.environ.get("TERM", "dumb") == "dumb" or any(os.environ.get(name) for name in _CI_VARIABLES)
