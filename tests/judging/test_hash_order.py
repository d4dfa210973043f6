"""Which scripts of Python may decide by the order of a set or by a hash."""

import pytest

from pytest_hookharness.judging.recurrence.hash_order import python_shows_order


@pytest.mark.parametrize(
    "text",
    [
        "hash('a') % 30",
        "id(object()) % 64",
        "print({1, 2})",
        "words = {'a'}\nfor word in words: print(word)",
        "words = set('ab')\nwords.pop()",
        "next(iter({'a', 'b'}))",
        "other = {}\nnew = other.keys() - {'x'}\nprint(list(new))",
        "', '.join({'a', 'b'})",
        "first = second = {'a'}\nthird = second | {'b'}\nprint(third)",
        "[word for word in {'a', 'b'}]",
        "class A:\n    words = {'a'}\nprint(*A.words, {*A.words})",
        "'a'.__hash__()",
        "not Python: frozenset(words)",
    ],
)
def test_python_that_may_show_an_order(text):
    """Python may show a hash or the order of a set where anything but a test or a sorted copy uses one."""
    assert python_shows_order(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "'x' in {'a', 'b'}",
        "WORDS = {'a', 'b'}\nif word in WORDS: pass",
        "for word in sorted({'a', 'b'}): print(word)",
        "print(len(set(words)))",
        "seen = set()\nseen.add(1)\nif seen - {2}: print(sorted(seen))",
        "any(word in text for word in {'a', 'b'})",
        "for key in {'a': 1}: print(key)",
        "import hashlib\nhashlib.sha1(b'')",
        "echo hash set",
    ],
)
def test_python_that_shows_no_order(text):
    """Python that only asks what is in a set, or sorts it, decides the same in each process."""
    assert not python_shows_order(text.encode())
