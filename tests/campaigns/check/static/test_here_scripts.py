"""Claims about programs in a here-document that read the input of their hook."""

import subprocess

import pytest

from pytest_hookharness.campaigns.check.static.here_scripts import lost_inputs

LOST = [
    "bash -s <<'EOF'\nINPUT=$(cat)\necho \"$INPUT\"\nEOF",
    "sh <<'EOF'\nINPUT=\"$(cat 2>/dev/null)\"\nEOF",
    "python3 - <<'PY'\nimport json, sys\nprint(json.load(sys.stdin))\nPY",
    "python3 <<'PY'\nimport sys\nprint(sys.stdin.read())\nPY",
    "echo \"$INPUT\" | python3 - <<'PY'\nimport sys\nprint(sys.stdin.read())\nPY",
    "out=$(python3 - 2>/dev/null <<'PY'\nimport sys\nprint(sys.stdin.read())\nPY\n)",
    "node <<'JS'\nconst input = require('fs').readFileSync(0, 'utf8');\nconsole.log(input)\nJS",
    "bash -s <<-'EOF'\n\tcommand=$(jq -r '.tool_input.command')\n\tEOF",
]
KEPT = [
    # The outer shell replaces it.
    "bash -s <<EOF\nINPUT=$(cat)\nEOF",
    "bash -s <<'EOF'\necho hello\nEOF",
    "bash -c 'INPUT=$(cat); echo \"$INPUT\"'",
    "python3 - \"$INPUT\" <<'PY'\nimport sys\nprint(sys.argv[1])\nPY",
    "python3 - <<'PY'\nimport os\nprint(os.environ['HOOK_INPUT'])  # not sys.argv\nPY",
    "python3 - <<'PY'\n# sys.stdin is the program\nprint(1)\nPY",
    "python3 -c 'import sys; print(sys.stdin.read())' <<EOF\n$INPUT\nEOF",
    "python3 x.py <<EOF\nsys.stdin\nEOF",
    "cat <<'EOF'\nbash -s <<X\nINPUT=$(cat)\nX\nEOF",
    "bash -s <<'EOF'\nx=$(cat file)\necho $x | jq -r .a\nEOF",
    # It runs elsewhere.
    "docker exec -i db bash <<'EOF'\nx=$(cat -)\nEOF",
    # The script around it takes the input, and the program only speaks of it.
    "INPUT=$(cat)\nexport INPUT\nbash <<'EOF'\nf() {\n  text=$(cat)\n}\necho \"$INPUT\" | f\nEOF",
    "export IN=$(cat)\nnode <<'JS'\nread(process.env.IN || require('fs').readFileSync(0))\nJS",
    "bash <<'EOF'\nversion=$(jq -r '.version' package.json)\nEOF",
    "python3 <<'PY'\nimport os\nprint(os.environ['IN'], 'not sys.stdin')\nPY",
    "python3 <<'PY'\nimport sys\nsys.stdin = open('/dev/tty')\nPY",
    "bash <<'EOF'\nbody=$(jq -n '{a: 1}')\nEOF",
    "FILE=$(jq -r .tool_input.file_path)\nbash <<'EOF'\nbody=$(cat)\nEOF",
    "python3 -c \"$(cat <<'PY'\nimport sys\nprint(sys.stdin.read())\nPY\n)\"",
]


@pytest.mark.parametrize("text", LOST)
def test_a_program_that_reads_its_own_document(text):
    """A program that is given in a here-document and reads standard input is named with its line."""
    assert [line for _, line in lost_inputs(f"#!/bin/bash\n{text}\n")] == [2]


@pytest.mark.parametrize("text", KEPT)
def test_a_program_with_an_input(text):
    """A program that reads nothing, or is given in another way, is left alone."""
    assert not [*lost_inputs(f"#!/bin/bash\n{text}\n")]


def test_the_shell_agrees():
    """The program finds nothing of the input."""
    text = "bash -s <<'EOF'\nINPUT=$(cat)\necho \"got: $INPUT\"\nEOF\n"
    run = subprocess.run(["bash", "-c", text], input="payload", capture_output=True, text=True, check=False)
    assert "payload" not in run.stdout
