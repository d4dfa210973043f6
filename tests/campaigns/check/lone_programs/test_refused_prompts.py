"""Claims about hooks that refuse every prompt where a program is missing."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.lone_programs.missing_programs import needed_program, refused_without
from pytest_hookharness.campaigns.check.static_checks import check_statically

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\nset -u\n"
BRANCH = 'if command -v python >/dev/null 2>&1; then\n  python "$DIR/x.py"\n  exit $?\nfi\n'
ONLY = BRANCH + '\necho "no python" >&2\nexit 2\n'
ASKS = "command -v jq >/dev/null || { echo 'jq is missing' >&2; exit 2; }\n"
TELLS = "jq -r .prompt\n"


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (HEAD + ONLY, "python"),
        (HEAD + ONLY.replace("exit $?", "exit 0").replace("python", "node"), "node"),
        (HEAD + "python x.py || exit 2\n", "python"),
        (HEAD + ASKS + TELLS, "jq"),
        (HEAD + "if ! command -v jq >/dev/null; then\n  exit 2\nfi\n" + TELLS, "jq"),
        (HEAD + "command -v python >/dev/null || exit 2\npython x.py\nexit $?\n", "python"),
        # It may refuse a prompt for another reason.
        (HEAD + ASKS + TELLS + "grep -q secret && exit 2\n", ""),
        (HEAD + ASKS + TELLS + 'echo \'{"decision": "block"}\'\n', ""),
        (HEAD + ASKS.replace("jq", "node") + "node x.js\nexit $?\n", ""),
        # Another name of the program is tried, or it is needed in some cases only.
        (HEAD + "command -v python3 && exec python3 x.py\n" + ONLY, ""),
        (HEAD + ONLY.replace("exit 2", "exit 0"), ""),
        (HEAD + ONLY.replace("exit $?", "date"), ""),
        (HEAD + ASKS.replace("exit 2", "exit 1") + TELLS, ""),
        (HEAD + "if [ -f x ]; then\n" + ASKS + "fi\n" + TELLS, ""),
        (HEAD + f"ask() {{\n{ASKS}}}\n" + TELLS, ""),
        (HEAD + "python3 x.py || exit 2\n", ""),
        (HEAD + "if [ -f x ]; then\n  python x.py || exit 2\nfi\n", ""),
        ("#!/usr/bin/env python3\n" + ONLY, ""),
        # It may bring the program.
        (HEAD + ". .venv/bin/activate\npython x.py || exit 2\n", ""),
        (HEAD + 'export PATH="$PWD/.venv/bin:$PATH"\npython x.py || exit 2\n', ""),
    ],
)
def test_a_script_that_needs_a_program(text, tool):
    """A program is named if a script ends with 2 only because it is missing, or because `python` is."""
    assert needed_program(text) == tool


def test_events_and_commands():
    """Only hooks of prompts are named, also if the command itself ends with 2."""
    text = HEAD + ONLY
    assert refused_without(*one_hook("UserPromptSubmit", text)) == "python"
    assert refused_without(*one_hook("PreToolUse", text)) == ""
    hook_set, hook = one_hook("UserPromptSubmit", "")
    hook = replace(hook, command="python x.py || exit 2")
    assert refused_without(replace(hook_set, hooks=(hook,)), hook) == "python"
    hook = replace(hook, command="python3 x.py || exit 2")
    assert refused_without(replace(hook_set, hooks=(hook,)), hook) == ""


def test_what_is_said():
    """The static checks say that every prompt is refused, and which name to try first."""
    hook_set, _ = one_hook("UserPromptSubmit", HEAD + ONLY)
    (found,) = (one for one in check_statically(hook_set).symptoms if one.kind == "UNGUARDED-TOOL")
    said = "with no `python` on the PATH it ends with 2, which refuses every prompt."
    assert found.text == f"UserPromptSubmit: {said}"
    assert "Try `python3` first" in found.advice


REPEATED = {
    "branches": ONLY,
    "half a branch": "if command -v python; then\n  date\n",
    "lines": "  date\n",
    "words": "echo x\n",
    "calls": "python x.py || ",
    "refusals": "fi\npython x.py || exit 2\n",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        return HEAD + ONLY.partition("  exit")[0] + part * (length // len(part)) + "\n"

    takes_linear_time(text_of, needed_program)
