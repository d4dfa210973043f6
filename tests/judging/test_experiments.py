"""Which perturbations of a state are probed, and what follows from the results."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_hookharness.judging.probing.experiments import (
    DAY,
    HOUR,
    ExperimentResult,
    confirm,
    run_experiments,
)
from pytest_hookharness.judging.probing.limits import KnownNumbers
from pytest_hookharness.judging.probing.sizes import GrowingSize
from pytest_hookharness.judging.probing.thresholds import MOST_REPETITIONS
from pytest_hookharness.model.probes import (
    PartKind,
    Perturbation,
    PerturbationKind,
    ProbeEffect,
    ProbeResult,
    StatePart,
)

COUNT = StatePart(path="home/.state", name="count", kind=PartKind.COUNTER, before="2", after="3", step=1)
LIMIT = StatePart(path="home/.state", name="limit", kind=PartKind.COUNTER, before="7", after="8", step=1)
ID = StatePart(path="home/.id", kind=PartKind.IDENTIFIER, before="a1b2c3d4", after="d4c3b2a1")


def limits(*numbers):
    """Return limits that stand in the source."""
    return KnownNumbers(written=frozenset(numbers))


SAME = ProbeResult(reaction=ProbeEffect.SAME)
OTHER = ProbeResult(reaction=ProbeEffect.DECISION, what="Stop was allowed", allows_stop=True)
EFFECT = ProbeResult(reaction=ProbeEffect.EFFECT, what="the log was cut")


def ask(
    *parts, react: Callable[[Perturbation], ProbeResult] = lambda _: SAME, **options
) -> tuple[ExperimentResult, list[Perturbation]]:
    """The result of experiments whose probes react as ``react`` says, and the probes."""
    perturbations: list[Perturbation] = []

    def probe(perturbation: Perturbation) -> ProbeResult:
        perturbations.append(perturbation)
        return react(perturbation)

    return run_experiments(probe, parts, **options), perturbations


def ahead(perturbation: Perturbation) -> bool:
    return perturbation.how is PerturbationKind.AHEAD


def test_no_difference_gives_no_threshold():
    """Parts that never make a difference give a result without a threshold and without a doubt."""
    result, perturbations = ask(COUNT, ID)
    assert result == ExperimentResult()
    assert {perturbation.how for perturbation in perturbations} == {
        PerturbationKind.OLDER,
        PerturbationKind.AHEAD,
        PerturbationKind.AGED,
        PerturbationKind.REPLACED,
    }


def test_a_counter_is_extrapolated_by_doubling_to_a_million():
    """The numbers of repetitions are the next one, then doubled ones up to a million."""
    _, perturbations = ask(COUNT)
    repetitions = [perturbation.repetitions for perturbation in perturbations if ahead(perturbation)]
    assert repetitions[:5] == [0, 1, 2, 4, 8]
    assert repetitions[-1] == MOST_REPETITIONS == 1_000_000
    assert len(repetitions) == 22


@pytest.mark.parametrize("threshold", [0, 1, 2, 3, 5, 17, 64, 65, 1000, 999_999])
def test_a_threshold_is_found_exactly(threshold):
    """Bisection finds the exact repetition from which on something else happens."""
    result, _ = ask(
        COUNT,
        react=lambda perturbation: (
            OTHER if ahead(perturbation) and perturbation.repetitions >= threshold else SAME
        ),
    )
    assert result.perturbation == Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=threshold)
    assert result.seen == OTHER


def test_a_threshold_at_one_value_is_found_by_the_number_in_the_source():
    """A count that matters only at 50 is found if 50 is written in the source, and not otherwise."""

    def exactly(perturbation: Perturbation) -> ProbeResult:
        return OTHER if ahead(perturbation) and 3 + perturbation.repetitions == 50 else SAME

    found, _ = ask(COUNT, react=exactly, limits=limits(2, 50))
    missed, _ = ask(COUNT, react=exactly, limits=limits(2))
    assert found.perturbation == Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=47)
    assert missed.perturbation is None


@pytest.mark.parametrize(
    ("parts", "options", "repetitions"),
    [
        ((COUNT,), {"limits": limits(50)}, 47),
        ((replace(COUNT, before="8", after="a", step=2),), {"limits": limits(50)}, 20),
        ((replace(COUNT, before="1.5", after="2.0", step=0.5),), {"limits": limits(50)}, 96),
        ((ID,), {"sizes": (GrowingSize(now=10, step=5),), "limits": limits(100)}, 18),
        ((replace(COUNT, before="41", after="40", step=-1),), {}, 40),
        ((COUNT, replace(COUNT, before="24", after="23", step=-1)), {}, 10),
    ],
)
def test_candidates_for_thresholds_are_tried(parts, options, repetitions):
    """The repetition where a count or size reaches a number, 0, or another count is tried."""
    _, perturbations = ask(*parts, **options)
    assert repetitions in [perturbation.repetitions for perturbation in perturbations if ahead(perturbation)]


def test_a_part_that_decides_only_alone_is_named_and_proves_nothing():
    """A limit that moves with its counter is no threshold, although perturbing it alone would exceed it."""
    result, _ = ask(
        COUNT,
        LIMIT,
        react=lambda perturbation: OTHER if ahead(perturbation) and perturbation.parts == (0,) else SAME,
    )
    assert (result.alone, result.perturbation, result.unclear) == ((0,), None, "")


def test_an_identifier_that_decides_is_inconclusive():
    """If the value of an identifier matters, the experiments prove nothing: the next one is unknown."""
    result, _ = ask(
        ID, react=lambda perturbation: OTHER if perturbation.how is PerturbationKind.REPLACED else SAME
    )
    assert "the value of home/.id matters" in result.unclear


def test_another_effect_on_the_path_is_a_threshold_too():
    """A state from which files change differently is named, although the decision is the same."""
    result, _ = ask(
        COUNT,
        react=lambda perturbation: (
            EFFECT if ahead(perturbation) and perturbation.repetitions >= 100 else SAME
        ),
    )
    assert result.perturbation == Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=100)
    assert result.seen == EFFECT


def test_another_effect_of_a_part_alone_is_no_threshold():
    """A hook may repair a part that no longer matches the rest, so only another decision counts there."""
    result, _ = ask(COUNT, LIMIT, react=lambda perturbation: EFFECT if len(perturbation.parts) == 1 else SAME)
    assert result == ExperimentResult()


@pytest.mark.parametrize("limit", [1.5, 300.0, HOUR, 5 * HOUR, 20 * DAY])
def test_the_time_after_which_something_else_happens_is_found(limit):
    """The time that must pass is found to within two per cent, or a second."""
    result, _ = ask(
        react=lambda perturbation: (
            OTHER if perturbation.how is PerturbationKind.AGED and perturbation.seconds >= limit else SAME
        )
    )
    assert result.perturbation is not None
    assert limit <= result.perturbation.seconds <= max(limit + 1, limit * 1.021)


def test_a_second_that_makes_a_difference_is_waited_for():
    """A difference after one second is checked by really waiting."""
    result, perturbations = ask(
        react=lambda perturbation: (
            OTHER
            if perturbation.seconds and perturbation.how in (PerturbationKind.AGED, PerturbationKind.WAITED)
            else SAME
        )
    )
    assert result.perturbation is not None
    assert result.perturbation.how is perturbations[-1].how is PerturbationKind.WAITED


def test_stored_times_that_are_names_say_nothing_about_time():
    """If any change of stored times matters, and waiting does not, nothing is said about time."""
    result, _ = ask(react=lambda perturbation: OTHER if perturbation.how is PerturbationKind.AGED else SAME)
    assert result == ExperimentResult(timeless=True)


def test_time_is_not_probed_if_unwanted():
    """Without parts, time and transcript there is nothing to probe."""
    assert ask(time=False) == (ExperimentResult(), [])


def test_a_transcript_whose_length_decides_is_inconclusive():
    """If the length of a transcript that no hook opened decides, the result says so."""
    result, _ = ask(
        react=lambda perturbation: OTHER if perturbation.how is PerturbationKind.TRANSCRIPT else SAME,
        transcript=True,
    )
    assert "the length of the transcript" in result.unclear


def test_at_a_pace_only_the_repetitions_pass_time():
    """
    At a pace repetitions are extrapolated even without parts, for a few years at most, and nothing is aged.
    """
    result, perturbations = ask(pace=DAY)

    assert result == ExperimentResult()
    assert {(perturbation.how, perturbation.pace) for perturbation in perturbations} == {
        (PerturbationKind.AHEAD, DAY)
    }
    assert max(perturbation.repetitions for perturbation in perturbations) == 5 * 365
    assert {perturbation.how for perturbation in ask()[1]} == {PerturbationKind.AGED}


def test_at_a_pace_the_threshold_in_time_is_found():
    """The repetition from which on the clock makes a difference is found exactly."""
    result, _ = ask(
        pace=10.0,
        react=lambda perturbation: OTHER if perturbation.repetitions * perturbation.pace >= 300 else SAME,
    )

    assert result.perturbation == Perturbation(
        parts=(), how=PerturbationKind.AHEAD, repetitions=30, pace=10.0
    )


@pytest.mark.parametrize(
    ("answers", "found"),
    [((OTHER, OTHER, OTHER), True), ((OTHER, OTHER, SAME), False), ((OTHER, SAME), False)],
)
def test_what_chance_may_decide_is_tried_three_times(answers, found):
    """Where hooks draw random numbers, a difference counts if the same experiment shows it each time."""
    perturbation = Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=60)
    seen, *others = answers
    tried = []

    def probe(again):
        tried.append(again)
        return others[len(tried) - 1]

    result = confirm(ExperimentResult(perturbation=perturbation, seen=seen), probe)

    assert tried == [perturbation] * len(others)
    assert (result.perturbation == perturbation) is found
    assert ("chance may decide" in result.unclear) is not found
