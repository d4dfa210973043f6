"""Which parts are found in changing files, how they are named, and which files cannot be followed."""

import json
from hashlib import sha256

import pytest

from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.pattern import Pattern, find_pattern
from pytest_hookharness.model.probes import PartKind

STARTED = 1_795_263_000
CLOCK = SessionClock(started=STARTED, now=STARTED + 60)


def hashed(repetition: int) -> str:
    return sha256(f"work {repetition}".encode()).hexdigest()


def mixed(repetition: int) -> str:
    """Ten random letters and digits, as mktemp draws them."""
    return ["aB3dE9xYz1", "QwErTyUiOp", "zz90AkLmQ2", "pO0iU8yT6r", "mNbVcXzLk3"][repetition % 5]


def recognised(write, first=3):
    """The pattern of one or several files that are functions of the repetition."""

    def files(repetition):
        made = write(repetition)
        made = made if isinstance(made, dict) else {"home/state": made}
        return {path: text.encode() if isinstance(text, str) else text for path, text in made.items()}

    return find_pattern([files(number) for number in range(first, first + 3)], CLOCK)


def seen(write, first=3):
    pattern = recognised(write, first)
    assert isinstance(pattern, Pattern), pattern
    return [(part.name, part.kind.name, part.step) for part in pattern.parts]


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda repetition: f'{{"count": {repetition}}}', ("$.count", "COUNTER", 1)),
        (
            lambda repetition: json.dumps({"a": [{"b c": repetition, "d": 1}]}),
            ('$.a[0]["b c"]', "COUNTER", 1),
        ),
        (lambda repetition: f"limit=3\ncount={repetition * 2}\n", ("count", "COUNTER", 2)),
        (lambda repetition: f"export COUNT={repetition}", ("COUNT", "COUNTER", 1)),
        (lambda repetition: f"[state]\ncount = {repetition}\n", ("state.count", "COUNTER", 1)),
        (lambda repetition: f"---\nname: x\nround: {repetition}\n---\n\ntext 5\n", ("round", "COUNTER", 1)),
        (lambda repetition: f"x\nrefused {repetition} times\n", ("line 2", "COUNTER", 1)),
        (lambda repetition: f"{repetition}\n", ("", "COUNTER", 1)),
        (lambda repetition: f"{repetition:04d}", ("", "COUNTER", 1)),
        (lambda repetition: f"{repetition * 0.5}\r\n", ("", "COUNTER", 0.5)),
        (lambda repetition: str(10 - repetition * 4), ("", "COUNTER", -4)),
        (lambda repetition: f"{repetition + 6:x}", ("", "COUNTER", 1)),
        (lambda repetition: f"0x{repetition * 16 - 40:02X}".replace("0x-", "-0x"), ("", "COUNTER", 16)),
        (lambda repetition: f"größe ü{repetition}", ("line 1", "COUNTER", 1)),
        (lambda repetition: str(2**repetition), ("", "NUMBER", None)),
        (lambda repetition: f"pid={4700 + 4 * repetition}", ("pid", "PROCESS", None)),
        (lambda repetition: f'{{"ppid": {4700 + 4 * repetition}}}', ("$.ppid", "PROCESS", None)),
        (lambda repetition: f'{{"last": {STARTED + repetition}}}', ("$.last", "STAMP", None)),
        (lambda repetition: f"run-{mixed(repetition)}", ("line 1", "IDENTIFIER", None)),
        (
            lambda repetition: f"id: 0b1c2d3e-1234-4abc-9def-{hashed(repetition)[:12]}",
            ("id", "IDENTIFIER", None),
        ),
        (lambda repetition: f"seen={hashed(repetition)}", ("seen", "DIGEST", None)),
        (lambda repetition: f"seen={hashed(repetition)[:32]}", ("seen", "DIGEST", None)),
    ],
)
def test_a_value_has_name_and_kind(write, expected):
    """One changing value is one part, named by its place and of the kind that its values show."""
    assert seen(write) == [expected]


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda repetition: "".join(f"blocked {at} times\n" for at in range(repetition)), "line added"),
        (lambda repetition: "".join(f"a {at}\nb\n" for at in range(repetition)), "2 lines added"),
        (lambda repetition: "\n".join(f"blocked {at}" for at in range(repetition)), "line added"),
        (lambda repetition: "".join(f'{{"n": {at}}}\n' for at in range(repetition)), "line added"),
        (lambda repetition: json.dumps({"ids": [mixed(at) for at in range(repetition)]}), "$.ids"),
        (lambda repetition: json.dumps({"ids": [mixed(at) for at in range(repetition)]}, indent=2), "$.ids"),
        (lambda repetition: json.dumps([{"at": STARTED + at} for at in range(repetition)]), "$"),
        (lambda repetition: json.dumps({"by": {f"k{at}": at for at in range(repetition)}}), "$.by"),
        (lambda repetition: json.dumps({"newest": list(range(repetition, 0, -1))}), "$.newest"),
        (lambda repetition: "." * repetition, ""),
        (lambda repetition: "marks: " + "x" * repetition + "\n", "marks"),
        (
            lambda repetition: "## log\n" + "".join(f"- {at}\n" for at in range(repetition)) + "## end\n",
            "line added",
        ),
    ],
)
def test_growth_has_a_name(write, name):
    """A text that gets one chunk per repetition is one growing part, named by where it grows."""
    assert seen(write) == [(name, "GROWTH", None)]


def test_a_log_with_time_and_count_is_one_part():
    """Values inside the lines of a log belong to its growth, which reports that it contains times."""
    pattern = recognised(
        lambda repetition: "".join(f"{STARTED + at} blocked {at}\n" for at in range(repetition))
    )

    (part,) = pattern.parts
    assert part.kind is PartKind.GROWTH
    assert part.stamped
    assert part.after == f"{STARTED + 4} blocked 4\n"


def test_several_parts_of_one_file():
    """A count, a list and a time in one file are three parts, in the order of the file."""

    def write(repetition):
        return json.dumps(
            {
                "count": repetition,
                "ids": [mixed(at) for at in range(repetition)],
                "last": STARTED + repetition,
            }
        )

    assert seen(write) == [("$.count", "COUNTER", 1), ("$.ids", "GROWTH", None), ("$.last", "STAMP", None)]


def test_a_sliding_window_moves_line_by_line():
    """A log that keeps only its last lines has one part for each line, and all change by the step."""

    def write(repetition):
        return "".join(f"refused {repetition + at}\n" for at in range(3))

    assert seen(write) == [(f"line {line}", "COUNTER", 1) for line in (1, 2, 3)]


def test_values_alike_in_one_line_get_numbers():
    """Two parts of one line are distinguished by a number."""
    assert [
        name for name, _, _ in seen(lambda repetition: f"round {repetition} of {repetition + 3} rounds")
    ] == [
        "line 1",
        "line 1 (2)",
    ]


def test_a_count_in_a_file_name():
    """A file that is replaced by one with the next number in its name is one file, and the number a part."""
    pattern = recognised(lambda repetition: {f"tmp/blocks-{repetition}.txt": f"refused {repetition}"})

    assert [(part.path, part.name, part.kind, part.after) for part in pattern.parts] == [
        ("tmp/blocks-5.txt", "file name", PartKind.COUNTER, "5"),
        ("tmp/blocks-5.txt", "line 1", PartKind.COUNTER, "5"),
    ]


@pytest.mark.parametrize(
    "name", [lambda repetition: f"block-{repetition}.json", lambda repetition: f"tmp.{mixed(repetition)}"]
)
def test_one_more_file_per_repetition(name):
    """A folder that gets one file of a kind per repetition is one part, named by what the names share."""
    pattern = recognised(lambda repetition: {f"tmp/all/{name(at)}": "x" for at in range(repetition)}, first=1)

    (part,) = pattern.parts
    assert part.kind is PartKind.FILES
    assert part.path == "tmp/all"
    assert "*" in part.name


def test_what_stays_is_no_part():
    """A file that is equal in all states has no parts."""
    pattern = recognised(lambda repetition: {"home/still": "1", "home/count": str(repetition)})

    assert [part.path for part in pattern.parts] == ["home/count"]


@pytest.mark.parametrize(
    "write",
    [
        lambda repetition: b"\0" + bytes([repetition]),
        lambda repetition: b"\xff" + bytes([repetition]),
        lambda repetition: ["[]", '["a1"]', '["a1", "a2"]'][repetition - 3],
        lambda repetition: ["red", "green", "blue"][repetition - 3],
        lambda repetition: "x\ny\n" * (10 - repetition),
        lambda repetition: f"{repetition}" + "x" * 4 * 1024 * 1024,
        lambda repetition: {"home/state": "x"} if repetition == 4 else {},
        lambda repetition: {"home/state": "x"} if repetition != 4 else {},
    ],
)
def test_what_follows_no_rule_has_no_pattern(write):
    """Binary and large files, unknown forms, and files that come and go by no rule give no pattern."""
    assert recognised(write) is None


def test_commits_are_not_invented():
    """A branch that names a new commit in each repetition has no pattern: a made-up commit does not exist."""
    branch = "workspace/.git/refs/heads/main"

    assert recognised(lambda repetition: {branch: hashed(repetition)}) is None


def test_two_states_are_too_few():
    """Two states are rejected, because any two numbers have a step."""
    with pytest.raises(ValueError, match="2 states are too few"):
        find_pattern([{}, {}], CLOCK)


@pytest.mark.parametrize(
    ("started", "kind"), [(STARTED - 3600, "STAMP"), (STARTED + 3600, "COUNTER"), (STARTED - 10**6, "STAMP")]
)
def test_only_the_session_makes_a_time(started, kind):
    """A number of the right size is a time if it lies within the session, and else a count."""
    states = [{"a": str(STARTED + number).encode()} for number in range(3)]
    pattern = find_pattern(states, SessionClock(started=started, now=started + 2 * 10**6))

    assert [part.kind.name for part in pattern.parts] == [kind]


@pytest.mark.slow
def test_a_large_file_is_followed():
    """A count before a long list, and a log of many lines, are followed in files of a hundred kilobytes."""

    def write(repetition):
        return json.dumps(
            {"count": repetition, "ids": [{"id": at, "word": "x"} for at in range(3_000 + repetition)]}
        )

    assert seen(write) == [("$.count", "COUNTER", 1), ("$.ids", "GROWTH", None)]
    assert seen(
        lambda repetition: "".join(f"{STARTED + at} turn {at}\n" for at in range(4_000 + repetition))
    ) == [("line added", "GROWTH", None)]


def test_too_much_change_is_refused():
    """A large file that is rewritten in each repetition has no pattern, and that is found quickly."""
    found = recognised(
        lambda repetition: "".join(f"{at * repetition * 7919 % 1009} " for at in range(80_000))
    )

    assert found is None
