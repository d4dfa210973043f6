"""Claims about the page that a run of pytest writes with --hook-report."""

import json
import os
import re
import select
import signal
import subprocess
import sys

import pytest

from pytest_hookharness.frontends.cli import main

STUBBORN = "echo 'run never' >&2; exit 2"
TEST = "def test_it(hook_loop):\n    assert hook_loop(Stop='echo mine >&2; exit 2').livelock\n"
SEVERAL = ("--hook-scenarios", ".", "--hook-report", "of today/page.html")


def rows(file):
    """Return name, verdict and result of each simulation in the list of a page."""
    index = re.search(r'id="index">(.*?)</script>', file.read_text())[1]
    return [(row["name"], row["verdict"], row["result"]) for row in json.loads(index)["rows"]]


EXPECTED = [
    ("polite", "terminated", "passed"),
    ("stubborn", "livelock", "failed"),
    ("test_it", "livelock", "passed"),
]


def fill(project):
    project.scenario("polite")
    project.scenario("stubborn", body=STUBBORN)
    project.write("test_it.py", TEST)
    return project.path / "of today" / "page.html"


@pytest.mark.nightly
def test_a_page_of_one_run(project):
    """Scenarios and Python tests are on the page, which replaces an earlier one, and nothing else is left."""
    file = fill(project)
    project.write("of today/page.html", "of an earlier run")

    result = project.run(*SEVERAL)

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines([f"hook harness: a page of 3 simulations* is in {file}"])
    assert rows(file) == EXPECTED
    assert "trace files" not in result.stdout.str()
    assert [path.name for path in file.parent.iterdir()] == ["page.html"]


UNSURE = """
import pytest
def test_skipped(hook_loop):
    hook_loop(Stop='echo mine >&2; exit 2')
    pytest.skip()
@pytest.mark.xfail
def test_expected(hook_loop):
    assert hook_loop(Stop='echo mine >&2; exit 2').terminated
def test_wrong(hook_loop):
    assert hook_loop(Stop='exit 0').livelock
"""


@pytest.mark.nightly
def test_tests_that_say_nothing(project):
    """Simulations of skipped tests and expected failures do not count as passed."""
    project.write("test_it.py", UNSURE)

    result = project.run(
        "test_it.py", "--hook-report", "all.html", "--hook-trace-dir", "x", "--hook-incident-dir=x"
    )

    result.assert_outcomes(failed=1, skipped=1, xfailed=1)
    assert len([*(project.path / "x").glob("*.md")]) == 1
    assert rows(project.path / "all.html") == [
        ("test_expected", "livelock", "decided by its test"),
        ("test_skipped", "livelock", "decided by its test"),
        ("test_wrong", "terminated", "failed"),
    ]
    assert "left out" not in result.stdout.str()


def test_a_page_that_cannot_be_written(project):
    """A file that cannot be written is a usage error that names it, before anything is played."""
    project.write("taken", "")

    result = project.run("--hook-report", "taken/page.html")

    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*--hook-report: */taken/page.html cannot be written (*); name a file that can*"]
    )


@pytest.mark.parametrize("before", ["", "of an earlier run"])
def test_a_run_without_a_simulation(project, before):
    """If nothing is played, no page is written, and an earlier one stays."""
    file = project.path / "page.html"
    if before:
        file.write_text(before)

    result = project.run("--hook-report", "page.html")

    result.stdout.fnmatch_lines(["hook harness: no simulation ran, so no page was written"])
    assert (file.read_text() if file.exists() else "") == before
    assert file.exists() is bool(before)


@pytest.mark.nightly
def test_a_page_of_several_workers(project):
    """The page has the simulations of two workers, and none of the other trace files in the folder."""
    file = fill(project)
    project.write("traces/earlier.jsonl", "of an earlier run")

    result = project.run_apart(*SEVERAL, "-n", "2", "--hook-trace-dir", "traces")

    result.assert_outcomes(passed=2, failed=1)
    assert sorted(rows(file)) == EXPECTED
    assert len([*(project.path / "traces").iterdir()]) == 4
    assert "left out" not in result.stdout.str()


@pytest.mark.nightly
def test_a_page_of_an_interrupted_run(project):
    """Ctrl-C leaves a page of what was seen until then."""
    ready = project.path / "scenarios" / "ready"
    ready.parent.mkdir()
    os.mkfifo(ready)
    reader = os.open(ready, os.O_RDONLY | os.O_NONBLOCK)
    project.scenario("polite", folder="earlier")
    project.scenario("slow", body="test -e once && exec sleep 86399; touch once; echo first >&2; exit 2")
    text = (project.path / "scenarios/slow.scenario.yaml").read_text()
    text = text.replace("  - then: idle", f"  - stop: One.\n  - run: echo > {ready}\n  - then: idle")
    project.scenario("slow", text=f"world: {{cover: ['{ready.parent}']}}\n{text}")
    command = [sys.executable, "-m", "pytest", "-p", "no:faker", *SEVERAL]
    command += [f"--basetemp={project.path / 'base'}"]
    process = subprocess.Popen(command, cwd=project.path, stdout=subprocess.PIPE)
    assert select.select([reader], [], [], 30)[0], "the agent never came so far"
    os.close(reader)

    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)

    assert b"hook harness: a page of 2 simulations" in output
    assert rows(project.path / "of today" / "page.html") == [
        ("polite", "terminated", "passed"),
        ("slow", "undecided", "failed"),
    ]


@pytest.mark.nightly
def test_a_page_made_later(project, monkeypatch, capsys):
    """Stored trace files give a page later, which says what is unknown."""
    monkeypatch.chdir(project.path)
    fill(project)
    project.run("--hook-scenarios", ".", "--hook-trace-dir", "traces")
    made = main.main(["report", "traces", "--format", "page", "-o", "page.html"])
    again = main.main(["report", "traces", "--format", "page"])

    assert (made, again) == (1, 2)
    assert sorted(rows(project.path / "page.html")) == [
        *EXPECTED[:2],
        ("test_it", "livelock", "decided by its test"),
    ]
    assert "report: a page needs a file" in capsys.readouterr().err
