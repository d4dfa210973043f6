"""
Telling how far parts were pushed, in the words of a report.

Pure.

Pushing: the files as they would be if some parts had moved otherwise.

Pure: what is random is drawn from the place it is for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from pytest_hookharness.judging.state_diff.file_series import LARGEST, Course, FileSeries
from pytest_hookharness.judging.state_diff.number_formats import SessionClock, read
from pytest_hookharness.judging.state_diff.progressions import (
    Counting,
    Random,
    Stamped,
    ahead,
    among,
    another,
)
from pytest_hookharness.judging.state_diff.targets import Target, Where
from pytest_hookharness.judging.state_diff.templates import Region, Template, TemplateSlot
from pytest_hookharness.judging.state_diff.timestamps import age_stamps, aged
from pytest_hookharness.model.probes import PartKind, Perturbation, PerturbationKind

# How far growth is driven.
MOST_CHUNKS = 10_000
MOST_FILES = 500


def push_thread(
    thread: FileSeries, chosen: Sequence[Target], push: Perturbation, clock: SessionClock
) -> Iterator[tuple[str, bytes | None]]:
    """
    The files of a thread, with some of its parts pushed; ``None`` for a file that is not there then.
    """
    if thread.course is Course.COMES:
        yield from _push_files(thread, push if chosen else None, clock)
        return
    name = _written(thread, Where.NAME, chosen, push, clock)
    yield from ((path, None) for path in thread.paths if path != name)
    if thread.content is None:
        yield name, thread.raw
    else:
        yield name, _written(thread, Where.CONTENT, chosen, push, clock).encode()


def extent(thread: FileSeries, target: Target, repetitions: int) -> int:
    """
    How many laps a growing part goes ahead if it is to go that many.
    """
    if target.where is Where.FILES:
        size = max(1, len(thread.raw))
        return max(0, min(repetitions, MOST_FILES, LARGEST // size))
    template = thread.content if target.where is Where.CONTENT else thread.name
    region = template.items[target.item] if template else ""
    if template is None or not isinstance(region, Region):
        return repetitions
    most = max(0, min(repetitions, MOST_CHUNKS))
    widest = max(len(chunk.encode()) for chunk in (region.newest, _chunk(region, most, most, "")))
    regions = sum(isinstance(item, Region) for item in template.items)
    room = max(0, LARGEST - len(thread.raw)) // regions
    return min(most, room // max(1, widest))


def _written(
    thread: FileSeries, where: Where, chosen: Iterable[Target], push: Perturbation, clock: SessionClock
) -> str:
    template = thread.name if where is Where.NAME else thread.content
    if template is None:
        return ""
    changed: dict[int, str] = {}
    mine = [target for target in chosen if target.where is where]
    for target in mine:
        item = template.items[target.item]
        seed = f"{thread.path}:{where.value}:{target.item}"
        if isinstance(item, TemplateSlot):
            changed[target.item] = _pushed_slot(item, push, seed)
        elif isinstance(item, Region):
            laps = extent(thread, target, push.repetitions)
            changed[target.item] = _pushed_region(item, push, laps, seed, clock)
    if push.how is PerturbationKind.AGED and any(target.part.stamped for target in mine):
        changed |= _quiet_aged(template, push.seconds)
    return template.written(changed)


def _pushed_slot(slot: TemplateSlot, push: Perturbation, seed: str) -> str:
    match push.how:
        case PerturbationKind.OLDER:
            return slot.texts[-2]
        case PerturbationKind.AHEAD:
            return ahead(slot.motion, slot.newest, push.repetitions, seed, push.pace)
        case PerturbationKind.AGED:
            return (
                aged(slot.newest, slot.motion.unit, push.seconds)
                if isinstance(slot.motion, Stamped)
                else slot.newest
            )
        case PerturbationKind.REPLACED:
            return another(slot.motion, slot.newest, seed) if isinstance(slot.motion, Random) else slot.newest
        case PerturbationKind.TRANSCRIPT | PerturbationKind.WAITED:
            return slot.newest
        case _:
            assert_never(push.how)


def _pushed_region(
    region: Region, push: Perturbation, repetitions: int, seed: str, clock: SessionClock
) -> str:
    match push.how:
        case PerturbationKind.OLDER:
            return region.without_newest
        case PerturbationKind.AHEAD:
            return region.with_new(
                [_chunk(region, lap, repetitions, seed, push.pace) for lap in range(1, repetitions + 1)]
            )
        case PerturbationKind.AGED:
            return "".join(age_stamps(chunk, push.seconds, clock) for chunk in region.chunks)
        case PerturbationKind.REPLACED | PerturbationKind.TRANSCRIPT | PerturbationKind.WAITED:
            return region.with_new([])
        case _:
            assert_never(push.how)


def _chunk(region: Region, repetition: int, of: int, seed: str, pace: float = 0.0) -> str:
    return "".join(
        item
        if isinstance(item, str)
        else among(item.motion, item.newest, repetition, of, f"{seed}:{place}", pace)
        for place, item in enumerate(region.shape)
    )


def _quiet_aged(template: Template, seconds: float) -> dict[int, str]:
    return {
        place: aged(item.newest, item.motion.unit, seconds)
        for place, item in enumerate(template.items)
        if isinstance(item, TemplateSlot) and item.quiet and isinstance(item.motion, Stamped)
    }


def _push_files(
    thread: FileSeries, push: Perturbation | None, clock: SessionClock
) -> Iterator[tuple[str, bytes | None]]:
    for born, path in enumerate(thread.paths):
        content = thread.raw if thread.content is None else _at(thread.content, born).encode()
        if push is None or push.how not in (PerturbationKind.OLDER, PerturbationKind.AGED):
            yield path, content
        elif push.how is PerturbationKind.OLDER:
            yield path, None if born == len(thread.paths) - 1 else content
        else:
            older = age_stamps(path, push.seconds, clock)
            text = None if thread.content is None else age_stamps(content.decode(), push.seconds, clock)
            if older != path:
                yield path, None
            yield older, content if text is None else text.encode()
    if push is None or push.how is not PerturbationKind.AHEAD:
        return
    laps = max(0, min(push.repetitions, MOST_FILES, LARGEST // max(1, len(thread.raw))))
    for lap in range(1, laps + 1):
        name = _new_name(thread, lap, clock, push.pace)
        inside = thread.content
        text = None if inside is None else _advanced(inside, lap, f"{name}:content", push.pace)
        yield name, thread.raw if text is None else text.encode()


def _new_name(thread: FileSeries, repetition: int, clock: SessionClock, pace: float) -> str:
    slots = [item for item in thread.name.items if isinstance(item, TemplateSlot)]
    if pace or any(isinstance(slot.motion, Counting | Random) for slot in slots):
        return _advanced(thread.name, repetition, f"{thread.path}:name", pace)
    # Names that say nothing but the time must differ, from those of files that were there before as well.
    span = clock.now - clock.started + 5
    changed: Mapping[int, str] = {
        place: aged(item.newest, item.motion.unit, span + repetition)
        for place, item in enumerate(thread.name.items)
        if isinstance(item, TemplateSlot) and isinstance(item.motion, Stamped)
    }
    name = thread.name.written(changed)
    return name if changed else _advanced(thread.name, repetition, thread.path)


def _at(template: Template, born: int) -> str:
    slots = {
        place: item.texts[born] for place, item in enumerate(template.items) if isinstance(item, TemplateSlot)
    }
    return template.written(slots)


def _advanced(template: Template, repetition: int, seed: str, pace: float = 0.0) -> str:
    return template.written(
        {
            place: ahead(item.motion, item.newest, repetition, f"{seed}:{place}", pace)
            for place, item in enumerate(template.items)
            if isinstance(item, TemplateSlot)
        }
    )


def tell(thread: FileSeries, target: Target, push: Perturbation) -> str:
    """
    How far one part was pushed.
    """
    part = target.part
    match push.how:
        case PerturbationKind.OLDER:
            if part.kind is PartKind.GROWTH:
                return f"{part.place} without its newest addition"
            if part.kind is PartKind.FILES:
                return f"{part.place} without its newest file"
            return f"{part.place} back at {part.before}"
        case PerturbationKind.AHEAD:
            return _ahead(thread, target, push.repetitions)
        case PerturbationKind.AGED:
            return (
                f"{part.place} {push.seconds:,g} seconds older" if part.stamped else f"{part.place} as it is"
            )
        case PerturbationKind.REPLACED:
            random = part.kind in (PartKind.IDENTIFIER, PartKind.DIGEST)
            return f"{part.place} replaced by another" if random else f"{part.place} as it is"
        case PerturbationKind.TRANSCRIPT | PerturbationKind.WAITED:
            return f"{part.place} as it is"
        case _:
            assert_never(push.how)


def _ahead(thread: FileSeries, target: Target, repetitions: int) -> str:
    part = target.part
    if target.where is Where.FILES:
        return f"{extent(thread, target, repetitions):,} more files {part.place}"
    template = thread.content if target.where is Where.CONTENT else thread.name
    item = template.items[target.item] if template is not None else ""
    if isinstance(item, Region):
        count = extent(thread, target, repetitions)
        lines = item.newest.count("\n")
        if part.name.endswith("added"):
            whole = thread.content.text.count("\n") if thread.content is not None else 0
            return f"{part.file} of {whole + count * lines:,} lines"
        return f"{count:,} more in {part.place}"
    if not isinstance(item, TemplateSlot):
        return part.place
    text = ahead(item.motion, item.newest, repetitions, "")
    match item.motion:
        case Counting(notation=notation) if notation.base == 10 and not notation.width and not notation.most:
            text = f"{read(text, notation).numerator:,}"
        case _:
            pass
    if part.kind in (PartKind.IDENTIFIER, PartKind.DIGEST):
        return f"{part.place} replaced by another"
    if part.kind in (PartKind.STAMP, PartKind.OTHER, PartKind.PROCESS):
        return f"{part.place} as it is"
    name = part.name.removeprefix("$.")
    between = " at " if name.startswith(("line ", "file name")) else " "
    return f"{name}{between}{text} in {part.file}".strip()
