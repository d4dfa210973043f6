"""Claims about linters that remove an import which the agent writes before its first use."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.lone_programs.removed_imports import removed_imports

from ..static.one_hook import one_hook

BASH = "#!/bin/bash\nFILE=$(jq -r .tool_input.file_path)\n"
FUNCTION = 'is_code() {\n  case "$1" in *.py) ;; *) return 1 ;; esac\n}\n'


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (BASH + 'ruff check --fix "$FILE" 2>/dev/null || true\n', "ruff check --fix"),
        (
            BASH + 'command -v ruff && uv run ruff check --fix --quiet "$FILE"\n',
            "ruff check --fix",
        ),
        (BASH + 'OUT=$(uv run --frozen ruff check --fix "$FILE" 2>&1)\n', "ruff check --fix"),
        ('import subprocess\nsubprocess.run(["ruff", "check", "--fix", path])\n', "ruff check --fix"),
        (
            BASH + FUNCTION + 'out=$(ruff format "$FILE" && uv run ruff check --fix "$FILE" 2>&1)\n',
            "ruff check --fix",
        ),
        (BASH + FUNCTION + 'is_code "$FILE" && ruff check --fix "$FILE"\n', "ruff check --fix"),
        # An argument of the script may choose.
        (BASH + FUNCTION + 'is_code "$@" && ruff check --fix "$FILE"\n', ""),
        (BASH + FUNCTION + 'is_code "${2:-$1}" && ruff check --fix "$FILE"\n', ""),
        (BASH + 'fix() {\n  [ "$1" = last ] && ruff check --fix "$FILE"\n}\nfix "$WHEN"\n', ""),
        (BASH + FUNCTION + '[ "$2" = last ] && ruff check --fix "$FILE"\n', ""),
        (BASH + FUNCTION + '[ $# -gt 0 ] && ruff check --fix "$FILE"\n', ""),
        (BASH + FUNCTION + 'for a; do [ "$a" = x ] && ruff check --fix "$FILE"; done\n', ""),
        (
            BASH
            + 'fix() {\n  ruff check --fix "$FILE"\n}\nmain() {\n  [ "$1" = last ] && fix\n}\nmain edit\n',
            "",
        ),
        # Another file, other settings, or only at some edits.
        (BASH + 'cp "$FILE" /tmp/x.py\nruff check --fix /tmp/x.py\n', ""),
        (BASH + 'ruff check --fix - < "$FILE" > "$OUT"\n', ""),
        (BASH + 'ruff check --fix "$FILE" > /tmp/out\n', "ruff check --fix"),
        (BASH + 'export RUFF_CONFIG=hooks.toml\nruff check --fix "$FILE"\n', ""),
        (BASH + '[ "$FINAL" = 1 ] && ruff check --fix "$FILE"\n', ""),
        (BASH + 'git diff "$FILE" | grep -q "^+import" || ruff check --fix "$FILE"\n', ""),
        # It adds an import as soon as something uses it.
        (BASH + 'goimports -w "$FILE"\n', ""),
        (BASH + 'autoflake --in-place "$FILE"\n', "autoflake"),
        (BASH + 'ruff check "$FILE"\n', ""),
        (BASH + 'ruff format "$FILE"\n', ""),
        (BASH + 'ruff check --fix --unfixable F401 "$FILE"\n', ""),
        (BASH + 'ruff check --fix --select I "$FILE"\n', ""),
        (BASH + "echo 'Run ruff check --fix later.'\n", ""),
        (BASH + '# ruff check --fix "$FILE"\n', ""),
        (BASH + 'ruff check --fix \\\n  --unfixable F401 "$FILE"\n', ""),
        (BASH + 'if [ "$1" = --final ]; then ruff check --fix .; fi\n', ""),
        (BASH + 'ruff check --fix $RUFF_ARGS "$FILE"\n', ""),
        ('import sys\nprint("Please run: ruff check --fix .", file=sys.stderr)\n', ""),
        ('import subprocess\nsubprocess.run(["ruff", "check", path])\n', ""),
    ],
)
def test_a_linter_after_each_edit(text, command):
    """A linter that removes unused imports after an edit is named, and one that keeps them is not."""
    assert removed_imports(*one_hook("PostToolUse", text)) == command


@pytest.mark.parametrize(
    ("event", "matcher", "found"),
    [
        ("PostToolUse", "Edit|Write", True),
        ("PostToolUse", None, True),
        ("PostToolUse", "Bash", False),
        ("Stop", None, False),
    ],
)
def test_when_the_linter_runs(event, matcher, found):
    """What runs when the agent has finished, or after other tools, removes no import too early."""
    hook_set, hook = one_hook(event, BASH + 'ruff check --fix "$FILE"\n')
    hook = replace(hook, matcher=matcher)

    assert bool(removed_imports(replace(hook_set, hooks=(hook,)), hook)) == found


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ("", True),
        ('[tool.ruff.lint]\nselect = ["E", "F", "I"]\n', True),
        ('[tool.ruff.lint]\nselect = ["E", "I"]\n', False),
        ('[tool.ruff.lint]\nunfixable = ["F401"]\n', False),
        ('[tool.ruff.lint]\nfixable = ["I"]\n', False),
        ('[tool.ruff]\nlint.select = ["E", "I"]\n', False),
        ('[tool.ruff]\nlint = { select = ["I"] }\n', False),
        ('[tool.ruff.lint]\nignore = ["F"]\n', False),
    ],
)
def test_the_settings_of_the_project(tmp_path, settings, found):
    """A project whose settings keep unused imports is not told that they are removed."""
    (tmp_path / "pyproject.toml").write_text(settings)
    hook_set, hook = one_hook("PostToolUse", BASH + 'ruff check --fix "$FILE"\n')

    assert bool(removed_imports(replace(hook_set, root=tmp_path), hook)) == found


def test_the_settings_of_a_part_of_the_project(tmp_path):
    """Settings in a folder of the project are read too, as the edited file may stand there."""
    (tmp_path / "backend").mkdir()
    (tmp_path / "backend/ruff.toml").write_text('[lint]\nselect = ["E", "I"]\n')
    hook_set, hook = one_hook("PostToolUse", BASH + 'ruff check --fix "$FILE"\n')

    assert not removed_imports(replace(hook_set, root=tmp_path), hook)


def test_settings_that_are_no_text(tmp_path):
    """Settings that cannot be read say nothing."""
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe")
    hook_set, hook = one_hook("PostToolUse", BASH + 'ruff check --fix "$FILE"\n')

    assert removed_imports(replace(hook_set, root=tmp_path), hook)
