"""Claims about answers in scripts that no host can read."""

import json

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

NAMED = '"hookEventName": "PreToolUse", '
DENY = '{"hookSpecificOutput": {%s"permissionDecision": "deny"}, "systemMessage": "no"}'
BLOCK = '{"decision": "block", "reason": "%s"}'
WORDS = 'WORDS="Go on.\n\nRead the plan."\n'


def found(folder, script, text, event="PreToolUse", settings=".claude/settings.json"):
    """Return the answers of a script that the host of some settings cannot read, in words."""
    (folder / script).write_text(text)
    command = f'sh "$CLAUDE_PROJECT_DIR/{script}"' if "claude" in settings else f"sh ./{script}"
    file = folder / settings
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}}))
    (hook_set,) = find_hook_sets(folder)
    return [symptom.text for symptom in check_statically(hook_set).symptoms if symptom.kind == "MANGLED"]


@pytest.mark.parametrize(
    "text",
    [
        f"jq -n '{DENY % ''}'\n",
        "console.log(JSON.stringify({ hookSpecificOutput: { permissionDecision: 'deny' } }));\n",
        'echo "{\\"hookSpecificOutput\\": {\\"additionalContext\\": \\"x\\"}}"\n',
    ],
)
def test_a_nested_answer_without_its_event(tmp_path, text):
    """An answer below a key that the host reads only beside the event's name is not read."""
    (said,) = found(tmp_path, "guard.sh", text)
    assert "`hookSpecificOutput` without `hookEventName`, so claude-code does not read it" in said


@pytest.mark.parametrize(
    "text",
    [
        f"jq -n '{DENY % NAMED}'\n",
        f"# {DENY % ''}\n",
        "out = {'hookSpecificOutput': {**common, 'permissionDecision': 'deny'}}\n",
        "out = {'hookSpecificOutput': answer}\n",
        "console.log({ hookSpecificOutput: { ...common, permissionDecision: 'deny' } });\n",
    ],
)
def test_a_nested_answer_that_may_name_its_event(tmp_path, text):
    """An answer that names its event, or to which other code adds something, is not judged."""
    assert not found(tmp_path, "guard.sh", text)


@pytest.mark.parametrize(("start", "named"), [("", True), ("from lib import emit\n", False)])
def test_a_library_that_may_name_the_event(tmp_path, start, named):
    """An answer to which a loaded file may add the event's name is not judged."""
    (tmp_path / "lib.py").write_text("def emit(o):\n    o['hookSpecificOutput']['hookEventName'] = NAME\n")
    answer = "emit({'hookSpecificOutput': {'permissionDecision': 'deny'}})\n"
    assert bool(found(tmp_path, "guard.py", start + answer)) == named


def test_a_host_that_needs_no_name_of_the_event(tmp_path):
    """A host that reads the answer without the event's name has nothing to complain about."""
    text = f"jq -n '{DENY % ''}'\n"
    said = found(tmp_path, "guard.sh", text, event="BeforeTool", settings=".gemini/settings.json")
    assert not any("hookEventName" in words for words in said)


@pytest.mark.parametrize(
    "text",
    [
        f"{WORDS}cat << EOF\n{BLOCK % '$WORDS'}\nEOF\n",
        f"{WORDS}cat <<EOF\n{BLOCK % 'Now: ${WORDS}'}\nEOF\n",
        WORDS + 'echo "' + (BLOCK % "$WORDS").replace('"', '\\"') + '"\n',
    ],
)
def test_line_ends_pasted_into_json(tmp_path, text):
    """A variable with line ends between the quotes of a JSON string makes the answer unreadable."""
    (said,) = found(tmp_path, "stop.sh", text, event="Stop")
    assert "puts $WORDS, which has line ends, between the quotes of a JSON string" in said


@pytest.mark.parametrize(
    "text",
    [
        f'{WORDS}jq -n --arg text "$WORDS" \'{{decision: "block", reason: $text}}\'\n',
        f"{WORDS}cat << 'EOF'\n{BLOCK % '$WORDS'}\nEOF\n",
        f"{WORDS}cat << EOF > state.json\n{BLOCK % '$WORDS'}\nEOF\n",
        f"{WORDS}WORDS=$(jq -Rs . <<< $WORDS)\ncat << EOF\n{BLOCK % '$WORDS'}\nEOF\n",
        f'WORDS="Go on."\ncat << EOF\n{BLOCK % "$WORDS"}\nEOF\n',
        f"{WORDS}cat << EOF\n{BLOCK % '${WORDS//x/y}'}\nEOF\n",
        f'{WORDS}cat << EOF\n{{"own": "$WORDS"}}\nEOF\n',
    ],
)
def test_text_that_may_be_fit_for_json(tmp_path, text):
    """Text that is quoted, changed before, written elsewhere or of one line is not judged."""
    assert not found(tmp_path, "stop.sh", text, event="Stop")


@pytest.mark.nightly
def test_an_unread_answer_that_a_session_shows_as_well(tmp_path, harness):
    """An answer that is found in the script is not reported again where a session shows it."""
    found(tmp_path, "guard.sh", f"echo '{DENY % ''}'\n")
    (hook_set,) = find_hook_sets(tmp_path)
    report = CheckRun(hook_set, harness.settings, harness.resources).run()
    (symptom,) = [one.symptom for one in report.problems if one.symptom.kind == "MANGLED"]
    assert symptom.effect == "claude-code ignores it: PreToolUse goes on as if the hook were not there."
