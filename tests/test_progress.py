"""Claims about the line of progress."""

import io
import os
import re
import sys
import threading

import pexpect
import pytest

from pytest_hookharness.frontends.screen import ProgressEntry, ProgressLine, is_watched, shell_line
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Terminated

SCENARIO = Scenario(name="lint", host="claude-code")
NAME = SCENARIO.id
SLOW = """\
name: slow
files: {hook.sh: "#!/bin/sh\\nread -r said\\nsleep 1.5\\n"}
hooks: {Stop: ./hook.sh}
agent: [{prompt: Go.}, {stop: Done.}]
"""
# What a terminal does with what is written here: new lines, the cursor, and clearing to the end.
WRITTEN = re.compile(r"\r|\n|\x1b\[K|\x1b\[A|\x1b\[(?P<right>\d+)C|\x1b\[[\d;?]*[a-zA-Z]|[^\r\n\x1b]+")


def screen(written: str) -> list[str]:
    lines, row, column = [""], 0, 0
    for found in WRITTEN.finditer(written):
        match found[0]:
            case "\r":
                column = 0
            case "\n":
                row, column = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            case "\x1b[K":
                lines[row] = lines[row][:column]
            case "\x1b[A":
                row -= 1
            case _ if found["right"]:
                column += int(found["right"])
            case text if not text.startswith("\x1b"):
                lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
                column += len(text)
    return lines


class Terminal:
    """A terminal that keeps what is written to it."""

    def __init__(self):
        self.written = ""
        self.shown = threading.Condition()

    def write(self, text):
        with self.shown:
            self.written += text
            self.shown.notify_all()

    def wait_for(self, text):
        with self.shown:
            assert self.shown.wait_for(lambda: text in self.written, 10)


@pytest.mark.parametrize("column", [0, 12])
def test_the_line_is_shown_and_erased(column):
    """The line shows a simulation while it runs, and then the screen and the cursor are as before."""
    terminal = Terminal()
    terminal.write("x" * column)
    line = ProgressLine(terminal.write, column=lambda: column, delay=0.0)

    line.entry_of(NAME).turn(12, 37)
    with line.about(NAME):
        terminal.wait_for("lint[claude-code]: turn 12, 37 hook runs, 0 s")
    terminal.write("passed")

    assert [row for row in screen(terminal.written) if row] == ["x" * column + "passed"]


def test_a_short_simulation_shows_no_line():
    """A simulation that ends before the line would be shown leaves nothing on the terminal."""
    terminal = Terminal()

    with ProgressLine(terminal.write, delay=60.0).about(NAME):
        pass

    assert terminal.written == ""


def test_a_long_name_keeps_to_the_line():
    """The line is no wider than the terminal and holds nothing that acts on it."""
    terminal = Terminal()
    line = ProgressLine(terminal.write, width=40, delay=0.0)

    with line.about("\x1b[31m" + "n" * 80):
        terminal.wait_for("...")

    assert max(map(len, terminal.written.replace("\x1b[K", "").split("\r"))) <= 39
    assert "\x1b[31m" not in terminal.written


class Stream(io.StringIO):
    """Standard error of a shell command."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "environment", "shown"),
    [(True, {}, True), (False, {}, False), (True, {"CI": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_the_line_of_a_shell_command(monkeypatch, terminal, environment, shown):
    """The shell command writes its line to a terminal, and nothing to a file or the log of a CI system."""
    for name, value in {"CI": "", "BUILD_NUMBER": "", "TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    stream = Stream(terminal)
    line = shell_line(stream)
    line._delay = 0.0

    with line.about(NAME):
        for drawer in threading.enumerate():
            if drawer.name == "hook-progress":
                drawer.join(0.2)

    assert ("lint[claude-code]: turn 0" in stream.getvalue()) == shown


def test_the_line_shows_turns_probes_and_mutations():
    """The line shows the turn, the number of hook runs and probes, and how many mutations were tried."""
    seen = ProgressEntry("lint")
    seen.turn(1, 1)
    assert str(seen).startswith("lint: turn 1, 1 hook run, ")

    seen.probe()
    assert str(seen).startswith("lint: turn 1, 1 hook run, 1 probe, ")

    outcome = Outcome(scenario=SCENARIO, host="h@1", trace=Trace(), verdict=Terminated(turn=1))
    ProgressEntry.trial(trying := ProgressEntry("lint"), outcome, 12, 47)
    assert str(trying).startswith("lint: mutations: 12 of 47, ")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("options", "environment", "watched"),
    [
        ((), {}, True),
        (("-v",), {}, True),
        (("-q",), {}, False),
        (("-s",), {}, False),
        (("-o", "log_cli=true"), {}, False),
        ((), {"CI": "true"}, False),
        ((), {"TERM": "dumb"}, False),
    ],
)
def test_who_is_watching(pytester, monkeypatch, options, environment, watched):
    """The line is for a person at a terminal to which nothing else is written meanwhile."""
    for name, value in {"CI": "", "BUILD_NUMBER": "", "TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    config = pytester.parseconfigure(*options)
    reporter = config.pluginmanager.getplugin("terminalreporter")

    assert not is_watched(config, reporter)
    reporter.isatty = True
    assert is_watched(config, reporter) == watched


@pytest.mark.nightly
def test_on_a_real_terminal(tmp_path):
    """A person at a terminal sees the line while a hook takes long, and it does not stay."""
    (tmp_path / "slow.scenario.yaml").write_text(SLOW)
    own = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    unused = ("-p", "no:faker", "-p", "no:hypothesispytest", "-p", "no:cacheprovider")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "pytest", *unused, "slow.scenario.yaml"],
        cwd=str(tmp_path),
        env={**own, "TERM": "xterm", "COLUMNS": "100"},
        encoding="utf-8",
        timeout=60,
    )
    child.expect(pexpect.EOF)
    child.close()

    written = child.before
    assert child.exitstatus == 0, written
    assert "slow[claude-code]: turn" in written
    assert not any("slow[claude-code]: turn" in row for row in screen(written))
    assert any(re.match(r"(slow.scenario.yaml )?\. +\[100%\]$", row) for row in screen(written)), written
