"""What files look like when parts of them are perturbed: limits, single parts, ids, and the descriptions."""

import json
import re

import pytest

from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.pattern import find_pattern
from pytest_hookharness.model.probes import Perturbation, PerturbationKind

STARTED = 1_795_263_000
CLOCK = SessionClock(started=STARTED, now=STARTED + 60)
IDS = ["aB3dE9xYz1", "QwErTyUiOp", "zz90AkLmQ2", "pO0iU8yT6r", "mNbVcXzLk3"]


def pattern_of(write, first=2):
    def files(repetition):
        made = write(repetition)
        made = made if isinstance(made, dict) else {"home/state": made}
        return {path: text.encode() for path, text in made.items()}

    return find_pattern([files(number) for number in range(first, first + 3)], CLOCK)


def state(repetition):
    entries = [{"id": IDS[at], "at": STARTED + at} for at in range(repetition)]
    return json.dumps({"count": repetition, "ids": entries, "last": STARTED + repetition, "born": STARTED})


def perturbed(pattern, how, *parts, repetitions=0, seconds=0.0):
    chosen = parts or tuple(range(len(pattern.parts)))
    files = pattern.perturbed(Perturbation(parts=chosen, how=how, repetitions=repetitions, seconds=seconds))
    return json.loads(files["home/state"])


def test_each_part_can_be_perturbed_alone():
    """A perturbation changes the parts that it names and no other part."""
    pattern, now = pattern_of(state), json.loads(state(4))

    assert perturbed(pattern, PerturbationKind.AHEAD, 0, repetitions=1000) == {**now, "count": 1004}
    assert perturbed(pattern, PerturbationKind.OLDER, 0) == {**now, "count": 3}
    assert perturbed(pattern, PerturbationKind.OLDER, 1) == {**now, "ids": now["ids"][:-1]}
    assert perturbed(pattern, PerturbationKind.OLDER, 2) == {**now, "last": STARTED + 3}


def test_growth_gets_fresh_distinct_ids():
    """Added chunks have new ids of the same length, the same ones each time."""
    pattern = pattern_of(state)
    entries = perturbed(pattern, PerturbationKind.AHEAD, 1, repetitions=500)["ids"]
    ids = {entry["id"] for entry in entries}

    assert len(ids) == len(entries) == 504
    assert all(re.fullmatch("[0-9A-Za-z]{10}", one) for one in ids)
    assert perturbed(pattern, PerturbationKind.AHEAD, 1, repetitions=500)["ids"] == entries


def test_times_of_a_file_age_together():
    """A part that ages takes along the times of its file that are no parts themselves."""
    pattern, now = pattern_of(state), json.loads(state(4))
    # The first entry of a list was not added.
    first = {**now["ids"][0], "at": STARTED - 50}
    older = {"count": 4, "ids": [first, *now["ids"][1:]], "last": STARTED + 4 - 50, "born": STARTED - 50}

    assert perturbed(pattern, PerturbationKind.AGED, 2, seconds=50) == older
    assert perturbed(pattern, PerturbationKind.AGED, 0, seconds=50) == now
    aged = perturbed(pattern, PerturbationKind.AGED, 1, seconds=50)
    assert [entry["at"] for entry in aged["ids"]] == [STARTED + at - 50 for at in range(4)]


@pytest.mark.parametrize(
    ("first", "expression"),
    [
        ("aB3dE9xYz1 QwErTyUiOp zz90AkLmQ2", "[0-9A-Za-z]{10}"),
        ("9f86d081ab 3e23e81600 4e07408562", "[0-9a-f]{10}"),
        ("9F86D081AB 3E23E81600 4E07408562", "[0-9A-F]{10}"),
        (
            " ".join(f"{at}b1c2d3e-1{at}34-4abc-9de{at}-0123456789a{at}" for at in range(3)),
            "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-9[0-9a-f]{3}-[0-9a-f]{12}",
        ),
        ("toolu_01aB3dE9xY toolu_01QwErTyUi toolu_01zz90AkLm", "toolu_01[0-9A-Za-z]{8}"),
    ],
)
def test_an_id_is_replaced_by_its_like(first, expression):
    """A random text is replaced by another one of the same length, alphabet and case."""
    ids = first.split()
    pattern = pattern_of(lambda repetition: ids[repetition], first=0)
    new = pattern.perturbed(Perturbation(parts=(0,), how=PerturbationKind.REPLACED))["home/state"].decode()

    assert re.fullmatch(expression, new)
    assert new not in ids


def test_counts_are_exact_at_any_size():
    """A count is extrapolated by any number of repetitions without rounding."""
    pattern = pattern_of(lambda repetition: f'{{"n": {10**20 + 3 * repetition}}}')
    files = pattern.perturbed(Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=10**30))

    assert files == {"home/state": b'{"n": %d}' % (10**20 + 12 + 3 * 10**30)}


def test_padding_is_kept_as_printf_does():
    """A count with leading zeros keeps its width, and grows beyond it."""
    pattern = pattern_of(lambda repetition: f"{repetition:03d}")

    for numbers, text in [(1, b"005"), (96, b"100"), (1996, b"2000")]:
        assert pattern.perturbed(
            Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=numbers)
        ) == {"home/state": text}


def test_a_number_without_step_moves_by_its_mean():
    """A number that only grows is extrapolated by its mean step, and one that also fell stays."""
    up, around = (
        pattern_of(lambda repetition: str(2**repetition)),
        pattern_of(lambda repetition: str([1, 1, 4, 9, 7][repetition])),
    )
    perturbation = Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=10)

    assert up.perturbed(perturbation) == {"home/state": b"76"}
    assert around.perturbed(perturbation) == {"home/state": b"7"}


def test_growth_is_bounded_in_chunks():
    """A log grows by ten thousand chunks at most, and reports that it was truncated."""
    pattern = pattern_of(lambda repetition: "".join(f"turn {at}\n" for at in range(repetition)))
    perturbation = Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=50_000)

    assert pattern.perturbed(perturbation)["home/state"].decode().splitlines()[-1] == "turn 10003"
    assert pattern.truncated(perturbation) == (0,)
    assert pattern.truncated(Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=100)) == ()
    assert pattern.describe_all(perturbation) == "home/state of 10,004 lines"


def test_growth_is_bounded_in_bytes():
    """A log of long lines stays below four mebibytes, and reports that it was truncated."""
    pattern = pattern_of(lambda repetition: "".join(f"{at} {'x' * 9000}\n" for at in range(repetition)))
    perturbation = Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=5_000)
    size = len(pattern.perturbed(perturbation)["home/state"])

    assert 4 * 1024 * 1024 - 20_000 < size <= 4 * 1024 * 1024
    assert pattern.truncated(perturbation) == (0,)


def test_files_are_bounded():
    """A folder gets five hundred more files at most, each with its own name and content."""
    pattern = pattern_of(lambda repetition: {f"tmp/block-{at}.txt": f"n {at}" for at in range(repetition)})
    perturbation = Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=9_000)
    files = pattern.perturbed(perturbation)

    assert len(files) == 502
    assert files["tmp/block-503.txt"] == b"n 503"
    assert pattern.truncated(perturbation) == (0,)
    assert pattern.describe_all(perturbation) == "500 more files block-*.txt in tmp"


def test_files_named_by_the_second_differ():
    """New files whose names contain only the time get times before the session, so none replaces another."""
    pattern = pattern_of(lambda repetition: {f"tmp/{STARTED + at}.txt": "x" for at in range(repetition)})
    files = pattern.perturbed(Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=20))

    assert len(files) == 2 + 20
    assert sum(int(path[4:14]) < STARTED for path in files) == 20


def test_a_moved_file_is_gone_from_its_old_name():
    """Perturbing a file name removes the file from its current path."""
    pattern = pattern_of(lambda repetition: {f"tmp/n-{repetition}": "x"})

    assert pattern.perturbed(Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=6)) == {
        "tmp/n-2": None,
        "tmp/n-3": None,
        "tmp/n-4": None,
        "tmp/n-10": b"x",
    }


def test_a_number_in_a_file_name_is_described_as_such():
    """A count in the name of a file is said to stand in that name."""
    pattern = pattern_of(lambda repetition: {f"tmp/n-{repetition}": "x"})
    ahead = Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=396)

    assert pattern.describe(0, ahead) == "400 in the file name tmp/n-4"


def test_no_parts_give_the_newest_state():
    """A perturbation without parts gives the newest files, byte for byte."""
    pattern = pattern_of(state)

    assert pattern.newest == {"home/state": state(4).encode()}
    assert tuple(pattern.newest) == ("home/state",)


def test_perturbations_are_described():
    """Each perturbation of each part is described briefly with place and size."""
    pattern = pattern_of(state)
    everything = tuple(range(len(pattern.parts)))

    def describe(how):
        return pattern.describe_all(
            Perturbation(parts=everything, how=how, repetitions=996, seconds=3600)
        ).split(", $")

    assert (
        pattern.describe(0, Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=996))
        == "count 1,000 in home/state"
    )
    assert describe(PerturbationKind.OLDER)[0] == "$.count in home/state back at 3"
    assert "996 more in $.ids in home/state" in pattern.describe_all(
        Perturbation(parts=everything, how=PerturbationKind.AHEAD, repetitions=996)
    )
    assert describe(PerturbationKind.AGED)[-1] == ".last in home/state 3,600 seconds older"


def test_at_a_pace_only_changing_times_advance():
    """At a pace, a time that changed advances with the repetitions, and one that never did stays."""
    pattern, now = pattern_of(state), json.loads(state(4))
    perturbation = Perturbation(
        parts=tuple(range(len(pattern.parts))), how=PerturbationKind.AHEAD, repetitions=7, pace=60.0
    )

    files = json.loads(pattern.perturbed(perturbation)["home/state"])

    assert files["last"] == now["last"] + 420
    assert files["born"] == now["born"]
    assert [entry["at"] - now["last"] for entry in files["ids"][4:]] == [
        60 * number - 1 for number in range(1, 8)
    ]
