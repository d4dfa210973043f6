"""What can be reached in a state graph: stops, traps, and the paths to them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_hookharness.campaigns.explore.state_graph import (
    Exit,
    find_nearest,
    find_path,
    find_reachable,
    find_stopping,
    find_traps,
)

STOP, HELD, UNKNOWN = Exit.STOP, Exit.HELD, Exit.UNKNOWN
# 0 can stop or go into 1, which leads to 2 and back.
TRAPPED = [[STOP, 1], [2, 1], [1, HELD]]


@st.composite
def graphs(draw):
    """Graphs of up to eight states with up to three moves in each."""
    number = draw(st.integers(1, 8))
    targets = st.one_of(st.integers(0, number - 1), st.sampled_from(Exit))
    return draw(st.lists(st.lists(targets, max_size=3), min_size=number, max_size=number))


def leads_to(graph, state, exits):
    """Whether a path of at most as many moves as there are states leads to an exit, by trying them all."""
    seen = {state}
    for _ in graph:
        seen |= {target for one in seen for target in graph[one] if isinstance(target, int)}
    return any(target in exits for one in seen for target in graph[one] if not isinstance(target, int))


def test_states_without_a_path_to_a_stop_are_traps():
    """Exactly the states that lead only to each other, or to an end that is no stop, are traps."""
    assert find_traps(TRAPPED) == {1, 2}
    assert find_stopping(TRAPPED) == {0}
    assert find_reachable(TRAPPED, 1) == {1, 2}


def test_an_unknown_successor_makes_no_trap():
    """One move with an unknown result keeps all states that reach it from being traps."""
    graph = [[STOP, 1], [2, 1], [1, UNKNOWN]]

    assert find_traps(graph) == frozenset()
    assert find_stopping(graph) == {0}


def test_paths_are_the_shortest_and_the_first_by_move():
    """The shortest path is returned, and among equally short ones the one whose moves come first."""
    graph = [[1, 2, 3], [4], [3], [STOP], [STOP]]

    assert find_path(graph, 0, lambda target: target is STOP) == (2, 0)
    assert find_path(graph, 1, lambda target: target == 4) == (0,)
    assert find_path(graph, 0, lambda target: target == 0) == ()
    assert find_path(TRAPPED, 1, lambda target: target is STOP) is None


def test_the_nearest_counts_the_path_to_its_root():
    """A state right behind a distant root is farther away than one that is two moves from the beginning."""
    graph = [[1], [2], [2], [2]]

    assert find_nearest(graph, {0: 1, 3: 9}, {2}) == (0, (0, 0))
    assert find_nearest(graph, {0: 9, 3: 1}, {2}) == (3, (0,))
    assert find_nearest(graph, {0: 1}, {3}) is None


@settings(max_examples=40)
@given(graphs())
def test_every_state_can_stop_or_is_a_trap_or_is_unknown(graph):
    """Searching backwards finds the same as trying all paths forwards."""
    states = range(len(graph))

    assert find_stopping(graph) == {state for state in states if leads_to(graph, state, {STOP})}
    assert find_traps(graph) == {state for state in states if not leads_to(graph, state, {STOP, UNKNOWN})}
