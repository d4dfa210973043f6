"""When a lasso is proposed, confirmed and refuted, on machines whose right answer is known."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_hookharness.judging.recurrence.cycle import (
    Contradiction,
    Lasso,
    completed_lasso,
    find_contradiction,
    follow_lasso,
    is_confirmed,
    propose_lasso,
)
from pytest_hookharness.model.trace import State


@dataclass(frozen=True)
class Machine:
    """A deterministic machine: the next node of each node, ``None`` for a stop, and what is visible of it."""

    following: Sequence[int | None]
    seen: Sequence[str]
    opaque: frozenset[int] = frozenset()

    def path(self, turns: int) -> list[int]:
        """The nodes after turn 1, 2 and so on, until it stops or the turns are used up."""
        nodes: list[int] = []
        node: int | None = 0
        while node is not None and len(nodes) < turns:
            nodes.append(node)
            node = self.following[node]
        return nodes

    def state(self, node: int) -> State:
        return State(digest=self.seen[node], opaque="something unknown" if node in self.opaque else "")


@dataclass(frozen=True)
class Result:
    """The result of a run: ``stopped``, ``budget``, ``livelock`` or ``flaky``."""

    word: str
    lasso: Lasso | None = None
    states: int = 0


def drive(machine: Machine, budget: int) -> Result:
    """Run the machine as the loop does: one state after each turn, and ask the judge each time."""
    states: dict[int, State] = {}
    lasso: Lasso | None = None
    node: int | None = 0
    for turn in range(1, budget + 1):
        assert node is not None
        states[turn] = machine.state(node)
        node = machine.following[node]
        if node is None:
            return Result("stopped", states=turn)
        lasso, sure = follow_lasso(lasso, states)
        if sure is not None:
            return Result("livelock" if sure else "flaky", lasso, turn)
    return Result("budget", lasso, budget)


def oracle(machine: Machine, budget: int) -> Result:
    """Return the right answer for a fully visible machine, by walking it."""
    path = machine.path(10 * budget)
    first = next(((path.index(n), i) for i, n in enumerate(path) if path.index(n) < i), None)
    if first is None:
        ends = len(path) <= budget and machine.following[path[-1]] is None
        return Result("stopped" if ends else "budget")
    lasso = Lasso(first[0] + 1, first[1] - first[0])
    return Result("livelock" if lasso.last <= budget else "budget", lasso)


@st.composite
def machines(draw: st.DrawFn, *, hidden: bool = False) -> Machine:
    size = draw(st.integers(1, 50))
    nodes = st.one_of(st.none(), *[st.integers(0, size - 1)] * 9)
    following = draw(st.lists(nodes, min_size=size, max_size=size))
    if not hidden:
        return Machine(following, [str(node) for node in range(size)])
    seen = draw(st.lists(st.sampled_from("abcde"), min_size=size, max_size=size))
    return Machine(following, seen)


def states(digests: Iterable[str]) -> dict[int, State]:
    return {turn: State(digest=digest) for turn, digest in enumerate(digests, 1)}


BUDGETS = st.integers(1, 160)


@pytest.mark.slow
@given(machines(), BUDGETS)
def test_finds_a_lasso_exactly_if_there_is_one(machine: Machine, budget: int) -> None:
    """A lasso is proved exactly if the machine has one whose confirming repetition fits into the budget."""
    expected, seen = oracle(machine, budget), drive(machine, budget)
    assert seen.word == expected.word
    if seen.word == "livelock":
        assert seen.lasso == expected.lasso


@pytest.mark.slow
@given(machines(), BUDGETS)
def test_takes_no_more_turns_than_the_proof_needs(machine: Machine, budget: int) -> None:
    """The run ends with the turn that completes the confirming repetition."""
    result = drive(machine, budget)
    if result.word == "livelock":
        assert result.lasso is not None
        assert result.states == result.lasso.last


@pytest.mark.slow
@given(machines(), st.integers(0, 3))
def test_unrolling_a_lasso_changes_nothing(machine: Machine, repetitions: int) -> None:
    """Repeating a proved cycle once more proves the same cycle, only later."""
    result = drive(machine, 160)
    if result.lasso is None:
        return
    more = repetitions * result.lasso.period
    path = machine.path(result.lasso.last + more)
    unrolled = {turn: machine.state(node) for turn, node in enumerate(path, 1)}
    later = completed_lasso(unrolled)
    assert later is not None
    assert later == Lasso(result.lasso.stem + more, result.lasso.period)
    assert is_confirmed(result.lasso, unrolled)
    assert unrolled[later.stem].digest == unrolled[result.lasso.stem].digest


@pytest.mark.slow
@given(machines(hidden=True), BUDGETS)
def test_hidden_state_that_shows_in_the_repetition_is_no_livelock(machine: Machine, budget: int) -> None:
    """
    If a hidden part of the state changes the confirming repetition, the answer is flaky and not livelock.
    """
    result = drive(machine, budget)
    seen = [machine.seen[node] for node in machine.path(result.states)]
    repeat = next((i for i, word in enumerate(seen) if word in seen[:i]), None)
    if repeat is None or result.lasso is None:
        assert result.word in ("stopped", "budget")
        return
    begin = repeat - 1 - seen[:repeat][::-1].index(seen[repeat])
    period = repeat - begin
    repetition = seen[repeat : repeat + period + 1]
    whole = seen[begin : begin + len(repetition)] == repetition
    assert (result.word == "flaky") == (not whole)
    assert (result.word == "livelock") == (whole and len(repetition) == period + 1)


@pytest.mark.nightly
@given(machines(hidden=True), BUDGETS)
def test_a_contradiction_is_a_state_with_two_results(machine: Machine, budget: int) -> None:
    """Two different results of one visible state are found exactly if there are any."""
    seen = [machine.seen[node] for node in machine.path(budget)]
    pairs = set(pairwise(seen))
    twice = find_contradiction(states(seen))
    assert (twice is not None) == (len({first for first, _ in pairs}) < len(pairs))
    if twice is not None:
        assert seen[twice.first - 1] == seen[twice.second - 1]
        assert seen[twice.first] != seen[twice.second]


@pytest.mark.slow
@given(machines(), BUDGETS, st.data())
def test_what_is_not_known_completely_proves_nothing(
    machine: Machine, budget: int, data: st.DataObject
) -> None:
    """A cycle through a state that is not known completely is never proved."""
    expected = oracle(machine, budget)
    if expected.word != "livelock" or expected.lasso is None:
        return
    path = machine.path(expected.lasso.last)
    place = data.draw(st.integers(expected.lasso.stem, expected.lasso.stem + expected.lasso.period - 1))
    veiled = Machine(machine.following, machine.seen, frozenset({path[place - 1]}))
    assert drive(veiled, budget).word == "budget"


def counting(limit: int, seen: str = "same") -> Machine:
    """A hook that allows the stop after some refusals and counts them in a hidden place."""
    return Machine([*range(1, limit), None], [seen] * limit)


@pytest.mark.parametrize("limit", [1, 2])
def test_a_hidden_counter_within_the_repetition_is_no_livelock(limit: int) -> None:
    """A hidden counter that allows the stop before the repetition is over ends as a stop."""
    assert drive(counting(limit), 50).word == "stopped"


def test_a_lasso_cannot_see_a_hidden_counter_beyond_it() -> None:
    """A counter outside the state that acts after the confirming repetition is reported as a livelock."""
    assert drive(counting(9), 50).word == "livelock"


def test_a_counter_that_is_known_to_be_hidden_is_never_a_livelock() -> None:
    """The same counter ends as a stop if the state says that it is not known completely."""
    machine = counting(9)
    assert drive(Machine(machine.following, machine.seen, frozenset(range(9))), 50).word == "stopped"


@pytest.mark.parametrize(
    "digests,expected",
    [
        ("", None),
        ("a", None),
        ("ab", None),
        ("aa", Lasso(1, 1)),
        ("abab", Lasso(2, 2)),
        ("xaba", Lasso(2, 2)),
        ("aab", None),
        ("abcab", Lasso(2, 3)),
        ("aaba", Lasso(2, 2)),
    ],
)
def test_proposes_the_smallest_period(digests: str, expected: Lasso | None) -> None:
    """The newest turn closes the shortest cycle that it can close."""
    assert propose_lasso(states(digests)) == expected


@pytest.mark.parametrize(
    "digests,expected",
    [
        ("ab", None),
        ("aba", None),
        ("abab", None),
        ("ababa", True),
        ("abac", False),
        ("ababc", False),
        ("abb", False),
    ],
)
def test_one_more_repetition_confirms_or_refutes(digests: str, expected: bool | None) -> None:
    """A cycle of two turns is confirmed by two more turns, refuted by the first that differs, else open."""
    assert is_confirmed(Lasso(1, 2), states(digests)) is expected


def test_a_gap_in_the_states_confirms_nothing() -> None:
    """A turn whose state was not taken leaves the question open, even if a later one differs."""
    known: Mapping[int, State] = {1: State(digest="a"), 3: State(digest="a"), 5: State(digest="b")}
    assert is_confirmed(Lasso(1, 2), known) is None


def test_states_without_a_digest_are_never_the_same() -> None:
    """A state whose digest was never computed equals no other state."""
    assert propose_lasso({1: State(), 2: State()}) is None


def test_an_inconclusive_repetition_restarts_the_search() -> None:
    """A lasso that its repetition could not confirm is replaced by the one that the newest turn closes."""
    known = states("aaa") | {2: State(digest="a", opaque="?")}
    assert follow_lasso(Lasso(1, 1), known) == (Lasso(1, 2), None)


def test_names_where_one_state_had_two_results() -> None:
    """A contradiction names the turn of the state and the later turn after which it had another result."""
    assert find_contradiction(states("abcabd")) == Contradiction(2, 5)
