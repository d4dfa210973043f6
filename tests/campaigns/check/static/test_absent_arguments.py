"""Claims about scripts that expect an argument which their hook does not give."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.static.absent_inputs import absent_argument
from pytest_hookharness.campaigns.check.static_checks import check_statically

from .one_hook import one_hook

BASH, PYTHON, NODE = "#!/bin/bash\n", "#!/usr/bin/env python3\nimport sys\n", "#!/usr/bin/env node\n"
FORMATS = 'npx prettier --write "$FILE"\n'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (BASH + 'FILE="$1"\n' + FORMATS, "FILE"),
        (BASH + "FILE=${1:-}\n" + FORMATS, "FILE"),
        (BASH + 'TOOL_NAME="${1:-unknown}"\ncase "$TOOL_NAME" in Edit) date >> log ;; esac\n', "TOOL_NAME"),
        (PYTHON + "path = sys.argv[1]\nopen(path)\n", "path"),
        (NODE + "const file = process.argv[2];\nformat(file);\n", "file"),
    ],
)
def test_an_argument_that_no_host_gives(text, name):
    """A script that takes what it works on from its first argument is named with the variable."""
    hook_set, hook = one_hook("PostToolUse", text)

    assert absent_argument(hook_set, hook) == name
    texts = [one.text for one in check_statically(hook_set).symptoms if one.kind == "MISSING-INPUT"]
    assert texts == [
        "PostToolUse: the script takes its input from its first argument, but the command gives it none."
    ]


@pytest.mark.parametrize(
    "text",
    [
        BASH + "FILE=${1:-$(jq -r .tool_input.file_path)}\n" + FORMATS,
        BASH + 'FILE="$1"\n[ -n "$FILE" ] || FILE=$(cat | sed s/x/y/)\nINPUT=$(cat)\n',
        BASH + 'MODE="${1:-check}"\nmake "$MODE"\n',
        BASH + 'ACTION="$1"\n',
        BASH + "FILE=${1:-notes.md}\n" + FORMATS,
        BASH + '[ $# -eq 0 ] && exit 0\nFILE="$1"\n' + FORMATS,
        BASH + 'say() {\n  WORDS="$1"\n  echo "$WORDS"\n}\nsay hello\n',
        BASH + "# FILE=$1\nnpm test\n",
        BASH + "echo 'FILE=$1'\n",
        BASH + 'T="${1:-}"\nif [ -n "$T" ]; then npx eslint "$T"; else npx eslint .; fi\n',
        BASH + 'DIR=$1\n: "${DIR:=$PWD}"\n',
        BASH + 'F="${1:-}"\n[ -z "$F" ] && F=$(git diff --name-only | head -1)\n',
        BASH + '. ./lib.sh\nFILE="$1"\n' + FORMATS,
        BASH + 'ONLY="${1:-}"\n[ "$ONLY" = "--force" ] || exit 0\n',
        # Words that choose what to do.
        BASH + 'SCOPE="$1"\ncase "$SCOPE" in all) make ;; *) make "$(git diff --name-only)" ;; esac\n',
        BASH + 'FILE="$1"\nif [ "$FILE" ]; then npx eslint "$FILE"; else npx eslint .; fi\n',
        BASH + "EXTRA_ARGS=$1\nnpx eslint . $EXTRA_ARGS\n",
        NODE + "const root = process.argv[2] || '';\nconst base = root || process.cwd();\n",
        PYTHON + "path = sys.argv[1] if len(sys.argv) > 1 else ''\n",
        PYTHON + "import json\ndata = json.load(sys.stdin)\npath = sys.argv[1]\n",
    ],
)
def test_other_arguments(text):
    """Another way to the input, a word that chooses, a default and what a function gets are no input."""
    assert absent_argument(*one_hook("PostToolUse", text)) == ""


@pytest.mark.parametrize(
    "command",
    [
        "bash x.sh Edit",
        "jq -r .tool_input.file_path | xargs bash x.sh",
        'bash x.sh "$CLAUDE_PROJECT_DIR"',
        "bash x.sh < file",
    ],
)
def test_a_command_with_an_argument(command):
    """A command that gives its script a word is not named."""
    hook_set, hook = one_hook("PostToolUse", BASH + 'FILE="$1"\n' + FORMATS)
    hook = replace(hook, command=command)

    assert absent_argument(replace(hook_set, hooks=(hook,)), hook) == ""
