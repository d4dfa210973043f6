"""Claims about advice in scripts that no agent gets."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

WARNING = "Please run the tests before you go on."
BRACKET = "if grep -qE '(A{3}|B)' f; then\n  exit 2\nfi\n"


@pytest.fixture
def found(tmp_path):
    """The advice of a script that the agent never gets, in words."""

    def read(text, event="PostToolUse", script="hook.sh", more=""):
        (tmp_path / script).write_text(text)
        program = {"py": "python3", "js": "node"}.get(script.rpartition(".")[2], "sh")
        command = f'{program} "$CLAUDE_PROJECT_DIR/{script}"{more}'
        events = {event: [{"hooks": [{"type": "command", "command": command}]}]}
        file = tmp_path / ".claude/settings.json"
        file.parent.mkdir()
        file.write_text(json.dumps({"hooks": events}))
        (hook_set,) = find_hook_sets(tmp_path)
        symptoms = check_statically(hook_set).symptoms
        return [symptom for symptom in symptoms if symptom.kind == "UNSEEN-REASON"]

    return read


@pytest.mark.parametrize(
    ("script", "text", "stream"),
    [
        ("hook.sh", f'#!/bin/sh\nif [ "$n" = 50 ]; then\n  echo "{WARNING}"\nfi\nexit 0\n', "output"),
        ("hook.sh", f"#!/bin/sh\necho '{WARNING}' >&2\n", "error"),
        ("hook.sh", f"#!/bin/sh\nprintf '{WARNING}\\n' >&2\n", "error"),
        ("hook.sh", f"#!/bin/sh\ncat <<'EOF'\n{WARNING}\nEOF\n", "output"),
        ("hook.sh", f"#!/bin/sh\ncat >&2 <<EOF\n{WARNING}\nEOF\n", "error"),
        ("hook.py", f'import sys\nif sys.argv:\n    print(f"{WARNING}")\n', "output"),
        ("hook.py", f'print(\n    "{WARNING}\\n"\n    f"Files: {{names}}"\n)\n', "output"),
        ("hook.py", f'import sys\nprint("{WARNING}", file=sys.stderr)\n', "error"),
        ("hook.js", f"const fs = require('fs');\nconsole.error(`{WARNING}`);\nprocess.exit(0);\n", "error"),
        ("hook.js", f"function log(msg) {{ console.error(msg); }}\nlog('{WARNING}');\n", "error"),
    ],
)
def test_advice_that_nobody_gets(found, script, text, stream):
    """Advice on a stream that the host does not read is named, with the key that it does read."""
    (symptom,) = found(text, script=script)
    assert f'"{WARNING}' in symptom.text
    assert f"plain text on standard {stream}, and with status 0 claude-code does not pass it" in symptom.text
    assert symptom.advice == "Answer in JSON, with the text in `hookSpecificOutput.additionalContext`."
    assert not symptom.must_fix


def test_advice_about_a_check_that_failed(found):
    """That tests failed is no failure of the script, so what to do about it is advice."""
    says = 'echo "Tests failed, consider a smaller change."'
    (symptom,) = found(f"#!/bin/sh\nif ! make test; then\n  {says}\nfi\nexit 0\n")
    assert '"Tests failed, consider a smaller change."' in symptom.text


def test_advice_on_a_text_at_a_stop(found):
    """At a stop, the key for the agent makes it go on, so the advice also names the key for the user."""
    (symptom,) = found(f"#!/bin/sh\necho '{WARNING}' >&2\n", event="Stop")
    assert "at Stop it makes the agent go on" in symptom.advice
    assert "`systemMessage`" in symptom.advice


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ("SessionStart", f'#!/bin/sh\necho "{WARNING}"\n'),
        ("PostToolUse", f'#!/bin/sh\necho "{WARNING}" >&2\nexit 2\n'),
        ("PostToolUse", f'#!/bin/sh\necho "{WARNING}" >&2\nexit "$status"\n'),
        ("PostToolUse", f'#!/bin/sh\necho "{WARNING}" >&2\nexit 1\n'),
        ("PostToolUse", f'#!/bin/sh\necho "{WARNING}" >>notes.log\n'),
        ("PostToolUse", f'#!/bin/sh\nwords=$(echo "{WARNING}")\nnotify-send "$words"\n'),
        ("PostToolUse", f'#!/bin/sh\n# echo "{WARNING}"\n'),
        ("PostToolUse", f'#!/bin/sh\n[ -n "$HOOK_DEBUG" ] && echo "{WARNING}" >&2\nexit 0\n'),
        ("PostToolUse", f'#!/bin/sh\nwords=$(echo "{WARNING}")\n'),
        ("PostToolUse", f'#!/bin/sh\nwords=`echo "{WARNING}"`\n'),
        ("PostToolUse", f'#!/bin/sh\necho "{WARNING}" \\\n  >>notes.log\n'),
        ("PostToolUse", f'#!/usr/bin/python3\n# print("{WARNING}")\n'),
        ("PostToolUse", f'#!/usr/bin/python3\n"""\nprint("{WARNING}")\n"""\n'),
        ("PostToolUse", f'#!/usr/bin/node\n// console.log("{WARNING}")\n'),
        ("PostToolUse", f'#!/usr/bin/node\nconsole.log = note;\nconsole.log("{WARNING}")\n'),
        ("PostToolUse", f'#!/bin/sh\n. ./helpers.sh\necho "{WARNING}"\n'),
        ("PostToolUse", '#!/bin/sh\necho "Formatted the file."\n'),
        ("PostToolUse", '#!/bin/sh\necho "prettier is not installed, please install it" >&2\n'),
        ("Notification", f'#!/bin/sh\necho "{WARNING}"\n'),
        ("PostToolUse", f'#!/bin/sh\n{{ echo "{WARNING}"; date; }} >>notes.log\n'),
        ("PostToolUse", f'#!/bin/sh\nsay() {{\n  echo "{WARNING}"\n}}\nwords=$(say)\n'),
        ("PostToolUse", f'#!/bin/sh\necho "{WARNING}" >&2\nfalse\n'),
        ("PostToolUse", f'#!/bin/sh\ncase "$1" in\nshow) echo "{WARNING}" ;;\nesac\n'),
    ],
)
def test_what_is_no_lost_advice(found, event, text):
    """Text that the host passes on, a note about the script itself, and a script that may answer are left."""
    assert not found(text, event=event)


@pytest.mark.parametrize(
    ("event", "more", "lost"),
    [
        ("PostToolUse", " 2>&1 || true", True),
        ("SessionStart", " 2>&1", False),
        ("PostToolUse", " | tee log", False),
    ],
)
def test_a_command_that_joins_or_sends_on_its_output(found, event, more, lost):
    """What a command makes of the output of its script decides whether the host reads it."""
    assert bool(found(f'#!/bin/sh\necho "{WARNING}" >&2\n', event=event, more=more)) is lost


@pytest.mark.parametrize(
    ("event", "command", "lost"),
    [
        ("Stop", "echo 'All done, bye.'", True),
        ("SessionStart", "echo 'All done, bye.'", False),
        ("Stop", "echo 'All done, bye.' >>log", False),
        ("Stop", "echo 'All done, bye.' | tee log", False),
        ("Notification", "echo 'All done, bye.'", False),
        ("Stop", """echo '{"decision": "block", "reason": "Run the tests."}'""", False),
        ("PostToolUse", r'echo "{\"systemMessage\": \"Saved.\"}"', False),
        ("PreCompact", 'echo \' {"systemMessage": "It is compacted."}\'', False),
    ],
)
def test_a_command_that_only_speaks(tmp_path, event, command, lost):
    """A command that does nothing but say something is named if nobody gets its words, whatever they are."""
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}}))
    (hook_set,) = find_hook_sets(tmp_path)
    assert any(one.kind == "UNSEEN-REASON" for one in check_statically(hook_set).symptoms) is lost


@pytest.mark.parametrize(
    ("text", "named"),
    [
        # Words in a comment are no answer, and a quoted bracket sends no output elsewhere.
        (f"#!/bin/sh\n# Or notify the team here.\necho '{WARNING}'\nexit 0\n", True),
        (
            f"#!/bin/bash\nif [ -f late ]; then\n  echo '{WARNING}' >&2\n  exit 0\nfi\n" + BRACKET,
            True,
        ),
        # What is to be done next, and not what is done.
        ("#!/bin/sh\necho 'Research completed - review findings'\n", True),
        ("#!/bin/sh\necho 'Research completed - review passed'\n", False),
        ("#!/bin/sh\necho 'Pre-review code'\n", False),
        # An instruction is no failure of the script, nor is a variable whose name contains FAILURES.
        ("#!/bin/sh\necho 'Three attempts. Write a summary first.' >&2\n", True),
        ("#!/bin/sh\necho 'Three attempts. Write access is off.' >&2\n", False),
        ('#!/bin/sh\necho "WARNING: attempt $FAILURES of 3." >&2\n', True),
        ('#!/bin/sh\necho "WARNING: failures: 3." >&2\n', False),
        # What another script prints into a variable is no answer.
        (f"#!/bin/sh\nall=$(bash scan.sh 2>/dev/null)\necho '{WARNING}' >&2\n", True),
        (f"#!/bin/sh\nbash scan.sh\necho '{WARNING}' >&2\n", False),
    ],
)
def test_advice_in_other_words(found, text, named):
    """Advice behind a dash counts, and only code shows that a script answers in another way."""
    assert bool(found(text, event="Stop")) is named


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "TaskCompleted", "TeammateIdle", "SessionEnd"])
def test_advice_at_the_end_of_work(found, event):
    """Advice is also lost at the events at which work ends."""
    (symptom,) = found(f"#!/bin/sh\necho '{WARNING}'\n", event=event)
    assert symptom.text.startswith(f"{event}: ")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f'print("{WARNING}")\nprint(json.dumps({{"decision": "block"}}))\n', True),
        (f'def f():\n    print(f"Call {{n}}. {WARNING}")\nf()\nsys.exit(code)\n', True),
        (f'print("{WARNING}", file=sys.stderr)\nprint(json.dumps({{"decision": "block"}}))\n', False),
        (f'print(json.dumps({{"systemMessage": "{WARNING}"}}))\n', False),
        (f'def f():\n    print("{WARNING}")\nprint(json.dumps({{"decision": "block"}}))\n', False),
        (f'if bad:\n    print("{WARNING}")\n    sys.exit(2)\nprint(json.dumps({{"decision": 1}}))\n', False),
        (f'def f():\n    print("{WARNING}")\n    return 2\nsys.exit(f())\n', False),
        (f'def f():\n    print("{WARNING}")\n    return 0\nsys.exit(f())\n', True),
        (f'if sys.stdin.isatty():\n    print("{WARNING}")\nprint(json.dumps({{"decision": 1}}))\n', False),
        (f'if len(sys.argv) < 2:\n    print("{WARNING}")\nprint(json.dumps({{"decision": 1}}))\n', False),
    ],
)
def test_what_python_prints_beside_an_answer(found, text, named):
    """In Python a plain text is lost although the script also answers, unless it ends with a failure."""
    assert bool(found(f"import json, sys\n{text}", event="Stop", script="hook.py")) is named


@pytest.mark.parametrize(("other", "named"), [("SessionStart", False), ("Stop", True)])
def test_a_script_of_several_events(tmp_path, other, named):
    """Where the host reads the text at one event of a script, it may be printed at that one alone."""
    (tmp_path / "hook.sh").write_text(f'#!/bin/sh\nif start; then echo "{WARNING}"; fi\n')
    hook = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR/hook.sh"'}
    (tmp_path / ".claude").mkdir()
    events = {event: [{"hooks": [hook]}] for event in ("PostToolUse", other)}
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": events}))
    (hook_set,) = find_hook_sets(tmp_path)
    assert any(one.kind == "UNSEEN-REASON" for one in check_statically(hook_set).symptoms) is named


@pytest.mark.parametrize(("stream", "lost"), [("", 0), (" >&2", 1)])
def test_instructions_for_a_compaction(found, stream, lost):
    """Plain output before a compaction is added to its instructions; the error stream is not."""
    text = f"#!/bin/sh\necho 'Always keep the list of open tasks; do not drop it.'{stream}\n"
    assert len(found(text, "PreCompact")) == lost


@pytest.mark.parametrize(("key", "named"), [("tool_input.file_path", True), ("file", False)])
def test_a_script_that_takes_an_argument_too(found, key, named):
    """A script that reads what only a host sends is a hook, also if it has a way for a person to start it."""
    reads = f'FILE="${{1:-}}"\n[ -t 0 ] || FILE=$(jq -r .{key})\n'
    text = f'#!/bin/bash\n{reads}[ "$FILE" = package.json ] || exit 0\necho "{WARNING}"\nexit 0\n'
    assert bool(found(text)) is named
