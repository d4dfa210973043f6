"""
This module is concerned with promises about loops of the agent's own moves.

Middle floor: judging. Pure. A script may well repeat itself to bring a hook to its limit, so nothing is said
of such loops unless the scenario asks.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.judging.detectors.streams import detect
from pytest_hookharness.judging.detectors.tracing import moments
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Violation


def broken_loops(outcome: Outcome, promised: tuple[str, ...] | None) -> Iterator[Violation]:
    """
    Loops that were named and are not there, and those that are there and were not named.
    """
    if promised is None:
        return
    loops = detect(moments(outcome.trace))
    titles = {loop.title for loop in loops}
    for index, title in enumerate(promised):
        if title not in titles:
            seen = ", ".join(sorted(titles)) or "no loop of the agent's own moves"
            yield Violation(path=f"expect.detectors[{index}]", expected=title, seen=seen)
    for loop in loops:
        if loop.title not in promised:
            yield Violation(path="expect.detectors", expected=f"no {loop.title}", seen=loop.text)
