"""
Revisions: a promise that was not kept, changed to what was seen.

Pure. Only what was promised and broken is changed. Where items that share one promise gave
different things, there is nothing that could be written for all of them.

Observations: what a run gave that a promise in a file can be about.

Observations cross from an xdist worker to its controller, so each is JSON there and back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pytest_hookharness.model.expectations import Expectation, Range, VerdictName
from pytest_hookharness.model.outcome import INCONCLUSIVE_FINDINGS, Outcome

# So much of the reasons is enough to write a pattern; hooks may say as much as they like.
MOST_REASONS = 20
LONGEST_REASON = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRun:
    """
    What one run of one item gave.

    Attributes:
        verdict: The verdict by name.
        iterations: Turns since the first prompt.
        blocks: Refusals that the host honoured, by event.
        reasons: The reasons of refusals, each once, in order and cut short.
        unmet: Places of those promised patterns that no whole reason holds.
        hollow: Names of findings after which its end says nothing of the hooks, and that nobody promised.
    """

    verdict: VerdictName
    iterations: int
    blocks: Mapping[str, int] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    unmet: tuple[int, ...] = ()
    hollow: tuple[str, ...] = ()

    @classmethod
    def of(cls, outcome: Outcome) -> ObservedRun:
        """
        What an outcome gives.
        """
        reasons = outcome.reasons()
        expect = outcome.scenario.expect
        hollow = (finding for finding in outcome.findings if finding.name in INCONCLUSIVE_FINDINGS)
        events = dict.fromkeys(hooked.event for _, hooked in outcome.trace.hooked())
        return cls(
            verdict=outcome.verdict_name,
            iterations=outcome.iterations,
            blocks={event: outcome.blocks(event) for event in events if outcome.blocks(event)},
            reasons=tuple(dict.fromkeys(reason[:LONGEST_REASON] for reason in reasons))[:MOST_REASONS],
            unmet=tuple(
                place
                for place, pattern in enumerate(expect.reasons)
                if not any(re.search(pattern, reason) for reason in reasons)
            ),
            hollow=tuple(found.name for found in hollow if not expect.allows(found.code, found.name)),
        )

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> ObservedRun:
        """
        The observation that was made JSON of.
        """
        return cls(
            verdict=told["verdict"],
            iterations=told["iterations"],
            blocks=told["blocks"],
            reasons=tuple(told["reasons"]),
            unmet=tuple(told["unmet"]),
            hollow=tuple(told["hollow"]),
        )

    def to_json(self) -> dict[str, Any]:
        """
        The observation as JSON.
        """
        return {
            "verdict": self.verdict,
            "iterations": self.iterations,
            "blocks": dict(self.blocks),
            "reasons": list(self.reasons),
            "unmet": list(self.unmet),
            "hollow": list(self.hollow),
        }


# A line of a reason tells it from others well before this.
LONGEST_PATTERN = 80
# What `re.escape` escapes for the sake of flags that nobody sets, and other dialects do not take.
_NEEDLESS = re.compile(r"\\([^\w.^$*+?{}\[\]\\|()])")

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """
    One value of a promise that becomes another.

    Attributes:
        path: Where it stands, below ``expect``.
        value: What is to stand there; ``None`` if the key is to go.
    """

    path: Path
    value: str | int | Range | None


class Unclear(Exception):
    """
    What was seen gives nothing that could be written; the text says why.
    """


def revise(expect: Expectation, seen: Mapping[str, ObservedRun], *, written: bool) -> Expectation:
    """
    The promise that those who share it would have kept, as far as it can be revised.

    Args:
        expect: The promise.
        seen: What each of them gave, by the name of the item; at least one.
        written: Whether the file says anything of it. If not, and the verdict is another one, then verdict,
            turns and refusals are promised.

    Raises:
        Unclear: They gave different things, or nothing that could be written.
    """
    verdict = _verdict(expect, seen)
    most = max(1, *(one.iterations for one in seen.values()))
    if not written:
        if verdict == expect.verdict:
            return expect
        blocks = _alike("blocks", {name: sum(one.blocks.values()) for name, one in seen.items()})
        return replace(expect, verdict=verdict, within=most, blocks=Range.exactly(blocks))
    return replace(
        _without_loop(expect, verdict),
        verdict=verdict,
        within=None if expect.within is None else max(expect.within, most),
        blocks=_blocks(expect.blocks, seen),
        reasons=_reasons(expect.reasons, seen),
    )


def changes(before: Expectation, after: Expectation) -> Iterator[Revision]:
    """
    What has to be written to make one promise the other.
    """
    if after.verdict is not None and after.verdict != before.verdict:
        yield Revision(("verdict",), after.verdict)
    if after.within is not None and after.within != before.within:
        yield Revision(("within",), after.within)
    for key, name in (("period", "period"), ("evidence", "evidence"), ("guard", "cap")):
        if getattr(after, name) != getattr(before, name):
            yield Revision((key,), None)
    match before.blocks, after.blocks:
        case Mapping() as old, Mapping() as new:
            yield from (Revision(("blocks", event), new[event]) for event in old if old[event] != new[event])
        case old, Range() as new if old != new:
            yield Revision(("blocks",), new)
        case _:
            pass
    for place, (pattern, instead) in enumerate(zip(before.reasons, after.reasons, strict=True)):
        if pattern != instead:
            yield Revision(("reasons", place), instead)


def _without_loop(expect: Expectation, verdict: VerdictName | None) -> Expectation:
    """
    The promise without what is said of a loop, if there is none any more.
    """
    if verdict in (expect.verdict, "livelock"):
        return expect
    expect = replace(expect, period=None, evidence=None)
    return expect if verdict == "capped" else replace(expect, cap=None)


def _alike(noun: str, given: Mapping[str, int]) -> int:
    if len(set(given.values())) > 1:
        told = ", ".join(f"{name} gave {number}" for name, number in given.items())
        raise Unclear(f"{noun} differ: {told}; give each its own variant with a promise")
    return next(iter(given.values()))


def _verdict(expect: Expectation, seen: Mapping[str, ObservedRun]) -> VerdictName | None:
    given: set[VerdictName] = {one.verdict for one in seen.values()}
    if given == {expect.verdict} or expect.verdict is None:
        return expect.verdict
    if len(given) > 1:
        told = ", ".join(f"{name} gave {one.verdict}" for name, one in seen.items())
        raise Unclear(f"verdicts differ: {told}; give each its own variant with a promise")
    return next(iter(given))


def _blocks(
    promised: Range | Mapping[str, Range] | None, seen: Mapping[str, ObservedRun]
) -> Range | Mapping[str, Range] | None:
    match promised:
        case None:
            return None
        case Range():
            return _range(promised, "blocks", {name: sum(one.blocks.values()) for name, one in seen.items()})
        case _:
            return {
                event: _range(
                    number,
                    f"blocks of {event}",
                    {name: one.blocks.get(event, 0) for name, one in seen.items()},
                )
                for event, number in promised.items()
            }


def _range(promised: Range, noun: str, given: Mapping[str, int]) -> Range:
    """
    A number that is promised exactly becomes another one; of a range an end is moved.
    """
    numbers = given.values()
    if all(number in promised for number in numbers):
        return promised
    if promised.min == promised.max:
        return Range.exactly(_alike(noun, given))
    return Range(
        min=None if promised.min is None else min(promised.min, *numbers),
        max=None if promised.max is None else max(promised.max, *numbers),
    )


def _reasons(promised: tuple[str, ...], seen: Mapping[str, ObservedRun]) -> tuple[str, ...]:
    unmet = sorted({place for one in seen.values() for place in one.unmet})
    if not unmet:
        return promised
    kept = [pattern for place, pattern in enumerate(promised) if place not in unmet]
    first, *others = (one.reasons for one in seen.values())
    # Reasons that no other pattern speaks of come first.
    reasons = sorted(first, key=lambda reason: any(re.search(pattern, reason) for pattern in kept))
    found = list(dict.fromkeys(filter(None, map(_pattern, reasons))))
    found = [
        pattern
        for pattern in found
        if all(any(re.search(pattern, reason) for reason in given) for given in others)
    ]
    if len(found) < len(unmet):
        raise Unclear(
            f"reasons: of {len(unmet)} patterns there is no reason that holds them, and only {len(found)} "
            "reasons were given by all who share the promise; write by hand what is meant"
        )
    instead = dict(zip(unmet, found, strict=False))
    return tuple(instead.get(place, pattern) for place, pattern in enumerate(promised))


def _pattern(reason: str) -> str:
    """
    A regular expression for the first line of a reason that says something.
    """
    line = next((line.strip() for line in reason.splitlines() if line.strip()), "")
    return _NEEDLESS.sub(r"\1", re.escape(line[:LONGEST_PATTERN].strip()))
