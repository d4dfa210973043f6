"""Claims about guards that learn of a call only by one program."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.failing_gates import find_gates
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sole_readers import prove_sole_readers, sole_reader

HEAD = "#!/bin/bash\nINPUT=$(cat)\nCMD=$(echo \"$INPUT\" | jq -r '.tool_input.command // empty')\n"
REFUSES = 'if echo "$CMD" | grep -q "rm -rf"; then echo "No." >&2; exit 2; fi\n'


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (HEAD + REFUSES, "jq"),
        (HEAD.replace("jq -r", "python3 -c") + REFUSES, "python3"),
        ("#!/bin/sh\nCMD=$(jq -r .tool_input.command)\n" + REFUSES, "jq"),
        (HEAD + '[[ -z "$CMD" ]] && exit 0\n[ -f .lock ] && exit 0\n' + REFUSES, "jq"),
        (HEAD + 'case "$CMD" in\n  *rm*) ;;\n  *) exit 0 ;;\nesac\ngit diff --quiet || exit 2\n', "jq"),
        (HEAD.replace("')\n", "') || exit 1\n") + "git diff --quiet || exit 2\n", "jq"),
        ('#!/bin/bash\nI=$(cat)\nT=$(jq -r .x <<< "$I")\n[ "$T" = x ] && exit 2\n', "jq"),
        # It refuses nothing, or says what is missing, or reads its input in another way as well.
        (HEAD, ""),
        ("#!/bin/bash\ncommand -v jq >/dev/null || exit 2\n" + HEAD + REFUSES, ""),
        (HEAD + 'echo "$INPUT" | grep -q rm && exit 2\n', ""),
        (HEAD + "OTHER=$(echo \"$INPUT\" | python3 -c 'print(1)')\n" + REFUSES, ""),
        ("#!/bin/sh\nread -r LINE\nCMD=$(jq -r .tool_input.command)\n" + REFUSES, ""),
        # What it refuses without a value depends on the project, or comes before it is read.
        (HEAD + "git diff --quiet || exit 2\n" + REFUSES, ""),
        (HEAD + "[ -f .lock ] && exit 2\n" + '[[ -z "$CMD" ]] && exit 0\n', ""),
    ],
)
def test_how_a_script_reads_its_input(text, tool):
    """The program is named by which alone the input reaches a script that refuses."""
    assert sole_reader(text) == tool


@pytest.fixture
def proved(tmp_path, harness):
    """What is found about a script without its programs, and again if that is known."""

    def prove(event, text, program="bash", name="guard.sh"):
        (tmp_path / ".claude").mkdir()
        (tmp_path / name).write_text(text)
        hook = {"type": "command", "command": f'{program} "$CLAUDE_PROJECT_DIR"/{name}'}
        settings = {"hooks": {event: [{"hooks": [hook]}]}}
        (tmp_path / ".claude" / "settings.json").write_text(json.dumps(settings))
        (hook_set,) = find_hook_sets(tmp_path)

        def play(sessions):
            outcomes = [play_session(one, harness.settings, harness.resources) for one in sessions]
            return [PlayedSession(*one) for one in zip(sessions, outcomes, strict=True)]

        gates = play(find_gates(hook_set, hook_set.hooks, play))
        found = [*prove_sole_readers(hook_set, play, [], gates)]
        known = [one.as_problem([]) for one in found]
        assert not known or not [*prove_sole_readers(hook_set, play, known, gates)]
        return found

    return prove


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        (HEAD + REFUSES, True),
        (HEAD + '[ -z "$CMD" ] && { echo "Nothing to look at." >&2; exit 2; }\n' + REFUSES, False),
        ("#!/bin/bash\nset -e\n" + HEAD + REFUSES, True),
    ],
)
def test_a_guard_without_its_program(proved, text, allowed):
    """A guard is reported if every call is allowed without the program, and not if it then refuses."""
    found = proved("PreToolUse", text)
    assert [one.symptom.kind for one in found] == ["UNGUARDED-TOOL"] * allowed
    for one in found:
        assert "it learns of a call only by `jq`" in one.symptom.text
        assert one.session.scenario.hidden == ("jq",)


NEEDS = 'command -v jq >/dev/null || { echo "Install jq." >&2; exit 2; }\n'
ONCE = 'grep -q \'"stop_hook_active": *true\' <<<"$(cat)" && exit 0\n'


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("text", "endless"), [(NEEDS, True), (ONCE + NEEDS, False), (NEEDS.replace("exit 2", "exit 0"), False)]
)
def test_a_stop_without_a_program_that_the_hook_asks_for(proved, text, endless):
    """A hook that refuses every stop where a program is missing is reported, one that refuses once is not."""
    found = proved("Stop", f"#!/bin/bash\n{text}: exit 2\n")
    assert [one.symptom.kind for one in found] == ["livelock"] * endless
    for one in found:
        assert one.symptom.text.startswith(
            'with no `jq` on the PATH, Stop is refused each time with "Install jq'
        )


GATE = """import subprocess, sys
if subprocess.run(["pnpm", "test"]).returncode:
    print("The tests fail.", file=sys.stderr)
    sys.exit(2)
"""
IN_JAVASCRIPT = """const { execFileSync } = require("child_process");
try { execFileSync("pnpm", ["test"]); } catch (error) {
  if (error.status === undefined || error.status === null) throw error;
  console.error("The tests fail.");
  process.exit(2);
}
"""
STRICT = "#!/bin/bash\nset -e\nout=$(pnpm test 2>&1) && exit 0\n[ $? -ne 127 ] || exit 127\nexit 2\n"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("program", "name", "text", "words"),
    [
        ("python3", "gate.py", GATE, 'it ends with status 1, "FileNotFoundError: '),
        ("node", "gate.js", IN_JAVASCRIPT, "it ends with status 1"),
        ("bash", "gate.sh", STRICT, "it ends with status 127"),
    ],
)
def test_a_gate_without_the_program_of_its_check(proved, program, name, text, words):
    """A gate that ends with an error where its check cannot be started allows the stop, and is reported."""
    (found,) = proved("Stop", text, program, name)
    assert found.symptom.kind == "UNGUARDED-TOOL"
    assert found.symptom.text.startswith(f"Stop: with no `pnpm` on the PATH {words}")
    assert found.symptom.text.endswith(", and every stop is allowed.")
    assert found.session.scenario.hidden == ("pnpm",)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("program", "name", "text"),
    [
        ("bash", "gate.sh", "#!/bin/bash\npnpm test || exit 2\n"),
        ("bash", "gate.sh", "#!/bin/bash\ncommand -v pnpm >/dev/null || exit 0\npnpm test || exit 2\n"),
        (
            "bash",
            "gate.sh",
            "#!/bin/bash\npnpm test && exit 0\n[ $? -eq 127 ] || exit 2\necho 'No pnpm.' >&2; exit 1\n",
        ),
        ("python3", "gate.py", "import shutil\nif not shutil.which('pnpm'): raise SystemExit\n" + GATE),
    ],
)
def test_gates_that_mind_a_missing_program(proved, program, name, text):
    """A gate that refuses without the program of its check, or allows the stop and says why, is right."""
    assert not proved("Stop", text, program, name)
