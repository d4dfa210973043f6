"""Claims about scripts that read their input a second time."""

import pytest

from pytest_hookharness.campaigns.check.static.empty_input import empty_reads

TOOL = "TOOL=$(jq -r '.tool_name')\n"
FILE = "FILE=$(jq -r '.tool_input.file_path // empty')\n"


@pytest.mark.parametrize(
    "text",
    [
        TOOL + FILE,
        "INPUT=$(cat)\n" + FILE,
        "INPUT=`cat`\nFILE=$(jq -r .tool_input.file_path 2>/dev/null || echo x)\n",
        TOOL + "INPUT=$(cat)\n",
        TOOL + "FILE=$(python3 -c 'import json, sys; print(json.load(sys.stdin))')\n",
        'TOOL="$(jq -er ".tool_name")"\nINPUT="$(cat)"\n',
    ],
)
def test_a_second_read(text):
    """A value that is read from the input behind a first read of it is named with its line."""
    assert [line for _, line in empty_reads(f"#!/bin/bash\n{text}")] == [3]


@pytest.mark.parametrize(
    "text",
    [
        # The second read has an input of its own, or needs none.
        "INPUT=$(cat)\nFILE=$(echo \"$INPUT\" | jq -r '.tool_input.file_path')\n",
        "INPUT=$(cat)\nFILE=$(jq -r '.tool_input.file_path' <<< \"$INPUT\")\n",
        TOOL + "N=$(jq -r '.n' state.json)\n",
        TOOL + 'N=$(jq -r ".n" "$STATE")\n',
        TOOL + "N=$(jq -nr '1 + 1')\n",
        TOOL + "exec <state.json\n" + FILE,
        # It is in a function, a branch or a comment, or in another part of the script.
        "get() {\n  FILE=$(jq -r '.x')\n}\n" + TOOL,
        "if [ -t 0 ]; then\n  " + TOOL + "fi\n" + FILE,
        TOOL + "# " + FILE,
        TOOL + "cat state.json | while read -r line; do\nX=$(jq -r '.x')\ndone\n",
        # One read is enough.
        FILE,
        "INPUT=$(cat)\nINPUT=$(cat)\n",
    ],
)
def test_other_reads(text):
    """Reads of other inputs, and those of which it is not sure that they come second, are left out."""
    assert not [*empty_reads(f"#!/bin/bash\n{text}")]
