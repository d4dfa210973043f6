"""Claims about sizes of files that hooks may compare a count with."""

import pytest

from pytest_hookharness.judging.probing.limits import find_limits
from pytest_hookharness.judging.probing.sizes import find_sizes


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (b"a\nb\nc\n", {3}),
        (b"a\n\nb\nc\nd", {4}),
        (b'{"at": 0, "steps": ["a", "b", "c"], "notes": {"d": ["e", "f", "g", "h"]}}', {3, 4}),
        (b'["a", "b"', set()),
        (b"", set()),
        (b"[" * 100_000, set()),
    ],
)
def test_sizes_of_a_file(text: bytes, sizes: set[int]) -> None:
    """Lines, and items of JSON lists at any depth, are counted; invalid JSON has only lines."""
    assert find_sizes(text) == sizes


def test_sizes_are_numbers_to_compare_with() -> None:
    """The number of items in a file is tried like a number in its text."""
    assert find_limits([], [b'{"steps": ["a", "b", "c", "d"]}']).read == {4}
