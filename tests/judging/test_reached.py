"""How experiments are reported, and the thresholds that follow from them."""

import pytest

from pytest_hookharness.judging.probing.experiments import ExperimentResult
from pytest_hookharness.judging.probing.reached import ProbedCycle, describe_pause
from pytest_hookharness.model.probes import Perturbation, PerturbationKind, ProbeEffect, ProbeResult

SEEN = ProbeResult(reaction=ProbeEffect.DECISION, what="the stop is allowed", turn=1, allows_stop=True)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (29.2, "about 30 s without a turn"),
        (58.5, "about 60 s without a turn"),
        (23_508, "about 6.7 h without a turn"),
    ],
)
def test_a_pause_is_told_no_more_exactly_than_it_is_known(seconds, told):
    """A pause is searched to a second or 2 %, so it is rounded up by as much and shown with two digits."""
    assert describe_pause(seconds) == told


def test_turns_at_a_pace_are_told_by_their_number_and_time():
    """The number tells apart experiments whose times would be rounded to the same words."""
    cycle = ProbedCycle(turn=3, period=2, pace=6.0, least=4.0)
    ahead = Perturbation(parts=(), how=PerturbationKind.AHEAD, repetitions=1500, pace=6.0)

    assert cycle.describe(ahead) == "3,000 more such turns (2.5 h)"


@pytest.mark.parametrize(("pace", "least", "latest"), [(3.0, 2.0, 16), (0.0, 0.0, None)])
def test_a_threshold_by_time_comes_later_if_the_turns_take_less_time(pace, least, latest):
    """At a pace it comes at the latest when the pace alone has passed as often, and one turn after that."""
    cycle = ProbedCycle(turn=3, period=1, pace=pace, least=least)
    ahead = Perturbation(parts=(), how=PerturbationKind.AHEAD, repetitions=7, pace=pace)

    found = cycle.find_threshold(ExperimentResult(perturbation=ahead, seen=SEEN))

    assert found is not None
    assert (found.turn, found.latest) == (11, latest)
