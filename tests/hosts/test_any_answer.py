"""Answers of hooks in which a key has a value of a type that no host expects."""

import json

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts import catalogue
from pytest_hookharness.model.protocol import Hook, Reply

KEYS = (
    "decision", "permission", "permissionDecision", "permissionDecisionReason", "continue", "stopReason",
    "reason", "systemMessage", "suppressOutput", "additionalContext", "additional_context", "updatedInput",
    "updated_input", "modifiedArgs", "hookEventName", "ok", "async", "asyncTimeout", "behavior", "message",
    "followup_message", "user_message", "agent_message", "allow", "denied", "env", "context", "clearContext",
    "tailToolCallRequest", "updatedToolOutput", "updatedMCPToolOutput", "llm_response", "hookSpecificOutput",
)  # fmt: skip
VALUES = ({"a": {"b": 1}}, [["x"]], None, 0.5)
SPECIFIC = "hookSpecificOutput"


def answers(event):
    """Yield an answer for each key and value: at the top, in the part for the event, and in its decision."""
    for key in KEYS:
        for value in VALUES:
            yield {key: value}
            yield {SPECIFIC: {"hookEventName": event, key: value}}
            yield {SPECIFIC: {"hookEventName": event, "decision": {"behavior": "deny", key: value}}}


@pytest.mark.nightly
@pytest.mark.parametrize("host", sorted({name.partition("@")[0] for name in catalogue.names()}))
def test_a_value_of_any_type_is_read(host, ended):
    """Whatever type the value of a key has, the host reads the answer in some way, and nothing is raised."""
    profile = hosts.find(host)

    # Events of one role are read alike.
    for event in {rule.role: event for event, rule in profile.events.items()}.values():
        hook = Hook(event=event, command="./hook")
        for answer in answers(event):
            reply = hosts.read_reply(profile, hook, event, ended(0, json.dumps(answer)))
            assert isinstance(reply, Reply)
