"""
Which parts are seen in files that move, what they are called, and which files cannot be followed.
"""

import json
from hashlib import sha256

import pytest

from pytest_hookharness.judging.state_diff import Clock, Irregular, Pattern, recognise
from pytest_hookharness.model.probes import PartKind

STARTED = 1_795_263_000
CLOCK = Clock(started=STARTED, now=STARTED + 60)


def hashed(lap: int) -> str:
    return sha256(f"work {lap}".encode()).hexdigest()


def mixed(lap: int) -> str:
    """
    Ten letters and digits, as mktemp draws them.
    """
    return ["aB3dE9xYz1", "QwErTyUiOp", "zz90AkLmQ2", "pO0iU8yT6r", "mNbVcXzLk3"][lap % 5]


def recognised(write, first=3):
    """
    The pattern of a file as a function of the lap, or of several files.
    """

    def files(lap):
        made = write(lap)
        made = made if isinstance(made, dict) else {"home/state": made}
        return {path: text.encode() if isinstance(text, str) else text for path, text in made.items()}

    return recognise([files(lap) for lap in range(first, first + 3)], CLOCK)


def seen(write, first=3):
    pattern = recognised(write, first)
    assert isinstance(pattern, Pattern), pattern
    return [(part.name, part.kind.name, part.step) for part in pattern.parts]


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda lap: f'{{"count": {lap}}}', ("$.count", "COUNTER", 1)),
        (lambda lap: json.dumps({"a": [{"b c": lap, "d": 1}]}), ('$.a[0]["b c"]', "COUNTER", 1)),
        (lambda lap: f"limit=3\ncount={lap * 2}\n", ("count", "COUNTER", 2)),
        (lambda lap: f"export COUNT={lap}", ("COUNT", "COUNTER", 1)),
        (lambda lap: f"[state]\ncount = {lap}\n", ("state.count", "COUNTER", 1)),
        (lambda lap: f"---\nname: x\nround: {lap}\n---\n\ntext 5\n", ("round", "COUNTER", 1)),
        (lambda lap: f"x\nrefused {lap} times\n", ("line 2", "COUNTER", 1)),
        (lambda lap: f"{lap}\n", ("", "COUNTER", 1)),
        (lambda lap: f"{lap:04d}", ("", "COUNTER", 1)),
        (lambda lap: f"{lap * 0.5}\r\n", ("", "COUNTER", 0.5)),
        (lambda lap: str(10 - lap * 4), ("", "COUNTER", -4)),
        (lambda lap: f"{lap + 6:x}", ("", "COUNTER", 1)),
        (lambda lap: f"0x{lap * 16 - 40:02X}".replace("0x-", "-0x"), ("", "COUNTER", 16)),
        (lambda lap: f"größe ü{lap}", ("line 1", "COUNTER", 1)),
        (lambda lap: str(2**lap), ("", "NUMBER", None)),
        (lambda lap: f"pid={4700 + 4 * lap}", ("pid", "PROCESS", None)),
        (lambda lap: f'{{"ppid": {4700 + 4 * lap}}}', ("$.ppid", "PROCESS", None)),
        (lambda lap: f'{{"last": {STARTED + lap}}}', ("$.last", "STAMP", None)),
        (lambda lap: f"run-{mixed(lap)}", ("line 1", "IDENTIFIER", None)),
        (lambda lap: f"id: 0b1c2d3e-1234-4abc-9def-{hashed(lap)[:12]}", ("id", "IDENTIFIER", None)),
        (lambda lap: f"seen={hashed(lap)}", ("seen", "DIGEST", None)),
        (lambda lap: f"seen={hashed(lap)[:32]}", ("seen", "DIGEST", None)),
    ],
)
def test_a_value_has_name_and_kind(write, expected):
    """One value that moves is one part, named by its place and of the kind that its values tell."""
    assert seen(write) == [expected]


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda lap: "".join(f"blocked {at} times\n" for at in range(lap)), "line added"),
        (lambda lap: "".join(f"a {at}\nb\n" for at in range(lap)), "2 lines added"),
        (lambda lap: "\n".join(f"blocked {at}" for at in range(lap)), "line added"),
        (lambda lap: "".join(f'{{"n": {at}}}\n' for at in range(lap)), "line added"),
        (lambda lap: json.dumps({"ids": [mixed(at) for at in range(lap)]}), "$.ids"),
        (lambda lap: json.dumps({"ids": [mixed(at) for at in range(lap)]}, indent=2), "$.ids"),
        (lambda lap: json.dumps([{"at": STARTED + at} for at in range(lap)]), "$"),
        (lambda lap: json.dumps({"by": {f"k{at}": at for at in range(lap)}}), "$.by"),
        (lambda lap: json.dumps({"newest": list(range(lap, 0, -1))}), "$.newest"),
        (lambda lap: "." * lap, ""),
        (lambda lap: "marks: " + "x" * lap + "\n", "marks"),
        (lambda lap: "## log\n" + "".join(f"- {at}\n" for at in range(lap)) + "## end\n", "line added"),
    ],
)
def test_growth_has_a_name(write, name):
    """A text that gets the same kind of chunk each lap is one growing part, named by where it grows."""
    assert seen(write) == [(name, "GROWTH", None)]


def test_a_log_with_stamp_and_count_is_one_part():
    """What varies inside the lines of a log belongs to its growth, which says that it has stamps."""
    pattern = recognised(lambda lap: "".join(f"{STARTED + at} blocked {at}\n" for at in range(lap)))

    (part,) = pattern.parts
    assert part.kind is PartKind.GROWTH
    assert part.stamped
    assert part.after == f"{STARTED + 4} blocked 4\n"


def test_several_parts_of_one_file():
    """A count, a list and a stamp in one file are three parts, in the order of the file."""

    def write(lap):
        return json.dumps({"count": lap, "ids": [mixed(at) for at in range(lap)], "last": STARTED + lap})

    assert seen(write) == [("$.count", "COUNTER", 1), ("$.ids", "GROWTH", None), ("$.last", "STAMP", None)]


def test_a_sliding_window_moves_line_by_line():
    """A log that is cut to its last lines has one part for each line, and all move by the step."""

    def write(lap):
        return "".join(f"refused {lap + at}\n" for at in range(3))

    assert seen(write) == [(f"line {line}", "COUNTER", 1) for line in (1, 2, 3)]


def test_values_alike_in_one_line_get_numbers():
    """Two parts of one line are told apart by a number."""
    assert [name for name, _, _ in seen(lambda lap: f"round {lap} of {lap + 3} rounds")] == [
        "line 1",
        "line 1 (2)",
    ]


def test_a_count_in_a_file_name():
    """A file that is replaced by one with the next number in its name is one file, and the number a part."""
    pattern = recognised(lambda lap: {f"tmp/blocks-{lap}.txt": f"refused {lap}"})

    assert [(part.path, part.name, part.kind, part.after) for part in pattern.parts] == [
        ("tmp/blocks-5.txt", "file name", PartKind.COUNTER, "5"),
        ("tmp/blocks-5.txt", "line 1", PartKind.COUNTER, "5"),
    ]


@pytest.mark.parametrize("name", [lambda lap: f"block-{lap}.json", lambda lap: f"tmp.{mixed(lap)}"])
def test_a_file_more_each_lap(name):
    """A folder that gets a file of one kind each lap is one part, named by what the names have in common."""
    pattern = recognised(lambda lap: {f"tmp/all/{name(at)}": "x" for at in range(lap)}, first=1)

    (part,) = pattern.parts
    assert part.kind is PartKind.FILES
    assert part.path == "tmp/all"
    assert "*" in part.name


def test_what_stays_is_no_part():
    """A file that is the same at all moments has no parts."""
    pattern = recognised(lambda lap: {"home/still": "1", "home/count": str(lap)})

    assert [part.path for part in pattern.parts] == ["home/count"]


@pytest.mark.parametrize(
    ("write", "why"),
    [
        (lambda lap: b"\0" + bytes([lap]), "no text"),
        (lambda lap: b"\xff" + bytes([lap]), "no text"),
        (lambda lap: ["[]", '["a1"]', '["a1", "a2"]'][lap - 3], "form of its text"),
        (lambda lap: ["red", "green", "blue"][lap - 3], "form of its text"),
        (lambda lap: "x\ny\n" * (10 - lap), "form of its text"),
        (lambda lap: f"{lap}" + "x" * 4 * 1024 * 1024, "larger than 4 MiB"),
        (lambda lap: {"home/state": "x"} if lap == 4 else {}, "came only once"),
        (lambda lap: {"home/state": "x"} if lap != 4 else {}, "comes and goes"),
    ],
)
def test_what_cannot_be_followed_says_why(write, why):
    """Files without a rule are irregular, with their path and the reason in one sentence."""
    found = recognised(write)

    assert isinstance(found, Irregular)
    assert found.paths == ("home/state",)
    assert found.why.startswith("home/state cannot be followed: ")
    assert why in found.why


def test_two_moments_are_too_few():
    """Two moments are refused, for any two numbers have a step."""
    with pytest.raises(ValueError, match="2 moments"):
        recognise([{}, {}], CLOCK)


@pytest.mark.parametrize(
    ("started", "kind"), [(STARTED - 3600, "STAMP"), (STARTED + 3600, "COUNTER"), (STARTED - 10**6, "STAMP")]
)
def test_only_the_session_makes_a_stamp(started, kind):
    """A number of the right size is a stamp if it lies within the session, and a count if it does not."""
    moments = [{"a": str(STARTED + lap).encode()} for lap in range(3)]
    pattern = recognise(moments, Clock(started=started, now=started + 2 * 10**6))

    assert [part.kind.name for part in pattern.parts] == [kind]


def test_a_large_file_is_followed():
    """A count before a long list, and a log of many lines, are followed in files of a hundred kilobytes."""

    def write(lap):
        return json.dumps({"count": lap, "ids": [{"id": at, "word": "x"} for at in range(3_000 + lap)]})

    assert seen(write) == [("$.count", "COUNTER", 1), ("$.ids", "GROWTH", None)]
    assert seen(lambda lap: "".join(f"{STARTED + at} turn {at}\n" for at in range(4_000 + lap))) == [
        ("line added", "GROWTH", None)
    ]


def test_too_much_change_is_refused():
    """A large file that is another one each lap is irregular, and says so without much ado."""
    found = recognised(lambda lap: "".join(f"{at * lap * 7919 % 1009} " for at in range(80_000)))

    assert isinstance(found, Irregular)
    assert "256 KiB of it change" in found.why
