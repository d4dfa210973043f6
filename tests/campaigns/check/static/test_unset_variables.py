"""Claims about hooks that take their input from variables, which no host sets."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.static.absent_inputs import expected_variable, key_for
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
        BASH + 'log() { echo "$(date) $*" >>/tmp/log; }\nlog "$CLAUDE_TOOL_INPUT" && exit 0\n',
        BASH + 'case "$CLAUDE_TOOL_INPUT" in\n  *rm*|"dd "*) echo "No: $1" >&2; exit 2 ;;\n  *) : ;;\nesac\n',
        BASH + 'command -v jq >/dev/null || exit 0\n[[ -n "$CLAUDE_TOOL_INPUT" && "$1" == x ]] && exit 2\n',
        BASH + 'WORDS=(\n  "error:"\n  "no such file"\n)\n[ -z "$CLAUDE_TOOL_INPUT" ] && exit 0\n',
        BASH + 'npx --yes prettier --write "$CLAUDE_TOOL_INPUT" >/dev/null 2>&1\n',
        BASH + 'if [ "$CLAUDE_TOOL_INPUT" ]; then\n  node_modules/.bin/tsc 2>&1 || true\nfi\n',
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
        BASH + 'CLAUDE_TOOL_INPUT=$(git status); [ "$CLAUDE_TOOL_INPUT" ] && exit 2\n',
        PYTHON + "import os\nos.environ['CLAUDE_TOOL_INPUT'] = ''\nx = os.environ['CLAUDE_TOOL_INPUT']\n",
    ],
)
def test_scripts_with_another_way_to_their_input(text):
    """A script that reads standard input, sets the variable or has a default for it is not named."""
    assert found(text) == ""


FALLBACK = '\nT="${CLAUDE_TOOL_NAME:-}"\n'


@pytest.mark.parametrize(
    "text",
    [
        BASH + 'exec python3 "$(dirname "$0")/guard.py"',
        BASH + 'python3 "$(dirname "$0")/guard.py"',
        BASH + '"$(dirname "$0")/guard.py" || exit 2',
        BASH + "./hooks/guard --strict",
        BASH + "if true; then $GUARD; fi",
        BASH + "uv run guard.py",
        BASH + "npx tsx guard.ts",
        BASH + """F=$(python3 -c "import json,sys; print(json.load(sys.stdin)['tool_name'])")""",
        BASH + "F=$(python3 -c 'import json; print(json.load(open(0)))')",
        BASH + "I=$(head -c 65536)",
        BASH + "I=$(timeout 5 cat)",
        BASH + 'I="$(cat "$@")"',
        BASH + "F=$(timeout 3 jq -r .x)",
        BASH + """F=$(grep -o '"file_path":"[^"]*"' | cut -d: -f2)""",
        BASH + """F="$(sed -n 's/x//p' | head -1)\"""",
        BASH + '[ -n "$F" ] || read -r F',
        BASH + 'I=$(cat); F=$(jq -r .x <<<"$I")',
        BASH + "case x in x) I=$(cat) ;; esac",
    ],
)
def test_shell_scripts_that_may_read_their_input(text):
    """Where a script reads, or starts what inherits its input, a variable is a mere fallback."""
    assert found(text + FALLBACK) == ""


@pytest.mark.parametrize(
    "text",
    [
        PYTHON + "import os\nfrom common import load_event\nevent = load_event()\n{}",
        PYTHON + "import os, hook_io\n{}",
        PYTHON + "import os\nfrom .common import event\n{}",
        PYTHON + "import os\nos.execvp('python3', ['python3', 'guard.py'])\n{}",
        PYTHON + "import os, subprocess\nsubprocess.run(['node', 'guard.js'])\n{}",
        NODE + 'const i = require("./lib").readInput();\n{}',
        NODE + 'import { readInput } from "../lib.js";\n{}',
        NODE + "const i = await import(`${here}/lib.js`);\n{}",
        NODE + 'spawnSync("node", ["guard.js"], {stdio: "inherit"});\n{}',
    ],
)
def test_programs_that_may_read_their_input(text):
    """Where a script loads modules of its own or starts another one, a variable is a mere fallback."""
    used = (
        'os.environ.get("CLAUDE_TOOL_NAME", "")'
        if text.startswith(PYTHON)
        else "process.env.CLAUDE_TOOL_NAME"
    )
    assert found(text.replace("{}", f"tool = {used}\n")) == ""


@pytest.mark.parametrize(
    "command",
    [
        'CLAUDE_TOOL_INPUT=$(cat); echo "$CLAUDE_TOOL_INPUT" | jq .',
        'read -r CLAUDE_TOOL_INPUT; echo "$CLAUDE_TOOL_INPUT"',
        'I="$CLAUDE_TOOL_INPUT"; [ -n "$I" ] || I=$(cat); echo "$I" | jq .',
        'mkdir -p "$CLAUDE_OUTPUT_DIR"',
        'echo "$CLAUDE_HOOK_EVENTS_LOG $CLAUDE_FILE_PATH_PREFIX"',
    ],
)
def test_variables_of_the_project(command):
    """Not named is a variable that the command sets, or needs not, or that no host was ever said to set."""
    assert found("", command) == ""


def test_variables_of_the_settings():
    """A variable that the settings set is not named, and the next one is."""
    hook = Hook(event="Stop", command="echo $CLAUDE_TOOL_NAME", env={"CLAUDE_TOOL_NAME": "x"})
    place = HookSet(host="claude-code", root=Path("/"), files=(), hooks=(hook,))
    assert expected_variable(place, hook) == ""
    both = Hook(event="Stop", command="echo $CLAUDE_TOOL_NAME $CLAUDE_FILE_PATHS", env=hook.env)
    assert expected_variable(place, both) == "CLAUDE_FILE_PATHS"


@pytest.mark.parametrize(
    "command", ["CLAUDE_TOOL_INPUT=$(cat) hooks/x.sh", "hooks/x.sh $1", "cat | hooks/x.sh -"]
)
def test_commands_that_give_a_script_more(command):
    """Where the command sets the variable or gives an argument, nothing is said."""
    assert found(BASH + 'echo "${CLAUDE_TOOL_INPUT:-$1}"\n', command) == ""


@pytest.mark.parametrize(
    ("variable", "key"),
    [
        ("CLAUDE_TRANSCRIPT_PATH", "transcript_path"),
        ("CLAUDE_USER_PROMPT", "prompt"),
        ("CLAUDE_TOOL_RESPONSE", "tool_response"),
        ("CLAUDE_MODIFIED_FILES", "tool_input.file_path"),
    ],
)
def test_other_variables_that_no_host_sets(variable, key):
    """Variables that look like other parts of the input are named, each with the key that is meant."""
    assert found(f'{BASH}[ -n "${{{variable}:-}}" ] || exit 0\n') == variable
    assert key_for(variable, Hook(event="PreToolUse", command="./x.sh", matcher="Edit")) == key


@pytest.mark.parametrize(
    ("matcher", "key"), [("Bash", "command"), ("Edit", "file_path"), (None, "file_path")]
)
def test_a_variable_for_the_whole_input(matcher, key):
    """For a variable with the whole input, the tools of the matcher decide which key to read instead."""
    hook = Hook(event="PreToolUse", command="./x.sh", matcher=matcher)
    assert key_for("CLAUDE_TOOL_INPUT", hook) == f"tool_input.{key}"
