"""
Claims about witnesses: what they are told, and that it makes no difference whether there is one.
"""

from pathlib import Path

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.simulation.session.observers import Observer
from pytest_hookharness.simulation.testbed.run_settings import Settings

SCENARIOS = Path(__file__).parents[2] / "scenarios"
# It reads the transcript in its first fire alone, and keeps a count.
CURIOUS = """\
input=$(cat); test -e seen || cat "$(expr "$input" : '.*"transcript_path":"\\([^"]*\\)"')" > /dev/null
echo >> seen; echo no >&2; test "$(wc -l < seen)" -gt 3 || exit 2
"""


class Listener(Observer):
    """One who remembers all that was said."""

    def __init__(self):
        self.heard = []

    def begin(self, stage):
        self.heard.append(("begin", stage.profile.id))

    def step(self, step):
        self.heard.append(("step", step))

    def state(self, turn, state):
        self.heard.append(("state", (turn, state)))

    def end(self, outcome):
        self.heard.append(("end", outcome))

    def told(self, word):
        return [value for kind, value in self.heard if kind == word]


def play(scenario, folder, observer=None):
    with Harness(Settings(base=folder)) as harness:
        return simulate(
            scenario,
            settings=harness.settings,
            supervisor=harness.supervisor,
            base=folder,
            observer=observer,
        )


@pytest.mark.slow
@pytest.mark.parametrize("file", ["process-hooks/on-exit", "pitfalls/order/order"])
def test_a_witness_hears_of_the_run_and_of_nothing_else(file, tmp_path):
    """Each step and each state of the scenario's own run is told once, in order, also of threads."""
    scenario = scenario_files.load(SCENARIOS / f"{file}.scenario.yaml")[-1]
    listener = Listener()

    outcome = play(scenario, tmp_path, listener)

    assert listener.told("step") == list(outcome.trace.steps)
    assert dict(listener.told("state")) == dict(outcome.trace.states)
    assert (listener.heard[0], listener.heard[-1]) == (("begin", outcome.host), ("end", outcome))


@pytest.mark.slow
def test_being_written_down_changes_nothing(tmp_path):
    """A hook that reads the transcript once is seen to do so once, whether a trace file is written or not."""
    (tmp_path / "traces").mkdir()
    scenario = scenario_files.scenario_from(
        {
            "name": "curious",
            "files": {"hook.sh": CURIOUS},
            "hooks": {"Stop": "sh hook.sh"},
            "agent": [{"stop": "x"}],
        }
    )
    seen = []
    for traces in (None, tmp_path / "traces"):
        with Harness(Settings(base=tmp_path, traces=traces)) as harness:
            outcome = harness.simulate(scenario)
        opened = [fire.transcript_opened for _, fire in outcome.trace.hook_runs()]
        seen.append((outcome.verdict, outcome.assumptions, opened))

    assert seen[0] == seen[1]
    assert seen[0][2] == [True, False, False, False]
    assert len([*(tmp_path / "traces").iterdir()]) == 1
