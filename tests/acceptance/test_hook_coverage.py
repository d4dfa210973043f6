"""Coverage of hooks as users get it, by one option and the reports of coverage.py."""

import contextlib
import io
import os
import re
import subprocess
import sys

import pytest
from coverage import cmdline

from pytest_hookharness.coverage import bash_files
from pytest_hookharness.execution.coverage.recorder import write_recording
from pytest_hookharness.frontends import coverage_data
from pytest_hookharness.frontends.cli import main
from pytest_hookharness.frontends.coverage_data import CoverageOptions, open_store, publish
from pytest_hookharness.frontends.option_types import OptionError
from pytest_hookharness.model.line_coverage import CoverageStore, Gap, ScriptCoverage, TracedLine

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


def report(place, kind="report", *arguments):
    """Return what a command of coverage prints about the data, in the folder of the project."""
    said = io.StringIO()
    with contextlib.chdir(place.path), contextlib.redirect_stdout(said):
        assert cmdline.main([kind, *arguments]) == 0, said.getvalue()
    return said.getvalue()


def last_words(table, *names):
    """Return the last cell of the rows of some files."""
    return [line.split()[-1] for name in names for line in table.splitlines() if name in line]


def reached(text, pattern, *names):
    """Return the reached and the missed lines of some files, as a text lists them."""
    parts = {name: next(part for part in re.split(pattern[0], text) if name in part) for name in names}
    return {
        name: tuple([int(line) for line in re.findall(each, part)] for each in pattern[1:])
        for name, part in parts.items()
    }


@pytest.mark.nightly
def test_all_reports_of_coverage_show_hooks_in_bash_and_in_python(covered):
    """Two workers leave data from which coverage shows the same lines in each of its four reports."""
    settings = 'plugins = ["pytest_hookharness.coverage"]\nbranch = true\n'
    covered.write("pyproject.toml", f"[tool.coverage.run]\n{settings}")
    covered.write("scenarios/project/unused.sh", "#!/usr/bin/env bash\nexit 0\n")
    result = covered.run("--hook-cov-source=.", "-n2", "scenarios/covered.scenario.yaml", "tests")
    result.assert_outcomes(passed=2)
    table = report(covered)
    assert last_words(table, "check.sh", "unused.sh", "lib.sh") == ["80%", "0%", "50%"]
    assert "guard.py " in table
    names, found = ("check.sh", "guard.py"), {"check.sh": ([2, 3, 4, 7], [5]), "guard.py": ([2, 3, 5], [6])}
    report(covered, "xml", "-o", "out.xml")
    text = (covered.path / "out.xml").read_text()
    lines = (r"(?=<class )", r'number="(\d+)" hits="1"', r'number="(\d+)" hits="0"')
    assert reached(text, lines, *names) == found
    report(covered, "lcov", "-o", "out.lcov")
    text = (covered.path / "out.lcov").read_text()
    assert reached(text, ("end_of_record", r"\nDA:(\d+),1", r"\nDA:(\d+),0"), *names) == found
    report(covered, "html", "-d", "html")
    pages = (path.read_text() for path in (covered.path / "html").glob("*.html"))
    lines = (
        "<!DOCTYPE",
        r'class="(?:par )?run[^"]*"><span class="n"><a id="t(\d+)"',
        r'class="mis[^"]*"><span class="n"><a id="t(\d+)"',
    )
    text = "".join(page for page in pages if 'id="t1"' in page)
    assert reached(text, lines, *names) == found


@pytest.mark.nightly
def test_without_the_plugin_in_its_settings_coverage_still_reads_the_data(covered):
    """Then shell scripts are only in the table, and a line says which plugin to name where."""
    result = covered.run("--hook-cov", "scenarios/covered.scenario.yaml", "tests")
    result.stdout.fnmatch_lines(["*hook coverage*", *WITH_LINES, "wrote .coverage"])
    result.stdout.fnmatch_lines(["*plugins = ?*pytest_hookharness.coverage*"])
    result.stdout.fnmatch_lines(["not recorded: */plain.sh: *another shell than bash*"])
    result.stdout.fnmatch_lines(["not recorded: workspace/within.sh: a scenario writes it itself*"])
    found = report(covered)
    assert "guard.py" in found
    assert ".sh" not in found


def test_many_unrecorded_scripts_share_a_line_for_each_reason():
    """Their number is printed, and with -v their names."""
    gaps = {Gap("/b.sh", "no trace"), Gap("/a.sh", "no trace"), Gap("/c", "too old")}
    short, long = (
        [*coverage_data._describe_gaps(gaps, coverage_data.CoverageOptions(sources=(), verbose=verbose))]
        for verbose in (False, True)
    )
    assert short == ["not recorded: 2 scripts (-v names them): no trace", "not recorded: /c: too old"]
    assert [line.split(": ")[1] for line in long] == ["/a.sh", "/b.sh", "/c"]


@pytest.mark.nightly
def test_other_coverage_data_stay(covered):
    """If coverage itself is running, the data of hooks have a file beside its own until they are combined."""
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
    assert b"`coverage combine --append`" in done.stdout
    report(covered, "combine", "--append")
    assert last_words(report(covered), "beside.sh", "test_beside.py") == ["100%", "100%"]


@pytest.mark.slow
def test_a_run_that_is_stopped_shows_what_was_recorded(covered):
    """After `-x` there is a table of what ran until then."""
    covered.write("tests/test_no_more.py", "def test_no_more():\n    assert False\n")
    result = covered.run("--hook-cov", "-x", "tests")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*hook coverage*", WITH_LINES[0], "wrote .coverage"])


@pytest.fixture
def coverage_store(tmp_path):
    """A coverage store in a folder of its own."""
    folder = tmp_path / "store"
    folder.mkdir()
    return CoverageStore(folder=folder)


def test_a_hook_that_was_removed_since_is_named(tmp_path, coverage_store):
    """A file that was removed before the data are written is left out, and all other files are reported."""
    gone, kept = str(tmp_path / "gone.sh"), tmp_path / "kept.py"
    kept.write_text("print(1)\n")
    shell = {gone: (TracedLine(1, "echo"),)}
    write_recording(
        coverage_store.folder,
        ScriptCoverage(shell=shell, python={str(kept): ((1,),)}, gaps=(), context="test"),
    )
    (tmp_path / ".coveragerc").write_text(f"[run]\ndata_file = {tmp_path}/data\nplugins = nonesuch\n")
    said = publish(
        coverage_store, CoverageOptions(sources=(str(tmp_path),), settings=str(tmp_path / ".coveragerc"))
    )

    assert f"not recorded: {gone}: it no longer exists" in said
    assert "no table: No module named 'nonesuch'" in said
    assert (tmp_path / "data").exists()


def test_settings_that_coverage_cannot_read_are_an_error_of_usage(tmp_path):
    """An error in the settings of coverage is reported before anything is played."""
    (tmp_path / "settings").write_text("[run]\nbranch = maybe\n")
    with pytest.raises(OptionError, match="Not a boolean: maybe"):
        open_store(settings=str(tmp_path / "settings"))


def test_only_files_are_looked_into(tmp_path):
    """A named pipe among the scripts of a folder is skipped and never opened."""
    os.mkfifo(tmp_path / "pipe.sh")
    (tmp_path / "hook.sh").write_text("echo a\n")

    assert [*bash_files(str(tmp_path))] == [str(tmp_path / "hook.sh")]


@pytest.mark.slow
def test_the_shell_command_shows_the_same(covered, capsys, monkeypatch):
    """`hookharness try --cov` prints the table and writes the data."""
    covered.write(".coveragerc", SETTINGS)
    monkeypatch.chdir(covered.path)
    assert main.main(["try", "Stop", "./scenarios/project/.hooks/check.sh", "--cov"]) == 0
    assert last_words(capsys.readouterr().out, "lib.sh ") == ["5"]
    assert last_words(report(covered), "check.sh", "lib.sh") == ["80%", "50%"]
