"""Claims about delta debugging, with predicates that look at numbers."""

import pytest

from pytest_hookharness.campaigns.shrinking.scenario_shrinker import minimise


@pytest.mark.parametrize("needed", [{0}, {99}, {3, 60}, {1, 2, 50, 98}, set(), set(range(0, 100, 10))])
def test_what_is_needed_is_left(needed):
    """Exactly the needed items are left of a hundred, in their order."""
    assert minimise(range(100), lambda some: needed <= {*some}) == tuple(sorted(needed))


def test_result_is_1_minimal_where_parts_depend_on_each_other():
    """Without any one of the items that are left the problem does not show."""

    def shows(some):
        return len(some) % 2 == 0 and {2, 7} <= {*some}

    kept = minimise(range(10), shows)
    assert shows(kept)
    assert not any(shows([one for one in kept if one != left_out]) for left_out in kept)


def test_some_items_always_stay():
    """No fewer than the least number of items are tried."""
    assert len(minimise(range(8), lambda _: True, least=1)) == 1


def test_a_predicate_that_never_shows_ends():
    """If nothing smaller shows the problem, all items are left."""
    assert minimise("abc", lambda _: False) == ("a", "b", "c")
