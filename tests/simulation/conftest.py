"""
One harness for all engine tests: its supervisor is what costs.
"""

from dataclasses import replace

import pytest

from pytest_hookharness.harness import Harness
from pytest_hookharness.loading import scenario_from, script_from
from pytest_hookharness.settings import Settings


@pytest.fixture(scope="session")
def harness(tmp_path_factory):
    """A harness with default settings."""
    with Harness(Settings(base=tmp_path_factory.mktemp("simulation"))) as made:
        yield made


@pytest.fixture
def play(harness):
    """Play a scenario that is given as keywords."""

    def run(*, agent=(), then="idle", **keys):
        made = scenario_from({"name": "test", **keys})
        return harness.simulate(replace(made, script=script_from(list(agent), then=then)))

    return run
