"""Claims about messages for the agent that hosts show to the user alone."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.answers.user_messages import comments_on_agent, message_for_agent
from pytest_hookharness.campaigns.check.reads.script_checks import find_in_scripts
from pytest_hookharness.model.protocol import Hook

from ..static.one_hook import one_hook

ANSWER = 'jq -n --arg msg "$MSG" \'{"systemMessage": $msg}\'\n'
HEAD = "#!/bin/bash\n# Runs the tests of a file.\n\nMSG=$(npm test)\n\n"
FOR_AGENT = HEAD + "# Use systemMessage for Claude\n" + ANSWER
REMINDER = "#!/bin/bash\n# Reminds Claude to push the branch.\n" + ANSWER


@pytest.mark.parametrize(
    "text",
    [
        FOR_AGENT,
        REMINDER,
        HEAD + "# Prints a systemMessage for Claude's context.\n" + ANSWER,
        HEAD + "# Send the result to the agent\n" + ANSWER,
        "#!/bin/bash\n# Injects a system message instructing Claude to write a plan.\n" + ANSWER,
        "#!/bin/bash\n# Injects a system message into the model's context.\n" + ANSWER,
        HEAD + "# systemMessage: Claude\uc5d0\uac8c \uc804\ub2ec\n" + ANSWER,
        "#!/usr/bin/env node\n// \u8f93\u51fa\u5230 Claude\nprint({ systemMessage: report });\n",
        '#!/usr/bin/env python3\n# Print it for the agent.\nprint(json.dumps({"systemMessage": text}))\n',
    ],
)
def test_a_comment_that_names_the_agent(text):
    """A comment that says that the agent gets the message is read in each language of scripts."""
    assert [line for line, _, _ in comments_on_agent(text)]
    assert message_for_agent(*one_hook("PostToolUse", text))[0] == "x.sh"


@pytest.mark.parametrize(
    "text",
    [
        # The comment is about the user, denies it, or is about something else.
        HEAD + ANSWER,
        HEAD + "# Output systemMessage for the user\n" + ANSWER,
        HEAD + "# Output systemMessage, which is not fed to Claude\n" + ANSWER,
        HEAD
        + "# Use systemMessage, so that the user sees it without\n# injecting it into the model.\n"
        + ANSWER,
        HEAD + "# Print the message for Claude,\n# but the user sees it only.\n" + ANSWER,
        HEAD + "# A systemMessage for Claude Code users\n" + ANSWER,
        HEAD + "# Waits for the agent.\n" + ANSWER,
        # It is about something else that the agent or somebody does.
        "#!/bin/bash\n# Detects pages that instruct the model to do something else.\n" + ANSWER,
        "#!/bin/bash\n# Logs when developers ask Claude to push.\n" + ANSWER,
        HEAD + "# Print the price for the model in use\n" + ANSWER,
        HEAD + "# Print how many tokens are left for the conversation\n" + ANSWER,
        HEAD + "# Send the file to the agent dashboard\n" + ANSWER,
        FOR_AGENT + 'exit "$STATUS"\n',
        "#!/bin/bash\n# Never tells Claude what to do.\n" + ANSWER,
        HEAD + "echo 'Output systemMessage for Claude'\n" + ANSWER,
        HEAD + "# Send the result to the agent\n" + "\n" * 9 + ANSWER,
        HEAD + "\n" * 9 + "# Reminds Claude to push.\n" + "\n" * 9 + ANSWER,
        # The script also answers in a way that the agent gets, or sends no message.
        FOR_AGENT + 'echo \'{"hookSpecificOutput": {"additionalContext": "x"}}\'\n',
        FOR_AGENT + 'echo "No." >&2\nexit 2\n',
        FOR_AGENT.replace('{"systemMessage"', '{"decision": "block", "reason": $msg, "systemMessage"'),
        FOR_AGENT.replace(ANSWER, "echo hello\n"),
        FOR_AGENT.replace(ANSWER, "# " + ANSWER),
    ],
)
def test_a_message_that_may_be_for_the_user(text):
    """A message whose comment names no agent, or denies it, is left alone."""
    assert [*comments_on_agent(text)] == []


@pytest.mark.parametrize(
    ("host", "event", "text", "is_found"),
    [
        ("claude-code", "PreToolUse", FOR_AGENT, True),
        ("claude-code", "UserPromptSubmit", FOR_AGENT, True),
        # There plain text reaches the agent, and the script may print some.
        ("claude-code", "UserPromptSubmit", REMINDER, False),
        # There the host takes no text for the agent.
        ("claude-code", "PreCompact", FOR_AGENT, False),
        ("claude-code", "Notification", FOR_AGENT, False),
        ("claude-code", "Unheard", FOR_AGENT, False),
        # Another host that the script names may read the key in another way.
        ("claude-code", "PostToolUse", FOR_AGENT + "# for Codex too\n", False),
    ],
)
def test_events_at_which_the_agent_could_be_told(host, event, text, is_found):
    """The message is lost only where the host could give the agent a text, and gives it none."""
    hook_set, hook = one_hook(event, text)
    assert bool(message_for_agent(replace(hook_set, host=host), hook)[0]) is is_found


def test_a_script_of_several_events():
    """A script that also runs where the agent cannot be told is left alone."""
    hook_set, hook = one_hook("PostToolUse", FOR_AGENT)
    other = Hook(event="PreCompact", command=hook.command)
    assert message_for_agent(replace(hook_set, hooks=(hook, other)), hook) == ("", 0, "")


def test_the_problem_quotes_the_comment():
    """The problem says where the message is said to be for the agent, and where to write it."""
    hook_set, _ = one_hook("PostToolUse", FOR_AGENT)
    found = [one for kind in find_in_scripts(hook_set) for one in kind if "systemMessage" in one.text]
    assert [one.kind for one in found] == ["UNSEEN-REASON"]
    assert found[0].text == (
        "PostToolUse: only the user sees `systemMessage`, but a comment in x.sh, line 6, says that it is for "
        'the agent: "Use systemMessage for Claude".'
    )
    assert "`hookSpecificOutput.additionalContext`" in found[0].advice
