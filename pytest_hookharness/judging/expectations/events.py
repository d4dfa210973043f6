"""
Promises about process hooks.

Pure.

Promises about hooks and what they decided.

Pure.

Promises about loops of the agent's own moves.

Pure. A script may well repeat itself to bring a hook to its limit, so nothing is said
of such loops unless the scenario asks.
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
    """
    Numbers of blocks, in all or by event, that are not as promised.
    """
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
    """
    Numbers of fires that are not as promised.
    """
    for word, number in expected.items():
        if outcome.hook_runs(word) not in number:
            seen = str(outcome.hook_runs(word))
            yield Violation(
                path=f"expect.fires.{word}", expected=f"{counted(number, 'fire')} of {word}", seen=seen
            )


def broken_decisions(outcome: Outcome, expected: Mapping[str, tuple[str, ...]]) -> Iterator[Violation]:
    """
    Events whose first decisions are not the promised ones.
    """
    for event, wanted in expected.items():
        hooked = [item for _, item in outcome.trace.hooked(event)]
        kept = len(hooked) >= len(wanted) and all(map(_became, hooked, wanted))
        if not kept:
            seen = (
                ", ".join(effective_ruling(item).value for item in hooked[: max(len(wanted), _MANY)])
                or "never asked"
            )
            yield Violation(path=f"expect.decisions.{event}", expected=", ".join(wanted), seen=seen)


def _became(hooked: HookEvent, word: str) -> bool:
    if word == Ruling.NONE.value:
        decision = hooked.decision
        return decision.ruling is Ruling.NONE and not decision.refused and not decision.overridden
    return effective_ruling(hooked).value == word


def broken_reasons(outcome: Outcome, patterns: tuple[str, ...]) -> Iterator[Violation]:
    """
    Patterns that no reason holds.
    """
    reasons = outcome.reasons()
    for index, pattern in enumerate(patterns):
        if not any(re.search(pattern, reason) for reason in reasons):
            seen = "no reason at all"
            if reasons:
                distinct = list(dict.fromkeys(reasons))
                seen = "; ".join(repr(reason) for reason in distinct[:_MANY])
                seen += f" and {len(distinct) - _MANY} more" if len(distinct) > _MANY else ""
            yield Violation(path=f"expect.reasons[{index}]", expected=f"a reason with {pattern!r}", seen=seen)


def broken_told(outcome: Outcome, patterns: tuple[str, ...]) -> Iterator[Violation]:
    """
    Patterns that nothing holds which a hook said and the agent's model was given.
    """
    texts = [text for _, hooked in outcome.trace.hooked() for text in hooked.decision.to_agent]
    for index, pattern in enumerate(patterns):
        if not any(re.search(pattern, text) for text in texts):
            path = f"expect.told[{index}]"
            yield Violation(
                path=path, expected=f"the agent told {pattern!r}", seen=_said_elsewhere(outcome, pattern)
            )


def _said_elsewhere(outcome: Outcome, pattern: str) -> str:
    for step, fire in outcome.trace.hook_runs():
        lost = fire.reply.unheard
        if lost is not None and re.search(pattern, lost.text):
            return f"said as {lost.place} ({fire.hook.event}, turn {step.turn}), which it does not see"
        if fire.run is not None and re.search(pattern, f"{fire.run.stdout.text}\n{fire.run.stderr.text}"):
            return f"printed by a hook of {fire.hook.event} in turn {step.turn}, and not shown to it"
    return "no hook said it"


def broken_sometimes(outcome: Outcome, wanted: tuple[str, ...]) -> Iterator[Violation]:
    """
    Events and rulings that were to happen at least once, with a hook that was really fired, and did not.
    """
    for index, word in enumerate(wanted):
        event, _, ruling = word.partition(":")
        asked = [hooked for _, hooked in outcome.trace.hooked(event) if hooked.hook_runs]
        if any(not ruling or _became(hooked, ruling.strip()) for hooked in asked):
            continue
        seen = (
            ", ".join(dict.fromkeys(effective_ruling(hooked).value for hooked in asked))
            or f"no hook of {event} fired"
        )
        yield Violation(path=f"expect.sometimes[{index}]", expected=f"{word} at least once", seen=seen)


def broken_sessions(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """
    Numbers of sessions that stand-ins played, in all and within each other, that are not as promised.
    """
    if expect.sessions is not None and outcome.sessions not in expect.sessions:
        wanted = counted(expect.sessions, "session")
        yield Violation(path="expect.sessions", expected=wanted, seen=str(outcome.sessions))
    if expect.depth is not None and outcome.depth not in expect.depth:
        wanted = f"a depth of {expect.depth}"
        yield Violation(path="expect.depth", expected=wanted, seen=str(outcome.depth))


def broken_loops(outcome: Outcome, promised: tuple[str, ...] | None) -> Iterator[Violation]:
    """
    Loops that were named and are not there, and those that are there and were not named.
    """
    if promised is None:
        return
    loops = detect(actions_of(outcome.trace))
    titles = {loop.title for loop in loops}
    for index, title in enumerate(promised):
        if title not in titles:
            seen = ", ".join(sorted(titles)) or "no loop of the agent's own moves"
            yield Violation(path=f"expect.detectors[{index}]", expected=title, seen=seen)
    for loop in loops:
        if loop.title not in promised:
            yield Violation(path="expect.detectors", expected=f"no {loop.title}", seen=loop.text)


def broken_threads(outcome: Outcome, expected: ProcessExpectation) -> Iterator[Violation]:
    """
    Numbers of threads, and a depth, that are not as promised.
    """
    tracked = outcome.background
    for word, wanted in expected.threads.items():
        seen = tracked.spawned(word)
        if seen not in wanted:
            path = f"expect.processes.threads.{word}"
            yield Violation(path=path, expected=f"{counted(wanted, 'thread')} of {word}", seen=str(seen))
    if expected.depth is not None and tracked.depth not in expected.depth:
        wanted, seen = expected.depth, tracked.depth
        yield Violation(path="expect.processes.depth", expected=f"a depth of {wanted}", seen=str(seen))
