"""Claims about variables that only another host has, under the prefix of a host."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.reads.borrowed_variables import borrowed_variable
from pytest_hookharness.campaigns.check.static_checks import check_statically

from .static.one_hook import one_hook

SHELL = "#!/bin/bash\n"


def borrowed(host, text, env=None, root=Path("/no/project")):
    """Return the variable of another host that a script uses."""
    hook_set, hook = one_hook("SessionStart", text)
    return borrowed_variable(replace(hook_set, host=host, env=env or {}, root=root), hook)


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


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("Dockerfile", "ENV CODEX_CODE_REMOTE=true\n", ""),
        ("dev.yml", "env:\n  CODEX_CODE_REMOTE: 1\n", ""),
        ("README.md", "CODEX_CODE_REMOTE=true is for the cloud.\n", "CODEX_CODE_REMOTE"),
    ],
)
def test_a_variable_that_the_project_sets(tmp_path, file, text, name):
    """A variable that the project gives to the host itself is left alone; what it only explains is not."""
    (tmp_path / file).write_text(text)
    assert borrowed("codex", SHELL + 'echo "${CODEX_CODE_REMOTE}"\n', root=tmp_path) == name


def test_what_is_said(tmp_path):
    """The static checks say which host does not set the variable."""
    hook_set, _ = one_hook("SessionStart", SHELL + 'echo "${GEMINI_ENV_FILE}"\n')
    found = check_statically(replace(hook_set, host="gemini-cli", root=tmp_path)).symptoms
    said = "gemini-cli sets no $GEMINI_ENV_FILE; only another host has such a variable."
    assert f"SessionStart: {said}" in [one.text for one in found]
