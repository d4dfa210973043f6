"""
Bounds on what no budget of turns ends, and options of hosts.
"""

import pytest

from pytest_hookharness.simulation.testbed.run_settings import SimulationError


def test_a_subagent_that_may_never_stop_ends_the_run(play):
    """Refusals of a subagent's stop that no cap of the host ends are counted, and the run is undecided."""
    outcome = play(
        hooks={"SubagentStop": "echo fix >&2; exit 2"},
        agent=[{"subagent": "look"}, {"stop": "done"}],
        env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"},
    )

    assert type(outcome.verdict).__name__ == "Undecided"
    assert len(list(outcome.trace.hooked("SubagentStop"))) == 200


def test_an_option_that_the_host_does_not_have_is_an_error(play):
    """An option is checked against those of the host."""
    with pytest.raises(SimulationError, match="has no option 'speed'"):
        play(hooks={"Stop": "true"}, options={"speed": 3})
