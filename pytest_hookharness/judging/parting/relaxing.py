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
from pytest_hookharness.judging.parting.targets import Target, Where
from pytest_hookharness.judging.parting.templates import Item, Region, Slot, Template, Values
from pytest_hookharness.judging.parting.threads import Course, Files, Thread
from pytest_hookharness.model.parts import PartKind


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


def lawless(
    threads: Sequence[Thread], targets: Sequence[Target], before: Files, after: Files
) -> Iterator[int]:
    """
    The numbers that follow from the files, by no rule that is seen, as places in the list of targets.

    A lap that is played again gives them the very same value, so they carry something on; what they will be
    later is not known.
    """
    found: dict[int, Sight] = {}
    known: set[str] = set()
    for number, (thread, old) in enumerate(zip(threads, sights(threads, before), strict=True)):
        new = successor(thread, before, after, known)
        if isinstance(new, Sight):
            found[number] = new
            known |= {new.path} if not isinstance(old, Sight) else {new.path, old.path}
    for index, target in enumerate(targets):
        sight, thread = found.get(target.thread), threads[target.thread]
        if sight is None or target.part.kind is not PartKind.NUMBER or target.where is Where.FILES:
            continue
        in_name = target.where is Where.NAME
        template, values = (thread.name, sight.name) if in_name else (thread.content, sight.content)
        item = None if template is None else template.items[target.item]
        if isinstance(item, Slot) and values.slots.get(target.item) == item.newest:
            yield index


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
