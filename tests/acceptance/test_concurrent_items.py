"""Scenarios that are played side by side: everything else is as if each item ran alone."""

import select
import signal
import subprocess
import sys

import pytest

from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.model.processes import Tier

PREPARED = "import pytest\n@pytest.fixture(autouse=True)\ndef prepared(): ...\n"
SKIPPED = """
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        if item.name == "one[other-droid]":
            item.add_marker(pytest.mark.skipif("False"))
"""
ALL = ("--hook-scenarios", "--hook-host", "all")
SEVERAL = ("--hook-scenarios", *(word for name in ("claude-code", "codex", "kimi", "droid") for word in
           ("--hook-host", name)))  # fmt: skip


@pytest.fixture
def apart(project):
    """A project on a machine that isolates simulations; on other machines they run one after the other."""
    if Tier.NAMESPACES not in available_tiers():
        pytest.skip("no namespaces here")
    return project


@pytest.mark.nightly
def test_times_are_each_item_s_own(apart):
    """An item that ran beside other items is reported with its own duration."""
    apart.scenario("slow", body="sleep 0.6")

    result = apart.run(*SEVERAL, "--durations=0", "--durations-min=0.6")

    result.assert_outcomes(passed=4)
    assert len([line for line in result.outlines if "s call " in line]) == 4


@pytest.mark.slow
def test_which_items_are_played_ahead(project, pytester):
    """Later scenarios are played ahead up to one that may be skipped or that needs another setup."""
    path = project.scenario("one")
    path.write_text("variants: {other: {}}\n" + path.read_text())
    project.scenario("three")
    project.scenario("two", folder="scenarios/prepared")
    project.scenario("zero", folder="scenarios/zero")
    project.write("scenarios/prepared/conftest.py", PREPARED)
    project.write("conftest.py", SKIPPED)

    items, _ = pytester.inline_genitems("-p", "no:faker", *SEVERAL, "-k", "codex or droid")
    selected = items[0].session.items
    ahead = {item.name: [scenario.id for scenario in item.upcoming()] for item in selected}

    assert ahead == {
        "one[codex]": ["one[droid]", "one[other-codex]"],
        "one[droid]": ["one[other-codex]"],
        "one[other-codex]": [],
        "one[other-droid]": [],
        "two[codex]": [],
        "two[droid]": [],
        "three[codex]": ["three[droid]", "zero[codex]", "zero[droid]"],
        "three[droid]": ["zero[codex]", "zero[droid]"],
        "zero[codex]": ["zero[droid]"],
        "zero[droid]": [],
    }


@pytest.mark.nightly
def test_each_item_has_its_own_end(apart):
    """A scenario may pass on one host, fail on another, and be unplayable on a third."""
    apart.scenario("loop", body="case $PWD in */1/*) exit 0;; esac; echo fix >&2; exit 2")
    path = apart.scenario("odd")
    path.write_text(path.read_text().replace("  - then:", "  - tool: {name: Guess}\n  - then:"))

    result = apart.run(*SEVERAL)

    result.assert_outcomes(passed=1, failed=3, errors=4)
    result.stdout.fnmatch_lines(
        ["loop*claude-code*terminated*passed", "loop*codex*livelock*FAILED: expected terminated"]
    )


@pytest.mark.slow
def test_the_first_failure_ends_the_run(apart):
    """With -x later items are not reported, and their running simulations end at once."""
    apart.scenario("loop", body="case $PWD in */1/*) exit 2;; esac; exec sleep 86399")

    result = apart.run(*SEVERAL, "-x", "--hook-timeout=100s", "--hook-budget=100s", "--hook-report=page.html")

    result.assert_outcomes(failed=1)
    assert result.duration < 90
    result.stdout.fnmatch_lines(["1 simulation: 1 failed"])
    assert "codex" not in result.stdout.str()
    assert "codex@" not in (apart.path / "page.html").read_text()


@pytest.mark.nightly
def test_an_interrupt_ends_all(apart):
    """After Ctrl-C the current item is reported as far as it was seen, and the hooks of all items end."""
    apart.scenario("slow", body="test -e once && exec sleep 86399; touch once; echo first >&2; exit 2")
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:faker", *ALL, f"--basetemp={apart.path / 'base'}"],
        cwd=apart.path,
        stdout=subprocess.PIPE,
    )
    places = "base/hooks*/*/slow/workspace/once"
    while len(list(apart.path.glob(places))) < 8 and process.poll() is None:
        select.select([], [], [], 0.02)

    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)

    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert b"undecided: interrupted" in output
    assert b"first" in output
    assert not list(apart.path.glob("base/hooks*/*/slow"))


@pytest.mark.nightly
def test_items_without_enough_cpu_are_played_again(apart):
    """Hooks that take CPU time from each other after a wait are played again, each on a processor."""
    work = "i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done"
    apart.scenario("busy", body=f"sleep 0.3; {work}")

    result = apart.run(*SEVERAL)

    result.assert_outcomes(passed=4)
