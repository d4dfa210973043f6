"""Claims about answers below `hookSpecificOutput` that are lost."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

KINDS = ("MANGLED", "UNSEEN-REASON")
DENY = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "No."}


@pytest.fixture
def lost(tmp_path):
    """The answers of a script for Claude Code that are not read, in words."""

    def read(text, *hooks):
        (tmp_path / "hook.sh").write_text(f"#!/bin/sh\n{text}\n")
        events = {}
        for event, matcher, *args in hooks:
            command = " ".join(["sh ./hook.sh", *args])
            events[event] = [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]
        (tmp_path / ".claude").mkdir()
        (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": events}))
        (hook_set,) = find_hook_sets(tmp_path)
        return [one.text for one in check_statically(hook_set).symptoms if one.kind in KINDS]

    return read


def echo(**nested):
    return f"echo '{json.dumps({'hookSpecificOutput': nested})}'"


def document(**nested):
    # `echo` of some shells would make line ends of the escapes.
    return f"cat <<'END'\n{json.dumps({'hookSpecificOutput': nested})}\nEND"


@pytest.mark.parametrize(
    ("nested", "named"),
    [
        ({"suggestion": "Run the tests."}, True),
        ({"suggestion": "Run the tests.", "additionalContext": "x y"}, False),
        ({"status": "ok"}, False),
        ({"agentName": "the reviewer of all"}, False),
        ({"sessionTitle": "A new title"}, False),
        ({"agentId": "$ID"}, False),
    ],
)
def test_a_text_in_a_key_of_its_own(lost, nested, named):
    """A text in a key that no host reads is lost, also beside another answer that is read."""
    text = f"{echo(**DENY)}\n{echo(hookEventName='PreToolUse', **nested)}"
    found = lost(text, ("PreToolUse", "Bash"))
    assert ["none of the keys suggestion in hookSpecificOutput" in one for one in found] == [True] * named


@pytest.mark.parametrize(
    ("text", "hooks", "named"),
    [
        (echo(**DENY), [("PreToolUse", "Bash|Write"), ("PostToolUse", "Bash")], True),
        (echo(**DENY), [("PreToolUse", "Bash"), ("PostToolUse", "Bash|Write")], False),
        (echo(**DENY), [("PreToolUse", "Bash", "pre"), ("PostToolUse", "Bash", "post")], False),
        (f"[ $E = PostToolUse ] && exit\n{echo(**DENY)}", [("PreToolUse", ""), ("PostToolUse", "")], False),
        (f"grep -q tool_response && exit\n{echo(**DENY)}", [("PreToolUse", ""), ("PostToolUse", "")], False),
        (f"{echo(**DENY)}\necho '{{}}'", [("PreToolUse", ""), ("PostToolUse", "")], False),
    ],
)
def test_an_answer_for_another_event(lost, text, hooks, named):
    """One command at two events answers both as the first one, unless it may tell them apart."""
    found = lost(text, *hooks)
    said = "PostToolUse: 'hookEventName' is 'PreToolUse', but the event is PostToolUse"
    assert [one.startswith(said) for one in found] == [True] * named


LIST = "Reminder before the commit:\n- Run the tests.\n- Run the linter."


@pytest.mark.parametrize(
    ("nested", "named"),
    [
        ({"permissionDecision": "allow", "permissionDecisionReason": LIST}, True),
        # One line may be for the user, and not every list tells somebody to do something.
        ({"permissionDecision": "allow", "permissionDecisionReason": "Reminder: run the tests."}, False),
        ({"permissionDecision": "allow", "permissionDecisionReason": "Approved:\nit only reads."}, False),
        *(
            ({"permissionDecision": "allow", "permissionDecisionReason": words}, False)
            for words in (
                "Checked: npm test.\nNo tests should be affected.",
                "Read-only command.\nIt never writes a file.",
                "Approved by the list:\n- Update the list before you add a command.",
                "Rule 3:\n- The user should review the list.",
            )
        ),
        # The agent gets the reason of a refusal, and other texts.
        ({"permissionDecision": "deny", "permissionDecisionReason": LIST}, False),
        (
            {
                "permissionDecision": "allow",
                "permissionDecisionReason": LIST,
                "additionalContext": "Run the tests.",
            },
            False,
        ),
    ],
)
def test_the_reason_of_an_allow(lost, nested, named):
    """Advice of several lines in the reason of an allow does not reach the agent."""
    found = lost(document(hookEventName="PreToolUse", **nested), ("PreToolUse", "Bash"))
    said = 'PreToolUse: the agent does not get the reason of an allow, "Reminder before the commit:"'
    assert [one.startswith(said) for one in found] == [True] * named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        # As Python writes it: in three quotes, and in several texts.
        (f'"""{LIST}"""', True),
        ('("Reminder before the commit:\\n"\n  "- Run the tests.")', True),
        ('"Reminder before the commit:\\n" + rest()', False),
        ('f"Reminder before the commit:\\n{rest}"', False),
    ],
)
def test_the_reason_of_an_allow_in_python(lost, text, named):
    """The reason is read where it stands whole in the script, and not where code makes it."""
    known = '"hookEventName": "PreToolUse", "permissionDecision": "allow"'
    answer = f'{{{known}, "permissionDecisionReason": {text}}}'
    code = f'import json\nprint(json.dumps({{"hookSpecificOutput": {answer}}}))'
    found = lost(f"python3 - <<'END'\n{code}\nEND\n", ("PreToolUse", "Bash"))
    assert len(found) == named


def test_a_script_that_also_tells_the_agent(lost):
    """A script that writes the key for the agent in another answer is left alone."""
    note = document(hookEventName="PreToolUse", permissionDecision="allow", permissionDecisionReason=LIST)
    other = echo(hookEventName="PreToolUse", additionalContext="Run the tests.")
    assert not lost(f"if [ -f x ]; then\n{note}\nelse\n{other}\nfi", ("PreToolUse", "Bash"))


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("decision: {behavior: 'allow', updatedPermissions: make()}", True),
        ("hookSpecificOutput: {hookEventName: 'PermissionRequest', decision: {behavior: decide()}}", False),
        ("decision: decide()", False),
    ],
)
def test_a_value_that_code_computes(lost, answer, named):
    """What stands in an answer counts if it is wrong whatever the code computes."""
    text = f'node -e "console.log(JSON.stringify({{{answer}}}))"'
    assert len(lost(text, ("PermissionRequest", "Bash"))) == named
