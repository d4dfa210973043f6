"""When a repetition changes the files as those before did, and what is said when it does not."""

import json

import pytest

from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.pattern import find_pattern
from pytest_hookharness.model.probes import PartKind, Perturbation, PerturbationKind

STARTED = 1_795_263_000
CLOCK = SessionClock(started=STARTED, now=STARTED + 60)


def files_of(write):
    def files(repetition):
        made = write(repetition)
        made = made if isinstance(made, dict) else {"home/state": made}
        return {path: text.encode() if isinstance(text, str) else text for path, text in made.items()}

    return files


def pattern_of(write, first=2):
    return find_pattern([files_of(write)(number) for number in range(first, first + 3)], CLOCK)


def log(repetition):
    return "".join(f"turn {at}\n" for at in range(repetition))


@pytest.mark.parametrize(
    ("write", "after", "said"),
    [
        (
            lambda repetition: f'{{"count": {repetition}}}',
            '{"count": 4}',
            "$.count went from 4 to 4, not to 5",
        ),
        (
            lambda repetition: f'{{"count": {repetition}}}',
            '{"count": 0}',
            "$.count went from 4 to 0, not to 5",
        ),
        (lambda repetition: f"x\ncount={repetition}\n", "y\ncount=5\n", "has other text in line 1"),
        (log, log(4), "the text grew by 0 additions, not by 1"),
        (log, log(6), "the text grew by 2 additions, not by 1"),
        (log, log(4) + "turn 9\n", "a value added to the text went from 3 to 9, not to 4"),
        (log, log(4) + "stop 4\n", "has other text in line 5"),
        (
            lambda repetition: f"at {STARTED + repetition}",
            "at 1000000000",
            "which is not the time of the repetition",
        ),
        (lambda repetition: f"at {repetition}", b"\0", "is no longer text"),
        (lambda repetition: f"at {repetition}", None, "does not exist after the repetition"),
        (
            lambda repetition: {f"tmp/{repetition}": "x", "home/state": f"{repetition}"},
            {"tmp/4": "x", "home/state": "5"},
            "file name",
        ),
        (
            lambda repetition: {f"tmp/{at}": "x" for at in range(repetition)},
            {"tmp/3": "x"},
            "has no successor",
        ),
        (
            lambda repetition: f"{repetition}",
            {"home/state": "5", "home/other": "x"},
            "home/other is new after the repetition",
        ),
    ],
)
def test_a_deviation_names_file_and_place(write, after, said):
    """A deviation is described with the file, the place, the seen value and the expected value."""
    before = files_of(write)(4)
    later = {"home/state": after} if after is None else files_of(lambda _: after)(0)

    found = pattern_of(write).find_deviation(before, later, CLOCK)

    assert said in found
    assert found.endswith(".")


def test_numbers_and_ids_may_be_any():
    """A number without a step, a process number and an id match the pattern with any value."""

    def write(repetition):
        drawn = "a1B2c3D4e5"[repetition:] + "Zy9X8w"[:repetition]
        return f"took={[5, 19, 7, 44, 2][repetition]} pid={4700 + repetition} id={drawn}"

    pattern = pattern_of(write, first=0)

    assert [part.kind for part in pattern.parts] == [PartKind.NUMBER, PartKind.PROCESS, PartKind.IDENTIFIER]
    assert (
        pattern.find_deviation(
            files_of(write)(2), files_of(lambda _: "took=1 pid=88 id=0000000000")(0), CLOCK
        )
        == ""
    )


def test_a_time_of_the_same_second_may_change_later():
    """A time that did not change in three fast repetitions may change in the next; fixed text may not."""

    def write(repetition, moment=STARTED):
        return f'{{"count": {repetition}, "last": {moment}, "limit": 50}}'

    pattern = pattern_of(write)
    before = files_of(write)(4)

    assert [part.name for part in pattern.parts] == ["$.count"]
    assert pattern.find_deviation(before, {"home/state": write(5, STARTED + 1).encode()}, CLOCK) == ""
    assert pattern.find_deviation(before, {"home/state": write(5, 5).encode()}, CLOCK) != ""
    assert pattern.find_deviation(before, {"home/state": write(5).replace("50", "51").encode()}, CLOCK) != ""


def test_a_time_in_another_file_may_change_later():
    """A time in a file outside of the pattern may change, and nothing else in it."""
    pattern = pattern_of(str)
    before = {"home/state": b"4", "home/last": b"%d" % STARTED}

    assert (
        pattern.find_deviation(before, {"home/state": b"5", "home/last": b"%d" % (STARTED + 1)}, CLOCK) == ""
    )
    assert "home/last" in pattern.find_deviation(before, {"home/state": b"5", "home/last": b"7"}, CLOCK)


def tied(repetition, lines=None):
    """A log, the number of its lines, and a copy of that number."""
    lines = repetition if lines is None else lines
    return {
        "home/log": log(lines),
        "home/count": f"{repetition}\n",
        "home/copy": json.dumps({"copy": repetition}),
    }


def test_a_dependent_part_follows_another():
    """A count that was perturbed alone may change its copies or be reset by them, and nothing else."""
    pattern = pattern_of(tied)
    place = next(at for at, part in enumerate(pattern.parts) if part.path == "home/count")
    before = pattern.perturbed(Perturbation(parts=(place,), how=PerturbationKind.AHEAD, repetitions=100))

    def after(count, copy):
        return {**files_of(tied)(5), "home/count": b"%d\n" % count, "home/copy": b'{"copy": %d}' % copy}

    assert before["home/count"] == b"104\n"
    assert pattern.find_deviation(before, after(105, 105), CLOCK) == ""
    assert pattern.find_deviation(before, after(105, 5), CLOCK) == ""
    assert pattern.find_deviation(before, after(5, 5), CLOCK) == ""
    assert pattern.find_deviation(before, after(104, 5), CLOCK) != ""
    assert pattern.find_deviation(before, after(0, 5), CLOCK) != ""


def test_growth_that_was_perturbed_continues():
    """A log that was extended by thousands of lines matches the pattern if one more line follows."""
    pattern = pattern_of(log)
    perturbation = Perturbation(parts=(0,), how=PerturbationKind.AHEAD, repetitions=3_000)
    before = pattern.perturbed(perturbation)

    assert pattern.find_deviation(before, files_of(log)(3_005), CLOCK) == ""
    assert "turn" not in pattern.find_deviation(
        before, {"home/state": before["home/state"] + b"turn 3004\n"}, CLOCK
    )
    assert pattern.find_deviation(before, files_of(log)(5), CLOCK) != ""


def test_a_step_by_chance_is_refuted():
    """A number that counted by chance loses its step once another repetition refutes it."""

    def write(repetition):
        return f"count={repetition} took={7 + 3 * repetition}"

    pattern = pattern_of(write)
    before, after = files_of(write)(3), {"home/state": b"count=4 took=90"}
    refuted = pattern.without_refuted_steps(before, after)

    assert "took" in pattern.find_deviation(before, after, CLOCK)
    assert refuted.find_deviation(before, after, CLOCK) == ""
    assert [part.kind for part in refuted.parts] == [PartKind.COUNTER, PartKind.NUMBER]
