"""
Relaxing: numbers that only happened to move by equal steps count no longer.

Pure.

Process numbers and run times may look like counts for three laps. What a lap that is played again makes of
them does not follow from the files.

Departures: whether a lap moved the files as the laps before did.

Pure.

Parts may be tied: a log repeats a count, a count is the number of lines of a log. If one of them alone was
pushed, the other follows it in the next lap, or pulls it back. So a count may come out one lap ahead of where
any count or growth of the pattern was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from pytest_hookharness.judging.state_diff.file_series import Course, Files, FileSeries, text_of
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.observe import (
    Observed,
    Unlike,
    chunk_laps,
    next_laps,
    sights,
    successor,
)
from pytest_hookharness.judging.state_diff.progressions import (
    Counting,
    Stamped,
    ahead,
    lap_of,
    relaxed,
)
from pytest_hookharness.judging.state_diff.targets import Target, Where
from pytest_hookharness.judging.state_diff.templates import (
    Item,
    Region,
    Template,
    TemplateSlot,
    Values,
)
from pytest_hookharness.judging.state_diff.timestamps import TEXT, is_near, stamps_in, unit_of
from pytest_hookharness.model.probes import PartKind

_SHORT = 40


@dataclass(frozen=True, slots=True)
class _Rules:
    """
    What one lap may do.

    Attributes:
        repetitions: How many laps a count may be ahead after it.
        names: What the items of a thread are called.
        clock: The clock of the session, with the present after the lap.
    """

    repetitions: frozenset[Fraction]
    names: Mapping[tuple[int, Where, int], str]
    clock: SessionClock


def departure(
    threads: Sequence[FileSeries], targets: Sequence[Target], before: Files, after: Files, clock: SessionClock
) -> str:
    """
    How a lap departs from the pattern, as a sentence; empty if it does not.
    """
    olds = sights(threads, before)
    missing = next((old for old in olds if isinstance(old, Unlike)), None)
    if missing is not None:
        return f"{missing.path} {missing.why} before the lap."
    pairs = [(thread, old) for thread, old in zip(threads, olds, strict=True) if not isinstance(old, Unlike)]
    laps = next_laps(pairs)
    names = {(target.thread, target.where, target.item): target.part.name for target in targets}
    rules = _Rules(laps, names, clock)
    known: set[str] = set()
    for number, (thread, old) in enumerate(pairs):
        new = successor(thread, before, after, known)
        if isinstance(new, Unlike):
            return f"{new.path} {new.why} after the lap."
        known |= {new.path} if old is None or thread.course is Course.COMES else {new.path, old.path}
        difference = next(_compared(number, thread, old, new, rules), "")
        if difference:
            return f"{new.path}: {difference}."
    return _stray(before, after, known, clock)


def _compared(
    number: int, thread: FileSeries, old: Observed | None, new: Observed, rules: _Rules
) -> Iterator[str]:
    name = old.name if old else None
    yield from _differences(number, Where.NAME, thread.name, name, new.name, rules)
    if thread.content is not None:
        content = old.content if old else None
        yield from _differences(number, Where.CONTENT, thread.content, content, new.content, rules)


def _differences(
    number: int, where: Where, template: Template, old: Values | None, new: Values, rules: _Rules
) -> Iterator[str]:
    for place, item in enumerate(template.items):
        name = rules.names.get((number, where, place), "")
        if isinstance(item, TemplateSlot):
            before = old.slots[place] if old else None
            yield from _slot(item, name or "a value", before, new.slots[place], rules)
        elif isinstance(item, Region) and old is not None:
            yield from _region(item, name, old.chunks[place], new.chunks[place], rules)


def _slot(slot: TemplateSlot, name: str, old: str | None, new: str, rules: _Rules) -> Iterator[str]:
    motion = slot.motion
    if isinstance(motion, Stamped):
        still = slot.quiet and new == old
        near = is_near(new, rules.clock) if motion.unit == TEXT else unit_of(new, rules.clock) == motion.unit
        if not still and not near:
            yield f"{name} is {_short(new)}, which is not the time of the lap"
    lap = lap_of(motion, slot.newest, new)
    if isinstance(motion, Counting) and lap is not None and old is not None and lap not in rules.repetitions:
        wanted = ahead(motion, old, 1, "")
        yield f"{name} went from {_short(old)} to {_short(new)}, not to {_short(wanted)}"


def _region(
    region: Region, name: str, old: tuple[str, ...], new: tuple[str, ...], rules: _Rules
) -> Iterator[str]:
    name = "the text" if not name or name.endswith("added") else name
    if len(new) == len(old) + 1:
        if new[:-1] != old:
            yield f"in {name}, what was there before the lap has changed"
    elif Fraction(len(new) - len(region.chunks)) not in rules.repetitions:
        yield f"{name} grew by {len(new) - len(old)} additions, not by 1"
    older = {place: text for place, (_, text, _) in enumerate(chunk_laps(region, old))}
    for place, (slot, text, _) in enumerate(chunk_laps(region, new)):
        yield from _slot(slot, f"a value added to {name}", older.get(place), text, rules)


def _stray(before: Files, after: Files, known: set[str], clock: SessionClock) -> str:
    for path in sorted((before.keys() | after.keys()) - known):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if old is None or new is None:
            return (
                f"{path} {'is new' if old is None else 'is gone'} after the lap, and none like it was before."
            )
        if _timeless(old, clock) is None or _timeless(old, clock) != _timeless(new, clock):
            return f"{path} changed in the lap, and did not in the laps before."
    return ""


def _timeless(content: bytes, clock: SessionClock) -> str | None:
    # A stamp by the second stays the same through many quick laps.
    text = text_of(content)
    if text is None:
        return None
    pieces, last = [], 0
    for stamp in stamps_in(text, clock):
        pieces.append(text[last : stamp.start])
        last = stamp.end
    return "\0".join([*pieces, text[last:]])


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def relax(threads: Sequence[FileSeries], before: Files, after: Files) -> Iterator[FileSeries]:
    """
    The same threads, without the steps that a lap refuted; files that it left out are as they were.
    """
    pairs = [
        (thread, None if isinstance(old, Unlike) else old)
        for thread, old in zip(threads, sights(threads, before), strict=True)
    ]
    laps = next_laps(pairs)
    known: set[str] = set()
    for thread, old in pairs:
        new = successor(thread, before, after, known)
        if isinstance(new, Unlike):
            yield thread
            continue
        known |= {new.path} if old is None or thread.course is Course.COMES else {new.path, old.path}
        yield _relaxed(thread, new, laps)


def lawless(
    threads: Sequence[FileSeries], targets: Sequence[Target], before: Files, after: Files
) -> Iterator[int]:
    """
    The numbers that follow from the files, by no rule that is seen, as places in the list of targets.

    A lap that is played again gives them the very same value, so they carry something on; what they will be
    later is not known.
    """
    found: dict[int, Observed] = {}
    known: set[str] = set()
    for number, (thread, old) in enumerate(zip(threads, sights(threads, before), strict=True)):
        new = successor(thread, before, after, known)
        if isinstance(new, Observed):
            found[number] = new
            known |= {new.path} if not isinstance(old, Observed) else {new.path, old.path}
    for index, target in enumerate(targets):
        sight, thread = found.get(target.thread), threads[target.thread]
        if sight is None or target.part.kind is not PartKind.NUMBER or target.where is Where.FILES:
            continue
        in_name = target.where is Where.NAME
        template, values = (thread.name, sight.name) if in_name else (thread.content, sight.content)
        item = None if template is None else template.items[target.item]
        if isinstance(item, TemplateSlot) and values.slots.get(target.item) == item.newest:
            yield index


def _relaxed(thread: FileSeries, new: Observed, repetitions: frozenset[Fraction]) -> FileSeries:
    content = None if thread.content is None else _template(thread.content, new.content, repetitions)
    return replace(thread, name=_template(thread.name, new.name, repetitions), content=content)


def _template(template: Template, new: Values, repetitions: frozenset[Fraction]) -> Template:
    items: list[Item] = []
    for place, item in enumerate(template.items):
        if isinstance(item, TemplateSlot):
            items.append(_slot_of_relaxing(item, new.slots[place], repetitions))
        elif isinstance(item, Region):
            texts = iter([text for _, text, _ in chunk_laps(item, new.chunks[place])])
            shape = [
                _slot_of_relaxing(piece, next(texts, piece.newest), repetitions)
                if isinstance(piece, TemplateSlot)
                else piece
                for piece in item.shape
            ]
            items.append(replace(item, shape=tuple(shape)))
        else:
            items.append(item)
    return Template(tuple(items))


def _slot_of_relaxing(slot: TemplateSlot, text: str, repetitions: frozenset[Fraction]) -> TemplateSlot:
    lap = lap_of(slot.motion, slot.newest, text)
    if not isinstance(slot.motion, Counting) or lap is None or lap in repetitions:
        return slot
    return replace(slot, motion=relaxed(slot.motion))
