"""
This module is concerned with promises about process hooks.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.expectations import ProcessExpectation
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Violation


def broken_threads(outcome: Outcome, expected: ProcessExpectation) -> Iterator[Violation]:
    """
    Numbers of threads, and a depth, that are not as promised.
    """
    tracked = outcome.tracked
    for word, wanted in expected.threads.items():
        seen = tracked.spawned(word)
        if seen not in wanted:
            path = f"expect.processes.threads.{word}"
            yield Violation(path=path, expected=f"{counted(wanted, 'thread')} of {word}", seen=str(seen))
    if expected.depth is not None and tracked.depth not in expected.depth:
        wanted, seen = expected.depth, tracked.depth
        yield Violation(path="expect.processes.depth", expected=f"a depth of {wanted}", seen=str(seen))
