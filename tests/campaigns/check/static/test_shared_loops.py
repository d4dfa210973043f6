"""Claims about loops of Stop hooks whose state names no session."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.static.shared_loops import loop_for_all, shared_loop
from pytest_hookharness.model.protocol import Hook

from .one_hook import one_hook

HEAD = '#!/bin/bash\nINPUT=$(cat)\nSTATE=".claude/loop.md"\n'
LEAVES = 'if [[ ! -f "$STATE" ]]; then\n  exit 0\nfi\n'
COUNTS = 'N=$(grep iteration: "$STATE" | cut -d" " -f2)\nNEXT=$((N + 1))\n'
WRITES = 'sed -i "s/iteration: .*/iteration: $NEXT/" "$STATE"\n'
REFUSES = 'jq -n \'{decision: "block", reason: "Go on."}\'\n'
TRANSCRIPT = 'T=$(echo "$INPUT" | jq -r .transcript_path)\n'
LOOP = HEAD + LEAVES + COUNTS + WRITES + REFUSES


@pytest.mark.parametrize(
    "text",
    [
        LOOP,
        LOOP.replace(LEAVES, '[ ! -f "$STATE" ] && exit 0\n'),
        LOOP.replace(LEAVES, '[[ -f "$STATE" ]] || { exit 0; }\n'),
        LOOP.replace(LEAVES, LEAVES.replace("  exit", '  echo "No loop." >&2\n  exit')),
        LOOP.replace(REFUSES, 'echo "{\\"decision\\": \\"block\\", \\"reason\\": \\"Go on.\\"}"\n'),
        LOOP.replace("iteration", "round").replace("NEXT=$((N + 1))", "ROUND=$((ROUND + 1))"),
        LOOP.replace(WRITES, 'echo "iteration: $NEXT" > "$STATE.new" && mv "$STATE.new" "$STATE"\n'),
        LOOP.replace(WRITES, '[ "$NEXT" -gt 9 ] && rm -f "$STATE" && exit 0\necho "iteration: $NEXT"\n'),
        # It only reads the last message from the transcript.
        LOOP + TRANSCRIPT + 'LAST=$(grep \'"role":"assistant"\' "$T" | tail -1)\n',
        LOOP + TRANSCRIPT + '[[ -f "$T" ]] || { echo "No $T." >&2; exit 0; }\ntail -n 1 "$T" | jq -r .text\n',
    ],
)
def test_a_loop_for_every_session(text):
    """A loop is named by its state file if its script knows no session."""
    assert loop_for_all(text, []) == ".claude/loop.md"


@pytest.mark.parametrize(
    "text",
    [
        # It compares the session, or names its state after it.
        LOOP + '[ "$(jq -r .session_id <<< "$INPUT")" = "$OWNER" ] || exit 0\n',
        LOOP.replace("loop.md", "loop-$SESSION_ID.md"),
        LOOP + 'grep -q "pid: $PPID" "$STATE" || exit 0\n',
        LOOP + '[ "$(tty)" = "$TTY" ] || exit 0\n',
        LOOP + 'P=$(echo "$INPUT" | jq -r .prompt)\n[ "$P" = "$(head -1 "$STATE")" ] || exit 0\n',
        LOOP + 'python3 "$(dirname "$0")/is_mine.py" "$STATE" <<< "$INPUT" || exit 0\n',
        # It counts nothing, allows every stop, or needs no state to refuse.
        HEAD + LEAVES + REFUSES,
        LOOP.replace(REFUSES, ""),
        LOOP.replace(LEAVES, ""),
        LOOP.replace(LEAVES, LEAVES.replace("exit 0", "touch new")),
        LOOP.replace("#!/bin/bash", "#!/usr/bin/env node"),
        # It names its state after the transcript, or looks for its own command in it.
        (HEAD + TRANSCRIPT + LOOP[len(HEAD) :]).replace(
            ".claude/loop.md", '/tmp/loop-$(basename "$T" .jsonl)'
        ),
        LOOP.replace("INPUT=$(cat)\n", f"INPUT=$(cat)\n{TRANSCRIPT}K=$(cksum <<<$T)\n").replace(
            "loop.md", "$K.md"
        ),
        LOOP + TRANSCRIPT + 'K=${T##*/}\n[ -f "/tmp/$K" ] || exit 0\n',
        LOOP + TRANSCRIPT + 'grep -q /my-loop "$T" || exit 0\n',
        LOOP + TRANSCRIPT + 'tail -n 99 "$T" | grep -q /my-loop || exit 0\n',
        LOOP + 'jq -r .last_assistant_message <<< "$INPUT" | grep -q LOOP || exit 0\n',
        # The file is none that it changes.
        LOOP.replace(WRITES, ""),
        LOOP.replace(WRITES, 'echo "$NEXT" >> "$STATE"\n'),
        LOOP.replace(".claude/loop.md", "package.json").replace(WRITES, 'echo "$NEXT" > .claude/attempts\n'),
        LOOP.replace(".claude/loop.md", "lint.sh").replace(WRITES, 'bash "$STATE" > log\n'),
        # The environment, the branch or the worktree may tell the sessions apart.
        LOOP + '[ "$RALPH_LOOP" = 1 ] || exit 0\n',
        LOOP + 'RALPH_LOOP=${RALPH_LOOP:-0}\n[ "$RALPH_LOOP" = 1 ] || exit 0\n',
        LOOP + "${RALPH_LOOP:-false} || exit 0\n",
        LOOP + '[ "$(git branch --show-current)" = "$(sed -n 2p "$STATE")" ] || exit 0\n',
        LOOP + 'case "$RALPH_LOOP" in 1) ;; *) exit 0 ;; esac\n',
        LOOP.replace("loop.md", "loop-$(git branch --show-current).md"),
        LOOP.replace("loop.md", "loop-`git branch --show-current`.md"),
        LOOP.replace("STATE=", "K=$(git rev-parse HEAD | md5sum)\nSTATE=").replace("loop.md", "$K.md"),
        LOOP.replace("loop.md", "$LOOP.md"),
        LOOP.replace('".claude/loop.md"', '"${STATE:-.claude/loop.md}"'),
        # It refuses once, or the word stands in a message only.
        LOOP + '[ "$stop_hook_active" = true ] && exit 0\n',
        LOOP.replace(COUNTS, 'echo "Next iteration." >&2\nN=$((N + 1))\n'),
    ],
)
def test_other_scripts(text):
    """Loops that may know their session, and other scripts, are left out."""
    assert not loop_for_all(text, [])


def test_a_loaded_file_knows_the_session():
    """What a script loads may compare the session."""
    assert not loop_for_all(LOOP, ["own() { jq -r .session_id; }\n"])
    assert loop_for_all(LOOP, ['log() { echo "$1"; }\n'])


def test_only_stop_hooks():
    """Only hooks that may refuse a stop of the session are looked at."""
    for event, expected in (("Stop", ".claude/loop.md"), ("PreToolUse", ""), ("SubagentStop", "")):
        assert shared_loop(*one_hook(event, LOOP)) == expected


def test_a_state_that_each_session_removes():
    """A state file that a hook removes when a session begins holds no later session."""
    hook_set, hook = one_hook("Stop", LOOP)
    first = Hook(event="SessionStart", command="rm -f .claude/loop.md")
    assert shared_loop(hook_set, hook)
    assert not shared_loop(replace(hook_set, hooks=(hook, first)), hook)


REPEATED = {
    "one word": "attempt",
    "half a word": "iteratio",
    "tests without an end": '[ -f "$S" ] || { ',
    "conditions": 'if [ ! -f "$S" ]; then ',
    "substitutions without an end": "A=$(jq .transcript_path ",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""
    takes_linear_time(lambda length: LOOP + part * (length // len(part)), lambda text: loop_for_all(text, []))
