"""
Sights: the files of a thread as they are found at some later moment.

Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pytest_hookharness.judging.state_diff.file_series import (
    Course,
    Files,
    FileSeries,
    natural,
    text_of,
)
from pytest_hookharness.judging.state_diff.progressions import lap_of
from pytest_hookharness.judging.state_diff.templates import (
    Region,
    Template,
    TemplateMismatch,
    TemplateSlot,
    Values,
)

_EMPTY = Values({}, {})


@dataclass(frozen=True, slots=True)
class Observed:
    """
    A file of a thread, as it was found at one moment.

    Attributes:
        path: Its path.
        name: The values in its path.
        content: The values in its text.
    """

    path: str
    name: Values
    content: Values


@dataclass(frozen=True, slots=True)
class Unlike:
    """
    A thread's file that is not there, or does not look as its template says.

    Attributes:
        path: Its path.
        why: What is wrong with it, as the end of a sentence.
    """

    path: str
    why: str


def sights(threads: Sequence[FileSeries], files: Files) -> list[Observed | Unlike | None]:
    """
    The file of each thread before a lap; nothing where none of the files that come is there yet.
    """
    found: list[Observed | Unlike | None] = []
    taken: set[str] = set()
    for thread in threads:
        one = _sight(thread, files, taken)
        if isinstance(one, Observed):
            taken.add(one.path)
        found.append(None if isinstance(one, Unlike) and thread.course is Course.COMES else one)
    return found


def successor(thread: FileSeries, before: Files, after: Files, known: Collection[str]) -> Observed | Unlike:
    """
    The file of a thread after a lap; of files that come, the one that was not there before.
    """
    coming = thread.course is Course.COMES
    there = {path for path, content in before.items() if coming and content is not None}
    return _sight(thread, after, {*known, *there})


def next_laps(pairs: Iterable[tuple[FileSeries, Observed | None]]) -> frozenset[Fraction]:
    """
    How many laps a count may be ahead of the newest moment after one more lap.
    """
    return frozenset(lap + 1 for thread, old in pairs if old is not None for lap in _laps_of(thread, old))


def _sight(thread: FileSeries, files: Files, but: Collection[str]) -> Observed | Unlike:
    unlike = Unlike(thread.path, "is not there" if thread.course is Course.STAYS else "has no successor")
    found: list[Observed] = []
    paths = thread.paths if thread.course is Course.STAYS else sorted(files, key=natural)
    for path in paths:
        content = files.get(path)
        name = thread.name.values(path)
        if content is None or path in but or isinstance(name, TemplateMismatch):
            continue
        values = _values(thread, content)
        if isinstance(values, Values):
            found.append(Observed(path, name, values))
        else:
            unlike = Unlike(path, values)
    if not found:
        return unlike
    if thread.course is not Course.COMES:
        return found[0]
    return max(found, key=lambda one: max(_laps_of(thread, one), default=Fraction(0)))


def _laps_of(thread: FileSeries, seen: Observed) -> list[Fraction]:
    laps = [*_laps(thread.name, seen.name)]
    return laps if thread.content is None else [*laps, *_laps(thread.content, seen.content)]


def _values(thread: FileSeries, content: bytes) -> Values | str:
    if thread.content is None:
        return _EMPTY if content == thread.raw else "has other content"
    text = text_of(content)
    if text is None:
        return "is no text any more"
    values = thread.content.values(text)
    if isinstance(values, Values):
        return values
    return f"has other text in line {text.count(chr(10), 0, values.offset) + 1}"


def _laps(template: Template, values: Values) -> Iterator[Fraction]:
    for place, item in enumerate(template.items):
        if isinstance(item, TemplateSlot):
            lap = lap_of(item.motion, item.newest, values.slots[place])
            if lap is not None:
                yield lap
        elif isinstance(item, Region):
            chunks = values.chunks[place]
            yield Fraction(len(chunks) - len(item.chunks))
            yield from (lap for _, _, lap in chunk_laps(item, chunks) if lap is not None)


def chunk_laps(
    region: Region, chunks: tuple[str, ...]
) -> Iterator[tuple[TemplateSlot, str, Fraction | None]]:
    """
    The slots of the newest of some chunks, with their values and how many laps those are ahead.
    """
    match = region.pattern.fullmatch(chunks[-1]) if chunks else None
    if match is not None:
        for slot, text in zip(region.slots, match.groups(), strict=True):
            yield slot, text, lap_of(slot.motion, slot.newest, text)
