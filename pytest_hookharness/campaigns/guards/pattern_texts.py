"""
Texts that match the patterns in the source of a hook: commands, prompts or words that it may refuse.

Regular expressions of Python, JavaScript, grep and the shell, and patterns of `case`, are read by one small
grammar. A text is only a guess: what the hook does with it is seen when it is played.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_STRING = r"""'((?:[^'\\\n]|\\.)+)'|"((?:[^"\\\n]|\\.)+)"|`((?:[^`\\\n]|\\.)+)`"""
_CLASS = r"\[(?:[^\]\\\n]|\\.)*\]"
_REGEX = rf"(?<=[\[(=,:!?&|{{;\s])/(?![*/])((?:[^/\\\n\[]|\\.|{_CLASS})+)/"
_MATCHED = r"=~\s+([^\s\"'$][^\n]*?)\s+\]\]"
# Strings, regular expressions of JavaScript and of `[[ =~ ]]`, and patterns of `case`.
_TOKEN = re.compile(f"{_STRING}|{_REGEX}|{_MATCHED}")
_CASE = re.compile(
    r"^[ \t]*\(?((?:[^\s()\"'#|]|\\ )*[*\w](?:[^()\"'#\n]|\\ )*)\)[ \t]*(?:$|[^\s|&;)])", re.MULTILINE
)
# The pattern in `[[ x == *y* ]]`, if it is not quoted.
_EQUAL = re.compile(r"\s[!=]=\s+([^\s\"'$()\[\]]*[\w/][^\s\"'$()\[\]]*)(?=\s+(?:\]\]|&&|\|\|))")
_QUANTIFIER = re.compile(r"([*+?]|\{(\d+)(?:,\d*)?\})[?+]?")
_GROUP = re.compile(r"\?(?:([=!]|<[=!])|:|P?<\w+>|[aimsx]+:|[aimsx]+(?=\)))?")
_ONE_OF = re.compile(r"(\^?)((?:\]|)(?:\[:\w+:\]|\\.|[^\]\\])*)\]")
# Python warns of these in a class, where later versions may give them a meaning.
_SET_OPERATOR = re.compile(r"(?<!\\)(?:\[|([-&~|])\1)")
_CLASSES = {"s": " ", "S": "x", "d": "1", "D": "x", "w": "x", "W": " ", "n": "\n", "t": "\t"}
_POSIX = {"space": " ", "blank": " ", "digit": "1", "alnum": "x", "alpha": "x", "lower": "x", "upper": "X"}
_WIDTHLESS = frozenset("bBAZzG<>`'")
_PREFERRED = "x af1./-_ \"'=:;&|"
_MOST_EACH, _LONGEST = 6, 160


class _NoText(ValueError):
    """The pattern is none, or needs more than this grammar knows."""


class _Reader:
    """A recursive reader of one pattern; each method returns texts that match its part."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def peek(self, text: str) -> bool:
        """Return whether a text comes next."""
        return self.pattern.startswith(text, self.at)

    def take(self) -> str:
        """Return the next character, and go behind it."""
        if self.at >= len(self.pattern):
            raise _NoText
        self.at += 1
        return self.pattern[self.at - 1]

    def alternatives(self) -> list[str]:
        """Return texts for parts that are separated by bars, one of each first."""
        found = [self.sequence()]
        while self.peek("|"):
            self.take()
            found.append(self.sequence())
        return [one[place] for place in range(_MOST_EACH) for one in found if place < len(one)]

    def sequence(self) -> list[str]:
        """Return texts for one part after the other."""
        texts = [""]
        while self.at < len(self.pattern) and not self.peek("|") and not self.peek(")"):
            parts = self.quantified()
            # All texts with the first of each part, then the others.
            texts = [*(text + parts[0] for text in texts), *(texts[0] + part for part in parts[1:])]
            texts = texts[:_MOST_EACH]
        return texts

    def quantified(self) -> list[str]:
        """Return texts for one part, as often as it must stand there."""
        wild = self.peek(".") or self.peek("[^")
        parts = self.part()
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None:
            return parts
        self.at = found.end()
        if found[1] == "?":
            return ["", *parts]
        if found[1] == "*":
            # Between words anything may stand, and a space keeps them apart.
            return [" "] if wild else [""] if parts[0] in (" ", "x") else ["", *parts]
        return [part * max(1, int(found[2] or 1)) for part in parts]

    def part(self) -> list[str]:
        """Return texts for a character, a class or a group."""
        char = self.take()
        if char == "(":
            return self.group()
        if char == "[":
            return [self.one_of()]
        if char == "\\":
            char = self.take()
            if char.isdigit() or char in "pPkux":
                raise _NoText
            return [""] if char in _WIDTHLESS else [_CLASSES.get(char, char)]
        return [""] if char in "^$" else [char]

    def group(self) -> list[str]:
        """Return texts for the group that begins here."""
        kind = _GROUP.match(self.pattern, self.at)
        self.at = kind.end() if kind else self.at
        texts = self.alternatives()
        if self.take() != ")":
            raise _NoText
        return [""] if kind and kind[1] else texts

    def one_of(self) -> str:
        """Return a character of the class that begins here."""
        found = _ONE_OF.match(self.pattern, self.at)
        if found is None:
            raise _NoText
        self.at = found.end()
        inner = re.sub(r"\[:(\w+):\]", lambda name: _POSIX.get(name[1], "x"), found[2])
        inner = _SET_OPERATOR.sub(lambda twice: re.escape(twice[0]), inner)
        try:
            one = re.compile(f"[{found[1]}{inner}]")
        except re.error:
            raise _NoText from None
        fits = (char for char in (*_PREFERRED, *inner) if one.fullmatch(char))
        return next(fits, "x")


def texts_of(pattern: str) -> list[str]:
    """Return some texts that match a regular expression, the shortest first; none for what is no pattern."""
    reader = _Reader(pattern)
    try:
        texts = reader.alternatives()
    except (_NoText, RecursionError):
        return []
    return texts if reader.at == len(pattern) else []


def find_texts(source: str) -> Iterator[str]:
    """Yield the texts that match what a source compares with, each once."""
    tokens = [next(filter(None, found)) for found in _TOKEN.findall(source)]
    # In a string that is not raw, a backslash stands twice.
    patterns = (token.replace("\\\\", "\\") for token in tokens if len(token) <= _LONGEST)
    texts = (text for pattern in patterns for text in texts_of(pattern))
    plain = (" ".join(text.split()) for text in (*texts, *globs(source)))
    yield from dict.fromkeys(text for text in plain if text)


def globs(source: str) -> Iterator[str]:
    """Yield texts that fit the patterns of `case` and of `[[ x == *y* ]]`."""
    cases = [one for words in _CASE.findall(source) for one in words.split("|")]
    yield from (
        one.replace("\\ ", " ").replace("*", " ").strip() for one in [*cases, *_EQUAL.findall(source)]
    )
