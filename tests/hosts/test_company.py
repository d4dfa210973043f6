"""
The calls of another agent of a session, as hooks are told of them.
"""

import pytest

from pytest_hookharness import hosts

CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "1"}


@pytest.mark.parametrize(
    "host, added, own",
    [
        ("claude-code", ["agent_id", "agent_type"], []),
        ("codex", ["agent_id", "agent_type"], ["turn_id", "transcript_path"]),
        ("qwen-code", ["agent_id"], []),
    ],
)
def test_a_subagents_call_has_the_recorded_keys(host, added, own):
    """It names its agent, and has a transcript of its own on hosts that give it one."""
    profile = hosts.find(host)
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    parents = hosts.payload_for(profile, "PreToolUse", facts, CALL)
    subagents = hosts.payload_of_subagent(profile, facts, "PreToolUse", parents)

    assert added == [key for key in subagents if key not in parents]
    assert set(own) == {key for key in parents if subagents[key] != parents[key]}
    assert hosts.identifies_agents(profile, facts)


def test_a_host_may_not_tell_its_agents_apart():
    """Where the profile's calls name no agent, another agent's input is the same."""
    profile = hosts.find("gemini-cli")
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    parents = hosts.payload_for(profile, "BeforeTool", facts)

    assert hosts.payload_of_subagent(profile, facts, "BeforeTool", parents) == parents
    assert not hosts.identifies_agents(profile, facts)
