"""Claims about scripts that say they are hooks, and that nothing starts."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static.unwired_hooks import unwired_hooks
from pytest_hookharness.campaigns.check.static_checks import check_statically

BASH, PYTHON = "#!/bin/bash\n", "#!/usr/bin/env python3\n"


@pytest.fixture
def project(tmp_path):
    """A project with a Stop hook in .claude/hooks, and further files."""

    def make(**files):
        hook = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/stop.sh'}
        texts = {
            ".claude/settings.json": json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}),
            ".claude/hooks/stop.sh": BASH + "# Stop hook\nexit 0\n",
            **files,
        }
        for path, text in texts.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755)
        (hook_set,) = find_hook_sets(tmp_path)
        return hook_set

    return make


@pytest.mark.parametrize(
    ("name", "text", "event"),
    [
        ("start.sh", BASH + "# Session start hook: shows the branch\ngit branch\n", "SessionStart"),
        ("gate.sh", BASH + "\n# Gate (PreToolUse hook)\nexit 0\n", "PreToolUse"),
        ("check.py", PYTHON + '"""Hook for PostToolUse: type checks."""\nimport sys\n', "PostToolUse"),
        ("check.js", "#!/usr/bin/env node\n/**\n * PostToolUse Hook: type checks\n */\n", "PostToolUse"),
        ("end.sh", BASH + "# Stop hook that asks for tests\nexit 0\n", "Stop"),
        (
            "note.py",
            PYTHON + '"""Post-tool hook: notes."""\nprint({"hookEventName": "PostToolUse"})\n',
            "PostToolUse",
        ),
        ("note.js", "// A hook for notes\nsay({hookEventName: 'PostToolUse'});\n", "PostToolUse"),
    ],
)
def test_a_script_that_nothing_starts(project, name, text, event):
    """A script beside the hooks that names its event, and stands in no settings, is reported."""
    assert [*unwired_hooks(project(**{f".claude/hooks/{name}": text}))] == [
        (f".claude/hooks/{name}", event, "")
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude/hooks/lib.sh", BASH + "# Functions for all hooks\n"),
        (".claude/hooks/end.sh", BASH + "# Ends what a hook began, without stop signs\n"),
        (".claude/hooks/gate.test.sh", BASH + "# Tests the PreToolUse hook\n"),
        (".claude/hooks/gate.sh", BASH + "exit 0\n# PreToolUse hook\n"),
        (".claude/hooks/say.js", "// Says it\nsay({hookEventName: 'PostToolUse'});\n"),
        (
            ".claude/hooks/say.js",
            "// A hook\nsay({hookEventName: 'PreToolUse'});\nsay({hookEventName: 'Stop'});\n",
        ),
        ("scripts/gate.sh", BASH + "# PreToolUse hook\n"),
        (".claude/hooks/gate.md", "# PreToolUse hook\n"),
    ],
)
def test_other_files(project, name, text):
    """Helpers, tests, documents, and scripts elsewhere are no forgotten hooks."""
    assert [*unwired_hooks(project(**{name: text}))] == []


@pytest.mark.parametrize(
    ("file", "text", "document"),
    [
        ("README.md", "The hook gate.sh guards commands.\n", "README.md"),
        ("README.md", 'Add this to your settings: {"command": ".claude/hooks/gate.sh"}\n', None),
        ("tests/test_gate.sh", "bash .claude/hooks/gate.sh < input.json\n", ""),
        ("install.sh", BASH + "cp .claude/hooks/gate.sh ~/.claude/hooks/\n", None),
        (".codex/other.json", '{"command": ".claude/hooks/gate.sh"}', None),
        (".claude/commands/on.md", "Run `.claude/hooks/gate.sh`.\n", None),
        ("docs/agent.md", "---\nhooks: gate.sh\n---\n", None),
        (".claude/hooks/stop.sh", BASH + '"$(dirname "$0")"/gate.sh\n', None),
    ],
)
def test_where_a_script_is_named(project, file, text, document):
    """What other code, settings or a command name may be started; tests and documents start nothing."""
    hook_set = project(**{".claude/hooks/gate.sh": BASH + "# PreToolUse hook\nexit 0\n", file: text})

    expected = [] if document is None else [(".claude/hooks/gate.sh", "PreToolUse", document)]
    assert [*unwired_hooks(hook_set)] == expected


def test_a_module_that_a_hook_imports(project):
    """A module that another script imports is in use."""
    files = {"gate.py": PYTHON + "# PreToolUse hook\n", "all.py": "from gate import main\n"}
    assert [*unwired_hooks(project(**{f".claude/hooks/{name}": text for name, text in files.items()}))] == []


@pytest.mark.parametrize(
    ("launcher", "command"),
    [
        ('bash "$(dirname "$0")/$1.sh"\n', "run.sh gate"),
        ('for f in "$(dirname "$0")"/ga*.sh; do bash "$f"; done\n', "run.sh"),
        ('for f in "$(dirname "$0")"/*.sh; do bash "$f"; done\n', "run.sh"),
    ],
)
def test_a_launcher(project, launcher, command):
    """A script that a launcher starts by a part of its name, or with all of its folder, is in use."""
    hook_set = project(
        **{".claude/hooks/gate.sh": BASH + "# PreToolUse hook\n", ".claude/hooks/run.sh": BASH + launcher}
    )
    hook = replace(hook_set.hooks[0], command=f'"$CLAUDE_PROJECT_DIR"/.claude/hooks/{command}')

    assert [*unwired_hooks(replace(hook_set, hooks=(hook,)))] == []


@pytest.mark.parametrize(
    "words",
    [
        "Helpers for the PreToolUse hook",
        "SessionStart hook for Copilot",
        "Stop hook (deprecated)",
        "Stop hook" + "\n#" * 15 + " opt-in: see the handbook",
        "Stop hook; enable it in .claude/settings.local.json",
    ],
)
def test_what_is_no_hook_of_this_host(project, words):
    """A helper, a hook of another host, and one that each person may switch on are not reported."""
    assert [*unwired_hooks(project(**{".claude/hooks/gate.sh": f"{BASH}# {words}\n"}))] == []


def test_what_is_said_of_it(project):
    """All such scripts are one report, with the documents that name them."""
    files = {
        ".claude/hooks/gate.sh": BASH + "# PreToolUse hook\n",
        ".claude/hooks/start.sh": BASH + "# SessionStart hook\n",
        "README.md": "See gate.sh.\n",
    }
    (symptom,) = check_statically(project(**files)).symptoms

    assert symptom.kind == "NEVER-FIRED"
    assert symptom.text == (
        ".claude/hooks/gate.sh is said to be a hook of PreToolUse, and README.md names it; "
        ".claude/hooks/start.sh is said to be a hook of SessionStart; "
        "no settings or scripts of the project start them."
    )
