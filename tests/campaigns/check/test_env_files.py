"""Claims about scripts that empty the file of variables, or expect a variable of another host."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.reads.borrowed_variables import borrowed_variable
from pytest_hookharness.campaigns.check.reads.env_files import emptied_files

from .static.one_hook import one_hook

SHELL, PYTHON = "#!/bin/bash\n", "import os\nfrom pathlib import Path\n"
NAMED = 'FILE="${CLAUDE_ENV_FILE:-/tmp/env}"\n'
TAKEN = "path = os.environ.get('CLAUDE_ENV_FILE', '')\n"


@pytest.mark.parametrize(
    "text",
    [
        SHELL + 'echo "export A=1" > "$CLAUDE_ENV_FILE"\n',
        SHELL + NAMED + '> "$FILE"\necho "export A=1" >> "$FILE"\n',
        SHELL + "cat > ${CLAUDE_ENV_FILE} <<END\nexport A=1\nEND\n",
        SHELL + 'echo "export A=1" | tee "$CLAUDE_ENV_FILE"\n',
        PYTHON + TAKEN + "with open(path, 'w') as file:\n    file.write('export A=1')\n",
        PYTHON + "open(os.environ['CLAUDE_ENV_FILE'], \"w\").write('export A=1')\n",
        PYTHON + TAKEN + "Path(path).write_text('export A=1')\n",
        PYTHON + TAKEN + "file = Path(path)\nfile.write_text('export A=1')\n",
        "const file = process.env.CLAUDE_ENV_FILE;\nfs.writeFileSync(file, 'export A=1');\n",
        "fs.writeFileSync(process.env.CLAUDE_ENV_FILE, 'export A=1');\n",
    ],
)
def test_a_file_that_is_written_anew(text):
    """A script that writes the whole file is named."""
    assert len([*emptied_files(text)]) == 1


@pytest.mark.parametrize(
    "text",
    [
        SHELL + 'echo "export A=1" >> "$CLAUDE_ENV_FILE"\n',
        SHELL + 'echo "export A=1" | tee -a "$CLAUDE_ENV_FILE"\n',
        SHELL + 'echo "Write it with > $CLAUDE_ENV_FILE"\n',
        SHELL + 'echo done 2>&1\necho "$CLAUDE_ENV_FILE" > log\n',
        SHELL + '[ ! -f "$CLAUDE_ENV_FILE" ] && > "$CLAUDE_ENV_FILE"\n',
        SHELL + NAMED + 'old=$(cat "$FILE")\nprintf "%s\\n%s" "$old" x > "$FILE"\n',
        SHELL + '# > "$CLAUDE_ENV_FILE"\n',
        PYTHON + TAKEN + "with open(path, 'a') as file:\n    file.write('export A=1')\n",
        PYTHON + TAKEN + "file = Path(path)\nfile.write_text(file.read_text() + 'export A=1')\n",
        PYTHON + TAKEN + "Path('log').write_text(path)\n",
        "fs.appendFileSync(process.env.CLAUDE_ENV_FILE, 'export A=1');\n",
        "fs.writeFileSync(process.env.CLAUDE_ENV_FILE, 'export A=1', { flag: 'a' });\n",
    ],
)
def test_a_file_to_which_lines_are_added(text):
    """A script that appends, keeps the old lines, or only names the file is left alone."""
    assert not [*emptied_files(text)]


def borrowed(host, text, env=None):
    """Return the variable of another host that a script uses."""
    hook_set, hook = one_hook("SessionStart", text)
    return borrowed_variable(replace(hook_set, host=host, env=env or {}), hook)


@pytest.mark.parametrize(
    ("host", "text", "name"),
    [
        ("gemini-cli", '[ "${GEMINI_CODE_REMOTE:-}" = "true" ] || exit 0\n', "GEMINI_CODE_REMOTE"),
        ("gemini-cli", 'echo "export A=1" >> "${GEMINI_ENV_FILE}"\n', "GEMINI_ENV_FILE"),
        ("codex", 'echo "export A=1" >> "${CODEX_ENV_FILE}"\n', "CODEX_ENV_FILE"),
        ("gemini-cli", 'echo "${GEMINI_ENV_FILE:-/tmp/env}"\n', ""),
        ("gemini-cli", 'GEMINI_ENV_FILE=/tmp/env\necho "${GEMINI_ENV_FILE}"\n', ""),
        ("gemini-cli", 'cd "$GEMINI_PROJECT_DIR"\n', ""),
        ("gemini-cli", "# ${GEMINI_ENV_FILE}\n", ""),
        ("cursor", '[ "${CURSOR_CODE_REMOTE:-}" = "true" ] || exit 0\n', ""),
        ("claude-code", '[ "${CLAUDE_CODE_REMOTE:-}" = "true" ] || exit 0\n', ""),
    ],
)
def test_a_variable_of_another_host(host, text, name):
    """A variable that only another host has, under its own prefix, is named if nothing sets it."""
    assert borrowed(host, SHELL + text) == name


def test_a_variable_that_the_settings_set():
    """A variable in the settings of the hook is left alone."""
    text = SHELL + 'echo "${GEMINI_ENV_FILE}"\n'
    assert not borrowed("gemini-cli", text, {"GEMINI_ENV_FILE": "env"})
