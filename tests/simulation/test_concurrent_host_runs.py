"""
Claims about simulations that are played side by side, most with plain values in the place of what they give.
"""

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.execution.processes.slots import NoFreeSlot
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.moves import FIRST_PROMPT, Script
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.parallel_jobs import ConcurrentHostRuns
from pytest_hookharness.simulation.testbed.run_settings import Settings

ONE, OTHER = (Scenario(name="loop", host=host) for host in ("codex", "kimi"))


@pytest.fixture
def siblings():
    """
    Makes siblings that a function plays, and ends them.
    """
    made = []

    def make(play):
        made.append(ConcurrentHostRuns(play))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def test_each_is_played_once(siblings):
    """Whoever is under way is not begun again, and each has a folder of its own."""
    played = []

    def play(scenario, base, _seat):
        played.append((scenario.host, base))
        return scenario.host

    both = siblings(play)
    for _ in range(2):
        both.begin((ONE, OTHER), Path("/base"))

    assert [both.take(scenario).outcome for scenario in (OTHER, ONE)] == ["kimi", "codex"]
    assert sorted(played) == [("codex", Path("/base/1")), ("kimi", Path("/base/2"))]
    assert not both.knows(ONE)


def test_who_was_crowded_out_gave_nothing(siblings):
    """Of a simulation that was crowded out there is nothing to take, and it is known until then."""

    def play(_scenario, _base, _seat):
        raise NoFreeSlot

    both = siblings(play)
    both.begin((ONE, OTHER), Path("/base"))

    assert both.knows(ONE)
    assert both.take(ONE) is None
    assert not both.knows(ONE)


def test_each_has_its_own_exception(siblings):
    """What one simulation raises is raised where that one is asked for."""

    def play(scenario, _base, _seat):
        if scenario is ONE:
            raise ValueError("no such thing")
        return "fine"

    both = siblings(play)
    both.begin((ONE, OTHER), Path("/base"))

    assert both.take(OTHER).outcome == "fine"
    with pytest.raises(ValueError, match="no such thing"):
        both.take(ONE)


def test_a_stop_forgets_all(siblings):
    """After a stop nothing is under way, and others can be begun."""
    begun = threading.Event()

    def play(_scenario, _base, slot):
        begun.set()
        slot.leave()
        threading.Event().wait(0.05)
        slot.take()

    both = siblings(play)
    both.begin((ONE, OTHER), Path("/base"))
    assert begun.wait(10)
    both.stop()

    assert not both.knows(ONE)
    both.begin((ONE,), Path("/base"))
    assert both.take(ONE).seconds > 0


def test_real_waits_overlap(tmp_path):
    """Hooks that wait on several hosts are all over long before their times add up."""
    if Tier.NAMESPACES not in available_tiers():
        pytest.skip("no namespaces here")
    names = ("claude-code", "codex", "kimi", "droid")
    hooks, script = {"Stop": "sleep 1"}, Script(acts=(FIRST_PROMPT,))
    slow = [Scenario(name="slow", host=name, hooks=hooks, script=script) for name in names]

    with Harness(Settings(base=tmp_path)) as harness:
        began = time.monotonic()
        played = [harness.play(scenario, lambda: slow[1:]) for scenario in slow]
        took = time.monotonic() - began

    assert [each.outcome.verdict_name for each in played] == ["terminated"] * 4
    assert all(each.seconds > 1 for each in played)
    assert took < 0.75 * sum(each.seconds for each in played)


@pytest.mark.parametrize(("shared", "begun"), [(True, False), (False, True)])
def test_what_shares_a_covered_folder_is_not_begun_beside(tmp_path, shared, begun):
    """While one scenario is played a sibling begins, but not one that covers a folder of the developer."""
    if Tier.NAMESPACES not in available_tiers():
        pytest.skip("no namespaces here")
    folder = tmp_path / "covered"
    folder.mkdir()
    cover = (str(folder),) if shared else ()
    one, other = (
        scenario_from({"name": name, "hooks": {"Stop": "sleep 0.3"}, "agent": [{"stop": "Done."}]})
        for name in ("one", "other")
    )
    one, other = replace(one, cover=cover), replace(other, cover=cover)
    with Harness(Settings(base=tmp_path)) as harness:
        harness.play(one, lambda: [other])
        assert harness._host_runs.knows(other) is begun
