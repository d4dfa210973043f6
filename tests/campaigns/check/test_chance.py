"""Hooks that decide by chance, and hooks that only seem to."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.further_proofs import find_chance, find_suspect
from pytest_hookharness.campaigns.check.guard_sessions import plan_refusals
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import play_session

REFUSE = "{ echo no luck >&2; exit 2; }"
CHANCE = f"head -c 1 /dev/urandom | od -An -tu1 | grep -q '[02468]$' || {REFUSE}"
COUNTS = f"n=$(cat n 2>/dev/null || echo 0); echo $((1 - n)) > n; [ $n = 0 ] || {REFUSE}"
GUARDS = f"grep -q 'rm -rf' && {REFUSE}; exit 0"


@pytest.fixture
def play(tmp_path, harness):
    """Play what guards commonly refuse, with a hook before each call."""

    def session(command):
        handler = {"type": "command", "command": command}
        (tmp_path / ".claude").mkdir()
        settings = {"hooks": {"PreToolUse": [{"hooks": [handler]}]}}
        (tmp_path / ".claude/settings.json").write_text(json.dumps(settings))
        (hook_set,) = find_hook_sets(tmp_path)
        planned = next(plan_refusals(hook_set))
        return [
            PlayedSession(planned, play_session(planned, harness.settings, harness.resources))
            for _ in range(2)
        ]

    return session


@pytest.mark.slow
def test_a_hook_that_decides_by_chance(play):
    """A hook that decides by a random number is found, with what it decided about the same move."""
    played = play(CHANCE)

    assert find_suspect(played) in played
    symptom = find_chance(played[0].outcome, played[1].outcome)
    assert (symptom.kind, symptom.hook) == ("FLAKY", CHANCE)
    assert "refuses (exit 2)" in symptom.text
    assert "allows (exit 0)" in symptom.text


@pytest.mark.slow
def test_a_hook_that_counts(play):
    """A hook that refuses every other call decides alike when the session is played again."""
    played = play(COUNTS)

    assert any(one.outcome.blocks("PreToolUse") for one in played)
    assert find_chance(played[0].outcome, played[1].outcome) is None


@pytest.mark.slow
def test_a_guard(play):
    """A guard that looks at the command is not even suspected."""
    assert find_suspect(play(GUARDS)) is None
