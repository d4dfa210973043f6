"""Claims about variables that get nothing, as an earlier command has read all of the input."""

import subprocess

import pytest

from pytest_hookharness.campaigns.check.reads.spent_inputs import spent_inputs

PYTHON = "python3 -c \"import json,sys; print(json.load(sys.stdin)['cwd'])\""
EMPTY = [
    "T=$(jq -r '.tool_name')\nF=$(jq -r '.tool_input.file_path')",
    "INPUT=$(cat)\nF=$(jq -r .cwd 2>/dev/null)",
    'INPUT="$(cat)"\nF="$(jq -r ".cwd // empty" || echo none)"',
    "T=$(cat | jq -r '.tool_name')\nF=$(cat | jq -r '.cwd' | head -1)",
    "INPUT=$(cat)\nF=$(cat)",
]
FILLED = [
    'INPUT=$(cat)\nF=$(jq -r .cwd <<< "$INPUT")',
    'INPUT=$(cat)\nF=$(echo "$INPUT" | jq -r .cwd)',
    "INPUT=$(cat)\nF=$(jq -r .version package.json)",
    "INPUT=$(cat)\nF=$(jq -r .version < package.json)",
    "INPUT=$(cat)\nF=$(jq -n '{a: 1}')",
    "INPUT=$(cat)\nF=$(jq -s . )",
    "INPUT=$(cat)\nF=$(jq -re .cwd || echo none)",
    f"INPUT=$(cat)\nF=$({PYTHON} || echo none)",
    "INPUT=$(jq -n 'input | .cwd')\nF=$(cat)",
    "if [ ! -t 0 ]; then\n  INPUT=$(cat)\nfi\nF=$(cat)",
    "[ -t 0 ] && INPUT=$(cat)\nF=$(cat)",
    "read_it() {\n  T=$(cat)\n}\nF=$(cat)",
    "T=$(cat)\nlast() {\n  F=$(cat)\n}\ngit log | last",
    "T=$(cat)\ngit log | while read -r one; do\n  F=$(cat)\ndone",
    "T=$(cat)\n{\n  F=$(cat)\n} < file",
    "T=$(cat)\n(cd x\n  F=$(cat)\n) < file",
    "T=$(cat)\nexec < file\nF=$(cat)",
    "T=$(cat)\nF=$(cat file)",
    "T=$(cat)\nF=$(jq -r .cwd)\nF=${F:-$PWD}\n",
    "T=$(cat)\nF=$(jq -r .cwd | wc -l)",
    "# T=$(cat)\nF=$(cat)",
    "function name {\n  F=$(cat)\n  echo x\n}\nT=$(cat)\nN=$(name <<< x)",
    "get() (\n  F=$(cat)\n)\nT=$(cat)\nget <<< x",
    "T=$(cat)\nif true; then F=$(cat)\nfi <<< x",
    f"T=$(cat)\nF=$({PYTHON})",
    "cat <<'EOF'\nT=$(cat)\nEOF\nF=$(cat)",
    "T=$(cat)\nF=$(python3 - <<'P'\nimport sys\nsys.stdin.read()\nP\n)",
]


@pytest.mark.parametrize("text", EMPTY)
def test_a_variable_that_gets_nothing(text):
    """The second command in a row that reads all of the input is named, with its line and its variable."""
    words = "line 2 has read all of standard input, so `F` is always empty"
    assert [*spent_inputs(f"#!/bin/bash\n{text}\n")] == [(words, 3)]


@pytest.mark.parametrize("text", EMPTY)
def test_the_shell_agrees(text):
    """The variable is empty if the script runs."""
    answer = subprocess.run(
        ["bash", "-c", f'{text}\necho "[$F]"'],
        input='{"tool_name": "Edit", "cwd": "/w", "tool_input": {"file_path": "f"}}',
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("text", FILLED)
def test_a_variable_that_may_get_something(text):
    """A command with another input, one that may not run, and a value that has a default are left alone."""
    assert not [*spent_inputs(f"#!/bin/bash\n{text}\n")]


def test_a_branch_behind_the_first_command():
    """What a branch reads is lost too, as the first command ran before it."""
    text = '#!/bin/bash\nT=$(jq -r .tool_name)\nif [ -n "$T" ]; then\n  F=$(jq -r .cwd)\nfi\n'
    assert [line for _, line in spent_inputs(text)] == [4]
