"""Simulations that are begun before their turn, most of them with plain values instead of outcomes."""

import threading
import time
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.execution.processes.slots import NoFreeSlot
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.moves import FIRST_PROMPT, Script
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.parallel_jobs import RunsAhead
from pytest_hookharness.simulation.testbed.run_settings import Settings

ONE, OTHER = (Scenario(name="loop", host=host) for host in ("codex", "kimi"))


@pytest.fixture
def runs_ahead():
    """Return a function that makes objects that begin runs ahead, and stop them at the end."""
    made = []

    def make(simulate):
        made.append(RunsAhead(simulate))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def test_each_runs_once(runs_ahead):
    """A simulation that is under way is not begun again, and each has a folder of its own."""
    begun = []

    def simulate(scenario, base, _slot):
        begun.append((scenario.host, base))
        return scenario.host

    runs = runs_ahead(simulate)
    for _ in range(2):
        runs.begin((ONE, OTHER), Path("/base"))

    assert [runs.take(scenario).outcome for scenario in (OTHER, ONE)] == ["kimi", "codex"]
    assert sorted(begun) == [("codex", Path("/base/1")), ("kimi", Path("/base/2"))]
    assert not runs.knows(ONE)


def test_a_scenario_that_expects_quick_hooks_runs_alone(runs_ahead):
    """A hook that is timed shares the processors with no other simulation."""
    timed = scenario_from({"name": "quick", "hooks": {"Stop": "true"}, "expect": {"within_ms": {"Stop": 50}}})
    runs = runs_ahead(lambda *_: None)

    assert runs.needs_all_processors(timed)
    assert not runs.needs_all_processors(ONE)


def test_a_run_without_a_free_slot_is_repeated(runs_ahead):
    """A simulation that lost its CPU slot is repeated in the same folder, with a slot that it keeps."""
    begun = []

    def simulate(scenario, base, slot):
        begun.append((scenario.host, base, slot.shared))
        if slot.shared and scenario is ONE:
            raise NoFreeSlot
        return scenario.host

    runs = runs_ahead(simulate)
    runs.begin((ONE, OTHER), Path("/base"))

    assert [runs.take(scenario).outcome for scenario in (ONE, OTHER)] == ["codex", "kimi"]
    first = ("codex", Path("/base/1"))
    assert sorted(begun) == [(*first, False), (*first, True), ("kimi", Path("/base/2"), True)]


def test_no_more_work_than_there_are_processors(runs_ahead, monkeypatch):
    """A hook finds no free slot if as many simulations work as there are processors; its own is repeated."""
    monkeypatch.setattr("pytest_hookharness.simulation.parallel_jobs.processors", lambda: 2)
    waits, resumed, both_work = threading.Event(), threading.Event(), threading.Barrier(3, timeout=60)

    def simulate(scenario, _base, slot):
        if scenario is ONE and slot.shared:
            slot.leave()
            waits.set()
            both_work.wait()
            try:
                slot.resume()
            finally:
                resumed.set()
        elif scenario is not ONE:
            both_work.wait()
            assert resumed.wait(60)
        return slot.shared

    others = [Scenario(name=name, host="codex") for name in ("second", "third")]
    runs = runs_ahead(simulate)
    runs.begin([ONE], Path("/base"))
    assert waits.wait(60)
    runs.begin(others, Path("/base"))

    assert [runs.take(scenario).outcome for scenario in (ONE, *others)] == [False, True, True]


def test_a_declared_pace_keeps_the_slot(runs_ahead):
    """At a declared pace hooks look at the time, so such a simulation waits for a slot only at its start."""
    paced = Scenario(name="paced", host="codex", pace=1.0)
    shared = {}
    runs = runs_ahead(lambda scenario, _base, slot: shared.update({scenario.name: slot.shared}))
    runs.begin((ONE, paced), Path("/base"))
    for scenario in (ONE, paced):
        runs.take(scenario)

    assert shared == {"loop": True, "paced": False}


def test_a_campaign_that_needs_more_time_is_repeated_alone(tmp_path, monkeypatch):
    """A campaign whose time ended beside others is played again with all processors, as later ones are."""
    if Tier.NAMESPACES not in available_tiers():
        pytest.skip("no namespaces here")
    played = []

    def simulate(_self, scenario, _base, slot=None, **_):
        played.append((scenario.name, slot is not None))
        return "outcome"

    monkeypatch.setattr(Harness, "_simulate", simulate)
    plain = Scenario(name="plain", host="codex")
    vary = (VaryRequest("faults"),)
    first, second = (Scenario(name=name, host="codex", vary=vary) for name in ("first", "second"))
    with Harness(Settings(base=tmp_path, wall=0.0)) as harness:
        for scenario, upcoming in ((first, [plain]), (plain, [second]), (second, [])):
            harness.play(scenario, lambda: upcoming)  # noqa: B023  # it is called at once

    assert sorted(played) == [("first", False), ("first", True), ("plain", True), ("second", False)]


def test_a_folder_is_given_once(runs_ahead):
    """Simulations that are begun later get other folders, whatever has ended by then."""
    places = []
    runs = runs_ahead(lambda _scenario, base, _slot: places.append(base))
    for scenario in (ONE, OTHER):
        runs.begin((scenario,), Path("/base"))
        runs.take(scenario)

    assert places == [Path("/base/1"), Path("/base/2")]


def test_each_has_its_own_exception(runs_ahead):
    """An exception of one simulation is raised where its outcome is taken."""

    def simulate(scenario, _base, _slot):
        if scenario is ONE:
            raise ValueError("no such thing")
        return "fine"

    runs = runs_ahead(simulate)
    runs.begin((ONE, OTHER), Path("/base"))

    assert runs.take(OTHER).outcome == "fine"
    with pytest.raises(ValueError, match="no such thing"):
        runs.take(ONE)


def test_a_stop_forgets_all(runs_ahead):
    """After a stop nothing is under way, and other simulations can be begun."""
    begun = threading.Event()

    def simulate(_scenario, _base, slot):
        begun.set()
        slot.leave()
        threading.Event().wait(0.05)
        slot.take()

    runs = runs_ahead(simulate)
    runs.begin((ONE, OTHER), Path("/base"))
    assert begun.wait(10)
    runs.stop()

    assert not runs.knows(ONE)
    runs.begin((ONE,), Path("/base"))
    assert runs.take(ONE).seconds > 0


@pytest.mark.nightly
def test_real_waits_overlap(tmp_path):
    """Hooks that wait on several hosts take less time together than one after the other."""
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


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("keys", "begun"),
    [
        ({}, True),
        ({"world": {"cover": ["/covered"]}}, False),
        ({"parallel": {"event": "Stop"}}, False),
        ({"explore": {}}, True),
        ({"vary": ["faults"]}, True),
        ({"pace": "1s"}, True),
    ],
)
def test_which_scenarios_run_ahead(tmp_path, keys, begun):
    """Later scenarios are begun up to one that covers a folder, or whose hooks race for the processors."""
    if Tier.NAMESPACES not in available_tiers():
        pytest.skip("no namespaces here")
    plain = {"hooks": {"Stop": "sleep 0.1"}, "agent": [{"stop": "Done."}]}
    one, last = (scenario_from({"name": name, **plain}) for name in ("one", "last"))
    other = scenario_from({"name": "other", **plain, **keys})
    with Harness(Settings(base=tmp_path)) as harness:
        harness.play(one, lambda: [other, last])
        assert [harness._ahead.knows(each) for each in (one, other, last)] == [False, begun, begun]
