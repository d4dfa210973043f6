"""Claims about hooks that take their input from variables, which no host sets."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.static.unset_variables import expected_variable
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

BASH, PYTHON, NODE = "#!/usr/bin/env bash\n", "#!/usr/bin/env python3\n", "#!/usr/bin/env node\n"


def found(text, command='"$CLAUDE_PROJECT_DIR"/hooks/x.sh', host="claude-code"):
    """The variable that is named for a hook with one script."""
    hook = Hook(event="PostToolUse", command=command)
    sources = (("hooks/x.sh", text),)
    return expected_variable(
        HookSet(host=host, root=Path("/"), files=(), hooks=(hook,), sources=sources), hook
    )


@pytest.mark.parametrize(
    "text",
    [
        BASH + 'FILE=$(echo "$CLAUDE_TOOL_INPUT" | jq -r .file_path)\n[ -z "$FILE" ] && exit 0\n',
        BASH + 'FILE=$(jq -r .file_path <<<"$CLAUDE_TOOL_INPUT")\n',
        BASH + 'FILE="${CLAUDE_TOOL_INPUT:-$1}"\n[[ -f $FILE ]] || exit 0\ncat notes.txt\n',
        BASH + '[ "${CLAUDE_TOOL_INPUT:-}" = x ] && exit 2\n',
        BASH + '[ -z "$CLAUDE_TOOL_INPUT" ] && exit 0\ncat <<END\ntext\nEND\n',
        PYTHON + "import os\ncommand = os.environ.get('CLAUDE_TOOL_INPUT', '')\n",
        PYTHON + "import os\ncommand = os.environ['CLAUDE_TOOL_INPUT']\n",
        NODE + "const input = JSON.parse(process.env.CLAUDE_TOOL_INPUT || '{}')\n",
        NODE + "const input = process.env.CLAUDE_TOOL_INPUT || ''\n",
    ],
)
def test_scripts_whose_input_is_always_empty(text):
    """A script that has its input only from such a variable is named with it."""
    assert found(text) == "CLAUDE_TOOL_INPUT"
    assert found(text, host="codex") == ""


@pytest.mark.parametrize(
    "text",
    [
        BASH + 'INPUT="${CLAUDE_TOOL_INPUT:-$(cat)}"\n',
        BASH + 'INPUT=$(cat)\n[ -z "$INPUT" ] && INPUT="$CLAUDE_TOOL_INPUT"\n',
        BASH + 'read -r line\necho "$CLAUDE_TOOL_INPUT"\n',
        BASH + 'FILE=$(jq -r .tool_input.file_path)\necho "$CLAUDE_TOOL_INPUT"\n',
        BASH + '. ./lib.sh\necho "$CLAUDE_TOOL_INPUT"\n',
        BASH + 'CLAUDE_TOOL_INPUT=$(git status)\necho "$CLAUDE_TOOL_INPUT"\n',
        BASH + ': "${CLAUDE_TOOL_INPUT:=none}"\necho "$CLAUDE_TOOL_INPUT"\n',
        BASH + 'echo "${CLAUDE_TOOL_INPUT:-none}"\n',
        BASH + "# $CLAUDE_PROJECT_DIR\necho $CLAUDE_PROJECT_DIR\n",
        PYTHON + "import os, sys\ndata = sys.stdin.read() or os.environ['CLAUDE_TOOL_INPUT']\n",
        PYTHON + "import os\ndata = os.environ.get('CLAUDE_TOOL_INPUT', 'none')\n",
        NODE + "const data = process.env.CLAUDE_TOOL_INPUT || fs.readFileSync(0)\n",
        NODE + "const data = process.env.CLAUDE_TOOL_INPUT ?? load()\n",
    ],
)
def test_scripts_with_another_way_to_their_input(text):
    """A script that reads standard input, sets the variable or has a default for it is not named."""
    assert found(text) == ""


@pytest.mark.parametrize(
    "command", ["CLAUDE_TOOL_INPUT=$(cat) hooks/x.sh", "hooks/x.sh $1", "cat | hooks/x.sh -"]
)
def test_commands_that_give_a_script_more(command):
    """Where the command sets the variable or gives an argument, nothing is said."""
    assert found(BASH + 'echo "${CLAUDE_TOOL_INPUT:-$1}"\n', command) == ""
