"""
Inputs of tool events outside of any session, compared with those within one.
"""

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.moves import Prompt, RunCommand, Stop

KNOWN = hosts.known()
TOLD = {"tool_name", "tool_input", "toolName", "toolArgs", "toolCall", "command"}


def facts_of(profile):
    """
    The facts of a session as the tests play it.
    """
    return hosts.facts(profile, workspace="/project", home="/home/dev", tmp="/tmp/x", seed=7)


@pytest.mark.parametrize("profile", KNOWN, ids=lambda profile: profile.id)
def test_a_command_is_told_as_in_a_session(play, ended, profile):
    """Before a shell call, hooks are told the same of it outside of a session as within one."""
    names = [name for name, event in profile.events.items() if event.role is Role.BEFORE_TOOL]
    acts = [Prompt(text="go"), RunCommand(command="true"), Stop()]
    asked = play(dict.fromkeys(names, "x"), acts, lambda *_: ended(), profile=profile).asked()
    told = {request.event: request.payload for request in asked if request.event in names}

    for event, payload in told.items():
        outside = hosts.payload_for(profile, event, facts_of(profile))
        assert {key: outside[key] for key in TOLD & outside.keys()} == {
            key: payload[key] for key in TOLD & payload.keys()
        }
    assert any(TOLD & payload.keys() for payload in told.values())


@pytest.mark.parametrize("profile", KNOWN, ids=lambda profile: profile.id)
def test_a_tool_that_nobody_knows(profile):
    """A call of another tool has its name and no input."""
    for event in profile.events.values():
        if event.role is not Role.BEFORE_TOOL or not any(
            field.kind == "tool" for field in event.fields.fields
        ):
            continue
        name = next(field.name for field in event.fields.fields if field.kind == "tool")
        payload = hosts.payload_for(profile, event.name, facts_of(profile), {name: "mcp__a__b"})

        assert payload[name] == "mcp__a__b"
        assert payload.get("tool_input", payload.get("toolArgs")) == {}
