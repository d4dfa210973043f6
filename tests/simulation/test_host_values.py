"""Hooks that decide by a value that the host makes up: a time, or an id that is new in each call."""

from __future__ import annotations

import pytest

from pytest_hookharness.model.verdicts import Livelock, Terminated, Undecided
from pytest_hookharness.simulation.probing.host_values import find_host_values
from pytest_hookharness.simulation.testbed.hook_scripts import HookSource

STOP = {"stop": "Done."}
REFUSE = 'echo \'{"decision": "block", "reason": "Not now."}\''
WAITS = f"""#!/bin/bash
now=$(date -d "$(jq -r .timestamp)" +%s); first=$(cat first 2>/dev/null || echo "$now"); echo "$first" >first
[ $((now - first)) -ge 600 ] && exit 0
{REFUSE}
"""
LOGS = f"#!/bin/bash\njq -r .timestamp >>log\n{REFUSE}\n"
ONE_IN_MANY = """#!/bin/bash
id=$(jq -r .tool_use_id | md5sum | cut -c1-2)
[ "$id" = 00 ] && exit 0
echo "Busy, try again." >&2; exit 2
"""


@pytest.mark.nightly
def test_a_gate_that_waits_by_the_time_of_its_input_is_no_endless_loop(play):
    """A stop that is allowed ten minutes later, by the host's time, is not blocked forever."""
    outcome = play(
        host="gemini-cli", files={"gate.sh": WAITS}, hooks={"AfterAgent": "./gate.sh"}, agent=[STOP]
    )

    assert isinstance(outcome.verdict, Undecided)
    assert "CLOCK" in [finding.name for finding in outcome.findings]


@pytest.mark.nightly
def test_a_hook_that_only_logs_the_time_of_its_input_is_proved(play):
    """A hook that only logs the host's time, and always refuses, is a livelock."""
    outcome = play(
        host="gemini-cli", files={"gate.sh": LOGS}, hooks={"AfterAgent": "./gate.sh"}, agent=[STOP]
    )

    assert isinstance(outcome.verdict, Livelock)
    assert outcome.verdict.evidence == "unread"


@pytest.mark.nightly
def test_a_guard_that_hashes_the_id_of_a_call_is_not_proved(play):
    """A guard that allows one call in 256, by its id, may allow the next one."""
    outcome = play(
        files={"guard.sh": ONE_IN_MANY},
        hooks={"PreToolUse": "./guard.sh", "Stop": "echo 'Run ./deploy.' >&2; exit 2"},
        agent=[{"run": "./deploy"}, STOP],
        when=[{"reason": "Run", "do": [{"run": "./deploy"}]}],
        turns=30,
    )

    assert not isinstance(outcome.verdict, Livelock) or outcome.verdict.evidence == "driven"
    assert not isinstance(outcome.verdict, Terminated)


@pytest.mark.parametrize(
    ("text", "times", "compared", "hashed"),
    [
        ("jq -r .timestamp >>log", 1, 0, 0),
        ('[ $(date -d "$(jq -r .timestamp)" +%s) -gt 5 ]', 1, 1, 0),
        ("new Date(input.timestamp).getHours() > 20", 1, 1, 0),
        ("# by timestamp\nexit 2", 0, 0, 0),
        ("jq -r .tool_use_id >>log", 0, 0, 0),
        ("jq -r .tool_use_id | md5sum", 0, 0, 1),
        ("jq -r .conversation_id | md5sum", 0, 0, 0),
        ("jq -r .duration_ms; [ $n -lt 5 ]", 0, 0, 0),
        ("now=$(jq -r .timestamp)\nprintf '%s' $now; [ $# -lt 1 ]", 1, 0, 0),
        ("jq -r .session_id | md5sum", 0, 0, 0),
    ],
)
def test_what_a_source_does_with_the_input(text, times, compared, hashed):
    """Times count if they are named, more if they are compared; ids only if they are hashed."""
    same = {"session_id": "a", "conversation_id": "a", "timestamp": "2026-01-01T00:00:00Z", "duration_ms": 1}
    used = find_host_values(
        [{**same, "tool": {"tool_use_id": "b"}}], [HookSource("gate.sh", "", text.encode())], session="a"
    )

    assert (len(used.times), len(used.compared), len(used.hashed)) == (times, compared, hashed)
