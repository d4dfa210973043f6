"""Values of payloads: calls outside of a session, and calls of a subagent."""

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.moves import Prompt, RunCommand, Stop

KNOWN = hosts.known()
CALL_KEYS = {"tool_name", "tool_input", "toolName", "toolArgs", "toolCall", "command"}


def facts_of(profile):
    """Return the facts of a session as the tests drive it."""
    return hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp/x", seed=7)


@pytest.mark.parametrize("profile", KNOWN, ids=lambda profile: profile.id)
def test_a_command_is_described_as_in_a_session(play, ended, profile):
    """Before a shell call, hooks get the same values of the call outside of a session as within one."""
    names = [name for name, event in profile.events.items() if event.role is Role.BEFORE_TOOL]
    acts = [Prompt(text="go"), RunCommand(command="true"), Stop()]
    asked = play(dict.fromkeys(names, "x"), acts, lambda *_: ended(), profile=profile).asked()
    inside = {request.event: request.payload for request in asked if request.event in names}

    for event, payload in inside.items():
        outside = hosts.payload_for(profile, event, facts_of(profile))
        assert {key: outside[key] for key in CALL_KEYS & outside.keys()} == {
            key: payload[key] for key in CALL_KEYS & payload.keys()
        }
    assert any(CALL_KEYS & payload.keys() for payload in inside.values())


@pytest.mark.parametrize("profile", KNOWN, ids=lambda profile: profile.id)
def test_an_unknown_tool(profile):
    """A call of an unknown tool has its name and no input."""
    for event in profile.events.values():
        if event.role is not Role.BEFORE_TOOL or not any(
            field.kind == "tool" for field in event.fields.fields
        ):
            continue
        name = next(field.name for field in event.fields.fields if field.kind == "tool")
        payload = hosts.payload_for(profile, event.name, facts_of(profile), {name: "mcp__a__b"})

        assert payload[name] == "mcp__a__b"
        given = {key: payload[key] for key in ("tool_input", "toolArgs") if key in payload}
        assert given in ({"tool_input": {}}, {"toolArgs": "{}"})


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
    """A subagent's call names its agent, and has its own transcript on hosts with one for each agent."""
    profile = hosts.find(host)
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    parents = hosts.payload_for(profile, "PreToolUse", facts, CALL)
    subagents = hosts.payload_of_subagent(profile, facts, "PreToolUse", parents)

    assert added == [key for key in subagents if key not in parents]
    assert set(own) == {key for key in parents if subagents[key] != parents[key]}
    assert hosts.identifies_agents(profile, facts)


def test_a_host_may_not_identify_its_agents():
    """On a host whose calls name no agent, another agent's input is the same."""
    profile = hosts.find("gemini-cli")
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    parents = hosts.payload_for(profile, "BeforeTool", facts)

    assert hosts.payload_of_subagent(profile, facts, "BeforeTool", parents) == parents
    assert not hosts.identifies_agents(profile, facts)
