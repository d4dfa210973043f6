"""
Ageing: files that do not change, and hold values near the clock.

Pure.

A stamp that was written once may still be compared with the clock by hooks; time would then end a loop that
recurs exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_hookharness.judging.state_diff.file_series import LARGEST, Files, text_of
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.targets import Places
from pytest_hookharness.judging.state_diff.timestamps import Stamp, age_stamps, stamps_in
from pytest_hookharness.model.probes import PartKind, StatePart

# A file with more stamps is one part.
_MANY = 20


@dataclass(frozen=True, slots=True)
class Stamps:
    """
    The values near the clock in some files.

    Attributes:
        texts: The texts that hold such values, by state path.
        parts: The values; all of a file as one part if they are many.
        clock: The clock of the session.
    """

    texts: tuple[tuple[str, str], ...]
    parts: tuple[StatePart, ...]
    clock: SessionClock

    def aged(self, seconds: float) -> Files:
        """
        The files that hold such values, with all of them made older.
        """
        return {path: age_stamps(text, seconds, self.clock).encode() for path, text in self.texts}


def find_stamps(files: Files, clock: SessionClock) -> Stamps:
    """
    All values near the clock; files that are no text, or too large to be written anew, are left out.
    """
    texts: list[tuple[str, str]] = []
    parts: list[StatePart] = []
    for path, content in sorted(files.items()):
        text = text_of(content) if content is not None and len(content) <= LARGEST else None
        found = [] if text is None else list(stamps_in(text, clock))
        if text is not None and found:
            texts.append((path, text))
            parts += _parts(path, text, found) if len(found) <= _MANY else [_together(path, text, found)]
    return Stamps(tuple(texts), tuple(parts), clock)


def same_but_for_stamps(one: bytes | None, other: bytes | None, clock: SessionClock) -> bool:
    """
    Whether two contents differ in nothing but values near the clock.
    """
    first, second = (text_of(content) if content is not None else None for content in (one, other))
    if first is None or second is None:
        return one == other
    return _without_stamps(first, clock) == _without_stamps(second, clock)


def _without_stamps(text: str, clock: SessionClock) -> list[str]:
    ends = [0, *(place for stamp in stamps_in(text, clock) for place in (stamp.start, stamp.end)), len(text)]
    return [text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]


def _parts(path: str, text: str, found: list[Stamp]) -> Iterator[StatePart]:
    places = Places(text)
    for stamp in found:
        said = text[stamp.start : stamp.end]
        name = places.of_value(stamp.start, stamp.end)
        yield StatePart(
            path=path, name=name, kind=PartKind.STAMP, before=said, after=said, unit=stamp.unit, stamped=True
        )


def _together(path: str, text: str, found: list[Stamp]) -> StatePart:
    first, last = found[0], found[-1]
    return StatePart(
        path=path,
        name=f"{len(found):,} time stamps",
        kind=PartKind.STAMP,
        before=text[first.start : first.end],
        after=text[last.start : last.end],
        unit=first.unit,
        stamped=True,
    )
