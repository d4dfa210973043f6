"""Options of hosts that do not exist."""

import pytest

from pytest_hookharness.simulation.testbed.run_settings import SimulationError


def test_an_unknown_option_of_a_host_is_an_error(play):
    """An option is checked against those of the host."""
    with pytest.raises(SimulationError, match="has no option 'speed'"):
        play(hooks={"Stop": "true"}, options={"speed": 3})
