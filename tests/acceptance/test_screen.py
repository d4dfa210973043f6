"""Claims about colour and width of what the shell command prints."""

import os
import sys

import pexpect
import pytest


def printed(project, columns, **variables):
    """What `run` prints on a terminal of some columns."""
    project.scenario("stubborn", body="echo 'run never' >&2; exit 2")
    clean = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    arguments = ["-m", "pytest_hookharness", "run", "scenarios/stubborn.scenario.yaml"]
    output, _ = pexpect.run(
        f"{sys.executable} {' '.join(arguments)}",
        withexitstatus=True,
        cwd=str(project.path),
        env={**clean, "TERM": "xterm", "COLUMNS": str(columns), "CI": "1", **variables},
    )
    return output.decode()


@pytest.mark.nightly
def test_the_headline_is_coloured_on_a_terminal(project):
    """On a terminal the first line of a failed run is red, and no other line is coloured."""
    shown = printed(project, 100)

    assert shown.count("\x1b[") == 2
    assert "\x1b[1;31mlivelock: Stop is blocked forever by ./hook.sh" in shown


@pytest.mark.nightly
def test_a_narrow_terminal_without_colour(project):
    """With NO_COLOR nothing is coloured, and on a narrow terminal only places in files are not folded."""
    shown = printed(project, 50, NO_COLOR="1")

    assert "\x1b[" not in shown
    report = shown[shown.index("  before  ") : shown.index("  replay:")]
    folded = [line for line in report.splitlines() if "scenario.yaml:" not in line]
    assert max(map(len, folded)) <= 50
