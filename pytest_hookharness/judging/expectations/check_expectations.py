"""
Expectations: which of a scenario's expectations were broken.

An exception while an expectation is checked is a bug: it is not caught, and never counts as an expectation
that was met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType

from pytest_hookharness.judging.expectations import end_of_run, events
from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.model.expectations import CapExpectation, Expectation, ordinal
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import StateEntry
from pytest_hookharness.model.verdicts import (
    BY_REFUSALS,
    Cap,
    Capped,
    Finding,
    Livelock,
    Verdict,
    Violation,
    verdict_name,
)

# The verdicts that rest on refusals.
_OF_VERDICT = ("verdict", "within", "period", "guard", "without_cap", "evidence", "way_in", "way_out")


def find_violations(
    outcome: Outcome,
    *,
    initial: Mapping[str, StateEntry],
    final_text: Callable[[str], str | None],
    final: Mapping[str, StateEntry] | None = None,
    unmatched_masks: Mapping[int, str] = MappingProxyType({}),
) -> tuple[Violation, ...]:
    """
    Return the broken expectations, those about the verdict first; their paths are as written in the file.

    Args:
        outcome: What took place; its own ``violations`` are ignored.
        initial: The entries before the first turn, by state path.
        final_text: Returns the text of a file at the end by its path relative to the workspace, and
            ``None`` if there is no such file. Its exceptions are not caught.
        final: The entries at the end, by state path; if omitted, those of the last state.
        unmatched_masks: The masks that left nothing out, by position, with what is there instead.
    """
    states = outcome.trace.states
    if final is None:
        final = states[max(states)].files if states else {}
    expect = outcome.scenario.expect
    broken = chain(
        _of_verdict(outcome, expect),
        end_of_run.broken_times(outcome, expect.within_ms),
        events.broken_blocks(outcome, expect.blocks),
        events.broken_hook_runs(outcome, expect.hook_runs),
        events.broken_decisions(outcome, expect.decisions),
        events.broken_reasons(outcome, expect.reasons),
        events.broken_loops(outcome, expect.detectors),
        end_of_run.broken_findings(outcome, expect),
        end_of_run.broken_files(expect.files, initial=initial, final=final, final_text=final_text),
        end_of_run.broken_end_of_calls(outcome, expect.no_call_after),
        end_of_run.broken_leftovers(outcome, expect),
        events.broken_sometimes(outcome, expect.sometimes),
        events.broken_unchecked(outcome, expect),
        events.broken_told(outcome, expect.told),
        events.broken_threads(outcome, expect.processes),
        events.broken_sessions(outcome, expect),
        events.broken_calls(outcome),
        events.broken_received(outcome),
        end_of_run.broken_masks(outcome, unmatched_masks),
    )
    return _as_written(outcome, broken)


def _of_verdict(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    verdict = outcome.verdict
    yield from _verdict(outcome, expect)
    yield from _loop_by_chance(outcome, expect)
    yield from _period(verdict, expect.period)
    yield from _cap(verdict, expect.cap)
    yield from _without_cap(verdict, expect.without_cap)
    yield from _evidence(verdict, expect.evidence)
    yield from end_of_run.broken_paths(outcome, expect)


def _as_written(outcome: Outcome, broken: Iterable[Violation]) -> tuple[Violation, ...]:
    mark = outcome.scenario.mark
    return tuple(replace(item, path=mark(item.path)) for item in broken)


def with_findings(outcome: Outcome, found: Sequence[Finding]) -> Outcome:
    """Return an outcome with later findings added, and with its expectations about findings checked again."""
    if not found:
        return outcome
    outcome = replace(outcome, findings=(*outcome.findings, *found))
    place = outcome.scenario.mark("expect.findings")
    others = (broken for broken in outcome.violations if not broken.path.startswith(place))
    broken = end_of_run.broken_findings(outcome, outcome.scenario.expect)
    return replace(outcome, violations=(*others, *_as_written(outcome, broken)))


def with_verdict(outcome: Outcome, verdict: Verdict) -> Outcome:
    """Return an outcome with another verdict, and with its expectations about the verdict checked again."""
    outcome = replace(outcome, verdict=verdict)
    places = {outcome.scenario.mark(f"expect.{name}") for name in _OF_VERDICT}
    others = (broken for broken in outcome.violations if broken.path not in places)
    anew = _as_written(outcome, _of_verdict(outcome, outcome.scenario.expect))
    return replace(outcome, violations=(*anew, *others))


def _verdict(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    within = "" if expect.within is None else f" within {expect.within}"
    seen = outcome.verdict_name
    if expect.verdict is None and seen == "undecided":
        yield Violation("expect.verdict", f"an end{within}, or a proof that there is none", seen)
    elif expect.verdict is not None and seen != expect.verdict:
        more = _unlike_cap(outcome.verdict) if expect.verdict == "capped" else ""
        yield Violation("expect.verdict", f"{expect.verdict}{within}", f"{seen}{more}")
    elif expect.within is not None and outcome.iterations > expect.within:
        yield Violation("expect.within", f"at most {expect.within}", f"{seen} after {outcome.iterations}")


def _unlike_cap(verdict: Verdict) -> str:
    """Return how to see the cap act on a loop that was proved before; empty if it never acts on it."""
    if not isinstance(verdict, Livelock) or verdict.cap is None or verdict.cap.overrides is None:
        return ""
    nth = ordinal(verdict.cap.overrides)
    return f", proved before the host's cap acts at the {nth} refusal in a row; `until: guard` plays up to it"


def _loop_by_chance(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """Check that hooks that ran cause the loop or lock-out that is expected, unless NOT-RUN is too."""
    seen = outcome.verdict_name
    if seen not in BY_REFUSALS or seen != expect.verdict:
        return
    if expect.allows(finding_catalogue.NOT_RUN.code, finding_catalogue.NOT_RUN.name):
        return
    stem = outcome.verdict.stem if isinstance(outcome.verdict, Livelock) else 0
    refused = [one for step, one in outcome.trace.hooked() if one.decision.refused and step.turn > stem]
    reasons = [one.refused_by_chance for one in refused]
    if reasons and all(reasons):
        yield Violation("expect.verdict", f"{seen} by a hook that runs", f"{seen}: {reasons[0]}")


def _period(verdict: Verdict, period: int | None) -> Iterator[Violation]:
    if period is None or (isinstance(verdict, Livelock) and verdict.period == period):
        return
    yield Violation("expect.period", f"a period of {period}", _loop(verdict))


def _evidence(verdict: Verdict, evidence: str | None) -> Iterator[Violation]:
    if evidence is None or (isinstance(verdict, Livelock) and verdict.evidence == evidence):
        return
    yield Violation("expect.evidence", f"{evidence} evidence", _loop(verdict))


def _loop(verdict: Verdict) -> str:
    if isinstance(verdict, Livelock):
        return f"livelock of period {verdict.period}, {verdict.evidence} evidence"
    return f"no proved loop ({verdict_name(verdict)})"


def _cap(verdict: Verdict, expected: CapExpectation | None) -> Iterator[Violation]:
    if expected is None:
        return
    if not isinstance(verdict, Livelock | Capped):
        seen = f"no loop for a cap to end ({verdict_name(verdict)})"
        yield Violation("expect.guard", _wanted(expected), seen)
        return
    cap = verdict.cap
    present = isinstance(verdict, Capped) or (cap is not None and cap.overrides is not None)
    number = cap.overrides if cap is not None else None
    if present != expected.present or expected.overrides not in (None, number):
        yield Violation("expect.guard", _wanted(expected), _seen(cap, present=present))


def _without_cap(verdict: Verdict, expected: str | None) -> Iterator[Violation]:
    if expected is None:
        return
    name, why = verdict_name(verdict), ""
    if isinstance(verdict, Capped):
        name, why = verdict.without.name, f": {verdict.without.why}"
    if name != expected:
        yield Violation("expect.without_cap", f"{expected} without the host's cap", f"{name}{why}")


def _wanted(expected: CapExpectation) -> str:
    if not expected.present:
        return "no cap that ends this loop"
    if expected.overrides is None:
        return "a cap that ends this loop"
    return f"a cap that overrides the {ordinal(expected.overrides)} refusal in a row"


def _seen(cap: Cap | None, *, present: bool) -> str:
    if cap is None:
        return "the host has no cap"
    if not present:
        return f"a cap that never ends this loop: {cap.why}"
    if cap.overrides is None:
        return f"a cap that ended it: {cap.why}"
    return f"a cap that overrides the {ordinal(cap.overrides)} refusal in a row"
