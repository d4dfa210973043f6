"""Sizes of files, and sizes that grow, in the units that a hook may measure."""

import pytest

from pytest_hookharness.judging.probing.limits import find_limits
from pytest_hookharness.judging.probing.sizes import GrowingSize, find_growing_sizes, find_sizes


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (b"..", b"...", {GrowingSize(3, 1)}),
        (b"a\nb\n", b"a\nb\nc\n", {GrowingSize(6, 2), GrowingSize(3, 1), GrowingSize(5, 2)}),
        (b"[1, 2]", b"[1, 2, 3]", {GrowingSize(9, 3), GrowingSize(3, 1)}),
        (b'{"q": [1], "n": 5}', b'{"q": [1, 2], "n": 5}', {GrowingSize(21, 3), GrowingSize(2, 1)}),
        (b"3", b"4", set()),
    ],
)
def test_sizes_of_a_file(before, after, expected):
    """Bytes, lines and the lengths of JSON lists and objects are measured where they grow."""
    assert set(find_growing_sizes({"home/f": before}, {"home/f": after}, ["home/f"])) == expected


def test_files_of_a_folder():
    """The number of files in a folder is measured if files are added."""
    paths = [f"tmp/d/{number}" for number in range(7)]

    assert find_growing_sizes({"tmp/d/6": None}, {"tmp/d/6": b""}, paths) == (GrowingSize(7, 1),)


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
def test_numbers_of_lines_and_items(text: bytes, sizes: set[int]) -> None:
    """Lines, and items of JSON lists at any depth, are counted; invalid JSON has only lines."""
    assert find_sizes(text) == sizes


def test_sizes_are_numbers_to_compare_with() -> None:
    """The number of items in a file is tried like a number in its text."""
    assert find_limits([], [b'{"steps": ["a", "b", "c", "d"]}']).read == {4}
