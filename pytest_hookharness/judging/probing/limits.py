"""
Limits: whole numbers that a hook may compare a count with, from its source and from the files that it reads.

They only suggest what to try and are never evidence. A limit that acts at one exact value, and not from there
on, is found only by trying it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations_with_replacement

from pytest_hookharness.model.fast_dataclass import dataclass

# Not a part of a word, of a version or of a fraction; the end of a range such as {1..30} is one.
_BEFORE, _AFTER = rb"(?<!\w)(?<!\d\.)", rb"(?!\w|\.\d)"
_DECIMAL = re.compile(_BEFORE + rb"\d(?:_?\d){0,6}" + _AFTER)
_HEXADECIMAL = re.compile(_BEFORE + rb"0[xX]([0-9a-fA-F]{1,6})" + _AFTER)
_OCTAL = re.compile(_BEFORE + rb"0[oO]?([0-7]{1,7})" + _AFTER)
_EXPRESSION = re.compile(_BEFORE + rb"(\d{1,7})\s*(\*\*|<<|[*+-])\s*(\d{1,7})" + _AFTER)
_FACTOR_AND_MODULUS = re.compile(rb"(?:\*\s*(\d{1,6})\s*\)?\s*)?%\s*(\d{1,6})" + _AFTER)
_LARGEST = 10_000_000
# Of more numbers than these, not all pairs are tried.
_MOST_PAIRED = 60


@dataclass(frozen=True, slots=True)
class Remainder:
    """
    A remainder that a hook computes of a multiple of a count: ``count * factor % modulus``.

    Attributes:
        factor: The factor; 1 if there is none.
    """

    factor: int
    modulus: int


@dataclass(frozen=True, slots=True)
class Limits:
    """
    Numbers to compare with.

    Attributes:
        written: In the source of the hooks, also computed from two literals there.
        read: In files that they read.
        remainders: What the source computes remainders of.
    """

    written: frozenset[int] = frozenset()
    read: frozenset[int] = frozenset()
    remainders: frozenset[Remainder] = frozenset()

    def ranks(self) -> Iterator[frozenset[int]]:
        """Yield groups of numbers, the likeliest limits first, each number once."""
        numbers = self.written | {0}
        yield numbers
        yield self.read - numbers
        paired = self.written | self.read
        if len(paired) > _MOST_PAIRED:
            paired = self.written
        if len(paired) <= _MOST_PAIRED:
            yield frozenset(_combined(paired)) - numbers - self.read


def find_limits(sources: Iterable[bytes], files: Iterable[bytes]) -> Limits:
    """
    Return the numbers of hooks.

    Args:
        sources: Commands and scripts.
        files: Contents of other files.
    """
    written: set[int] = set()
    remainders: set[Remainder] = set()
    for text in sources:
        written |= {*_numbers(text), *_computed(text)}
        for factor, modulus in _FACTOR_AND_MODULUS.findall(text):
            if int(modulus) > 1:
                remainders.add(Remainder(int(factor or b"1"), int(modulus)))
    read = {number for text in files for number in _numbers(text)}
    return Limits(frozenset(written), frozenset(read), frozenset(remainders))


def _numbers(text: bytes) -> Iterator[int]:
    yield from (int(number) for number in _DECIMAL.findall(text))
    yield from (int(number, 16) for number in _HEXADECIMAL.findall(text))
    # A number that begins with 0 is octal to shells, and decimal to others.
    yield from (int(number, 8) for number in _OCTAL.findall(text))


def _computed(text: bytes) -> Iterator[int]:
    for one, sign, other in _EXPRESSION.findall(text):
        left, right = int(one), int(other)
        match sign:
            case b"*":
                yield left * right
            case b"+":
                yield left + right
            case b"-":
                yield abs(left - right)
            case b"<<" if right < 24:
                yield left << right
            case b"**" if right < 24 and left <= 100:
                yield left**right
            case _:
                pass


def _combined(numbers: Collection[int]) -> Iterator[int]:
    """Yield the products and the sums of two numbers."""
    for one, other in combinations_with_replacement(sorted(numbers), 2):
        yield one + other
        if one * other <= _LARGEST:
            yield one * other
