"""Claims about refusals in scripts that end with the status of a failure."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.answers.failed_refusals import is_allowed_by_failure
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically
from pytest_hookharness.model.protocol import Hook

from ..static.one_hook import one_hook

DENY = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}'


@pytest.fixture
def found(tmp_path):
    """The refusals in a script that the host takes for failures, in words."""

    def read(text, event="PreToolUse", script="hook.sh", more=""):
        (tmp_path / script).write_text(text)
        program = {"py": "python3", "js": "node"}.get(script.rpartition(".")[2], "sh")
        command = f'{program} "$CLAUDE_PROJECT_DIR/{script}"{more}'
        events = {event: [{"hooks": [{"type": "command", "command": command}]}]}
        file = tmp_path / ".claude/settings.json"
        file.parent.mkdir()
        file.write_text(json.dumps({"hooks": events}))
        (hook_set,) = find_hook_sets(tmp_path)
        return [one.text for one in check_statically(hook_set).symptoms if one.kind == "MANGLED"]

    return read


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("hook.sh", 'if grep -q rm; then\n  echo "BLOCKED: no rm here" >&2\n  exit 1\nfi\n'),
        (
            "hook.sh",
            "grep -q rm || exit 0\ncat >&2 <<'EOF'\nBLOCKED: no rm here\n\nUse trash.\nEOF\nexit 1\n",
        ),
        ("hook.py", 'import sys\nif rm:\n    print(f"Denied: {rm}", file=sys.stderr)\n    sys.exit(1)\n'),
        (
            "hook.js",
            "if (rm) {\n  console.error('rm is not allowed');\n  process.exit(1);\n}\nprocess.exit(0);\n",
        ),
    ],
)
def test_a_refusal_by_the_wrong_status(found, script, text):
    """A refusal in words that ends with 1 is named with its words, and with the status that refuses."""
    (said,) = found(text, script=script)
    assert said.startswith('PreToolUse: exit code 1 is not a refusal on claude-code (2 is): "')


FAILED = 'if ! npm test; then\n  echo "Unit tests FAILED in $file" >&2\n  exit 1\nfi\n'
ASKS = FAILED.replace("in $file", "- fix them before you go on")
TOLD = "# Exit 1 surfaces the failures back to the agent.\n"


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "PreToolUse"])
@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("hook.sh", TOLD + FAILED),
        ("hook.sh", "# Informational. Exits 1\n# if a test fails, blocking the agent.\n" + FAILED),
        ("hook.sh", TOLD + FAILED.replace("Unit tests FAILED", "ESLint found 3 issues")),
        (
            "hook.py",
            TOLD + "import sys\nif bad:\n    print(f'Lint failed: {x}', file=sys.stderr)\n    sys.exit(1)\n",
        ),
    ],
)
def test_a_failed_check_by_the_wrong_status(found, event, script, text):
    """A failed check that the agent is to hear of, with status 1, is named where status 2 tells it."""
    (said,) = found(text, script=script, event=event)
    assert said.startswith(f'{event}: exit code 1 is not a refusal on claude-code (2 is): "')


BLOCKS = '#!/bin/sh\n# exit 1 = blocking error\n[ -n "$ERRORS" ] && {\n  echo "$ERRORS" >&2\n  exit 1\n}\n'


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "PreToolUse"])
def test_a_comment_that_says_that_status_one_blocks(found, event):
    """A script that means to block with status 1 is named."""
    (said,) = found(BLOCKS, event=event)
    assert said.endswith("on claude-code (2 is), though a comment in the script says that it blocks.")


@pytest.mark.parametrize(
    "text",
    [
        BLOCKS + "exit 2\n",
        BLOCKS.replace("= blocking", "= non-blocking"),
        BLOCKS.replace("= blocking error", "blocks nothing, so this answers in JSON"),
        BLOCKS.replace("error", "for git hooks only"),
        BLOCKS
        + 'echo \'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", '
        + '"permissionDecisionReason": "No."}}\'\n',
        BLOCKS.replace("  exit 1", "  exit 0"),
    ],
)
def test_a_script_that_does_not_mean_to_block_with_one(found, text):
    """Nothing is said of a script that can end with 2, never ends with 1, or says the opposite."""
    assert not found(text, event="PreToolUse")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        # Nothing says that the text is for the agent, or the status is intended.
        ("PostToolUse", FAILED),
        ("PostToolUse", ASKS),
        ("PostToolUse", "# Exit 1 is not shown to the agent.\n" + FAILED),
        ("PostToolUse", "# A non-blocking check.\n" + ASKS),
        ("PostToolUse", "# Never blocks the agent: warns only.\n" + ASKS),
        # The script knows the status that the agent sees.
        ("PostToolUse", ASKS + 'echo "no" >&2\nexit 2\n'),
        ("PostToolUse", ASKS.replace("exit 1", 'exit "$code"')),
        ("PostToolUse", ASKS.replace("exit 1", "exit 0")),
        # The hook itself failed.
        ("PostToolUse", TOLD + FAILED.replace("FAILED in", "failed to start in")),
        ("PostToolUse", TOLD + FAILED.replace("Unit tests FAILED", "jq failed to parse the payload")),
        ("PostToolUse", TOLD + FAILED.replace("Unit tests FAILED", "Tests failed, as npx is missing")),
        ("PostToolUse", TOLD + FAILED.replace("Unit tests FAILED", "could not cd, checks failed")),
        ("PostToolUse", TOLD + FAILED.replace("Unit tests FAILED", "not a git repository: checks failed")),
        ("PostToolUse", TOLD + FAILED.replace("Unit tests FAILED", "Health check failed")),
        # Another branch, and a function whose output is used.
        ("PostToolUse", ASKS.replace("  exit", "else\n  exit")),
        ("PostToolUse", "#!/bin/sh\nwhy() {\n" + ASKS + "}\nx=$(why) || echo '{}'\n"),
        # No status reaches the agent.
        ("SessionStart", ASKS),
    ],
)
def test_what_is_no_failed_check_for_the_agent(found, event, text):
    """Notes for the user, failures of the hook itself, and scripts that know the status are left out."""
    assert not found(text, event=event)


def test_a_command_that_asks_for_the_status_of_a_check(found):
    """A failed check is not named if the command looks at the status of its script."""
    assert not found(ASKS, event="PostToolUse", more="; [ $? = 0 ] && exit 0; exit 2")


LIBRARY = """#!/bin/sh
finish() {
  if [ -n "$BLOCKS" ]; then
    { printf 'BLOCKED by %s: %s\\n' "$1" "$BLOCKS"
      echo "See the rules."
    } >&2
    exit 1
  fi
}
"""


@pytest.mark.parametrize(
    ("call", "library", "words"),
    [
        ("finish rules", LIBRARY, "BLOCKED by ... : ..."),
        ("echo 'finish'", LIBRARY, ""),
        ("finish rules", LIBRARY.replace("exit 1", "exit 2"), ""),
        ("finish rules", LIBRARY.replace(">&2", ">>log"), ""),
        ("finish rules\nexit 2", LIBRARY, ""),
    ],
)
def test_a_refusal_in_a_file_that_a_script_loads(found, tmp_path, call, library, words):
    """A refusal in a function of another file counts for a script that calls the function."""
    (tmp_path / "lib.sh").write_text(library)
    said = found(f'#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n{call}\n')
    assert [f'"{words}"' in one for one in said] == [True] * bool(words)


def test_an_answer_with_a_status_of_failure(found):
    """Whether an answer counts beside a status of failure is what the host makes of it."""
    assert not found(f"echo '{DENY}'\nexit 1\n")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ("PreToolUse", 'echo "BLOCKED: no rm here" >&2\nexit 2\n'),
        ("PreToolUse", '[ -n "$x" ] || exit 1\necho "BLOCKED: no rm here" >&2\nexit 2\n'),
        ("PreToolUse", "cat >&2 <<EOF\nUsage: hook.sh\nBLOCKED: no rm here\nEOF\nexit 1\n"),
        ("PreToolUse", 'echo "BLOCKED: no rm here" >&2\nexit "$code"\n'),
        ("PreToolUse", 'echo "x.json: Permission denied" >&2\nexit 1\n'),
        ("PreToolUse", 'echo "access denied: no project" >&2\nexit 1\n'),
        ("PreToolUse", 'echo "Warning: --force is not allowed on main" >&2\nexit 1\n'),
        ("PreToolUse", f"if [ -z \"$x\" ]; then\n  echo 'Input rejected' >&2\n  exit 1\nfi\necho '{DENY}'\n"),
        ("PreToolUse", 'echo "Usage: hook.sh BLOCKED-WORDS; what is blocked" >&2\nexit 1\n'),
        ("PreToolUse", '#!/bin/sh\nwhy() {\n  echo "rm is blocked"\n  exit 1\n}\nx=$(why) || deny "$x"\n'),
        ("PreToolUse", 'echo "The input cannot be read" >&2\nexit 1\n'),
        ("PreToolUse", 'echo "Blocked words are listed below" >list\n' + "true\n" * 4 + "exit 1\n"),
        ("PostToolUse", 'echo "BLOCKED: no rm here" >&2\nexit 1\n'),
    ],
)
def test_what_is_no_failed_refusal(found, event, text):
    """A script that knows the status, a failure, and an event that cannot refuse are left out."""
    assert not found(text, event=event)


def test_a_command_that_refuses_with_another_status(found):
    """No refusal is lost if the command turns a failure of its script into a refusal."""
    assert not found('echo "BLOCKED: no rm here" >&2\nexit 1\n', more=" || exit 2")


def test_a_host_that_ignores_the_answer(tmp_path):
    """On a host that reads no answer beside a status of failure, the refusal is lost."""
    (tmp_path / "hook.sh").write_text('echo \'{"permission": "deny"}\'\necho no >&2\nexit 3\n')
    (tmp_path / ".cursor").mkdir()
    hook = {"command": "sh ./hook.sh"}
    settings = {"version": 1, "hooks": {"beforeReadFile": [hook]}}
    (tmp_path / ".cursor/hooks.json").write_text(json.dumps(settings))
    (hook_set,) = find_hook_sets(tmp_path)
    texts = [one.text for one in check_statically(hook_set).symptoms]
    assert texts == ["beforeReadFile: the refusal ends with 3, which cursor takes for a failure of the hook."]


TEXT = '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "$errors"}}'
ANSWER = f'#!/bin/bash\n[ -z "$errors" ] && exit 0\ncat <<EOF\n{TEXT}\nEOF\nexit 1\n'
BY_JQ = '#!/bin/sh\njq -n --arg x "$x" \\\n  \'{decision: "block", reason: $x}\'\nexit 1\n'
BY_PYTHON = f"import sys, json\nif bad:\n    print(json.dumps({TEXT}))\n    sys.exit(1)\n"


@pytest.mark.parametrize(
    ("host", "text", "more", "count"),
    [
        ("codex", ANSWER, "", 1),
        ("codex", BY_JQ, "", 1),
        ("codex", BY_PYTHON, "", 1),
        # Its JSON alone decides.
        ("claude-code", ANSWER, "", 0),
        ("codex", ANSWER.replace("exit 1", "exit 0"), "", 0),
        ("codex", ANSWER.replace("exit 1", 'echo "$errors" >&2\nexit 2'), "", 0),
        # Another status may follow, or the command ends with its own.
        ("codex", ANSWER.replace("exit 1", '[ "$STRICT" = 1 ] && exit 1'), "", 0),
        ("codex", ANSWER.replace("exit 1", "if strict; then\n  exit 1\nfi"), "", 0),
        ("codex", BY_PYTHON.replace("    sys.exit", "sys.exit"), "", 0),
        ("codex", ANSWER.replace("EOF\nexit", 'EOF\necho "then exit 0"\nexit'), "", 0),
        ("codex", ANSWER, "; exit 0", 0),
        ("codex", ANSWER, " || true", 0),
        # The status is that of another program or of a part of the script, or is made another one.
        ("codex", f"#!/bin/bash\npython3 - <<'E' || true\nimport json, sys\n{BY_PYTHON}E\nexit 0\n", "", 0),
        ("codex", ANSWER.replace("exit 1", "awk 'END {\nexit 1\n}' f || true\nexit 0"), "", 0),
        ("codex", ANSWER.replace("exit 1", "cat > run.sh <<'E'\nexit 1\nE\nexit 0"), "", 0),
        ("codex", ANSWER.replace("cat <<", "(\ncat <<").replace("exit 1", "exit 1\n)\nexit 0"), "", 0),
        ("codex", ANSWER.replace("cat <<", "ls | while read f; do\ncat <<") + "done\nexit 0\n", "", 0),
        ("codex", ANSWER.replace("cat <<", "trap 'exit 0' EXIT\ncat <<"), "", 0),
        ("codex", ANSWER.replace("exit 1", "exec true\nexit 1"), "", 0),
        ("codex", ANSWER.replace("[ -z", '[ "$1" = --example ] || exit 0\n[ -z'), "", 0),
        ("codex", BY_PYTHON.replace("if bad", "try") + "except SystemExit:\n    pass\n", "", 0),
        # It tells the agent nothing.
        ("codex", ANSWER.replace(TEXT, '{"systemMessage": "Formatted."}'), "", 0),
    ],
)
def test_a_text_for_the_agent_beside_a_status_of_failure(host, text, more, count):
    """A text in an answer is lost where the host reads no answer with a status of failure."""
    hook_set, hook = one_hook("PostToolUse", text)
    hooks = (replace(hook, command=hook.command + more),)
    found = check_statically(replace(hook_set, host=host, hooks=hooks)).symptoms
    said = [one.text for one in found if one.kind == "MANGLED"]
    words = (
        "its answer ends with 1, which codex takes for a failure of the hook, so the agent does not get it"
    )
    assert said == [f"PostToolUse: {words}."] * count


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"on_failure": "block"}, False),
        ({"command": "./guard.sh || true"}, True),
        ({"command": "./guard.sh || exit 2"}, False),
        ({"command": 'cd "$CURSOR_PROJECT_DIR" && ./guard.sh'}, True),
        ({"command": "[ -x guard.sh ] && exec ./guard.sh; exit 0"}, True),
        ({"command": "if ! ./guard.sh; then exit 2; fi"}, False),
    ],
)
def test_where_a_failure_allows(changes, expected):
    """A failure allows the call unless the entry or the command of the hook says otherwise."""
    hook = replace(Hook(event="beforeShellExecution", command="./guard.sh"), **changes)
    assert is_allowed_by_failure("cursor", hook) is expected


def test_a_missing_program_that_refuses():
    """A strict script is not named for a program without which it fails where a failure refuses."""
    text = '#!/bin/bash\nset -e\nCMD=$(jq -r .tool_input.command)\n[[ "$CMD" != *push* ]] || exit 2\n'
    hook_set, hook = one_hook("PreToolUse", text)
    for command, named in ((hook.command, 1), (f"{hook.command} || exit 2", 0)):
        hooks = (replace(hook, command=command),)
        found = check_statically(replace(hook_set, hooks=hooks)).symptoms
        assert len([one for one in found if one.kind == "UNGUARDED-TOOL"]) == named
