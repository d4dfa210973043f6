"""
This module is concerned with relaxing: numbers that only happened to move by equal steps count no longer.

Middle floor: judging. Pure.

Process numbers and run times may look like counts for three laps. What a lap that is played again makes of
them does not follow from the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from pytest_hookharness.judging.parting.motions import Counting, lap_of, relaxed
from pytest_hookharness.judging.parting.sights import Sight, Unlike, chunk_laps, next_laps, sights, successor
from pytest_hookharness.judging.parting.templates import Item, Region, Slot, Template, Values
from pytest_hookharness.judging.parting.threads import Course, Files, Thread


def relax(threads: Sequence[Thread], before: Files, after: Files) -> Iterator[Thread]:
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


def _relaxed(thread: Thread, new: Sight, laps: frozenset[Fraction]) -> Thread:
    content = None if thread.content is None else _template(thread.content, new.content, laps)
    return replace(thread, name=_template(thread.name, new.name, laps), content=content)


def _template(template: Template, new: Values, laps: frozenset[Fraction]) -> Template:
    items: list[Item] = []
    for place, item in enumerate(template.items):
        if isinstance(item, Slot):
            items.append(_slot(item, new.slots[place], laps))
        elif isinstance(item, Region):
            texts = iter([text for _, text, _ in chunk_laps(item, new.chunks[place])])
            shape = [
                _slot(piece, next(texts, piece.newest), laps) if isinstance(piece, Slot) else piece
                for piece in item.shape
            ]
            items.append(replace(item, shape=tuple(shape)))
        else:
            items.append(item)
    return Template(tuple(items))


def _slot(slot: Slot, text: str, laps: frozenset[Fraction]) -> Slot:
    lap = lap_of(slot.motion, slot.newest, text)
    if not isinstance(slot.motion, Counting) or lap is None or lap in laps:
        return slot
    return replace(slot, motion=relaxed(slot.motion))
