"""Claims about systems on which hooks cannot be run."""

import subprocess
import sys

import pytest

ELSEWHERE = """\
import sys
sys.platform = "sunos5"
sys.modules["termios"] = None
"""
REFUSAL = "pytest-hookharness runs hooks only on Linux and macOS, and this is sunos5; use a container or WSL"


def hookharness(*arguments):
    """Run the shell command as on another system, where some modules do not exist."""
    program = f"{ELSEWHERE}from pytest_hookharness.__main__ import main\nraise SystemExit(main())\n"
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_run_of_scenarios_is_a_usage_error(project):
    """Where hooks cannot be run, a run with scenarios ends with one sentence, and other tests run."""
    project.scenario("polite")
    project.write("test_it.py", "def test_it():\n    pass\n")
    project.write("conftest.py", ELSEWHERE)

    refused = project.run_apart("--hook-scenarios")
    others = project.run_apart("test_it.py")

    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in refused.errlines if line] == [f"ERROR: {REFUSAL}"]
    others.assert_outcomes(passed=1)


def test_the_shell_command_is_refused():
    """A command that runs hooks is refused in one sentence; one that only prints works."""
    refused, printed = hookharness("try", "Stop", "true"), hookharness("hosts")

    assert (refused.returncode, refused.stderr) == (2, f"hookharness: {REFUSAL}\n")
    assert printed.returncode == 0
