"""
Revise an expectation that was not met to what was observed.

Only values that are written and not met are changed. Items that share one expectation must have equal
results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, replace
from typing import Any, TypeAlias, TypeVar

from pytest_hookharness.model.expectations import Expectation, Range
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import INCONCLUSIVE_FINDINGS, Outcome
from pytest_hookharness.model.regex import found_in
from pytest_hookharness.model.verdicts import VerdictName

# Reasons can be of any number and length; this much is enough to write patterns.
MOST_REASONS = 20
LONGEST_REASON = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRun:
    """
    The observed values of one run of one item, for expectations in a file.

    It has a JSON form because pytest-xdist workers send it to the controller.

    Attributes:
        iterations: Number of turns since the first prompt.
        blocks: Number of refusals that the host honoured, by event.
        reasons: Distinct reasons of refusals, in order, shortened.
        unmet: Indexes of the expected patterns that match no complete reason.
        inconclusive: Unexpected findings after which the session's end proves nothing about the hooks.
    """

    verdict: VerdictName
    iterations: int
    blocks: Mapping[str, int] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    unmet: tuple[int, ...] = ()
    inconclusive: tuple[str, ...] = ()

    @classmethod
    def of(cls, outcome: Outcome) -> ObservedRun:
        """Return the observed values of an outcome."""
        reasons = outcome.reasons()
        expect = outcome.scenario.expect
        found = (finding for finding in outcome.findings if finding.name in INCONCLUSIVE_FINDINGS)
        events = dict.fromkeys(hooked.event for _, hooked in outcome.trace.hooked())
        return cls(
            verdict=outcome.verdict_name,
            iterations=outcome.iterations,
            blocks={event: outcome.blocks(event) for event in events if outcome.blocks(event)},
            reasons=tuple(dict.fromkeys(reason[:LONGEST_REASON] for reason in reasons))[:MOST_REASONS],
            unmet=tuple(
                place for place, pattern in enumerate(expect.reasons) if not found_in(pattern, reasons)
            ),
            inconclusive=tuple(one.name for one in found if not expect.allows(one.code, one.name)),
        )

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> ObservedRun:
        """Return the observed values from their JSON form."""
        lists: dict[str, Any] = {name: tuple(values[name]) for name in ("reasons", "unmet", "inconclusive")}
        return cls(**{**values, **lists})

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


# Long enough to distinguish reasons from each other.
LONGEST_PATTERN = 80
# Escapes that `re.escape` writes for the flag VERBOSE, and that other dialects refuse.
_NEEDLESS = re.compile(r"\\([^\w.^$*+?{}\[\]\\|()])")

KeyPath: TypeAlias = tuple[str | int, ...]
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Revision:
    """The change of one value below ``expect``; ``None`` removes its key."""

    path: KeyPath
    value: str | int | Range | None


# Keys about one kind of verdict, each with its field of an expectation.
_OF_LIVELOCK = (("period", "period"), ("evidence", "evidence"), ("way_out", "way_out"))
_OF_LOCKOUT = ("way_in", "way_in")


class Unclear(Exception):
    """The observed values cannot be written as one expectation; the text says why."""


def revise(expect: Expectation, seen: Mapping[str, ObservedRun], *, written: bool) -> Expectation:
    """
    Return the expectation that the observed runs of all items that share it would meet.

    If the file does not contain the expectation (``written``) and the verdict differs, then verdict, turns
    and refusals become expected.

    Raises:
        Unclear: The items have different values, or values that cannot be written.
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
    """Yield the changes that turn one expectation into the other."""
    if after.verdict is not None and after.verdict != before.verdict:
        yield Revision(("verdict",), after.verdict)
    if after.within is not None and after.within != before.within:
        yield Revision(("within",), after.within)
    for key, name in (*_OF_LIVELOCK, ("guard", "cap"), _OF_LOCKOUT):
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
    """Return the expectation without the keys about a livelock or a lock-out, if there is none any more."""
    if verdict == expect.verdict:
        return expect
    expect = expect if verdict == "lockout" else replace(expect, way_in=None)
    if verdict == "livelock":
        return expect
    expect = replace(expect, period=None, evidence=None, way_out=None)
    return expect if verdict == "capped" else replace(expect, cap=None)


def _alike(noun: str, given: Mapping[str, _Value]) -> _Value:
    if len(set(given.values())) > 1:
        listed = ", ".join(f"{name} had {value}" for name, value in given.items())
        raise Unclear(f"{noun} differ: {listed}; write a variant with its own expect for each")
    return next(iter(given.values()))


def _verdict(expect: Expectation, seen: Mapping[str, ObservedRun]) -> VerdictName | None:
    given: set[VerdictName] = {one.verdict for one in seen.values()}
    if given == {expect.verdict} or expect.verdict is None:
        return expect.verdict
    return _alike("verdicts", {name: one.verdict for name, one in seen.items()})


def _blocks(
    expected: Range | Mapping[str, Range] | None, seen: Mapping[str, ObservedRun]
) -> Range | Mapping[str, Range] | None:
    match expected:
        case None:
            return None
        case Range():
            return _range(expected, "blocks", {name: sum(one.blocks.values()) for name, one in seen.items()})
        case _:
            return {
                event: _range(
                    number,
                    f"blocks of {event}",
                    {name: one.blocks.get(event, 0) for name, one in seen.items()},
                )
                for event, number in expected.items()
            }


def _range(expected: Range, noun: str, given: Mapping[str, int]) -> Range:
    """Return an exact number as the observed one, and a range extended to the observed numbers."""
    numbers = given.values()
    if all(number in expected for number in numbers):
        return expected
    if expected.min == expected.max:
        return Range.exactly(_alike(noun, given))
    return Range(
        min=None if expected.min is None else min(expected.min, *numbers),
        max=None if expected.max is None else max(expected.max, *numbers),
    )


def _reasons(expected: tuple[str, ...], seen: Mapping[str, ObservedRun]) -> tuple[str, ...]:
    unmet = sorted({place for one in seen.values() for place in one.unmet})
    if not unmet:
        return expected
    kept = [pattern for place, pattern in enumerate(expected) if place not in unmet]
    first, *others = (one.reasons for one in seen.values())
    # Prefer reasons that no other pattern matches.
    reasons = sorted(first, key=lambda reason: any(found_in(pattern, [reason]) for pattern in kept))
    found = list(dict.fromkeys(filter(None, map(_pattern, reasons))))
    found = [pattern for pattern in found if all(found_in(pattern, given) for given in others)]
    if len(found) < len(unmet):
        raise Unclear(
            f"reasons: {len(unmet)} patterns match no reason, and only {len(found)} reasons occurred in all "
            "items that share the expectation; write the patterns by hand"
        )
    instead = dict(zip(unmet, found, strict=False))
    return tuple(instead.get(place, pattern) for place, pattern in enumerate(expected))


def _pattern(reason: str) -> str:
    """Return a regular expression for the first line of a reason that is not empty."""
    line = next((line.strip() for line in reason.splitlines() if line.strip()), "")
    return _NEEDLESS.sub(r"\1", re.escape(line[:LONGEST_PATTERN].strip()))
