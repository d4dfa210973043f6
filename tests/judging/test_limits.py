"""Which numbers of sources and files are taken for limits, and when a count reaches them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_hookharness.judging.probing.limits import KnownNumbers, Remainder, find_limits
from pytest_hookharness.judging.probing.sizes import GrowingSize
from pytest_hookharness.judging.probing.thresholds import find_candidates
from pytest_hookharness.model.probes import PartKind, StatePart

COUNT = StatePart(path="workspace/n", kind=PartKind.COUNTER, before="4", after="5", step=1)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"[ $n -eq 42 ]", 42),
        (b"n == 0x2a", 42),
        (b"n == 0o52", 42),
        (b"$((052))", 42),
        (b"{1..42}", 42),
        (b"1_042", 1042),
        (b"the limit is 42.", 42),
        (b"$((6*7))", 42),
        (b"40 + 2", 42),
        (b"50-8", 42),
        (b"$((1<<6))", 64),
        (b"2**6", 64),
    ],
)
def test_a_number_is_found_in_any_notation(text, number):
    """Decimal, hexadecimal and octal numbers, ends of ranges and expressions of two literals are limits."""
    assert number in find_limits([text], []).written


@pytest.mark.parametrize("text", [b"v1.42.0", b"abc42", b"42px", b"3.42", b"0x42g"])
def test_parts_of_words_and_versions_are_none(text):
    """Digits within a word, a version or a fraction are no limits."""
    assert 42 not in find_limits([text], []).written


def test_the_likeliest_limits_come_first():
    """Numbers of the source come before those of files, and products and sums after both."""
    first, second, third = find_limits([b"a=6 b=7"], [b"41\n"]).ranks()

    assert first == {0, 6, 7}
    assert second == {41}
    assert {42, 13, 49, 47} <= third
    assert not third & (first | second)


def test_many_numbers_of_files_are_not_paired():
    """With hundreds of numbers in files, only those of the source are combined."""
    *_, pairs = KnownNumbers(frozenset({6, 7}), frozenset(range(100, 400))).ranks()

    assert pairs == {12, 13, 14, 36, 42, 49}


def test_no_limit_is_dropped_silently():
    """Limits that do not fit are listed, and the first is the one that is reached soonest."""
    limits = KnownNumbers(frozenset({100}), frozenset(range(200, 210)))

    found = find_candidates([COUNT], [], limits, most=4)

    assert set(found.repetitions) >= {94, 95}
    assert len(found.repetitions) == 4
    assert min(found.left) > max(found.repetitions)


@pytest.mark.slow
@given(
    start=st.integers(0, 1000),
    step=st.integers(1, 9),
    factor=st.integers(1, 99),
    modulus=st.integers(2, 2000),
    wanted=st.integers(0, 2000),
)
def test_a_remainder_is_solved(start, step, factor, modulus, wanted):
    """If a multiple of a count ever has a remainder, the first time that it has is a candidate."""
    limits = KnownNumbers(frozenset({wanted}), frozenset(), frozenset({Remainder(factor, modulus)}))
    meets = [n for n in range(2 * modulus) if (start + n * step) * factor % modulus == wanted]

    found = find_candidates([], [GrowingSize(start, step)], limits, most=10_000)

    assert not meets or meets[0] in found.repetitions
