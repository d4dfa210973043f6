"""Claims of the README, held against what really happens."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def block(language, containing):
    """The code block of a language that holds some words."""
    if not README.exists():
        pytest.skip("the README is not beside these tests")
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    return next(text for text in blocks if containing in text)


def test_the_first_scenario_tells_the_first_story(project):
    """The scenario of the README fails with the story that stands on its first screen."""
    project.write("scenarios/check.scenario.yaml", block("yaml", "check-lets-go"))

    result = project.run("--hook-scenarios")

    result.assert_outcomes(failed=1)
    printed = [re.sub(r"\d+ ms", "5 ms", line) for line in result.outlines]
    assert [line for line in block("", "livelock").splitlines() if line not in printed] == []


def test_the_first_test_fails_for_the_same_hook(project):
    """The Python test of the README fails for the same hook, and passes for one that allows the stop."""
    project.write("test_it.py", block("python", "hook_loop"))
    project.write("check.sh", "#!/bin/sh\necho 'eslint: not found' >&2; exit 2\n", 0o755)
    project.run().assert_outcomes(failed=1)

    project.write("check.sh", "#!/bin/sh\nexit 0\n", 0o755)
    project.run().assert_outcomes(passed=1)
