"""What a run is judged by."""

from __future__ import annotations

from dataclasses import KW_ONLY

from pytest_hookharness.judging.recurrence import cycle
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.model import verdicts
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import ProbeReport
from pytest_hookharness.model.protocol import SettingsProblem
from pytest_hookharness.model.reads import ObservedCycle
from pytest_hookharness.model.trace import Trace

_NO_EXPECTATION = Expectation()


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """
    Everything that a run is judged by.

    Attributes:
        cap: What the host's cap would do, or did.
        limits: What else of the host would end a loop.
        lasso: The lasso that the loop pursued, confirmed or not; the judge checks the proof again.
        flaky: The loop saw one state lead to two results.
        masked: State paths that differed and were ignored because of a mask.
        assumptions: What a proof rests on besides the standing assumptions, in sentences.
        configured: The events with configured hooks; ``None`` if that is unknown.
        probing: The newest probes, if there were any.
        observed: The cycle whose reads were observed; ``None`` if there is none.
        expect: What the scenario expects; some findings are broken expectations.
    """

    trace: Trace
    end: RunEnd
    _: KW_ONLY
    cap: verdicts.Cap | None = None
    limits: tuple[verdicts.Limit, ...] = ()
    lasso: cycle.Lasso | None = None
    flaky: bool = False
    masked: frozenset[str] = frozenset()
    assumptions: tuple[str, ...] = ()
    problems: tuple[SettingsProblem, ...] = ()
    configured: tuple[str, ...] | None = None
    probing: ProbeReport | None = None
    observed: ObservedCycle | None = None
    expect: Expectation = _NO_EXPECTATION
