"""Claims about the edits that a guard looks for."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import plan_refusals
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.guards.file_ways import guarded_files
from pytest_hookharness.campaigns.guards.named_commands import read_guards
from pytest_hookharness.campaigns.guards.named_edits import named_edits

PLACES = r"""#!/bin/sh
file=$(jq -r .tool_input.file_path)
echo "$file" | grep -qE '(^|/)app/(Services|Actions)/.*\.php$' || exit 0
echo "Not there." >&2; exit 2
"""
WORDS = r"""#!/usr/bin/env python3
import json, re, sys
text = json.load(sys.stdin)["tool_input"].get("content", "")
if re.search(r"\bxit\(", text) or "lodash.get(" in text:
    print("Not that.", file=sys.stderr)
    sys.exit(2)
"""


@pytest.fixture
def edits(tmp_path):
    """The edits for a guard, each as its file and its text, and the hook set."""

    def read(script, matcher="Write|Edit"):
        (tmp_path / ".claude").mkdir(exist_ok=True)
        guard = tmp_path / ".claude/guard"
        guard.write_text(script)
        guard.chmod(0o755)
        hook = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/guard'}
        settings = {"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]}}
        (tmp_path / ".claude/settings.json").write_text(json.dumps(settings))
        (hook_set,) = find_hook_sets(tmp_path)
        return [(one.file, one.text) for one in named_edits(hook_set, read_guards(hook_set))], hook_set

    return read


def test_files_that_fit_a_pattern(edits):
    """A pattern for paths gives edits of files that match it."""
    found, _ = edits(PLACES)
    assert found == [("app/Services/x.php", "text\n"), ("app/Actions/x.php", "text\n")]


def test_texts_that_fit_a_pattern(edits):
    """A pattern for contents gives one edit for each matching text, and one with all of them."""
    found, _ = edits(WORDS)
    assert found == [("src/sample.py", text) for text in ("xit(\n", "lodash.get(\n", "xit(\nlodash.get(\n")]


def test_a_text_that_looks_like_a_name(edits):
    """A word with a dot is a text to write, not a path, unless it ends with a known suffix."""
    found, _ = edits(WORDS.replace("lodash.get(", "it.only"))
    assert ("src/sample.py", "it.only\n") in found
    assert {file for file, _ in found} == {"src/sample.py"}


def test_a_file_of_the_project_with_the_texts(edits, tmp_path):
    """A file of the project that matches a pattern gets the texts appended."""
    (tmp_path / "app/Actions").mkdir(parents=True)
    (tmp_path / "app/Actions/Old.php").write_text("<?php\n")
    script = PLACES + "# of its content\njq -r .tool_input.content | grep -q 'Schema::'\n"
    assert ("app/Actions/Old.php", "<?php\n\nSchema::\n") in edits(script)[0]


@pytest.mark.parametrize(
    ("script", "matcher"),
    [
        (PLACES, "Bash"),
        (PLACES.replace("grep -qE", "echo"), "Write"),
        (PLACES.replace("app/(Services|Actions)/", "/etc/"), "Write"),
        (PLACES.replace("(^|/)app/(Services|Actions)/", r"\.claude/"), "Write"),
    ],
)
def test_what_no_edit_follows_from(edits, script, matcher):
    """Guards for commands, words that nothing is matched with, and system or agent folders give no edits."""
    assert edits(script, matcher)[0] == []


@pytest.mark.nightly
@pytest.mark.parametrize(("script", "guarded"), [(PLACES, True), (WORDS, False)])
def test_a_file_that_is_refused_for_its_text(edits, harness, script, guarded):
    """A file is guarded only if every edit of it is refused."""
    _, hook_set = edits(script)
    outcomes = [play_session(one, harness.settings, harness.resources) for one in plan_refusals(hook_set)]
    found = {one.file for files in guarded_files(hook_set, outcomes).values() for one in files}
    assert found == ({"app/Services/x.php", "app/Actions/x.php"} if guarded else set())
