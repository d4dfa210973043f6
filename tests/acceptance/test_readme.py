"""Claims of the README, compared with real runs."""

import re
import subprocess
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def page():
    """The text of the README."""
    if not README.exists():
        pytest.skip("the README is not beside these tests")
    return README.read_text()


def block(page, language, containing):
    """The code block of a language that holds some words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return next(text for text in blocks if containing in text)


@pytest.fixture
def example(page, project):
    """The project of the README, in a Git repository, without its tests."""
    project.write(".claude/hooks/lint.sh", block(page, "sh", "eslint src"), 0o755)
    project.write(".claude/settings.json", block(page, "json", "Stop"))
    subprocess.run(["git", "init", "--quiet", "."], cwd=project.path, check=True)
    return project


@pytest.mark.slow
def test_the_first_scenario_prints_the_first_story(page, example):
    """The scenario of the README fails with the story on its first screen."""
    example.write("scenarios/lint.scenario.yaml", block(page, "yaml", "lint-asks-once"))

    result = example.run("--hook-scenarios")

    result.assert_outcomes(failed=1)
    printed = [re.sub(r"\d+ ms", "5 ms", line) for line in result.outlines]
    assert [line for line in block(page, "", "livelock").splitlines() if line not in printed] == []


@pytest.mark.slow
def test_the_first_test_fails_for_the_same_hook(page, example):
    """The Python test of the README fails for the same hook, and passes for one that allows the stop."""
    example.write("test_lint.py", block(page, "python", "hook_loop"))
    example.run().assert_outcomes(failed=1)

    example.write(".claude/hooks/lint.sh", "#!/bin/sh\nexit 0\n", 0o755)
    example.run().assert_outcomes(passed=1)


@pytest.mark.nightly
def test_one_ini_key_runs_scenarios_and_tests(page, example):
    """With the setting that the README names, pytest without options runs the scenario and the test."""
    (setting,) = re.findall(r"`(hook_scenarios = \w+)`", page)
    example.write("scenarios/lint.scenario.yaml", block(page, "yaml", "lint-asks-once"))
    example.write("test_lint.py", block(page, "python", "hook_loop"))

    example.run().assert_outcomes(failed=1)
    example.write("pytest.ini", f"[pytest]\n{setting}\n")
    example.run().assert_outcomes(failed=2)


def test_the_readme_fits_on_three_screens(page):
    """The README has at most 120 lines."""
    assert len(page.splitlines()) <= 120
