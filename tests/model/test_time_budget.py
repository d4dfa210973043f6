"""The time that is left for a step."""

import threading

import pytest

from pytest_hookharness.model.time_budget import BudgetEnded, check_time, granted, limited_to, remaining


def test_outside_of_a_limit_no_step_ends():
    """Without a limit there is always time left."""
    check_time("nothing was done")

    assert remaining() == float("inf")


def test_a_step_ends_when_the_time_is_over():
    """A step goes on until the clock passes the limit, and the error says what was done."""
    now = 10.0
    with limited_to(5, lambda: now):
        check_time("a file was read")
        assert remaining() == 5
        now = 15.5
        assert remaining() == 0
        with pytest.raises(BudgetEnded, match="while a file was read; give more time with --hook-budget"):
            check_time("a file was read")
    check_time("a file was read")


def test_an_inner_limit_is_no_longer_than_the_outer_one():
    """A block within a limited block has the smaller of both times."""
    with limited_to(5, lambda: 0.0):
        with limited_to(100, lambda: 0.0):
            assert remaining() == 5
        with limited_to(2, lambda: 0.0):
            assert remaining() == 2
        assert remaining() == 5


def test_an_outer_limit_holds_where_an_inner_clock_stands_still():
    """The outer limit ends a step also where the clock of the inner one has stopped, as for a waiting job."""
    now = 10.0
    with limited_to(5, lambda: now), limited_to(100, lambda: 0.0):
        now = 16.0
        assert remaining() == 0
        with pytest.raises(BudgetEnded):
            check_time("a file was read")


def test_a_granted_time_does_not_end_with_an_outer_limit():
    """What must be done at the end has its own time, although the outer block has none left."""
    with limited_to(-1, lambda: 0.0), granted(100):
        check_time("a file was read")
        assert remaining() > 90


def test_threads_have_limits_of_their_own():
    """A limit holds for the thread that set it, and for no other."""
    seen = []
    with limited_to(0, lambda: 0.0):
        thread = threading.Thread(target=lambda: seen.append(remaining()))
        thread.start()
        thread.join()

    assert seen == [float("inf")]
