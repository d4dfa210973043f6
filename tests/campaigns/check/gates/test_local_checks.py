"""Claims about checks that hooks start by a path in the project."""

import subprocess
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.gates.local_checks import (
    failing_stand_ins,
    local_checks,
    stand_in,
    words_for,
)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("out=$(.venv/bin/pytest -q 2>&1) || exit 2", [".venv/bin/pytest"]),
        ("./gradlew test || exit 2", ["gradlew"]),
        ('eslint = path.join(root, "node_modules", ".bin", "eslint")', ["node_modules/.bin/eslint"]),
        ("[ -x scripts/verify-quick.sh ] || exit 0\nscripts/verify-quick.sh", ["scripts/verify-quick.sh"]),
        ("[ -f scripts/deploy.sh ] || exit 0\nscripts/deploy.sh", []),
        ("pytest -q || exit 2", []),
        ("python3 -m pytest -q || exit 2", ["pytest.py"]),
        ("python3 -m json.tool", []),
        ("# python3 -m pytest\necho 'Run python3 -m pytest first.'", []),
        ("echo my.venv/bin/pytest-cov", []),
    ],
)
def test_paths_of_checks(plugin, text, paths):
    """Programs of environments and missing check scripts are checks; other scripts and commands are not."""
    hook_set = plugin('bash "${CLAUDE_PLUGIN_ROOT}/gate.sh"', **{"gate.sh": f"#!/bin/bash\n{text}\n"})
    hook_set = replace(hook_set, looked_for=("scripts/verify-quick.sh", "scripts/deploy.sh"))
    assert local_checks(hook_set, hook_set.hooks) == paths


def test_a_module_that_a_program_in_python_starts(plugin):
    """A list of words names a module too."""
    text = 'import subprocess, sys\nsubprocess.run([sys.executable, "-m", "unittest"])\n'
    hook_set = plugin('python3 "${CLAUDE_PLUGIN_ROOT}/gate.py"', **{"gate.py": text})
    assert local_checks(hook_set, hook_set.hooks) == ["unittest.py"]


def test_how_a_check_is_named():
    """Only the test double of a module is named as Python starts it; a script keeps its path."""
    assert [words_for(path) for path in ("pytest.py", "verify.py", ".venv/bin/ruff")] == [
        "python -m pytest",
        "verify.py",
        ".venv/bin/ruff",
    ]


@pytest.mark.parametrize("name", ["pytest", "check.sh", "check.py"])
@pytest.mark.parametrize("fails", [True, False])
def test_what_stands_for_a_check(tmp_path, name, fails):
    """The script that replaces a check runs as a program, prints its result, and fails only if it should."""
    file = tmp_path / name
    file.write_text(stand_in(name, fails=fails))
    file.chmod(0o755)
    run = subprocess.run([file], capture_output=True, text=True, check=False)
    assert (run.returncode, "failed" in run.stdout, run.stderr) == (int(fails), fails, "")
    assert failing_stand_ins({name: file.read_text(), "other": "text"}) == [name] * fails
