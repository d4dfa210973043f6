"""Claims about Ctrl-C at the shell command: it is reported in a line, and never by a traceback."""

import json
import os
import subprocess
import sys

import pexpect
import pytest

INTERRUPT = """
import runpy, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.argv = ["hookharness", "analyze", "transcript.jsonl"]
runpy.run_module("pytest_hookharness", run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", ["pytest_hookharness.frontends.cli.main", "pytest_hookharness.frontends.cli.report"]
)
def test_an_early_interruption_is_reported_in_a_line(module):
    """While the command is loaded, and before it plays anything, Ctrl-C gives one line and status 2."""
    result = subprocess.run(
        [sys.executable, "-c", INTERRUPT.format(module=module)], capture_output=True, text=True, check=False
    )

    assert (result.returncode, result.stdout, result.stderr) == (2, "", "hookharness: interrupted\n")


TWICE = """
import atexit, os, signal
from pytest_hookharness.__main__ import main
from pytest_hookharness.frontends.cli import main as cli

def press():
    os.kill(os.getpid(), signal.SIGINT)

def played():
    try:
        press()
    except KeyboardInterrupt:
        press()
        print("what was found")
        return 2

cli.main = played
atexit.register(press)
raise SystemExit(main())
"""


def test_a_second_interruption_loses_no_report():
    """Ctrl-C while the report is printed, and while Python ends, is ignored; the exit status stays 2."""
    result = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout, result.stderr) == (2, "what was found\n", "")


@pytest.fixture
def checking(tmp_path):
    """A check of three hooks in a terminal: one never ends, one is missing, one refuses each stop."""
    hooks = {"Stop": "echo Again. >&2; exit 2", "PreToolUse": "./missing.sh", "SessionEnd": "exec sleep 600"}
    settings = {event: [{"hooks": [{"type": "command", "command": words}]}] for event, words in hooks.items()}
    folder, scratch = tmp_path / "project", tmp_path / "scratch"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude/settings.json").write_text(json.dumps({"hooks": settings}))
    scratch.mkdir()
    command = ["-m", "pytest_hookharness", "check", str(folder), "--yes", "--hook-timeout", "60s"]
    # As a person sees it: under CI, and on a terminal that cannot draw, there is no line of progress.
    env = {**os.environ, "CI": "", "BUILD_NUMBER": "", "TERM": "xterm", "TMPDIR": str(scratch)}
    env["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    child = pexpect.spawn(sys.executable, command, timeout=60, env=env, encoding="utf-8")
    yield child
    child.close()
    assert not [*scratch.iterdir()]


@pytest.mark.nightly
@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupted_check_reports_what_was_found(checking, times):
    """Ctrl-C in a session prints what is certain, and exits with 2; no process and no file is left."""
    checking.expect_exact("each event once: 0 of 1")
    for _ in range(times):
        checking.sendintr()
    checking.expect(pexpect.EOF)
    checking.close()
    assert (checking.exitstatus, checking.signalstatus) == (2, None)
    assert "NOT-RUN PreToolUse 1 (missing.sh)" in checking.before
    assert "The check was interrupted." in checking.before
    assert "Traceback" not in checking.before
