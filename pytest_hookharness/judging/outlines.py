"""
This module is concerned with outlines: what is left of a text without its numbers, times and ids.

Middle floor: judging. Pure. Chance now and then draws an id that is written like a word; what stood at its
place in other texts tells.
"""

from __future__ import annotations

import re
from itertools import groupby

from pytest_hookharness.judging.parting.tokens import Kind, Reading, Token, cut, shape

_HEXADECIMAL = re.compile(r"\b0[xX][0-9a-fA-F]+\b")
# What ids are drawn from, the narrowest first.
_ALPHABETS = tuple(
    map(re.compile, ("[0-9a-f]+", "[0-9A-F]+", "[0-9a-z]+", "[0-9A-Z]+", "[0-9A-Za-z]+", r"\w+"))
)
# Letters of the shortest id.
_SHORTEST = 6
# Longer lines are not remembered.
_LONGEST = 4_000
# So many others must have been seen at a place before what looks like a word is taken for an id.
_OTHERS = 2


class Outlines:
    """
    The outlines of the texts of one run, in the order in which they are asked for.

    A line keeps its outline. What looks like a word is an id if two or more ids of its length and alphabet
    stood at the same place of lines that are otherwise alike, and this word did not before they were known.
    """

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}
        self._ids: dict[tuple[str, int], set[str]] = {}

    def of(self, text: str) -> str:
        """
        A text without the values of numbers, times and ids; lines that are alike then stand there once.
        """
        lines = map(self._line, _HEXADECIMAL.sub("0", text).split("\n"))
        return "\n".join(line for line, _ in groupby(lines))

    def _line(self, line: str) -> str:
        if len(line) > _LONGEST:
            return "".join(map(_shape, cut(line, Reading.RANDOM)))
        if line not in self._lines:
            self._lines[line] = self._read(cut(line, Reading.RANDOM))
        return self._lines[line]

    def _read(self, tokens: list[Token]) -> str:
        loose = [_loosely(token) for token in tokens]
        frame = "".join(loose)
        read: list[str] = []
        for place, token in enumerate(tokens):
            strict = _shape(token)
            ids = self._ids.setdefault((frame, place), set()) if loose[place] != token.text else set()
            if strict != loose[place] and _may_be_drawn(token.text, ids):
                strict = loose[place]
            elif strict == loose[place] and token.kind is Kind.RUN:
                ids.add(token.text)
            read.append(strict)
        return "".join(read)


def outline(text: str) -> str:
    """
    The outline of a single text, of which no other is known.
    """
    return Outlines().of(text)


def _shape(token: Token) -> str:
    # However many digits a number has, it is a number; and what is written like a word is one.
    word = token.text.isalpha() and (token.text[1:].islower() or token.text.isupper())
    plain = token.kind is Kind.NUMBER or word
    return shape(token, Reading.PLAIN if plain else Reading.RANDOM)


def _loosely(token: Token) -> str:
    # Chance may draw digits alone, and as few as the shortest id has.
    digits = token.kind is Kind.NUMBER and token.text.isdecimal() and len(token.text) >= _SHORTEST
    return f"\0{len(token.text)}" if digits else shape(token, Reading.RANDOM)


def _may_be_drawn(word: str, ids: set[str]) -> bool:
    """
    Whether a word may be one more of these ids.
    """
    if len(ids) < _OTHERS or not word.isalnum():
        return False
    alphabet = next((one for one in _ALPHABETS if all(map(one.fullmatch, ids))), None)
    return alphabet is not None and alphabet.fullmatch(word) is not None
