import pytest

from pytest_hookharness import hosts
from pytest_hookharness.agents.payloads import UnknownField, make_payload

EVENTS = hosts.find("claude-code").events


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_has_a_payload(event):
    """A payload has all keys of its event in the host's order, and names the event."""
    rules = EVENTS[event].fields
    payload = make_payload(rules, seed=3)

    assert list(payload) == [field.name for field in rules.fields]
    assert payload["hook_event_name"] == event


def test_equal_seeds_give_equal_payloads():
    """The same seed gives the same payload, and another seed gives another one."""
    rules = EVENTS["PreToolUse"].fields

    assert make_payload(rules, seed=1) == make_payload(rules, seed=1)
    assert make_payload(rules, seed=1) != make_payload(rules, seed=2)


def test_a_fixed_value_does_not_change_the_others():
    """A fixed value is in the payload, and all other values are the same as without it."""
    rules = EVENTS["Stop"].fields
    free, fixed = make_payload(rules, seed=1), make_payload(rules, seed=1, stop_hook_active=None)

    assert fixed == {**free, "stop_hook_active": None}


def test_generated_calls_have_the_format_of_the_host():
    """The host's form of a generated call is in the payload, and fixed values take precedence."""
    asked = []

    def sample(folder, operations):
        asked.append((folder, operations))
        return {"tool_name": "Its", "tool_input": {"its": "own"}}

    rules = EVENTS["PreToolUse"].fields
    payload = make_payload(rules, seed=1, sample=sample, cwd="/here", tool_name="Mine")

    assert (payload["tool_name"], payload["tool_input"]) == ("Mine", {"its": "own"})
    ((folder, operations),) = asked
    assert folder == "/here"
    assert {type(operation).__name__ for operation in operations} == {"RunCommand", "Edit", "Read"}


def test_an_unknown_key_is_an_error():
    """A key that the event does not have is an error that names the nearest one."""
    with pytest.raises(UnknownField, match=r"'stop_hook_activ'.*did you mean 'stop_hook_active'"):
        make_payload(EVENTS["Stop"].fields, stop_hook_activ=True)
