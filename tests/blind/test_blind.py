"""Hooks that no rule was written for are judged, and what is said of them is confirmed by playing them."""

from dataclasses import replace

import pytest

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.simulation.testbed.run_settings import Settings

from .driving import contradiction
from .generator import HOOKS, MECHANISMS, PER_NIGHT, generate, missing_programs, night, of_the_night
from .judging import FALSE, RIGHT, UNDECIDED, Judged, figures, judge, judge_all
from .subject import Truth

TURNS = 300
NIGHT = night()
# Each takes about a second.
SAMPLE = (3, 4, 36, 46, 84)


def named(mechanism):
    """The first hooks that a mechanism makes."""
    return generate(next(seed for seed, one in enumerate(MECHANISMS) if one.__name__ == mechanism))


def test_the_nights_have_all_hooks():
    """Five nights in a row judge all hooks, and every mechanism makes at least two of them."""
    seeds = [seed for night in range(NIGHT, NIGHT + HOOKS // PER_NIGHT) for seed in of_the_night(night)]

    assert sorted(seeds) == list(range(HOOKS))
    assert 2 * len(MECHANISMS) <= HOOKS
    assert len({generate(seed).stops for seed in seeds}) > 0.9 * HOOKS
    assert generate(7) == generate(7)


@pytest.mark.parametrize(
    ("mechanism", "wrong"),
    [
        ("asks_the_flag", {"after": 2}),
        ("always", {"truth": Truth.ENDS, "after": 3}),
        ("redirect_for_comparison", {"truth": Truth.ENDLESS, "after": None}),
    ],
)
def test_playing_contradicts_a_wrong_truth(mechanism, wrong):
    """What is said of a hook is confirmed by playing it, and the contrary is not."""
    made = named(mechanism)

    assert contradiction(made, 5) == ""
    assert contradiction(replace(made, **wrong), 5).startswith(mechanism)


def test_figures_name_the_false_verdicts():
    """The line of figures counts what is right and decided, and names what is false by its evidence."""
    found = [
        Judged(1, RIGHT, "terminated", "", "", 1.0),
        Judged(2, UNDECIDED, "undecided", "", "", 1.0),
        Judged(3, FALSE, "livelock driven", "", "", 1.0),
        Judged(4, FALSE, "livelock driven", "", "", 1.0),
    ]

    assert figures(found) == "4 hooks: 1 right, 75.0% decided, false: 2 livelock driven"


@pytest.mark.slow
@pytest.mark.parametrize("seed", SAMPLE)
def test_a_sample_is_judged_right(tmp_path, seed):
    """Hooks of which each shows one mechanism get the verdict that is true."""
    if missing := missing_programs(generate(seed)):
        pytest.skip(f"not installed: {', '.join(missing)}")
    with Harness(Settings(base=tmp_path)) as harness:
        found = judge(harness, seed)

    assert found.result == RIGHT, found


@pytest.mark.nightly
@pytest.mark.parametrize("seed", of_the_night(NIGHT))
def test_playing_confirms_what_is_said_of_hooks(seed):
    """A hook that is played without being judged does what it was made for."""
    made = generate(seed)
    if missing := missing_programs(made):
        pytest.skip(f"not installed: {', '.join(missing)}")

    assert contradiction(made, TURNS) == "", "\n".join(made.stops)


@pytest.mark.nightly
def test_the_hooks_of_a_night_are_judged(tmp_path, capsys):
    """No verdict of a night is false, and nearly all are decided."""
    with capsys.disabled():
        found = judge_all(of_the_night(NIGHT), print, Settings(base=tmp_path))

    assert [str(one) for one in found if one.result == FALSE] == []
    assert sum(one.result == RIGHT for one in found) >= 0.92 * len(found), figures(found)
