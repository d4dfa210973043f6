"""The arms of a ``case`` of a shell script: their patterns, and where their statements begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from pytest_hookharness.campaigns.check.command_guards.patterns import glob_source
from pytest_hookharness.model.fast_dataclass import dataclass

_HEADER = re.compile(r"(?<![\w-])case[ \t]+\"?\$\{?(?P<name>\w+)\}?\"?[ \t]+in\b")
_NESTING = re.compile(r"(?<![\w-])(?P<word>case|esac)(?![\w-])|;;")
_MOST, _FAR = 60, 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseArm:
    """
    One arm of a ``case``.

    Attributes:
        name: The variable that is compared.
        begin: Where its patterns begin; of the first arm, where the ``case`` begins.
        opened: Where the ``case`` begins.
        body: Where its statements begin.
        end: Where they end.
        closed: Where the ``case`` ends.
        source: What is searched for; empty if it is not understood.
        fits: Whether the arm is taken if that fits; otherwise it is the last one, for all else.
    """

    name: str
    begin: int
    opened: int
    body: int
    end: int
    closed: int
    source: str
    fits: bool = True


def case_arms(code: str, shown: str, looped: Mapping[str, Sequence[str]]) -> Iterator[CaseArm]:
    """
    Yield the arms of each ``case`` that compares one variable.

    Args:
        looped: The texts that variables of loops take.
    """
    for header in islice(_HEADER.finditer(code), _MOST):
        # In quoted text, it is no code.
        if shown.startswith("case", header.start()):
            yield from _arms(header, code, shown, looped)


def _arms(
    header: re.Match[str], code: str, shown: str, looped: Mapping[str, Sequence[str]]
) -> Iterator[CaseArm]:
    ends, closed = _ends(shown, header.end())
    begin, place, known = header.start(), header.end(), list[str]()
    for end in ends:
        bracket = shown.find(")", place, end)
        if bracket < 0:
            return
        first = place + len(shown[place:bracket]) - len(shown[place:bracket].lstrip(" \t\n("))
        patterns = [one.strip() for one in _split(code, shown, first, bracket)]
        sources = [glob_source(one, looped) for one in patterns]
        if patterns == ["*"]:
            source, fits = "|".join(known) if all(known) else "", False
        else:
            source, fits = "|".join(sources) if all(sources) else "", True
        known += sources
        yield CaseArm(
            name=header["name"],
            begin=begin,
            opened=header.start(),
            body=bracket + 1,
            end=end,
            closed=closed,
            source=source,
            fits=fits,
        )
        begin = place = end + 2


def _ends(shown: str, place: int) -> tuple[list[int], int]:
    """Return where the arms end of the ``case`` whose first arm begins at a place, and where it ends."""
    depth, ends = 0, list[int]()
    for found in _NESTING.finditer(shown, place, place + _FAR):
        if found["word"] == "case":
            depth += 1
        elif found["word"] and depth:
            depth -= 1
        elif found["word"]:
            return [*ends, found.start()], found.start()
        elif not depth:
            ends.append(found.start())
    return [], 0


def _split(code: str, shown: str, begin: int, end: int) -> Iterator[str]:
    """Yield the parts of the code between two places that bars outside of quotes separate."""
    for place in range(begin, end):
        if shown[place] == "|":
            yield code[begin:place]
            begin = place + 1
    yield code[begin:end]
