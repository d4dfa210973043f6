"""Updates that parallel hook runs lose and consecutive ones do not."""

import pytest

from pytest_hookharness.judging.comparison.lost_updates import (
    doubts,
    find_lost,
    find_torn,
    lost_updates,
    read_counter,
    weigh,
)
from pytest_hookharness.model.mutations import CountedIn

CALLS = CountedIn(file="count.json", json="calls")
LINES = CountedIn(file="log")


def left(writes=8, **files):
    """The weights after hook runs that wrote each file a number of times."""
    return weigh(files, dict.fromkeys(files, writes))


def test_a_count_that_is_too_low_is_lost():
    """A number that two rounds one after the other agree on, and that is lower side by side, is a loss."""
    lost = [*lost_updates([left(count=b"8\n")] * 2, left(count=b"5\n"))]

    assert lost == ["the sum of the numbers in count: 5 instead of 8"]


def test_records_that_are_missing_are_lost():
    """Fewer lines of a log, and fewer files, are losses."""
    lost = [*lost_updates([left(2, log=b"a\nb\n", other=b"x")] * 2, left(4, log=b"a\n"))]

    assert "lines in log: 1 instead of 2" in lost
    assert "files that changed: 1 instead of 2" in lost


def test_what_was_not_written_is_not_lost():
    """A hook run that leaves its work to another run, and logs that or not, loses nothing."""
    alone = [left(8, log=b"built\n" * 8)] * 2
    silent, other = left(1, log=b"built\n"), left(8, log=b"built\n" + b"left\n" * 7)

    assert [*lost_updates(alone, silent), *lost_updates(alone, other), *doubts(alone, silent)] == []
    assert [*lost_updates(alone, left(8, log=b"built\n"))]


def test_what_was_not_seen_written_is_doubtful():
    """A file with less in it whose number of writes is not known is a doubt, and no loss."""
    alone, together = [left(0, count=b"8\n")] * 2, left(0, count=b"2\n")

    assert ([], ["count"]) == ([*lost_updates(alone, together)], [*doubts(alone, together)])


def test_what_rounds_in_turn_do_not_agree_on_says_nothing():
    """A time or a process number that differs between two rounds one after the other is no loss."""
    alone = [left(time=b"17:03:05\n"), left(time=b"17:04:59\n")]

    assert not [*lost_updates(alone, left(time=b"17:00:00\n"))]


def test_a_time_with_fewer_digits_is_no_loss():
    """A time that happens to be written with fewer digits shows nothing; text that is gone does."""
    alone = [left(state=b'{"at": 1795424123.125, "by": "one"}')] * 2
    assert not [*lost_updates(alone, left(state=b'{"at": 1795424124.5, "by": "one"}'))]
    (lost,) = lost_updates(alone, left(state=b'{"at": 1795424124.5}'))
    assert lost.startswith("bytes besides numbers in state: ")


def test_more_is_no_loss():
    """Hook runs side by side that leave more than runs one after the other have lost nothing."""
    assert not [*lost_updates([left(log=b"a\n")] * 2, left(log=b"a\na\n"))]


@pytest.mark.parametrize(
    ("keys", "data", "amount"),
    [
        ("calls", b'{"calls": 3}', 3),
        ("a.b", b'{"a": {"b": [1, 2]}}', 2),
        (".", b"[1, 2, 3]", 3),
        ("calls", b'{"other": 1}', None),
        ("calls", b'{"calls": "many"}', None),
        ("calls.more", b'{"calls": 3}', None),
    ],
)
def test_a_count_is_found_by_its_keys(keys, data, amount):
    """A number counts as itself, a list or mapping by its length, and anything else not at all."""
    assert read_counter(data, CountedIn(file="x", json=keys)).amount == amount


def test_less_than_every_time_alone_is_lost():
    """Hook runs are lost if fewer are counted than one after the other, where every round agrees."""
    three, four = (read_counter(b'{"calls": %d}' % number, CALLS) for number in (3, 4))
    assert find_lost([four, four], three) == "3 instead of 4"
    assert find_lost([three, four], three) == ""
    assert find_lost([three], four) == ""
    assert find_lost([four], read_counter(None, CALLS)) == "0 instead of 4"


def test_json_that_cannot_be_read_is_torn():
    """A file that is JSON one after the other and not side by side is torn; one that never is JSON is not."""
    whole, torn = read_counter(b'{"calls": 4}', CALLS), read_counter(b'{"calls": 4}}', CALLS)
    assert find_torn([whole], torn) == "it is no JSON: '{\"calls\": 4}}'"
    assert find_torn([torn], torn) == ""
    assert find_torn([whole], whole) == ""


def test_a_line_that_nobody_writes_is_torn():
    """Parts of lines are recognised by their shape, where every round writes the same shapes."""
    whole, other = read_counter(b"pid 17: ran\npid 4: ran\n", LINES), read_counter(b"pid 3: failed\n", LINES)
    torn = read_counter(b"pid 1pid 2: ran\n: ran\n", LINES)
    assert "nobody" not in find_torn([whole, whole], whole)
    assert find_torn([whole, whole], whole) == ""
    assert find_torn([whole, whole], torn) == "no run on its own writes the line ': ran'"
    assert find_torn([whole, other], torn) == ""
    assert find_torn([whole], read_counter(b"pid 1: ran\npid 2: r", LINES)) == "its last line has no end"
