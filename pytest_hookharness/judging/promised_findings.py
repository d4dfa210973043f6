"""
This module is concerned with promises about findings and about processes that are left over.

Middle floor: judging. Pure. Both are never allowed unless named, so an expectation that says nothing
promises that there are none.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.judging import codes
from pytest_hookharness.judging.codes import look_up, nearest
from pytest_hookharness.model.expectations import Expectation, Range
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Violation


def broken_findings(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """
    Findings that were named and did not occur, and those that occurred and were not named.
    """
    seen = {finding.code for finding in outcome.findings}
    for index, word in enumerate(expect.findings):
        code = look_up(word)
        if code is not None and code.code in seen:
            continue
        wanted = (
            f"{code.code} {code.name}" if code is not None else f"{word} (no such finding{_nearest(word)})"
        )
        listed = ", ".join(sorted(f"{item.code} {item.name}" for item in outcome.findings))
        yield Violation(path=f"expect.findings[{index}]", expected=wanted, seen=listed or "no findings")
    for finding in outcome.findings:
        if not expect.allows(finding.code, finding.name):
            seen_text = f"{finding.code} {finding.name}: {finding.text}"
            yield Violation(path="expect.findings", expected=f"no {finding.name}", seen=seen_text)


def _nearest(word: str) -> str:
    near = nearest(word)
    return f"; nearest is {near}" if near else ""


def broken_leftovers(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """
    A number of left over processes that is not as promised: none, unless the scenario says otherwise.
    """
    allowed = expect.leftovers
    if allowed is None:
        excused = {codes.HELD_OPEN, codes.LEFTOVER}
        if any(look_up(word) in excused for word in expect.findings):
            return
        allowed = Range.exactly(0)
    left = outcome.leftovers
    if len(left) not in allowed:
        commands = ", ".join(f"`{process.command}`" for process in left[:3])
        more = f" and {len(left) - 3} more" if len(left) > 3 else ""
        seen = f"{len(left)}: {commands}{more}" if left else "0"
        yield Violation(path="expect.leftovers", expected=f"{allowed} processes left over", seen=seen)
