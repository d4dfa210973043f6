"""Claims about Ctrl-C at the shell command: it is reported in a line, and never by a traceback."""

import subprocess
import sys

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
