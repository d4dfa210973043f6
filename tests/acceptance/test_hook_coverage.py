"""
Coverage of hooks as users ask for it: one option, and the reports of coverage.py.
"""

import subprocess
import sys

import pytest

SHELL = """\
#!/usr/bin/env bash
set -euo pipefail
. "${0%/*}/lib.sh"
if [[ $(cat) == *nothing* ]]; then
  echo never
fi
allow
"""
LIBRARY = """\
allow() {
  exit 0
}
refuse() {
  exit 2
}
"""
PYTHON = """\
import json
import sys

if json.load(sys.stdin)["tool_name"] == "Nothing":
    sys.exit(2)
"""
SCENARIO = """\
name: covered
project: project/
hooks: {Stop: .hooks/check.sh, PreToolUse: .hooks/guard.py}
agent: [{prompt: Go.}, {run: "true"}, {stop: Done.}]
"""
BESIDE = """\
def test_beside(hook_fire, hook_workspace):
    assert hook_fire("Stop", "./beside.sh").allowed
    hook_workspace.write("within.sh", "#!/usr/bin/env bash\\nexit 0\\n")
    assert hook_fire("Stop", "sh -c ./within.sh").allowed
    assert hook_fire("Stop", "./plain.sh").allowed
"""
SETTINGS = "[run]\nplugins = pytest_hookharness.coverage\n"
WITH_LINES = [
    "beside.sh *1 *0 *100%*",
    "scenarios/project/.hooks/check.sh *5 *1 *80%*",
    "scenarios/project/.hooks/guard.py *4 *1 *75%*",
    "scenarios/project/.hooks/lib.sh *2 *1 *50%*",
]


@pytest.fixture
def covered(project):
    """A project with hooks in bash and in Python, in a scenario and beside a test."""
    project.scenario("covered", text=SCENARIO)
    for name, text in (
        ("check.sh", SHELL),
        ("lib.sh", LIBRARY),
        ("guard.py", f"#!{sys.executable}\n{PYTHON}"),
    ):
        project.write(f"scenarios/project/.hooks/{name}", text, 0o755)
    project.write("beside.sh", "#!/usr/bin/env bash\nexit 0\n", 0o755)
    project.write("plain.sh", "#!/bin/sh\nexit 0\n", 0o755)
    project.write("tests/test_beside.py", BESIDE.replace('"./', '"../'))
    return project


def report(place, *words):
    command = [sys.executable, "-m", "coverage", *words]
    return subprocess.run(command, cwd=place.path, capture_output=True, text=True, check=True).stdout


def test_all_reports_of_coverage_show_hooks_in_bash_and_in_python(covered):
    """One run leaves data from which coverage makes a table, XML, LCOV and HTML, and says what is missing."""
    covered.write(".coveragerc", SETTINGS)
    result = covered.run("--hook-cov", "scenarios/covered.scenario.yaml", "tests")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "*hook coverage*",
            *WITH_LINES,
            "wrote .coverage",
            "not recorded: */plain.sh: *another shell than bash*",
        ]
    )
    result.stdout.fnmatch_lines(["not recorded: workspace/within.sh: a scenario writes it itself*"])
    found = report(covered, "report", "-m").splitlines()
    assert [line.split()[-1] for line in found if "hooks/" in line] == ["5", "6", "5"]
    assert '<line number="5" hits="0"/>' in report(covered, "xml", "-o", "-")
    assert "DA:5,0\n" in report(covered, "lcov", "-o", "-")
    report(covered, "html", "-q")
    pages = " ".join(path.name for path in (covered.path / "htmlcov").iterdir())
    assert all(name in pages for name in ("check_sh", "guard_py", "lib_sh"))


@pytest.mark.slow
def test_without_the_plugin_in_its_settings_coverage_still_reads_the_data(covered):
    """Shell scripts are only in the table then, and a line says what is to be named where."""
    result = covered.run("--hook-cov", "scenarios/covered.scenario.yaml")
    result.stdout.fnmatch_lines([*WITH_LINES[1:], "*plugins = ?*pytest_hookharness.coverage*"])
    found = report(covered, "report")
    assert "guard.py" in found
    assert ".sh" not in found


@pytest.mark.slow
def test_workers_add_up_and_sources_show_what_nobody_ran(covered):
    """Under xdist the data are those of all workers; a named folder shows its other scripts too."""
    covered.write(".coveragerc", f"{SETTINGS}branch = true\n")
    covered.write("scenarios/project/unused.sh", "#!/usr/bin/env bash\nexit 0\n")
    result = covered.run("--hook-cov-source=.", "-n2", "scenarios/covered.scenario.yaml", "tests")
    result.assert_outcomes(passed=2)
    found = report(covered, "report")
    for name, rate in (("beside.sh", "100%"), ("check.sh", "80%"), ("unused.sh", "0%")):
        assert [line.split()[-1] for line in found.splitlines() if name in line] == [rate]


@pytest.mark.slow
def test_what_else_is_measured_is_kept(covered):
    """Where coverage itself is running, the data of hooks stand beside its own until they are combined."""
    covered.write(".coveragerc", SETTINGS)
    report(covered, "run", "-m", "pytest", "-p", "no:cacheprovider", "--hook-cov", "tests")
    report(covered, "combine", "--append")
    found = report(covered, "report")
    assert "beside.sh" in found
    assert "test_beside.py" in found


@pytest.mark.slow
def test_the_shell_command_shows_the_same(covered):
    """`hookharness run --cov` and `try --cov` print the table and write the data."""
    covered.write(".coveragerc", SETTINGS)
    for words in (
        ("run", "scenarios/covered.scenario.yaml", "--cov"),
        ("try", "Stop", "./scenarios/project/.hooks/check.sh", "--cov"),
    ):
        command = [sys.executable, "-m", "pytest_hookharness.cli", *words]
        done = subprocess.run(command, cwd=covered.path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "check.sh" in done.stdout
        assert "lib.sh" in report(covered, "report")
