"""
What files say of the fires that wrote to them.
"""

from __future__ import annotations

import pytest

from pytest_hookharness.judging.comparison.lost_updates import find_lost, find_torn, tally
from pytest_hookharness.model.mutations import CountedIn

CALLS = CountedIn(file="count.json", json="calls")
LINES = CountedIn(file="log")


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
def test_a_count_is_found_by_its_keys(keys: str, data: bytes, amount: int | None) -> None:
    """
    A number counts as itself, a list or mapping by its length, and all else not at all.
    """
    assert tally(data, CountedIn(file="x", json=keys)).amount == amount


def test_less_than_every_time_alone_is_lost() -> None:
    """
    Fires are lost if fewer are counted than one after the other, which always gave the same.
    """
    three, four = (tally(b'{"calls": %d}' % number, CALLS) for number in (3, 4))
    assert find_lost([four, four], three) == "3 instead of 4"
    assert find_lost([three, four], three) == ""
    assert find_lost([three], four) == ""
    assert find_lost([four], tally(None, CALLS)) == "0 instead of 4"


def test_json_that_cannot_be_read_is_torn() -> None:
    """
    A file that was JSON alone and is none side by side is torn, and one that never was is not.
    """
    whole, torn = tally(b'{"calls": 4}', CALLS), tally(b'{"calls": 4}}', CALLS)
    assert find_torn([whole], torn) == "it is no JSON: '{\"calls\": 4}}'"
    assert find_torn([torn], torn) == ""
    assert find_torn([whole], whole) == ""


def test_a_line_that_nobody_writes_is_torn() -> None:
    """
    Parts of lines are known by their form, where the form of lines is always the same.
    """
    whole, other = tally(b"pid 17: ran\npid 4: ran\n", LINES), tally(b"pid 3: failed\n", LINES)
    torn = tally(b"pid 1pid 2: ran\n: ran\n", LINES)
    assert "nobody" not in find_torn([whole, whole], whole)
    assert find_torn([whole, whole], whole) == ""
    assert find_torn([whole, whole], torn) == "none that is alone writes the line ': ran'"
    assert find_torn([whole, other], torn) == ""
    assert find_torn([whole], tally(b"pid 1: ran\npid 2: r", LINES)) == "its last line has no end"
