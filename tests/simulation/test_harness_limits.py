"""Limits of the harness on what the turn limit does not end, and options of hosts."""

import pytest

from pytest_hookharness.simulation.testbed.run_settings import SimulationError


@pytest.mark.slow
def test_a_subagent_that_is_never_allowed_to_stop_ends_the_run(play):
    """Refused stops of a subagent that no cap of the host ends are limited, and the run is undecided."""
    outcome = play(
        hooks={"SubagentStop": "echo fix >&2; exit 2"},
        agent=[{"subagent": "look"}, {"stop": "done"}],
        env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"},
    )

    assert type(outcome.verdict).__name__ == "Undecided"
    assert len(list(outcome.trace.hooked("SubagentStop"))) == 200


def test_an_unknown_option_of_a_host_is_an_error(play):
    """An option is checked against those of the host."""
    with pytest.raises(SimulationError, match="has no option 'speed'"):
        play(hooks={"Stop": "true"}, options={"speed": 3})
