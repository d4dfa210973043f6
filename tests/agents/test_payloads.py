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


def test_the_seed_decides():
    """The same seed gives the same payload, and another gives another."""
    rules = EVENTS["PreToolUse"].fields

    assert make_payload(rules, seed=1) == make_payload(rules, seed=1)
    assert make_payload(rules, seed=1) != make_payload(rules, seed=2)


def test_a_fixed_value_leaves_the_others_alone():
    """A fixed value stands in the payload, and all other values are what they would have been."""
    rules = EVENTS["Stop"].fields
    free, fixed = make_payload(rules, seed=1), make_payload(rules, seed=1, stop_hook_active=None)

    assert fixed == {**free, "stop_hook_active": None}


@pytest.mark.parametrize(
    "tool, keys",
    [("Bash", {"command", "description"}), ("Write", {"file_path", "content"}), ("Other", set())],
)
def test_the_input_fits_the_tool(tool, keys):
    """The made-up input has the keys of the tool that was fixed."""
    payload = make_payload(EVENTS["PreToolUse"].fields, tool_name=tool)

    assert set(payload["tool_input"]) == keys


def test_an_unknown_key_is_an_error():
    """A key that the event does not have is an error that names the nearest one."""
    with pytest.raises(UnknownField, match=r"'stop_hook_activ'.*did you mean 'stop_hook_active'"):
        make_payload(EVENTS["Stop"].fields, stop_hook_activ=True)
