"""Guard hooks that mean to refuse and have no effect, with real processes."""

from __future__ import annotations

import json

import pytest

AGENT = [{"prompt": "go"}, {"stop": "Done."}]
BLOCK = json.dumps({"result": "block", "reason": "no new file"})
BOTH = json.dumps({"continue": False, "decision": "block", "reason": "run /compact"})


@pytest.mark.parametrize(
    "command",
    [
        f"echo '{BLOCK}'",
        f"echo '{BLOCK}'; exit 1",
        f"echo '{BOTH}'",
        """echo '{"decision": "block", "reason": "no new file", "decision": "approve"}'""",
        "echo blocked >&2; exit 1",
        "echo 'blocked: no new file' >&2; echo '{}'",
        "no-such-tool; exit 0",
    ],
)
def test_a_guard_without_effect_is_a_finding(play, command):
    """A stop hook that means to refuse, and that the host does not understand, does not pass."""
    outcome = play(agent=AGENT, hooks={"Stop": command})

    assert outcome.blocks() == 0
    assert outcome.findings
    assert not outcome.passed


def test_the_last_value_of_a_key_counts(play):
    """A key that an answer has twice means its last value, so a refusal there is one, and nothing is lost."""
    answer = '{"decision": "approve", "reason": "a", "decision": "block", "reason": "no new file"}'
    outcome = play(agent=AGENT, hooks={"Stop": f"[ -e seen ] && exit; :>seen; echo '{answer}'"})

    assert outcome.reasons("Stop") == ("no new file",)
    assert outcome.passed


def test_an_echo_of_the_input_is_a_note(play):
    """A hook that prints its input unchanged decides nothing: one note says so, and nothing fails."""
    outcome = play(
        agent=[*AGENT[:1], {"run": "true"}, {"run": "true"}, AGENT[1]], hooks={"PreToolUse": "cat"}
    )

    assert outcome.passed
    assert outcome.findings == ()
    assert len([text for text in outcome.assumptions if "prints its input" in text]) == 1


def test_a_changed_echo_is_no_note(play):
    """A hook that prints its input with a change means something that the host does not read."""
    command = """sed 's/"true"/"false"/'"""
    outcome = play(agent=[*AGENT[:1], {"run": "true"}, AGENT[1]], hooks={"PreToolUse": command})

    assert [finding.name for finding in outcome.findings] == ["MANGLED"]
