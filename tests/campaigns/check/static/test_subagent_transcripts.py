"""Claims about hooks of a subagent's end that read the transcript of the main agent."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.reads.transcript_searches import reads_main_transcript
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook


@pytest.mark.parametrize(
    ("host", "event", "command", "told"),
    [
        ("claude-code", "SubagentStop", "jq -r .transcript_path", True),
        ("claude-code", "SubagentStop", "jq -r '.agent_transcript_path // .transcript_path'", False),
        ("claude-code", "SubagentStop", "jq -r .transcript_path | xargs grep isSidechain", False),
        ("claude-code", "Stop", "jq -r .transcript_path", False),
        ("cursor", "subagentStop", "jq -r .transcript_path", False),
    ],
)
def test_the_transcript_of_a_subagent(host, event, command, told):
    """A hook of a subagent's end that reads only the main agent's transcript is reported if both exist."""
    hook = Hook(event=event, command=command, type="command")
    hook_set = HookSet(host=host, root=Path("/project"), files=(), hooks=(hook,))
    assert reads_main_transcript(hook_set, hook) is told
