"""Claims about counts of refusals that all sessions share."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.gates.loop_checks import find_in_loops
from pytest_hookharness.campaigns.check.gates.shared_counts import count_for_all, shared_count
from pytest_hookharness.model.protocol import Hook

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\ncat >/dev/null # the count replaces stop_hook_active\n"
FILE = 'COUNT_FILE="$(dirname "$0")/.count"\n'
PASSES = 'if npm test; then\n  rm -f "$COUNT_FILE"\n  exit 0\nfi\n'
COUNTS = 'n=$(cat "$COUNT_FILE" 2>/dev/null || echo 0)\nn=$((n + 1))\necho "$n" > "$COUNT_FILE"\n'
LIMIT = 'if [ "$n" -ge 5 ]; then\n  rm -f "$COUNT_FILE"\n  exit 0\nfi\n'
REFUSES = 'echo "The tests fail." >&2\nexit 2\n'
GATE = HEAD + FILE + PASSES + COUNTS + LIMIT + REFUSES


@pytest.mark.parametrize(
    ("text", "file"),
    [
        (GATE, ".count"),
        (GATE.replace('$(dirname "$0")', "/tmp/my-gate"), "/tmp/my-gate/.count"),
        (GATE.replace('"$(dirname "$0")/.count"', ".claude/count"), ".claude/count"),
        (
            GATE.replace('$(dirname "$0")', "$CLAUDE_PROJECT_DIR/.claude"),
            "$CLAUDE_PROJECT_DIR/.claude/.count",
        ),
        (GATE.replace('$(dirname "$0")', "${TMPDIR:-/tmp}"), "${TMPDIR:-/tmp}/.count"),
        (GATE.replace("n=$((n + 1))", "m=$((n + 1))").replace('"$n"', '"$m"'), ".count"),
        (GATE.replace("-ge 5", '-gt "$MAX"'), ".count"),
        (GATE.replace(LIMIT + REFUSES, 'if [ "$n" -lt 3 ]; then\n  exit 2\nfi\nexit 0\n'), ".count"),
        (GATE.replace("exit 2", 'echo \'{"decision": "block", "reason": "No."}\''), ".count"),
    ],
)
def test_a_count_of_all_sessions(text, file):
    """A gate with a limit that counts in one file shares the count between sessions."""
    assert count_for_all(text) == file


@pytest.mark.parametrize(
    "text",
    [
        # It knows its session, or when a count begins.
        GATE.replace("cat >/dev/null", "ID=$(jq -r .session_id)"),
        GATE.replace(".count", ".count-$PPID"),
        GATE.replace("cat >/dev/null #", "ACTIVE=$(jq -r .stop_hook_active) #"),
        GATE.replace(PASSES, PASSES + '[ -n "$(find "$COUNT_FILE" -mmin +30)" ] && rm "$COUNT_FILE"\n'),
        GATE.replace(PASSES, PASSES + 'OLD=$(stat -c %Y "$COUNT_FILE")\n'),
        GATE.replace(".count", ".count-$(git rev-parse HEAD)"),
        GATE.replace(".count", ".count-$BRANCH"),
        GATE.replace(".count", ".count-$(git diff | sha256sum | cut -c1-8)"),
        GATE.replace(PASSES, 'COUNT_FILE="$COUNT_FILE.$USER"\n' + PASSES),
        # It has no limit, no count, or no refusal.
        GATE.replace(LIMIT, ""),
        GATE.replace("-ge 5", "-ge 1"),
        GATE.replace(LIMIT, LIMIT.replace("exit 0", 'echo "Again." >&2')),
        GATE.replace("n=$((n + 1))\n", ""),
        GATE.replace('> "$COUNT_FILE"', ">&2"),
        GATE.replace("exit 2", "exit 0"),
        GATE.replace("#!/bin/bash", "#!/usr/bin/env node"),
    ],
)
def test_a_count_that_may_be_of_one_session(text):
    """Counts that a session, a time or the state of the work may reset are left alone."""
    assert count_for_all(text) == ""


@pytest.mark.parametrize(
    ("event", "command", "is_found"),
    [
        ("PreToolUse", "./guard.sh", True),
        ("SessionStart", "echo hello", True),
        ("SessionStart", "rm -f .claude/.count", False),
        ("UserPromptSubmit", "rm -f .claude/.c*", False),
        ("SessionEnd", "rm -rf .claude/state", False),
        # The same script may reset the count at another event.
        ("UserPromptSubmit", "bash x.sh", False),
    ],
)
def test_another_hook_that_begins_the_count_anew(event, command, is_found):
    """Where another hook may remove the count, nothing is said."""
    hook_set, hook = one_hook("Stop", GATE)
    hook_set = replace(hook_set, hooks=(hook, Hook(event=event, command=command)))
    assert shared_count(hook_set, hook) == (".count" if is_found else "")


@pytest.mark.parametrize(
    ("event", "is_found"), [("Stop", True), ("SubagentStop", True), ("PreToolUse", False)]
)
def test_gates_of_stops(event, is_found):
    """Only the count of a gate of stops is meant for one turn."""
    assert shared_count(*one_hook(event, GATE)) == (".count" if is_found else "")


def test_a_file_that_is_not_found_may_know_the_session():
    """A script that loads a file which is not there is left alone."""
    assert shared_count(*one_hook("Stop", GATE.replace(FILE, '. "$HOME/lib.sh"\n' + FILE))) == ""
    assert not count_for_all(GATE, ["#!/bin/bash\nSESSION_ID=$1\n"])


def test_the_problem_names_the_file():
    """The problem names the file that all sessions share."""
    hook_set, _ = one_hook("Stop", GATE)
    found = [one for kind in find_in_loops(hook_set) for one in kind if "count" in one.text]
    assert [one.kind for one in found] == ["WRONG-KEY"]
    assert found[0].text.startswith("Stop: it counts its refusals in .count for all sessions together, ")
