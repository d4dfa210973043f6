"""Claims about the comparison of two stored runs of the benchmarks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
OLD = {"a": {"ratio": 1.0, "noise": 0.1}, "gone": {"ratio": 1.0, "noise": 0.0}}


@pytest.fixture
def compare(tmp_path):
    """Compare two sets of ratios; return exit code and output."""

    def run(new, old=OLD):
        files = [tmp_path / "old.json", tmp_path / "new.json"]
        for file, ratios in zip(files, (old, new), strict=True):
            file.write_text(json.dumps({"machine": "", "ratios": ratios}))
        program = [sys.executable, BENCHMARKS / "compare.py", *files]
        ended = subprocess.run(program, capture_output=True, text=True, check=False)
        return ended.returncode, ended.stdout

    return run


def test_a_change_within_the_noise_is_not_listed(compare):
    """A ratio that moved by less than the noise of both runs is not listed, and the exit code is 0."""
    code, text = compare({"a": {"ratio": 1.15, "noise": 0.1}, "gone": OLD["gone"]})

    assert (code, text) == (0, "No ratio moved by more than the noise of the two runs.\n")


def test_a_slower_ratio_is_listed(compare):
    """A ratio that grew by more than the noise is listed with both values, and the exit code is 1."""
    code, text = compare({"a": {"ratio": 1.5, "noise": 0.1}, "gone": OLD["gone"]})

    assert (code, text) == (1, "+50%  1.00 -> 1.50  a\n")


def test_a_faster_ratio_is_no_failure(compare):
    """A ratio that shrank is listed, and the exit code is 0."""
    code, text = compare({"a": {"ratio": 0.5, "noise": 0.1}, "gone": OLD["gone"]})

    assert (code, text) == (0, "-50%  1.00 -> 0.50  a\n")


def test_rows_of_one_run_are_named(compare):
    """A ratio that only one of the runs has is named."""
    code, text = compare({"a": OLD["a"], "new": {"ratio": 1.0, "noise": 0.0}})

    assert code == 0
    assert text.splitlines()[1:] == ["only in the old run: gone", "only in the new run: new"]


@pytest.mark.nightly
def test_a_run_stores_its_ratios(tmp_path):
    """A run with --json stores each ratio of its tables, with its noise."""
    file = tmp_path / "run.json"
    program = [sys.executable, BENCHMARKS / "run.py", "--quick", "--json", file, "recording"]
    subprocess.run(program, check=True, capture_output=True)

    ratios = json.loads(file.read_text())["ratios"]
    assert "recording: true" in ratios
    assert all(one["ratio"] > 0 and one["noise"] >= 0 for one in ratios.values())
