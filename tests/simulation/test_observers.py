"""Observers: what is reported to them, and that they change nothing."""

from pathlib import Path

import pytest

from pytest_hookharness import scenario_files
from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.simulation.loop import Observer
from pytest_hookharness.simulation.testbed.run_settings import Settings

SCENARIOS = Path(__file__).parents[2] / "scenarios"
# It reads the transcript only in its first run, and keeps a count.
CURIOUS = """\
input=$(cat); test -e seen || cat "$(expr "$input" : '.*"transcript_path":"\\([^"]*\\)"')" > /dev/null
echo >> seen; echo no >&2; test "$(wc -l < seen)" -gt 3 || exit 2
"""


class Listener(Observer):
    """Observer that keeps everything that is reported to it."""

    def __init__(self):
        self.heard = []

    def begin(self, testbed):
        self.heard.append(("begin", testbed.profile.id))

    def step(self, step):
        self.heard.append(("step", step))

    def state(self, turn, state):
        self.heard.append(("state", (turn, state)))

    def end(self, outcome):
        self.heard.append(("end", outcome))

    def reported(self, word):
        return [value for kind, value in self.heard if kind == word]


def simulate_with(scenario, folder, observer=None):
    with Harness(Settings(base=folder)) as harness:
        return simulate(scenario, harness.settings, harness.resources, observer=observer)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["process-hooks/on-exit", "pitfalls/order/order"])
def test_an_observer_hears_of_the_run_only(file, tmp_path):
    """Each step and state of the scenario's own run is reported once, in order, also those of threads."""
    scenario = scenario_files.load(SCENARIOS / f"{file}.scenario.yaml")[-1]
    listener = Listener()

    outcome = simulate_with(scenario, tmp_path, listener)

    assert listener.reported("step") == list(outcome.trace.steps)
    assert dict(listener.reported("state")) == dict(outcome.trace.states)
    assert (listener.heard[0], listener.heard[-1]) == (("begin", outcome.host), ("end", outcome))


@pytest.mark.nightly
def test_a_trace_file_changes_nothing(tmp_path):
    """A hook that reads the transcript once is seen to do so once, with and without a trace file."""
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
        opened = [hook_run.transcript_opened for _, hook_run in outcome.trace.hook_runs()]
        seen.append((outcome.verdict, outcome.assumptions, opened))

    assert seen[0] == seen[1]
    assert seen[0][2] == [True, False, False, False]
    assert len([*(tmp_path / "traces").iterdir()]) == 1
