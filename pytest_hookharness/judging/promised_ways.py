"""
This module is concerned with promises about ways: into a lock-out, and out of a loop.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import Edit, Move, Read, Run, Stop, Subagent, Tools, unlabelled
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Violation


def broken_ways(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """
    Ways that are promised and are others, or are none.
    """
    explored = outcome.explored
    trap = explored.trap if explored is not None else None
    way_in = None if trap is None else trap.way
    way_out = None if explored is None or not explored.escape else explored.escape
    for name, promised, seen in (("way_in", expect.way_in, way_in), ("way_out", expect.way_out, way_out)):
        wanted = None if promised is None else tuple(map(unlabelled, promised))
        known = None if seen is None else tuple(map(unlabelled, seen))
        if wanted is not None and wanted != known:
            yield Violation(path=f"expect.{name}", expected=_words(wanted), seen=_words(known))


def _words(way: Sequence[Move] | None) -> str:
    if way is None:
        return "no way is known"
    return ", ".join(map(_word, way)) or "no move at all"


def _word(move: Move) -> str:
    match move:
        case Run(command=command):
            return f"run: {command}"
        case Edit(file=file):
            return f"edit: {file}"
        case Read(file=file):
            return f"read: {file}"
        case Stop(text=text):
            return f"stop: {text}"
        case Subagent(kind=kind):
            return f"subagent: {kind}"
        case Tools(calls=calls):
            return "tool: " + " and ".join(call.name for call in calls)
        case _:
            assert_never(move)
