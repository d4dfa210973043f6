"""Laws of the state diff, for files that are known functions of the repetition."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pytest_hookharness.judging.state_diff.file_series import Files
from pytest_hookharness.judging.state_diff.file_timestamps import find_timestamps
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.pattern import Pattern, find_pattern
from pytest_hookharness.model.probes import PartKind, Perturbation, PerturbationKind

STARTED = 1_795_263_000.0
CLOCK = SessionClock(started=STARTED, now=STARTED + 5_000)
LAWS = settings(max_examples=100, database=None)

Value = Callable[[int], str]


@dataclass(frozen=True)
class Mechanism:
    """
    A file as a function of the repetition.

    Attributes:
        words: What it is, for the message of a failing law.
        text: Its text in a repetition.
        name: Its path in a repetition.
        every: Whether the files of all repetitions exist, not only the newest.
    """

    words: str
    text: Value
    name: Value = lambda _: "home/state"
    every: bool = False

    def files(self, repetition: int) -> Files:
        numbers = range(repetition + 1) if self.every else [repetition]
        return {self.name(one): self.text(one).encode() for one in numbers}

    def states(self, first: int, count: int = 3) -> list[Files]:
        return [self.files(number) for number in range(first, first + count)]

    def __repr__(self) -> str:
        return self.words


def stamp(repetition: int) -> str:
    return str(int(STARTED) + repetition)


def identifier(repetition: int) -> str:
    return sha256(f"id {repetition}".encode()).hexdigest()[:12]


@some.composite
def counts(draw: some.DrawFn) -> Value:
    start, step = draw(some.integers(0, 5_000)), draw(some.integers(1, 40))
    width = draw(some.sampled_from([0, 0, 7]))
    places = draw(some.sampled_from([0, 0, 2]))

    def write(repetition: int) -> str:
        whole = str(start + step * repetition).zfill(width)
        return f"{whole}.{start % 90 + 10}" if places else whole

    return write


@some.composite
def values(draw: some.DrawFn) -> Value:
    return draw(some.one_of(counts(), counts(), some.just(stamp)))


@some.composite
def lines(draw: some.DrawFn, *, stamped: bool) -> Value:
    words = draw(
        some.sampled_from(
            ["blocked {} x\n", "- turn: {}\n", "ünïcode {}\n", "[{}] refused\r\n", '{{"n": {}}}\n']
        )
    )
    value = draw(values() if stamped else counts())
    return lambda repetition: words.format(value(repetition))


def grown(piece: Value, *, front: bool = False) -> Value:
    def write(repetition: int) -> str:
        pieces = [piece(one) for one in range(repetition)]
        return "".join(reversed(pieces) if front else pieces)

    return write


def listed(value: Value, *, front: bool, indent: int | None) -> Value:
    def write(repetition: int) -> str:
        numbers = range(repetition, -1, -1) if front else range(repetition + 1)
        entries = [{"text": f"<{value(one)}>"} for one in numbers]
        return json.dumps(
            {"count": repetition, "entries": entries, "last": f"at {value(repetition)}"}, indent=indent
        )

    return write


@some.composite
def mechanisms(draw: some.DrawFn, *, stamped: bool = True) -> Mechanism:
    kind = draw(
        some.sampled_from(
            ["json", "keys", "log", "front", "list", "window", "name", "files", "mixed", "dict"]
        )
    )
    one, other = draw(counts()), draw(values() if stamped else counts())
    tail = draw(some.sampled_from(["", "\n"]))
    line = draw(lines(stamped=stamped))
    match kind:
        case "json":
            return Mechanism(
                kind,
                lambda repetition: (
                    f'{{"count": "{one(repetition)}", "other": "{other(repetition)}", "fixed": 7}}{tail}'
                ),
            )
        case "keys":
            return Mechanism(
                kind,
                lambda repetition: f"fixed=12\ncount={one(repetition)}\nother: {other(repetition)}{tail}",
            )
        case "log":
            return Mechanism(kind, grown(line))
        case "front":
            return Mechanism(
                kind,
                lambda repetition: (
                    f"---\nround: {one(repetition)}\nmost: 50\n---\nwords\n" + grown(line)(repetition)
                ),
            )
        case "list":
            front, indent = draw(some.booleans()), draw(some.sampled_from([None, 2]))
            return Mechanism(f"{kind} {front=} {indent=}", listed(one, front=front, indent=indent))
        case "window":
            return Mechanism(kind, lambda repetition: "".join(line(repetition + ahead) for ahead in range(4)))
        case "name":
            return Mechanism(
                kind,
                lambda repetition: f"fixed {other(repetition)}",
                lambda repetition: f"tmp/run-{one(repetition)}.txt",
            )
        case "files":
            return Mechanism(
                kind,
                lambda repetition: f"n {repetition}{tail}",
                lambda repetition: f"tmp/run-{repetition}.txt",
                every=True,
            )
        case "dict":
            return Mechanism(
                kind,
                lambda repetition: json.dumps(
                    {f"round-{at}": {"n": one(at)} for at in range(repetition + 1)}
                ),
            )
        case _:
            plain = grown(lambda at: f"+ {at}.\n")
            return Mechanism(
                kind,
                lambda repetition: (
                    f"[log]\n{grown(line)(repetition)}[counts]\n{one(repetition)}\n[more]\n{plain(repetition)}"
                ),
            )


def everything(pattern: Pattern) -> tuple[int, ...]:
    return tuple(range(len(pattern.parts)))


def followed(mechanism: Mechanism, first: int, count: int = 3) -> Pattern:
    pattern = find_pattern(mechanism.states(first, count), CLOCK)
    assert isinstance(pattern, Pattern), pattern
    return pattern


def there(files: Files) -> dict[str, str]:
    """The existing files, without the values of times."""
    return {
        path: re.sub(str(int(STARTED))[:6] + r"\d{4}", "STAMP", content.decode())
        for path, content in files.items()
        if content is not None
    }


def differing(mechanism: Mechanism, files: Files, first: int) -> dict[str, str]:
    """The existing files that were not the same in all states from a repetition on."""
    always = mechanism.files(first) if mechanism.every else {}
    return {path: text for path, text in there(files).items() if path not in always}


@pytest.mark.nightly
@LAWS
@given(mechanisms(), some.integers(2, 30), some.integers(1, 60))
def test_extrapolation_gives_the_real_repetition(mechanism, first, repetitions):
    """
    Parts that are extrapolated by some repetitions give the files that these repetitions would have written.
    """
    pattern = followed(mechanism, first)
    perturbed = pattern.perturbed(
        Perturbation(parts=everything(pattern), how=PerturbationKind.AHEAD, repetitions=repetitions)
    )

    assert there(perturbed) == differing(mechanism, mechanism.files(first + 2 + repetitions), first)


@pytest.mark.nightly
@LAWS
@given(mechanisms(), some.integers(2, 30))
def test_older_values_give_the_repetition_before(mechanism, first):
    """Parts that are reset to their older values give the files of one repetition ago, byte for byte."""
    pattern = followed(mechanism, first)
    older = pattern.perturbed(Perturbation(parts=everything(pattern), how=PerturbationKind.OLDER))
    true = mechanism.files(first + 1)

    assert {path: content for path, content in older.items() if content is not None} == (
        {path: content for path, content in true.items() if path not in mechanism.files(first)}
        if mechanism.every
        else true
    )


@pytest.mark.nightly
@LAWS
@given(mechanisms(), some.integers(2, 30), some.integers(2, 80))
def test_a_real_repetition_is_no_deviation(mechanism, first, repetition):
    """Any repetition, earlier or later, changes the files according to the pattern."""
    pattern = followed(mechanism, first)

    assert pattern.find_deviation(mechanism.files(repetition), mechanism.files(repetition + 1), CLOCK) == ""


@pytest.mark.nightly
@LAWS
@given(mechanisms(), some.integers(2, 20), some.integers(1, 40))
def test_a_repetition_after_a_perturbation_is_no_deviation(mechanism, first, repetitions):
    """One repetition after any extrapolation equals an extrapolation by one more, so it does not deviate."""
    pattern = followed(mechanism, first)
    one, other = (
        pattern.perturbed(
            Perturbation(
                parts=everything(pattern), how=PerturbationKind.AHEAD, repetitions=repetitions + more
            )
        )
        for more in (0, 1)
    )

    assert pattern.find_deviation(one, other, CLOCK) == ""


@pytest.mark.nightly
@LAWS
@given(mechanisms(), some.integers(2, 20), some.data())
def test_a_change_elsewhere_is_a_deviation(mechanism, first, data):
    """One more letter at any place of the file that is no time is a deviation."""
    pattern = followed(mechanism, first)
    after = mechanism.files(first + 3)
    path = mechanism.name(first + 3)
    text = mechanism.text(first + 3)
    place = data.draw(some.integers(0, len(text)))
    changed = {**after, path: f"{text[:place]}§{text[place:]}".encode()}

    assert pattern.find_deviation(mechanism.files(first + 2), changed, CLOCK) != ""


@pytest.mark.nightly
@LAWS
@given(mechanisms(stamped=False), some.integers(2, 20))
def test_two_repetitions_are_not_one(mechanism, first):
    """Two repetitions instead of one are a deviation."""
    pattern = followed(mechanism, first)

    assert pattern.find_deviation(mechanism.files(first + 2), mechanism.files(first + 4), CLOCK) != ""


@pytest.mark.nightly
@LAWS
@given(mechanisms(), some.integers(2, 20), some.integers(4, 6))
def test_more_states_give_the_same_parts(mechanism, first, count):
    """A pattern from more repetitions has parts of the same names and kinds."""
    few, many = followed(mechanism, first + count - 3), followed(mechanism, first, count)

    assert [(part.name, part.kind) for part in few.parts] == [(part.name, part.kind) for part in many.parts]


@pytest.mark.slow
@LAWS
@given(
    some.lists(
        some.dictionaries(
            some.sampled_from(["a", "b-1", "b-2", "\ud800"]), some.none() | some.binary(max_size=60)
        ),
        min_size=3,
        max_size=5,
    )
)
def test_no_bytes_are_too_strange(states):
    """
    Any bytes give a pattern or none, and a pattern can be perturbed, described and compared.
    """
    pattern = find_pattern(states, CLOCK)
    if pattern is None:
        return
    for how in PerturbationKind:
        perturbation = Perturbation(parts=everything(pattern), how=how, repetitions=3, seconds=1e12)
        pattern.find_deviation(pattern.perturbed(perturbation), states[-1], CLOCK)
        pattern.describe_all(perturbation)


PIECES = [
    "1",
    "-5",
    "007",
    "1e+999",
    "9" * 400,
    "2026-11-21T12:25:41Z",
    "2026-02-31 25:61:00",
    "1795263001",
    "ab12cd",
]


@pytest.mark.slow
@LAWS
@given(
    some.lists(
        some.lists(some.sampled_from([*PIECES, "\n", " ", ",", '"', "[", "]", "x", "\0"])),
        min_size=3,
        max_size=4,
    )
)
def test_no_text_is_too_strange(rows):
    """Any text of numbers, times and punctuation gives a pattern or none, which can be made much older."""
    states = [{"a": "".join(row).encode()} for row in rows]
    pattern = find_pattern(states, CLOCK)
    find_timestamps(states[0], CLOCK).aged(1e15)
    if isinstance(pattern, Pattern):
        perturbation = Perturbation(parts=everything(pattern), how=PerturbationKind.AGED, seconds=1e15)
        pattern.find_deviation(pattern.perturbed(perturbation), states[-1], CLOCK)
        assert all(part.kind in PartKind for part in pattern.parts)
