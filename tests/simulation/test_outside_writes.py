"""Hooks that write outside of their project."""

import os
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.judging.verdict.assumptions import CONTAINED, UNCONTAINED
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.scenario_files import scenario_from, script_from
from pytest_hookharness.simulation.testbed.run_settings import Settings

COUNT = 'n=$(cat {0} 2>/dev/null || echo 0); echo $((n+1)) > {0}; [ "$n" -ge 4 ] || exit 2'


@pytest.fixture
def count(harness):
    """Simulate a hook that counts in a file, with a folder that it must reach."""

    def run(file, reach=()):
        scenario = scenario_from({"name": "test", "hooks": {"Stop": COUNT.format(file)}})
        made = replace(scenario, script=script_from([], then="idle"), reach=tuple(map(str, reach)))
        return harness.simulate(made)

    return run


@pytest.mark.nightly
def test_a_count_beside_the_project_is_no_loop(count, tmp_path):
    """A count in the developer's own folder is part of the state, and the folder stays as it was."""
    outcome = count(tmp_path / "n", reach=[tmp_path])
    if outcome.tier is not Tier.NAMESPACES:
        pytest.skip("no namespaces here")

    assert outcome.verdict == Terminated(turn=5)
    assert list(tmp_path.iterdir()) == []
    assert f"outside{tmp_path}/n" in {
        change.path for _, hooked in outcome.trace.hooked() for change in hooked.changes
    }


@pytest.mark.nightly
@pytest.mark.parametrize("folder", ["/opt", "/var/lib", "/"])
def test_a_count_anywhere_is_no_loop(count, folder):
    """A count in a folder of the machine is part of the state, and the machine stays as it was."""
    file = Path(folder, f"hookharness-{uuid.uuid4().hex}")
    if os.geteuid() != 0:
        pytest.skip("only those who may write there count there")
    try:
        outcome = count(file)
        if CONTAINED not in outcome.assumptions:
            pytest.skip("writes are not contained here")
        assert outcome.verdict == Terminated(turn=5)
        assert not file.exists()
    finally:
        file.unlink(missing_ok=True)


@pytest.mark.slow
def test_what_is_not_contained_is_assumed(tmp_path):
    """If writes elsewhere reach the machine, the verdict says that it assumes they decide nothing."""
    scenario = scenario_from({"name": "test", "hooks": {"Stop": "exit 2"}})
    with Harness(Settings(base=tmp_path, tier=Tier.SUBREAPER)) as harness:
        outcome = harness.simulate(replace(scenario, script=script_from([], then="idle")))

    assert UNCONTAINED in outcome.assumptions
    assert CONTAINED not in outcome.assumptions
