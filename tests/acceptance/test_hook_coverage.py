"""
Coverage of hooks as users ask for it: one option, and the reports of coverage.py.
"""

import io
import os
import subprocess
import sys

import pytest
from coverage import Coverage

from pytest_hookharness import cli
from pytest_hookharness.coverage import bash_files
from pytest_hookharness.covering import Wish, open_ledger, publish
from pytest_hookharness.execution.ledger import write_recording
from pytest_hookharness.model.recordings import Ledger, Recording, Traced

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


def report(place, kind="report", **how):
    """What coverage says about the data that were left, in a process that knows nothing else."""
    settings = place.path / ".coveragerc"
    reader = Coverage(
        str(place.path / ".coverage"), config_file=str(settings) if settings.exists() else False
    )
    reader.load()
    file = io.StringIO()
    getattr(reader, kind)(**({"file": file} if kind == "report" else how))
    return file.getvalue()


def last_words(table, *names):
    """What stands last in the rows of some files."""
    return [line.split()[-1] for name in names for line in table.splitlines() if name in line]


@pytest.mark.slow
def test_all_reports_of_coverage_show_hooks_in_bash_and_in_python(covered):
    """One run leaves data from which coverage makes a table, XML, LCOV and HTML, and says what is missing."""
    covered.write(".coveragerc", SETTINGS)
    result = covered.run("--hook-cov", "scenarios/covered.scenario.yaml", "tests")
    result.assert_outcomes(passed=2)
    plain = "not recorded: */plain.sh: *another shell than bash*"
    result.stdout.fnmatch_lines(["*hook coverage*", *WITH_LINES, "wrote .coverage", plain])
    result.stdout.fnmatch_lines(["not recorded: workspace/within.sh: a scenario writes it itself*"])
    assert last_words(report(covered), "check.sh", "guard.py", "lib.sh") == ["80%", "75%", "50%"]
    report(covered, "xml_report", outfile="out.xml")
    assert '<line number="5" hits="0"/>' in (covered.path / "out.xml").read_text()
    report(covered, "lcov_report", outfile="out.lcov")
    assert "check.sh\nDA:2,1\nDA:3,1\nDA:4,1\nDA:5,0\n" in (covered.path / "out.lcov").read_text()
    report(covered, "html_report", directory="html")
    pages = " ".join(path.name for path in (covered.path / "html").iterdir())
    assert all(name in pages for name in ("check_sh", "guard_py", "lib_sh"))


@pytest.mark.slow
def test_without_the_plugin_in_its_settings_coverage_still_reads_the_data(covered):
    """Shell scripts are only in the table then, and a line says what is to be named where."""
    result = covered.run("--hook-cov", "scenarios/covered.scenario.yaml")
    result.stdout.fnmatch_lines([*WITH_LINES[1:], "*plugins = ?*pytest_hookharness.coverage*"])
    found = report(covered)
    assert "guard.py" in found
    assert ".sh" not in found


@pytest.mark.slow
def test_workers_add_up_and_sources_show_what_nobody_ran(covered):
    """Under xdist the data are those of all workers; a named folder shows its other scripts too."""
    covered.write(".coveragerc", f"{SETTINGS}branch = true\n")
    covered.write("scenarios/project/unused.sh", "#!/usr/bin/env bash\nexit 0\n")
    result = covered.run("--hook-cov-source=.", "-n2", "scenarios/covered.scenario.yaml", "tests")
    result.assert_outcomes(passed=2)
    rates = last_words(report(covered), "check.sh", "unused.sh")
    assert rates == ["80%", "0%"]


@pytest.mark.nightly
def test_what_else_is_measured_is_kept(covered):
    """Where coverage itself is running, the data of hooks stand beside its own until they are combined."""
    covered.write(".coveragerc", SETTINGS)
    command = [
        sys.executable,
        "-m",
        "coverage",
        "run",
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:faker",
    ]
    done = subprocess.run(
        [*command, "--hook-cov", "tests"], cwd=covered.path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout
    report(covered, "combine")
    assert last_words(report(covered), "beside.sh", "test_beside.py") == ["100%", "100%"]


@pytest.mark.slow
def test_a_run_that_is_stopped_shows_what_was_recorded(covered):
    """After `-x` there is a table of what ran until then."""
    covered.write("tests/test_no_more.py", "def test_no_more():\n    assert False\n")
    result = covered.run("--hook-cov", "-x", "tests")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*hook coverage*", WITH_LINES[0], "wrote .coverage"])


@pytest.fixture
def ledger(tmp_path):
    """A ledger in a folder of its own."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    return Ledger(folder=folder)


def test_a_hook_that_was_removed_since_is_named(tmp_path, ledger):
    """Of a file that is gone when the data are written no report can be made, and the others are told."""
    gone, kept = str(tmp_path / "gone.sh"), tmp_path / "kept.py"
    kept.write_text("print(1)\n")
    shell = {gone: (Traced(1, "echo"),)}
    write_recording(
        ledger.folder, Recording(shell=shell, python={str(kept): ((1,),)}, gaps=(), context="test")
    )
    (tmp_path / ".coveragerc").write_text(f"[run]\ndata_file = {tmp_path}/data\nplugins = nonesuch\n")
    said = publish(ledger, Wish(sources=(str(tmp_path),), settings=str(tmp_path / ".coveragerc")))

    assert f"not recorded: {gone}: it is not there any more" in said
    assert "no table: No module named 'nonesuch'" in said
    assert (tmp_path / "data").exists()


def test_settings_that_coverage_cannot_read_are_an_error_of_usage(tmp_path):
    """What is wrong with the settings of coverage is said before anything is played."""
    (tmp_path / "settings").write_text("[run]\nbranch = maybe\n")
    with pytest.raises(pytest.UsageError, match="Not a boolean: maybe"):
        open_ledger(settings=str(tmp_path / "settings"))


def test_only_files_are_looked_into(tmp_path):
    """A named pipe among the scripts of a folder is none, and nobody waits for what it says."""
    os.mkfifo(tmp_path / "pipe.sh")
    (tmp_path / "hook.sh").write_text("echo a\n")

    assert [*bash_files(str(tmp_path))] == [str(tmp_path / "hook.sh")]


@pytest.mark.slow
def test_the_shell_command_shows_the_same(covered, capsys, monkeypatch):
    """`hookharness try --cov` prints the table and writes the data."""
    covered.write(".coveragerc", SETTINGS)
    monkeypatch.chdir(covered.path)
    assert cli.main(["try", "Stop", "./scenarios/project/.hooks/check.sh", "--cov"]) == 0
    assert last_words(capsys.readouterr().out, "lib.sh ") == ["5"]
    assert last_words(report(covered), "check.sh", "lib.sh") == ["80%", "50%"]
