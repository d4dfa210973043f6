"""
This module is concerned with the whole opinion on a run: verdict, findings and assumptions together.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness.judging.assumptions import gather
from pytest_hookharness.judging.ends import End
from pytest_hookharness.judging.findings import find
from pytest_hookharness.judging.judge import judge
from pytest_hookharness.judging.lasso import Lasso
from pytest_hookharness.judging.problem import Problem
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.probes import Probing
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Guard, Limit, Opinion

_NOTHING_PROMISED = Expectation()


def form(
    trace: Trace,
    end: End,
    *,
    guard: Guard | None = None,
    limits: Sequence[Limit] = (),
    lasso: Lasso | None = None,
    flaky: bool = False,
    masked: frozenset[str] = frozenset(),
    assumptions: Sequence[str] = (),
    problems: Sequence[Problem] = (),
    configured: Sequence[str] | None = None,
    probing: Probing | None = None,
    expect: Expectation = _NOTHING_PROMISED,
) -> Opinion:
    """
    What the judge makes of a run; the arguments are those of `judge` and of `find`.
    """
    verdict = judge(
        trace,
        end,
        guard=guard,
        limits=limits,
        lasso=lasso,
        flaky=flaky,
        masked=masked,
        assumptions=assumptions,
        probing=probing,
    )
    if end.how == "interrupted":
        # Hooks that were not fired until then might have been.
        configured = None
    findings = find(trace, problems=problems, flaky=flaky, configured=configured, expect=expect)
    return Opinion(verdict, findings, gather(trace, assumptions))
