"""
This module is concerned with revisions: a promise that was not kept, changed to what was seen.

Middle floor. Pure. Only what was promised and broken is changed. Where items that share one promise gave
different things, there is nothing that could be written for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from pytest_hookharness.loading.observations import Observation
from pytest_hookharness.model.expectations import Expectation, Range, VerdictName

# A line of a reason tells it from others well before this.
LONGEST_PATTERN = 80
# What `re.escape` escapes for the sake of flags that nobody sets, and other dialects do not take.
_NEEDLESS = re.compile(r"\\([^\w.^$*+?{}\[\]\\|()])")

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """
    One value of a promise that becomes another.

    Attributes:
        path: Where it stands, below ``expect``.
        value: What is to stand there.
    """

    path: Path
    value: str | int | Range


class Unclear(Exception):
    """
    What was seen gives nothing that could be written; the text says why.
    """


def revise(expect: Expectation, seen: Mapping[str, Observation], *, written: bool) -> Expectation:
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
        expect,
        verdict=verdict,
        within=None if expect.within is None else max(expect.within, most),
        blocks=_blocks(expect.blocks, seen),
        reasons=_reasons(expect.reasons, seen),
    )


def changes(before: Expectation, after: Expectation) -> Iterator[Change]:
    """
    What has to be written to make one promise the other.
    """
    if after.verdict is not None and after.verdict != before.verdict:
        yield Change(("verdict",), after.verdict)
    if after.within is not None and after.within != before.within:
        yield Change(("within",), after.within)
    match before.blocks, after.blocks:
        case Mapping() as old, Mapping() as new:
            yield from (Change(("blocks", event), new[event]) for event in old if old[event] != new[event])
        case old, Range() as new if old != new:
            yield Change(("blocks",), new)
        case _:
            pass
    for place, (pattern, instead) in enumerate(zip(before.reasons, after.reasons, strict=True)):
        if pattern != instead:
            yield Change(("reasons", place), instead)


def _alike(noun: str, given: Mapping[str, int]) -> int:
    if len(set(given.values())) > 1:
        told = ", ".join(f"{name} gave {number}" for name, number in given.items())
        raise Unclear(f"{noun} differ: {told}; give each its own variant with a promise")
    return next(iter(given.values()))


def _verdict(expect: Expectation, seen: Mapping[str, Observation]) -> VerdictName | None:
    given: set[VerdictName] = {one.verdict for one in seen.values()}
    if given == {expect.verdict} or expect.verdict is None:
        return expect.verdict
    if len(given) > 1:
        told = ", ".join(f"{name} gave {one.verdict}" for name, one in seen.items())
        raise Unclear(f"verdicts differ: {told}; give each its own variant with a promise")
    return next(iter(given))


def _blocks(
    promised: Range | Mapping[str, Range] | None, seen: Mapping[str, Observation]
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


def _reasons(promised: tuple[str, ...], seen: Mapping[str, Observation]) -> tuple[str, ...]:
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
