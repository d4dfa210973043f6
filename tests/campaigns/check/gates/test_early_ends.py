"""Claims about loops of Stop hooks that are over after one round."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.gates.early_ends import early_end, end_of_loop
from pytest_hookharness.campaigns.check.reads.script_checks import find_in_scripts

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\nINPUT=$(cat)\n"
GIVEN = "ACTIVE=$(echo \"$INPUT\" | jq -r '.stop_hook_active // false')\n"
ENDS = 'if [ "$ACTIVE" = "true" ]; then\n  exit 0\nfi\n'
STATE = 'STATE=.claude/loop.md\nif [ ! -f "$STATE" ]; then\n  exit 0\nfi\n'
LIMIT = 'if [[ $ITERATION -ge $MAX_ITERATIONS ]]; then\n  rm "$STATE"\n  exit 0\nfi\n'
ROUND = (
    'NEXT=$((ITERATION + 1))\nsed -i "s/^iteration: .*/iteration: $NEXT/" "$STATE"\n'
    'jq -n \'{decision: "block", reason: "Go on."}\'\n'
)
LOOP = HEAD + GIVEN + ENDS + STATE + LIMIT + ROUND
NODE = """#!/usr/bin/env node
function block(reason) {
  console.log(JSON.stringify({ decision: 'block', reason }))
}

async function main() {
  const input = JSON.parse(await readInput())
  if (input.stop_hook_active === true) return

  if (!existsSync(STATE)) return
  if (Number(iteration) >= Number(maxIterations)) return
  const next = iteration + 1
  writeFileSync(STATE, JSON.stringify({ iteration: next }))
  block('Go on.')
}
"""
PYTHON = """#!/usr/bin/env python3
def main():
    data = json.load(sys.stdin)
    if data.get("stop_hook_active"):
        return 0
    if not STATE.exists():
        return 0
    state = json.loads(STATE.read_text())
    if state_round >= state_max:
        return 0
    state_round += 1
    print(json.dumps({"decision": "block", "reason": "Go on."}))
"""


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (LOOP, "MAX_ITERATIONS"),
        (LOOP.replace(ENDS, ENDS.replace("  exit", "  echo '{}'\n  exit")), "MAX_ITERATIONS"),
        (LOOP.replace(ENDS, '[[ "${ACTIVE}" == "true" ]] && exit 0\n'), "MAX_ITERATIONS"),
        (LOOP.replace(GIVEN + ENDS, STATE + GIVEN + ENDS), "MAX_ITERATIONS"),
        (
            LOOP.replace(
                GIVEN + ENDS,
                'if [ "$(jq -r .stop_hook_active <<< "$INPUT")" = "true" ]; then\n  exit 0\nfi\n',
            ),
            "MAX_ITERATIONS",
        ),
        (
            LOOP.replace(
                GIVEN + ENDS,
                'if grep -q \'"stop_hook_active": *true\' <<< "$INPUT"; then\n  exit 0\nfi\n',
            ),
            "MAX_ITERATIONS",
        ),
        (LOOP.replace("ITERATION", "ROUND"), "MAX_ROUNDS"),
        (NODE, "maxIterations"),
        (PYTHON, "state_max"),
    ],
)
def test_a_loop_that_ends_after_one_round(text, limit):
    """A script that allows each stop after a refused one never comes to its limit."""
    assert end_of_loop(text)[1] == limit


@pytest.mark.parametrize(
    "text",
    [
        # It is in another condition or function, is set anew, or is another value.
        LOOP.replace(ENDS, f"if [ -f once ]; then\n{ENDS}fi\n"),
        LOOP.replace(ENDS, f"ends() {{\n{ENDS}}}\n"),
        LOOP.replace(ENDS, f"ACTIVE=false\n{ENDS}"),
        LOOP.replace(GIVEN, GIVEN.replace(".stop_hook_active", ".stop_hook_active | not")),
        LOOP.replace(GIVEN, "ACTIVE=$(cat paused)\n").replace(
            ENDS, f'{ENDS}echo "$INPUT" | jq .stop_hook_active\n'
        ),
        NODE.replace("  if (input.stop", "  if (existsSync(ONCE)) {\n    if (input.stop").replace(
            "true) return\n", "true) return\n  }\n"
        ),
        PYTHON.replace("    if data.get", '    data["stop_hook_active"] = False\n    if data.get'),
        # Without its state, a review begins.
        LOOP.replace(STATE, '[ ! -f "$STATE" ] && echo 0 > "$STATE"\n'),
        # The flag counts only together with something else, or only leads to a message.
        LOOP.replace('"true" ]', '"true" ] && [ -f done ]'),
        LOOP.replace(ENDS, ENDS.replace("exit 0", 'echo "again" >&2')),
        LOOP.replace(ENDS, ENDS.replace("  exit 0", "  [ -f done ] && exit 0")),
        LOOP.replace(ENDS, ENDS.replace("  exit 0", '  rm -f "$STATE.reminded"\n  exit 0')),
        LOOP.replace(ENDS, "if [ -f calm ]; then\n  " + ENDS.replace("\n", "\n  ") + "\nfi\n"),
        LOOP.replace('= "true"', '!= "true"'),
        LOOP.replace(
            GIVEN + ENDS,
            'if ! grep -q \'"stop_hook_active": *true\' <<< "$INPUT"; then\n  exit 0\nfi\n',
        ),
        LOOP.replace(ENDS, "".join(f"# {line}\n" for line in ENDS.splitlines())),
        # It looks at the state, or refuses, before it reads the flag.
        HEAD + GIVEN + STATE + LIMIT + ROUND + ENDS,
        HEAD + GIVEN + '[ -f red ] && { echo "Tests fail." >&2; exit 2; }\n' + ENDS + STATE + LIMIT + ROUND,
        # There is no loop: no maximum, no count, no state that switches it on, no refusal.
        LOOP.replace(LIMIT, ""),
        LOOP.replace("ITERATION + 1", "ITERATION"),
        LOOP.replace(STATE, "STATE=/tmp/count\n"),
        LOOP.replace("block", "approve"),
        # It counts reminders, which it gives once at each stop, or once at all.
        LOOP.replace("ITERATION", "REMINDER"),
        LOOP.replace(STATE, STATE + "MAX_ITERATIONS=1\n"),
        LOOP.replace(STATE, STATE + 'MAX_ITERATIONS="${MAX:-1}"\n'),
        NODE.replace("=== true)", "=== true && calm)"),
        NODE.replace("function main", "function isCalm"),
        NODE.replace("  if (input", "  if (calm) {\n      if (input"),
        PYTHON.replace('active"):', 'active") and calm:'),
        PYTHON.replace("state_round += 1", ""),
    ],
)
def test_a_loop_that_may_go_on(text):
    """Flags beside other conditions, and counts that are no loops, are left alone."""
    assert end_of_loop(text) == (0, "")


@pytest.mark.parametrize(
    ("host", "event", "is_found"),
    [
        ("claude-code", "Stop", True),
        ("codex", "Stop", True),
        # There the flag is never set, not known, or ends with a call of a tool.
        ("droid", "Stop", False),
        ("kimi", "Stop", False),
        ("gemini-cli", "AfterAgent", False),
        ("claude-code", "SessionEnd", False),
    ],
)
def test_hosts_that_send_the_flag_at_each_stop(host, event, is_found):
    """The loop is certain to end only where the flag stays set until the next prompt."""
    hook_set, hook = one_hook(event, LOOP)
    found = early_end(replace(hook_set, host=host), hook)
    assert found == (("x.sh", 4, "MAX_ITERATIONS") if is_found else ("", 0, ""))


def test_the_problem_names_the_line_and_the_limit():
    """The problem says where the loop ends, and which limit it never reaches."""
    hook_set, _ = one_hook("Stop", LOOP)
    found = [one for kind in find_in_scripts(hook_set) for one in kind if one.kind == "EARLY-EXIT"]
    (text,) = [one.text for one in found]
    assert text == (
        "Stop: x.sh, line 4, allows every stop where `stop_hook_active` is true, and claude-code sets it "
        "after each refusal, so the loop ends after one round, whatever `MAX_ITERATIONS` is."
    )
