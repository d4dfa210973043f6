"""The conditions under which the places of a shell script are reached, as far as its own words show."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_hookharness.model.fast_dataclass import dataclass

# A word of the shell where a command may begin, in code without quoted text.
_WORD = re.compile(
    r"(?:^|[\n;&|(){}!]|(?:(?<=\bthen)|(?<=\belse)|(?<=\bdo))(?=\s))[ \t]*"
    r"(?P<word>if|elif|else|fi|case|esac|for|while|until|select|done)(?![\w-])"
)
_THEN = re.compile(r"(?:[;\n]|\bfi\b)[ \t]*then(?![\w-])")
_DEEPEST = 8
_ARM = re.compile(r"(?:\bin\b|;;&?|;&)\s*\(?(?P<texts>[^();]{0,600})\)")


@dataclass(frozen=True, slots=True)
class Condition:
    """
    What has to hold at a place: a condition, or an arm of a ``case``.

    Attributes:
        begin: Where the condition or the texts of the arm begin in the script.
        end: Where they end.
        case: Where the ``case`` of the arm begins.
        is_arm: Whether it is an arm.
    """

    begin: int
    end: int
    case: int = 0
    is_arm: bool = False


def conditions_at(shown: str, place: int) -> list[Condition]:
    """
    Return the conditions that surely hold where a place of a script is reached.

    Args:
        shown: The script without quoted text, as ``code_of`` returns it.
        place: The place in it.
    """
    opened: list[tuple[str, int]] = []
    for found in _WORD.finditer(shown, 0, place):
        word, begin = found["word"], found.start("word")
        if word in ("fi", "esac", "done"):
            del opened[-1:]
        elif word in ("elif", "else"):
            opened[-1:] = [(word, begin)]
        else:
            opened.append((word, begin))
    known = (_condition(shown, word, begin, place) for word, begin in opened[-_DEEPEST:])
    return [*(one for one in known if one), *_of_line(shown, place)]


def ends_of_if(shown: str, place: int) -> tuple[int, int]:
    """
    Return where the branch of an ``if`` ends that begins at a place, and where the whole ``if`` does.

    Both are the end of the script if no ``fi`` follows.
    """
    depth, turned = 0, 0
    for found in _WORD.finditer(shown, place):
        word, begin = found["word"], found.start("word")
        if word in ("else", "elif") and not depth:
            turned = turned or begin
        elif word == "fi" and not depth:
            return turned or begin, begin
        depth += {"if": 1, "fi": -1}.get(word, 0)
    return turned or len(shown), len(shown)


def _condition(shown: str, word: str, begin: int, place: int) -> Condition | None:
    if word in ("if", "elif"):
        return _of_if(shown, begin, place)
    return _of_case(shown, begin, place) if word == "case" else None


def _of_if(shown: str, begin: int, place: int) -> Condition | None:
    then = _THEN.search(shown, begin, place)
    return Condition(begin, then.start()) if then else None


def _of_case(shown: str, begin: int, place: int) -> Condition | None:
    """Return the last arm of a ``case`` before a place; ``None`` behind one within it."""
    if "esac" in shown[begin:place]:
        return None
    arms = [*_ARM.finditer(shown, begin, place)]
    return Condition(arms[-1].start("texts"), arms[-1].end("texts"), begin, is_arm=True) if arms else None


def _of_line(shown: str, place: int) -> Sequence[Condition]:
    """Return what stands in front of a place in a list of commands that ends where one fails."""
    begin = max(shown.rfind(mark, 0, place) for mark in ("\n", ";")) + 1
    before = shown[begin:place]
    end = before.rfind("&&")
    return () if end < 0 or "||" in before else (Condition(begin, begin + end),)
