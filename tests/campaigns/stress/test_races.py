"""
Parallel fires, counted where the author says.
"""

from __future__ import annotations

import pytest

from pytest_hookharness.simulation.testbed.run_settings import SimulationError

AGENT = [{"prompt": "x"}, {"run": "true"}, {"stop": "Done."}]
ONCE = "#!/bin/sh\necho x >>log\n[ -e mark ] && exit 0\n: >mark\necho once >&2\nexit 2\n"
LOG = {"file": "log", "lines": True}


def told(outcome):
    """The findings and their words."""
    return [(finding.name, finding.text) for finding in outcome.findings]


def test_a_refusal_that_was_meant_once_is_counted(play):
    """A hook that marks its first refusal refuses in every fire that looked before: LOST-UPDATES."""
    outcome = play(
        files={"once.sh": ONCE},
        hooks={"PreToolUse": "./once.sh"},
        agent=AGENT,
        parallel={"event": "PreToolUse", "width": 3, "counts": LOG},
    )

    assert ("LOST-UPDATES", "PreToolUse: of 3 fires side by side 3 refuse, one after the other 1.") in told(
        outcome
    )


@pytest.mark.parametrize(
    ("parallel", "message"),
    [
        ({"event": "Notification", "counts": LOG}, "the session fires no Notification hook"),
        ({"event": "PreToolUse", "hook": "other", "counts": LOG}, "'other' in its command"),
        ({"event": "PreToolUse", "width": 1, "counts": LOG}, "write 2 or more"),
        ({"event": "PreToolUse", "counts": {"file": "no", "lines": True}}, "counts nothing"),
    ],
)
def test_what_would_count_nothing_is_an_error(play, parallel, message):
    """Parallel fires that never happen, or that are counted nowhere, are no pass."""
    with pytest.raises(SimulationError, match=message):
        play(files={"once.sh": ONCE}, hooks={"PreToolUse": "./once.sh"}, agent=AGENT, parallel=parallel)


@pytest.mark.slow
def test_fires_that_never_end_side_by_side_are_an_error(play):
    """Where fires wait for each other nothing is counted, and that is no pass."""
    script = "#!/bin/sh\necho x >>log\nmkdir lock || exec sleep 60\nsleep 0.2\nrmdir lock\n"
    with pytest.raises(SimulationError, match="2 of 3 fires side by side had not ended"):
        play(
            files={"waits.sh": script},
            hooks={"PreToolUse": "./waits.sh"},
            agent=AGENT,
            hook_timeout=0.1,
            parallel={"event": "PreToolUse", "width": 3, "counts": LOG},
        )
