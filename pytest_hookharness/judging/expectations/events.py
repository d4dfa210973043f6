"""
Expectations about hooks and their decisions, about process hooks, and about loops of the agent's own calls.

A script may repeat calls on purpose, to bring a hook to its limit. Such loops are only checked if the
scenario has an expectation about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_hookharness.judging.detectors.offline import actions_of, detect
from pytest_hookharness.model.expectations import Expectation, ProcessExpectation, Range, counted
from pytest_hookharness.model.outcome import Outcome, effective_ruling
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent
from pytest_hookharness.model.verdicts import Violation

_MANY = 3


def broken_blocks(outcome: Outcome, expected: Range | Mapping[str, Range] | None) -> Iterator[Violation]:
    """Check the numbers of blocks, in total or by event."""
    if expected is None:
        return
    if isinstance(expected, Range):
        if outcome.blocks() not in expected:
            yield Violation(
                path="expect.blocks", expected=counted(expected, "block"), seen=str(outcome.blocks())
            )
        return
    for event, number in expected.items():
        if outcome.blocks(event) not in number:
            path = f"expect.blocks.{event}"
            yield Violation(
                path=path, expected=f"{counted(number, 'block')} of {event}", seen=str(outcome.blocks(event))
            )


def broken_hook_runs(outcome: Outcome, expected: Mapping[str, Range]) -> Iterator[Violation]:
    """Check the numbers of hook runs."""
    for word, number in expected.items():
        if outcome.hook_runs(word) not in number:
            seen = str(outcome.hook_runs(word))
            yield Violation(
                path=f"expect.fires.{word}", expected=f"{counted(number, 'hook run')} of {word}", seen=seen
            )


def broken_decisions(outcome: Outcome, expected: Mapping[str, tuple[str, ...]]) -> Iterator[Violation]:
    """Check the first decisions of events."""
    for event, wanted in expected.items():
        hooked = [item for _, item in outcome.trace.hooked(event)]
        met = len(hooked) >= len(wanted) and all(map(_became, hooked, wanted))
        if not met:
            seen = (
                ", ".join(effective_ruling(item).value for item in hooked[: max(len(wanted), _MANY)])
                or "no decision"
            )
            yield Violation(path=f"expect.decisions.{event}", expected=", ".join(wanted), seen=seen)


def _became(hooked: HookEvent, word: str) -> bool:
    if word == Ruling.NONE.value:
        decision = hooked.decision
        return decision.ruling is Ruling.NONE and not decision.refused and not decision.overridden
    return effective_ruling(hooked).value == word


def broken_reasons(outcome: Outcome, patterns: tuple[str, ...]) -> Iterator[Violation]:
    """Check for patterns that no reason matches."""
    reasons = outcome.reasons()
    for index, pattern in enumerate(patterns):
        if not any(re.search(pattern, reason) for reason in reasons):
            seen = "no reason"
            if reasons:
                distinct = list(dict.fromkeys(reasons))
                seen = "; ".join(repr(reason) for reason in distinct[:_MANY])
                seen += f" and {len(distinct) - _MANY} more" if len(distinct) > _MANY else ""
            yield Violation(
                path=f"expect.reasons[{index}]", expected=f"a reason that matches {pattern!r}", seen=seen
            )


def broken_told(outcome: Outcome, patterns: tuple[str, ...]) -> Iterator[Violation]:
    """Check for patterns that match nothing that a hook said and the agent's model received."""
    texts = [text for _, hooked in outcome.trace.hooked() for text in hooked.decision.to_agent]
    for index, pattern in enumerate(patterns):
        if not any(re.search(pattern, text) for text in texts):
            path = f"expect.told[{index}]"
            yield Violation(
                path=path,
                expected=f"text for the agent that matches {pattern!r}",
                seen=_where_else(outcome, pattern),
            )


def _where_else(outcome: Outcome, pattern: str) -> str:
    for step, hook_run in outcome.trace.hook_runs():
        unheard = hook_run.reply.unheard
        if unheard is not None and re.search(pattern, unheard.text):
            place = f"{unheard.place} ({hook_run.hook.event}, turn {step.turn})"
            return f"said as {place}, which the agent does not see"
        if hook_run.run is not None and re.search(
            pattern, f"{hook_run.run.stdout.text}\n{hook_run.run.stderr.text}"
        ):
            return (
                f"printed by a hook of {hook_run.hook.event} in turn {step.turn}, but not shown to the agent"
            )
    return "no hook said it"


def broken_sometimes(outcome: Outcome, wanted: tuple[str, ...]) -> Iterator[Violation]:
    """Check for events and rulings that should happen at least once, with a hook that really ran."""
    for index, word in enumerate(wanted):
        event, _, ruling = word.partition(":")
        asked = [hooked for _, hooked in outcome.trace.hooked(event) if hooked.hook_runs]
        if any(not ruling or _became(hooked, ruling.strip()) for hooked in asked):
            continue
        seen = (
            ", ".join(dict.fromkeys(effective_ruling(hooked).value for hooked in asked))
            or f"no hook of {event} ran"
        )
        yield Violation(path=f"expect.sometimes[{index}]", expected=f"{word} at least once", seen=seen)


def broken_sessions(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """Check the number and the depth of the sessions of fake agents."""
    if expect.sessions is not None and outcome.sessions not in expect.sessions:
        wanted = counted(expect.sessions, "session")
        yield Violation(path="expect.sessions", expected=wanted, seen=str(outcome.sessions))
    if expect.depth is not None and outcome.depth not in expect.depth:
        wanted = f"a depth of {expect.depth}"
        yield Violation(path="expect.depth", expected=wanted, seen=str(outcome.depth))


def broken_loops(outcome: Outcome, expected: tuple[str, ...] | None) -> Iterator[Violation]:
    """Check for loops that were expected and did not occur, and for loops that were not expected."""
    if expected is None:
        return
    loops = detect(actions_of(outcome.trace))
    titles = {loop.title for loop in loops}
    for index, title in enumerate(expected):
        if title not in titles:
            seen = ", ".join(sorted(titles)) or "no loop of the agent's own calls"
            yield Violation(path=f"expect.detectors[{index}]", expected=title, seen=seen)
    for loop in loops:
        if loop.title not in expected:
            yield Violation(path="expect.detectors", expected=f"no {loop.title}", seen=loop.text)


def broken_threads(outcome: Outcome, expected: ProcessExpectation) -> Iterator[Violation]:
    """Check the numbers of threads, and their depth."""
    tracked = outcome.background
    for word, wanted in expected.threads.items():
        seen = tracked.spawned(word)
        if seen not in wanted:
            path = f"expect.processes.threads.{word}"
            yield Violation(path=path, expected=f"{counted(wanted, 'thread')} of {word}", seen=str(seen))
    if expected.depth is not None and tracked.depth not in expected.depth:
        wanted, seen = expected.depth, tracked.depth
        yield Violation(path="expect.processes.depth", expected=f"a depth of {wanted}", seen=str(seen))
