"""
What fires side by side leave less of than fires in turn.
"""

from pytest_hookharness.judging.comparison.lost_updates import doubts, losses, weigh


def left(writes=8, **files):
    """What fires left that wrote each file some times."""
    return weigh(files, dict.fromkeys(files, writes))


def test_a_count_that_is_too_low_is_lost():
    """A number that two rounds in turn agree on, and that is lower side by side, is a loss."""
    lost = [*losses([left(count=b"8\n")] * 2, left(count=b"5\n"))]

    assert lost == ["the sum of the numbers in count: 5 instead of 8"]


def test_records_that_are_missing_are_lost():
    """Fewer lines of a log, and fewer files, are losses."""
    lost = [*losses([left(2, log=b"a\nb\n", other=b"x")] * 2, left(4, log=b"a\n"))]

    assert "lines in log: 1 instead of 2" in lost
    assert "files that changed: 1 instead of 2" in lost


def test_what_was_not_written_is_not_lost():
    """A fire that leaves the work to another one, and says so in the log or not at all, loses nothing."""
    alone = [left(8, log=b"built\n" * 8)] * 2
    silent, other = left(1, log=b"built\n"), left(8, log=b"built\n" + b"left\n" * 7)

    assert [*losses(alone, silent), *losses(alone, other), *doubts(alone, silent)] == []
    assert [*losses(alone, left(8, log=b"built\n"))]


def test_what_nobody_saw_written_is_doubtful():
    """A file that has less in it and whose writers are not known is no loss and is told."""
    alone, together = [left(0, count=b"8\n")] * 2, left(0, count=b"2\n")

    assert ([], ["count"]) == ([*losses(alone, together)], [*doubts(alone, together)])


def test_what_rounds_in_turn_do_not_agree_on_says_nothing():
    """A time or a process number that differs between two rounds in turn is held against nobody."""
    alone = [left(time=b"17:03:05\n"), left(time=b"17:04:59\n")]

    assert not [*losses(alone, left(time=b"17:00:00\n"))]


def test_more_is_no_loss():
    """Fires side by side that leave more than fires in turn have lost nothing."""
    assert not [*losses([left(log=b"a\n")] * 2, left(log=b"a\na\n"))]
