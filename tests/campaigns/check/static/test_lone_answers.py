"""Claims about scripts whose refusals are all written by one program."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.static.lone_answers import lone_answer, only_answers_by
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

HEAD = "#!/bin/bash\nINPUT=$(cat)\n"
ANSWER = 'jq -n --arg r "Go on; $N left" \'{\n  decision: "block",\n  reason: $r\n}\'\n'
DENIES = (
    'jq -nc \'{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny", '
    'permissionDecisionReason: "No."}}\'\n'
)
PYTHON = "python3 -c \"\nimport json\nprint(json.dumps({'decision': 'block', 'reason': 'Go on'}))\n\"\n"
ASKS = "command -v jq >/dev/null 2>&1 || exit 0\n"


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (HEAD + ANSWER, "jq"),
        (HEAD + "set -euo pipefail\n[[ -f .claude/loop.md ]] || exit 0\n" + ANSWER + "exit 0\n", "jq"),
        (HEAD + "deny() {\n  " + DENIES + "  exit 0\n}\ndeny\n", "jq"),
        (HEAD + "ANSWER=$(" + ANSWER.rstrip() + ')\necho "$ANSWER"\n', "jq"),
        (HEAD + PYTHON, "python3"),
        (HEAD + ANSWER + 'echo \'{"decision": "approve"}\'\n', "jq"),
        # Another program writes a refusal, or another script may, or a status refuses.
        (HEAD + ANSWER + PYTHON, ""),
        (HEAD + ANSWER + 'echo \'{"decision": "block", "reason": "No jq."}\'\n', ""),
        (HEAD + ANSWER + 'cat <<END\n{"decision": "block"}\nEND\n', ""),
        (HEAD + ANSWER + "exit 2\n", ""),
        (HEAD + ANSWER + 'exit "$status"\n', ""),
        (HEAD + ANSWER + 'exec "$DIR/other.sh"\n', ""),
        (HEAD + ANSWER + 'bash "$DIR/other.sh"\n', ""),
        (HEAD + "trap 'echo {}' ERR\n" + ANSWER, ""),
        (HEAD + 'jq -r .decision <<< "$INPUT"\n', ""),
        (HEAD + "# " + DENIES, ""),
        ("#!/usr/bin/env python3\nprint('jq')\n", ""),
    ],
)
def test_the_program_that_writes_every_refusal(text, tool):
    """A program is named if each refusal of a shell script stands in the code that it is given."""
    assert only_answers_by(text) == tool


def answer(text, event="Stop", others=()):
    """What is found about a hook with a script, beside the scripts of other hooks."""
    hook = Hook(event=event, command="bash x.sh")
    sources = (("x.sh", text), *((f"{number}.sh", other) for number, other in enumerate(others)))
    hook_set = HookSet(
        host="claude-code", root=Path(__file__).parent, files=(), hooks=(hook,), sources=sources
    )
    return lone_answer(hook_set, hook)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (HEAD + ANSWER, "jq"),
        (HEAD + ASKS + ANSWER, "jq"),
        (HEAD + "if ! which jq >/dev/null; then\n  exit 0\nfi\n" + ANSWER, "jq"),
        (HEAD + "command -v jq >/dev/null || { echo 'No jq.' >&2; exit 0; }\n" + ANSWER, ""),
        (HEAD + "if ! command -v jq >/dev/null; then\n  echo 'No jq.'\n  exit 0\nfi\n" + ANSWER, ""),
        (HEAD + "command -v jq >/dev/null && " + ANSWER, ""),
        (HEAD + "for tool in git jq; do has $tool || exit 0; done\n" + ANSWER, ""),
        (HEAD + "require_tool jq\n" + ANSWER, ""),
    ],
)
def test_scripts_that_say_what_is_missing(text, tool):
    """A script that says what is missing, or does something else, is left out; one that only ends is not."""
    assert answer(text) == tool


def test_another_hook_that_asks_for_the_program():
    """Nothing is said if the script of another hook looks for the program, as it may tell the person."""
    told = "#!/bin/sh\ncommand -v jq >/dev/null || echo 'jq is missing: no loop will run.'\n"
    assert answer(HEAD + ANSWER, others=["#!/bin/sh\ndate\n"]) == "jq"
    assert not answer(HEAD + ANSWER, others=[told])


def test_events_at_which_nothing_is_refused():
    """Hooks that can refuse nothing are left out."""
    assert answer(HEAD + DENIES, event="PreToolUse") == "jq"
    assert not answer(HEAD + ANSWER, event="PostToolUse")
