"""
What fires side by side leave less of than fires in turn.
"""

from pytest_hookharness.judging.losses import losses, weigh


def test_a_count_that_is_too_low_is_lost():
    """A number that two rounds in turn agree on, and that is lower side by side, is a loss."""
    alone = [weigh({"count": b"8\n"}), weigh({"count": b"8\n"})]

    assert ["the sum of the numbers in count: 5 instead of 8"] == [*losses(alone, weigh({"count": b"5\n"}))]


def test_records_that_are_missing_are_lost():
    """Fewer lines of a log, and fewer files, are losses."""
    alone = [weigh({"log": b"a\nb\n", "other": b"x"})] * 2
    lost = [*losses(alone, weigh({"log": b"a\n"}))]

    assert "lines in log: 1 instead of 2" in lost
    assert "files that changed: 1 instead of 2" in lost


def test_what_rounds_in_turn_do_not_agree_on_says_nothing():
    """A time or a process number that differs between two rounds in turn is held against nobody."""
    alone = [weigh({"time": b"17:03:05\n"}), weigh({"time": b"17:04:59\n"})]

    assert not [*losses(alone, weigh({"time": b"17:00:00\n"}))]


def test_more_is_no_loss():
    """Fires side by side that leave more than fires in turn have lost nothing."""
    assert not [*losses([weigh({"log": b"a\n"})] * 2, weigh({"log": b"a\na\n"}))]
