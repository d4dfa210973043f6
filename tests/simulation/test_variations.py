"""
Scenarios that are played again with one thing different, with real hooks.
"""

import pytest

SCENARIO = [{"run": "ls", "result": "a"}, {"run": "rm -rf build", "expect": "deny"}, {"stop": "Done."}]
BY_GREP = """#!/bin/sh
if grep -q '"tool_name":"Bash".*rm -rf'; then echo no >&2; exit 2; fi
exit 0
"""


@pytest.fixture
def vary(play):
    """Play a scenario with one PreToolUse hook, and give the names of what was found."""

    def run(hook, *kinds, agent=SCENARIO, **keys):
        files = {"hook.sh": hook, **keys.pop("files", {})}
        return play(agent=agent, files=files, hooks={"PreToolUse": "./hook.sh"}, vary=[*kinds], **keys)

    return run


def names(outcome):
    return [finding.name for finding in outcome.findings]


def test_a_guard_by_order_of_keys_is_found(vary):
    """A guard that searches the raw JSON in one order is found by the other order."""
    outcome = vary(BY_GREP, "key-order")

    assert ["RAW-JSON"] == names(outcome)
    assert "reverse order" in outcome.findings[0].text
    assert any("RAW-JSON" in violation.seen for violation in outcome.violations)


def test_nothing_is_varied_unless_asked_for(play):
    """The same guard without a wish is played once, and nothing is told of variations."""
    outcome = play(agent=SCENARIO, files={"hook.sh": BY_GREP}, hooks={"PreToolUse": "./hook.sh"})

    assert ([], ()) == (names(outcome), outcome.varied)
