"""
This module is concerned with hits: the statements of a script that its trace shows to have run.

Middle floor: lines. Pure. A line alone proves nothing: for `eval`, traps and what a command substitutes bash
names lines on which something else may stand. So what was traced has to begin as the statement does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_hookharness.lines.statements import Statement
from pytest_hookharness.model.recordings import Traced


def lines_run(statements: Sequence[Statement], traced: Iterable[Traced]) -> frozenset[int]:
    """
    The lines of the statements that ran.
    """
    at: dict[int, list[Statement]] = {}
    for statement in statements:
        for line in range(statement.first, statement.last + 1):
            at.setdefault(line, []).append(statement)
    return frozenset(
        statement.first
        for one in traced
        for statement in at.get(one.line, ())
        if f"{one.text} ".startswith(statement.begins)
    )
