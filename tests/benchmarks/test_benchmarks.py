"""
Claims about the benchmarks: they run to the end, and their counts are as expected. Times are never tested.
"""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / "benchmarks" / "run.py"
TARGETS = ("true", "bash", "python")
TIERS = ("process group",)  # available everywhere


@pytest.fixture(scope="module")
def counted():
    """The cells of every row of a quick run of the table that counts hook runs."""
    return run_quickly("verdicts")


@pytest.fixture(scope="module")
def rows():
    """The same of the tables that others build on."""
    return run_quickly("hook_runs", "unused", "workspaces")


@pytest.fixture(scope="module")
def more_rows():
    """The same of the tables that take longer."""
    return run_quickly("cases", "hosts", "stress", "explorations", "recording", "startup")


def run_quickly(*names):
    """The cells of every row of some tables, by its first cell and, where that is not enough, the second."""
    run = subprocess.run(
        [sys.executable, RUN, "--quick", *names], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    lines = [re.split(r"  +", line.strip()) for line in run.stdout.splitlines() if "  " in line]
    return {tuple(line[:2]) if line[0] == "proof" else line[0]: line for line in lines}


@pytest.mark.nightly
def test_rows_of_hook_runs(rows):
    """Every target is run by the harness, by subprocess and, where there is a compiler, in C."""
    peers = ("subprocess.run(input)", "subprocess.run(input, timeout, session, cwd)", "C", *TIERS)

    assert {f"{target}: {peer}" for target in TARGETS for peer in peers} <= rows.keys()
    if not shutil.which("gcc") and not shutil.which("cc"):
        assert rows["true: C"][1] == "no C compiler"


@pytest.mark.nightly
def test_unused_plugin(rows):
    """A run that does not use the plugin loads at most three modules of ours."""
    assert {"one empty test", "--collect-only"} <= rows.keys()
    assert int(rows["our modules loaded"][1]) <= 3


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("period", [1, 2, 3])
def test_hook_runs_until_the_proof(counted, period):
    """A livelock is proved as soon as its cycle was repeated once, after at most one turn of stem."""
    assert int(counted["proof", str(period)][2]) <= 2 * period + 2


@pytest.mark.nightly
@pytest.mark.parametrize("cap", [8, 60, 500])
def test_hook_runs_until_a_cap(counted, cap):
    """Until a cap, a hook runs for each refusal that the cap honours, and for the one that it overrides."""
    assert int(counted[f"cap of {cap}"][2]) == cap + 1


@pytest.mark.nightly
def test_rows_of_cases(more_rows):
    """The cases run with every runner, in one test and in many."""
    forms = ("one test", "many tests")
    runners = ("subprocess.run", "subprocess.run of /bin/sh -c", "hook_fire")

    assert {f"pytest + {runner}, {form}" for runner in runners for form in forms} <= more_rows.keys()
    assert {"loop in bash", "bats"} <= more_rows.keys()


@pytest.mark.nightly
def test_rows_of_workspaces(rows):
    """A step is measured with and without files, by itself and as part of a loop."""
    steps = ("hook run", "hook run + scan + digest", "one turn of a loop")

    assert {f"{step}, {files} files" for step in steps for files in ("0", "1,000")} <= rows.keys()


@pytest.mark.nightly
def test_rows_of_hosts(more_rows):
    """One scenario is measured on all hosts, side by side and alone, for hooks that work and that wait."""
    worked, waited = ("side by side", "one by one"), ("one host", "all hosts")

    assert {f"refusing hook, {way}" for way in worked} <= more_rows.keys()
    assert {f"waiting hook, {way}" for way in waited} <= more_rows.keys()


@pytest.mark.nightly
def test_rows_of_stress(more_rows):
    """A whole stress table is measured beside one run of its session, and its cells are counted."""
    assert {"played once", "everything tried"} <= more_rows.keys()
    assert int(more_rows["everything tried"][2]) > 1


@pytest.mark.nightly
def test_rows_of_startup(more_rows):
    """Every command that only prints is measured, and one that plays a session."""
    commands = ("--version", "schema", "hosts", "findings", "try Stop true")

    assert {f"hookharness {command}" for command in commands} <= more_rows.keys()


@pytest.mark.nightly
def test_each_hook_of_a_check_is_tried():
    """At its default budget, a check tries each of ten hooks on its event."""
    assert run_quickly("checks")["ten hooks"][1] == "10 / 10"


@pytest.mark.nightly
def test_rows_of_the_shipped_scenarios():
    """The hook runs of real turns and the harness are told apart, and hooks take some of the time."""
    rows = run_quickly("shipped")

    assert {"the run", "harness: pytest's process", "harness, both", "idle processors"} <= rows.keys()
    assert int(rows["hooks: real turns"][1]) > 0


def test_what_the_shipped_scenarios_measure_exists(monkeypatch):
    """Each function whose hook runs are counted by themselves is still there under its name."""
    monkeypatch.syspath_prepend(str(RUN.parent))
    shipped = importlib.import_module("shipped")

    for module, owner, name, _ in shipped.PHASES:
        place = importlib.import_module(f"pytest_hookharness.{module}")
        assert callable(getattr(getattr(place, owner) if owner else place, name))
