"""Generated hooks do what is said about them."""

from dataclasses import replace

import pytest

from .drive import Drive, drive
from .grammar import generate
from .mechanisms import HORIZON, Count, Log, Mechanism

COUNT = Count(
    start=0, step=1, limit=5, exact=False, early=False, wrap=None, rearm=None, format="plain", place="project"
)
PLAIN = Mechanism(count=COUNT, log=None, joined="and", noises=(), echoed="", reply="code")


def driven(made, hook_runs):
    """Return the result of driving a generated hook, and the expected one."""
    if made.ends_after is None or made.ends_after >= hook_runs:
        expected = Drive(None, hook_runs)
    else:
        expected = Drive(made.ends_after, made.ends_after + 1)
    return drive(made.script.encode(), name="generated", hook_runs=hook_runs), expected


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10))
def test_short_drives_agree(seed):
    """A generated hook does in its first runs what its mechanism says."""
    made = generate(seed)
    found, expected = driven(made, 60)

    assert found == expected, f"{made.mechanism}\n{made.script}"


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 200))
def test_long_drives_agree(seed):
    """A generated hook ends when its mechanism says if that is soon, and otherwise continues."""
    made = generate(seed)
    soon = made.ends_after is not None and made.ends_after < 300
    found, expected = driven(made, 300 if soon else 60)

    assert found == expected, f"{made.mechanism}\n{made.script}"


@pytest.mark.slow
def test_generated_hooks_are_balanced():
    """About half of the generated hooks end, early and late ones among them, and both languages are used."""
    made = [generate(seed) for seed in range(200)]
    ends = sorted(one.ends_after for one in made if one.ends_after is not None)

    assert 70 <= len(ends) <= 130
    assert 1 <= ends[0] < 5
    assert 1000 < ends[-1] <= HORIZON
    assert {one.script.partition("\n")[0] for one in made} == {
        "#!/bin/bash",
        "#!/usr/bin/env -S python3 -S -E",
    }
    assert generate(7) == generate(7)
    assert len({one.script for one in made}) > 190


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (PLAIN, 5),
        (replace(PLAIN, count=replace(COUNT, early=True)), 4),
        (replace(PLAIN, count=replace(COUNT, step=2)), 3),
        (replace(PLAIN, count=replace(COUNT, step=2, exact=True)), None),
        (replace(PLAIN, count=replace(COUNT, wrap=5)), None),
        (replace(PLAIN, count=replace(COUNT, wrap=6)), 5),
        (replace(PLAIN, count=replace(COUNT, rearm=1)), None),
        (replace(PLAIN, count=replace(COUNT, rearm=1, early=True)), 1),
        (replace(PLAIN, count=replace(COUNT, start=9, step=-2, limit=0)), 5),
        (replace(PLAIN, count=replace(COUNT, start=9, step=-2, limit=0, exact=True)), None),
        (replace(PLAIN, count=None, log=Log(lines=3, limit=10, place="home")), 4),
        (replace(PLAIN, count=None, log=Log(lines=3, limit=None, place="home")), None),
        (replace(PLAIN, log=Log(lines=1, limit=20, place="home")), 20),
        (replace(PLAIN, log=Log(lines=1, limit=20, place="home"), joined="or"), 5),
        (replace(PLAIN, count=replace(COUNT, exact=True), log=Log(lines=1, limit=20, place="home")), None),
        (
            replace(PLAIN, count=replace(COUNT, wrap=7, exact=True), log=Log(lines=1, limit=9, place="tmp")),
            12,
        ),
        (replace(PLAIN, count=None), None),
    ],
)
def test_arithmetic_of_mechanisms(mechanism, expected):
    """A mechanism whose end can be calculated by hand ends there."""
    assert mechanism.ends_after() == expected


def test_a_wrong_truth_is_seen():
    """A generated hook whose truth is off by one refusal does not agree with its drive."""
    made = next(made for seed in range(99) if 2 <= ((made := generate(seed)).ends_after or 0) < 30)
    found, expected = driven(replace(made, ends_after=(made.ends_after or 0) + 1), 60)

    assert found != expected
