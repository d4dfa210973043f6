"""Claims about scripts whose refusals are all written by one program."""

import pytest

from pytest_hookharness.campaigns.check.lone_programs.lone_answers import (
    lone_answer,
    only_answers_by,
)

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\nINPUT=$(cat)\n"
ANSWER = 'jq -n --arg r "Go on; $N left" \'{\n  decision: "block",\n  reason: $r\n}\'\n'
DENIES = (
    'jq -nc \'{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny", '
    'permissionDecisionReason: "No."}}\'\n'
)
PYTHON = "python3 -c \"\nimport json\nprint(json.dumps({'decision': 'block', 'reason': 'Go on'}))\n\"\n"
READS = "ACTIVE=$(jq -r .active .claude/loop.json)\n"
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
        (HEAD + "jq -n --arg m \"$OUT\" '{followup_message: $m}'\n", "jq"),
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
    return lone_answer(*one_hook(event, text, others))


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (HEAD + ANSWER, "jq"),
        (HEAD + READS + ANSWER, "jq"),
        (HEAD + READS.replace(")", " 2>/dev/null || echo '')") + ANSWER, "jq"),
        (HEAD + '[ "$(echo "$INPUT" | jq -r .x)" = "true" ] && exit 0\n' + ANSWER, "jq"),
        (HEAD + "set -e\n" + READS.replace(")", " || true)") + ANSWER, "jq"),
        # Its author has decided that the hook does nothing without the program.
        (HEAD + ASKS + ANSWER, ""),
        (HEAD + "if ! which jq >/dev/null; then\n  exit 0\nfi\n" + ANSWER, ""),
        # Someone sees that the program is missing.
        (HEAD + ANSWER.rstrip() + " || { echo 'jq failed' >&2; exit 1; }\n", ""),
        (HEAD + READS.rstrip() + " || { echo 'jq failed' >&2; exit 0; }\n" + ANSWER, ""),
        (HEAD + READS.rstrip() + " ||\n  echo 'jq failed' >&2\n" + ANSWER, ""),
        (HEAD + "if ! " + READS.rstrip() + "; then echo 'jq failed' >&2; fi\n" + ANSWER, ""),
        (HEAD + READS + "[ $? -eq 0 ] || echo 'jq failed' >&2\n" + ANSWER, ""),
        (HEAD + READS + "if [ -z \"$ACTIVE\" ]; then\n  echo 'jq?' >&2\n  exit 0\nfi\n" + ANSWER, ""),
        (HEAD + "read_it() {\n  jq -r .x f\n}\nX=$(read_it) || echo 'No jq.' >&2\n" + ANSWER, ""),
        (HEAD + "jq --version >/dev/null || { echo 'No jq.' >&2; exit 1; }\n" + ANSWER, ""),
        (HEAD + "jq --version >/dev/null\n" + ANSWER, ""),
        (HEAD + "OUT=$(" + ANSWER.rstrip() + ")\n[[ $OUT ]] || echo failed >&2\necho $OUT\n", ""),
        (HEAD + "OUT=$(" + ANSWER.rstrip() + ')\necho "${OUT:-{\\"a\\": 1}}"\n', ""),
        (HEAD + "[ -x /usr/bin/jq ] || echo 'none' >&2\n" + ANSWER, ""),
        (HEAD + "checkDeps jq git\n" + ANSWER, ""),
        (HEAD + 'NEEDED="git jq"\nsee $NEEDED\n' + ANSWER, ""),
        (HEAD + "trap 'echo \"Not asked.\" >&2; exit 2' EXIT\n" + ANSWER, ""),
        (HEAD + "set -e\n" + READS + ANSWER, ""),
        ("#!/bin/bash -e\n" + READS + ANSWER, ""),
        (HEAD + "set -o errexit\n" + READS + ANSWER, ""),
        # The program may be the project's own.
        (HEAD + 'export PATH="$CLAUDE_PLUGIN_ROOT/bin:$PATH"\n' + ANSWER, ""),
        (HEAD + 'jq() {\n  node jq.js "$@"\n}\n' + ANSWER, ""),
        (HEAD + 'jq () { node jq.js "$@"; }\n' + ANSWER, ""),
        (HEAD + "function jq { node x.js; }\n" + ANSWER, ""),
        (HEAD + 'source "$DIR/tools.sh"\n' + ANSWER, ""),
        # The person is asked about nothing more than the host asks about.
        (HEAD + ANSWER.replace('"block"', '"ask"'), ""),
        (HEAD + "command -v jq >/dev/null || { echo 'No jq.' >&2; exit 0; }\n" + ANSWER, ""),
        (HEAD + "if ! command -v jq >/dev/null; then\n  echo 'No jq.'\n  exit 0\nfi\n" + ANSWER, ""),
        (HEAD + "command -v jq >/dev/null && " + ANSWER, ""),
        (HEAD + "for tool in git jq; do has $tool || exit 0; done\n" + ANSWER, ""),
        (HEAD + "require_tool jq\n" + ANSWER, ""),
    ],
)
def test_scripts_that_say_what_is_missing(text, tool):
    """A script is left out if it may notice that the program is missing, or looks for it."""
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


REPEATED = {
    "calls in one line": 'decision: "block" jq -n x\\ ',
    "lists": "for x in a b c ",
    "calls": "X=$(jq -r .a)\n",
    "answers": "jq -n 'decision: \"block\"'\n",
    "functions": "f%d() {\n",
    "functions with calls": "f%d() {\n jq .a\n}\n",
    "statuses": "date\nX=$?\n",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_a_long_script_takes_a_time_that_grows_with_its_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        parts = (part.replace("%d", str(number)) for number in range(length // len(part)))
        return HEAD + "".join(parts) + "\n" + ANSWER

    takes_linear_time(text_of, answer, 0.003)
