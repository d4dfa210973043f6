"""Claims about answers that stand in a script and that its host does not read."""

import json

import pytest

from pytest_hookharness.campaigns.check.answers.written_answers import written_answers
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

CONTEXT = {"additionalContext": "Read the plan."}


def project(folder, text, event, script="hook.sh"):
    (folder / script).write_text(text)
    program = {"py": "python3", "js": "node"}.get(script.rpartition(".")[2], "sh")
    command = f'{program} "$CLAUDE_PROJECT_DIR/{script}"'
    events = {event: [{"hooks": [{"type": "command", "command": command}]}]}
    file = folder / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": events}))
    (hook_set,) = find_hook_sets(folder)
    return hook_set


@pytest.fixture
def found(tmp_path):
    """The answers of a script that Claude Code does not read, in words."""

    def read(text, event="Stop", script="hook.sh"):
        result = check_statically(project(tmp_path, text, event, script))
        return [symptom.text for symptom in result.symptoms if symptom.kind == "MANGLED"]

    return read


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("hook.sh", """#!/bin/sh\nif [ -f done ]; then echo '{"decision": "allow"}'; exit 0; fi\n"""),
        ("hook.sh", '#!/bin/sh\necho "{\\"decision\\": \\"allow\\", \\"reason\\": \\"$WHY\\"}"\n'),
        ("hook.sh", '#!/bin/sh\ncase x in\n*) echo \'{"decision": "allow"}\' ;;\nesac\n'),
        ("hook.sh", '#!/bin/sh\ncat <<EOF\n{\n  "decision": "allow"\n}\nEOF\n'),
        ("hook.sh", '#!/bin/sh\njq -n --arg why "$why" \'{decision: "allow", reason: $why}\'\n'),
        (
            "hook.py",
            "import json\nif done:\n    print(json.dumps({'decision': 'allow', 'reason': f'{n} left'}))\n",
        ),
        ("hook.py", "import json, sys\njson.dump({'decision': 'allow'}, sys.stdout)\n"),
        ("hook.py", "import json\nanswer = {'decision': 'allow'}\nprint(json.dumps(answer))\n"),
        ("hook.js", "if (done) console.log(JSON.stringify({ decision: 'allow', reason }));\n"),
        (
            "hook.js",
            "process.stdout.write(JSON.stringify({decision: `allow`, reason: text(1, 2)}) + '\\n');\n",
        ),
    ],
)
def test_an_answer_that_the_host_refuses(found, script, text):
    """An answer with a word that the host does not know is found as each language writes it."""
    (said,) = found(text, script=script)
    assert said.startswith("Stop: 'decision' is 'allow'; the host knows approve, block (hook.")
    assert ", line " in said


@pytest.mark.parametrize(
    "text",
    [
        """#!/bin/sh\n# echo '{"decision": "allow"}'\n""",
        """#!/bin/sh\necho '{"decision": "allow"}' >answer.json\n""",
        """#!/bin/sh\nanswer=$(echo '{"decision": "allow"}')\n""",
        """#!/bin/sh\necho '{"decision": "allow"}' | tee -a log\n""",
        """#!/bin/sh\nif [ "$host" = gemini ]; then echo '{"decision": "allow"}'; fi\n""",
        'import json\nprint(json.dumps({"decision": decide()}))\n',
        'import json\nprint(json.dumps({**common, "decision": "allow"}))\n',
        'import json\na = {"decision": "allow"}\na["decision"] = "block"\nprint(json.dumps(a))\n',
        'import json\njson.dump({"decision": "allow"}, log)\n',
        'import json\nprint(json.dumps({"decision": "allow"}), file=log)\n',
        'import json\na = {"decision": "allow"}\nprint(json.dumps(a), file=log)\n',
        """#!/bin/sh\n{\n  echo '{"decision": "allow"}'\n} >>log\n""",
        """#!/bin/sh\nmade() { echo '{"decision": "allow"}'; }\nanswer=$(made)\n""",
        """#!/bin/sh\nmade() {\ncat <<EOF\n{"decision": "allow"}\nEOF\n}\nmade | nc host 1\n""",
        """#!/bin/sh\nanswer=$(\n  cat <<EOF\n{"decision": "allow"}\nEOF\n)\n""",
        """#!/bin/sh\nexec >log\necho '{"decision": "allow"}'\n""",
    ],
)
def test_what_may_be_no_answer(found, text):
    """A comment, what goes elsewhere, and what code decides or adds to are not judged."""
    script = "hook.py" if text.startswith("import") else "hook.sh"
    assert not found(text, script=script)


def test_a_text_at_the_wrong_place(found):
    """A text for the agent is lost where the host reads it in another place."""
    (said,) = found(f"#!/bin/sh\necho '{json.dumps(CONTEXT)}'\n", event="PostToolUse")
    assert "knows none of the keys additionalContext; it reads hookSpecificOutput.additionalContext" in said


@pytest.mark.parametrize(
    "more",
    [
        'echo \'{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "x"}}\'',
        '[ -z "$CURSOR_VERSION" ] || exit 0',
        "# OpenCode runs it too.",
    ],
)
def test_a_script_for_several_hosts(found, more):
    """Keys that the host does not know may be meant for another host, which the script serves too."""
    assert not found(f"#!/bin/sh\n{more}\necho '{json.dumps(CONTEXT)}'\n", event="PostToolUse")


@pytest.mark.parametrize(("event", "read"), [("PreCompact", False), ("Notification", True)])
def test_an_event_of_which_little_is_known(found, event, read):
    """What an answer does at an event that no simulation has is not judged."""
    nested = json.dumps({"hookSpecificOutput": {"hookEventName": event, **CONTEXT}})
    assert bool(found(f"#!/bin/sh\necho '{nested}'\n", event=event)) is not read


@pytest.mark.parametrize("answer", ['{"metrics": {"runs": 1}}', '{"action": "continue"}', "{}"])
def test_an_answer_that_says_nothing(found, answer):
    """Nothing is lost of an answer that neither refuses nor has a text for the agent."""
    assert not found(f"#!/bin/sh\necho '{answer}'\n", event="PostToolUse")


@pytest.mark.parametrize(
    ("line", "broken"),
    [
        ("""printf '{"systemMessage": "The plan \\"%s\\" is ready."}' "$title\"""", True),
        ("""printf '{"systemMessage": "The plan %s is ready."}\\n' "$title\"""", False),
        ("""printf '%s\\n' '{"systemMessage": "The plan \\"x\\" is ready."}'""", False),
        ("""echo '{"systemMessage": "One.\\nTwo."}'""", True),
        ("""echo '{"systemMessage": "One. Two."}'""", False),
        ("""echo "{\\"systemMessage\\": $TEXT}\"""", False),
        ("""echo "{'systemMessage': 'One.'}\"""", True),
    ],
)
def test_what_a_shell_makes_of_an_answer(found, line, broken):
    """Escapes that `printf`, or the `echo` of sh, replace and quotes of another language are no JSON."""
    said = found(f"#!/bin/sh\n{line}\n", event="PostToolUse")
    assert bool(said) is broken
    assert not said or "no JSON" in said[0]


def test_an_echo_of_bash(found):
    """The `echo` of bash keeps escapes, so what it prints is JSON."""
    assert not found('#!/bin/bash\necho \'{"systemMessage": "One.\\nTwo."}\'\n', event="PostToolUse")


@pytest.mark.nightly
def test_the_same_answer_in_a_session(tmp_path, harness):
    """An answer that a session showed and the script contains is one problem."""
    hook_set = project(tmp_path, '#!/bin/sh\necho \'{"decision": "allow"}\'\n', "Stop")
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    assert [problem.symptom.kind for problem in report.problems] == ["MANGLED"]


@pytest.mark.slow
@pytest.mark.nightly
def test_what_other_runs_show(tmp_path, harness):
    """What a hook prints and refuses elsewhere is told of no answer that stands in its script."""
    text = """#!/bin/sh
jq -r .tool_input.command | grep -q 'rm -rf' && { echo "Removing is for people." >&2; exit 2; }
[ -z "$DONE" ] || echo '{"decision": "allow"}'
"""
    report = CheckRun(project(tmp_path, text, "PreToolUse"), harness.settings, harness.resources).run()
    (found,) = [one.symptom for one in report.problems if one.symptom.kind == "MANGLED"]
    assert (found.printed, found.effect) == ("", "")
    assert "Write a word that the host knows" in found.advice


@pytest.mark.slow
def test_long_text_is_read_at_once():
    """A script with many braces and no end of an object is read in time that grows with its length."""
    texts = (
        "print(json.dumps({",
        "print(json.dumps({a:{",
        "\necho '{",
        '\necho "{',
        "\ncat <<E\n{}",
        "\njq -n ",
    )
    assert not [answer for text in texts for answer in written_answers(text * 5_000)]


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ('{"result": "continue", "message": "Read the plan."}', True),
        ('{"feedback": "Read the plan."}', True),
        ('{"suppressOutput": true, "feedback": "Formatted."}', False),
        ('{"status": "ok"}', False),
    ],
)
def test_a_text_under_a_key_of_its_own(found, answer, named):
    """A text is lost in an answer of which the host reads nothing, and a note beside known keys is none."""
    texts = found(f"#!/bin/sh\necho '{answer}'\n", event="PostToolUse")
    assert [("none of the keys" in text) for text in texts] == [True] * named


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("{'updatedInput': call, 'permissionDecision': 'allow'}", True),
        (
            "{'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'updatedInput': call}}",
            False,
        ),
    ],
)
def test_a_changed_call_at_the_wrong_place(found, answer, named):
    """A changed input of a call is lost at the top of an answer."""
    texts = found(f"import json\nprint(json.dumps({answer}))\n", event="PreToolUse", script="hook.py")
    assert [("none of the keys updatedInput" in text) for text in texts] == [True] * named


@pytest.mark.parametrize("event", ["SessionStart", "PreToolUse"])
def test_an_answer_in_a_variable(found, event):
    """Nothing is said of an answer whose main part code computes."""
    text = "import json\nanswer = make()\nprint(json.dumps({'hookSpecificOutput': answer}))\n"
    assert not found(text, event=event, script="hook.py")


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("hook.sh", "#!/bin/sh\ncat >other.sh <<'END'\n#!/bin/sh\necho '{\"decision\": \"allow\"}'\nEND\n"),
        ("hook.sh", '#!/bin/sh\nprintf %s \'Write\necho "{\\"decision\\": \\"allow\\"}"\n\'\n'),
        ("hook.py", '"""Print it:\n\n    print(json.dumps({"decision": "allow"}))\n"""\nimport json\n'),
    ],
)
def test_an_answer_in_a_text(found, script, text):
    """An answer in a here-document, a quoted text or a docstring is printed by nobody."""
    assert not found(text, script=script)
