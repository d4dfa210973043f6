"""
Extrapolation: writing the files of a state in which some parts have other values.

The same part, perturbation and path always give the same text, because random values use the path as seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_hookharness.judging.state_diff import progressions
from pytest_hookharness.judging.state_diff.file_series import LARGEST, FileSeries, SeriesKind
from pytest_hookharness.judging.state_diff.number_formats import SessionClock, parse_number
from pytest_hookharness.judging.state_diff.part_locations import PartLocation, SeriesField
from pytest_hookharness.judging.state_diff.templates import AppendedBlock, Template, TemplateSlot
from pytest_hookharness.judging.state_diff.timestamps import age, age_timestamps
from pytest_hookharness.model.probes import PartKind, Perturbation, PerturbationKind

# Limits of growth, so that a probe stays fast.
MOST_CHUNKS = 10_000
MOST_FILES = 500


def perturb_series(
    series: FileSeries, chosen: Sequence[PartLocation], perturbation: Perturbation, clock: SessionClock
) -> Iterator[tuple[str, bytes | None]]:
    """Yield the files of a series with some parts perturbed; ``None`` for a file that does not exist then."""
    if series.kind is SeriesKind.CREATED:
        yield from _perturbed_files(series, perturbation if chosen else None, clock)
        return
    name = _written(series, SeriesField.NAME, chosen, perturbation, clock)
    yield from ((path, None) for path in series.paths if path != name)
    if series.content is None:
        yield name, series.raw
    else:
        yield name, _written(series, SeriesField.CONTENT, chosen, perturbation, clock).encode()


def reachable_repetitions(series: FileSeries, location: PartLocation, repetitions: int) -> int:
    """Return how many repetitions ahead a growing part can be written, at most the number asked for."""
    if location.where is SeriesField.FILES:
        size = max(1, len(series.raw))
        return max(0, min(repetitions, MOST_FILES, LARGEST // size))
    template = series.content if location.where is SeriesField.CONTENT else series.name
    block = template.items[location.item] if template else ""
    if template is None or not isinstance(block, AppendedBlock):
        return repetitions
    most = max(0, min(repetitions, MOST_CHUNKS))
    widest = max(len(chunk.encode()) for chunk in (block.newest, _chunk(block, most, most, "")))
    blocks = sum(isinstance(item, AppendedBlock) for item in template.items)
    # The blocks of one file share the space that is left.
    room = max(0, LARGEST - len(series.raw)) // blocks
    return min(most, room // max(1, widest))


def _written(
    series: FileSeries,
    where: SeriesField,
    chosen: Iterable[PartLocation],
    perturbation: Perturbation,
    clock: SessionClock,
) -> str:
    template = series.name if where is SeriesField.NAME else series.content
    if template is None:
        return ""
    changed: dict[int, str] = {}
    mine = [location for location in chosen if location.where is where]
    for location in mine:
        item = template.items[location.item]
        seed = f"{series.path}:{where.value}:{location.item}"
        if isinstance(item, TemplateSlot):
            changed[location.item] = _perturbed_slot(item, perturbation, seed)
        elif isinstance(item, AppendedBlock):
            repetitions = reachable_repetitions(series, location, perturbation.repetitions)
            changed[location.item] = _perturbed_block(item, perturbation, repetitions, seed, clock)
    if perturbation.how is PerturbationKind.AGED and any(location.part.stamped for location in mine):
        # Times that did not change age as well, so that all times of a file keep their distances.
        changed |= _aged_quiet_slots(template, perturbation.seconds)
    return template.written(changed)


def _perturbed_slot(slot: TemplateSlot, perturbation: Perturbation, seed: str) -> str:
    match perturbation.how:
        case PerturbationKind.OLDER:
            return slot.texts[-2]
        case PerturbationKind.AHEAD:
            return progressions.extrapolate(
                slot.progression, slot.newest, perturbation.repetitions, seed, perturbation.pace
            )
        case PerturbationKind.AGED if isinstance(slot.progression, progressions.CurrentTime):
            return age(slot.newest, slot.progression.unit, perturbation.seconds)
        case PerturbationKind.REPLACED if isinstance(slot.progression, progressions.Random):
            return progressions.another_random(slot.progression, slot.newest, seed)
        case _:
            return slot.newest


def _perturbed_block(
    block: AppendedBlock, perturbation: Perturbation, repetitions: int, seed: str, clock: SessionClock
) -> str:
    match perturbation.how:
        case PerturbationKind.OLDER:
            return block.without_newest
        case PerturbationKind.AHEAD:
            return block.with_new(
                [
                    _chunk(block, number, repetitions, seed, perturbation.pace)
                    for number in range(1, repetitions + 1)
                ]
            )
        case PerturbationKind.AGED:
            return "".join(age_timestamps(chunk, perturbation.seconds, clock) for chunk in block.chunks)
        case _:
            return block.with_new([])


def _chunk(block: AppendedBlock, repetition: int, of: int, seed: str, pace: float = 0.0) -> str:
    return "".join(
        item
        if isinstance(item, str)
        else progressions.extrapolate_in_batch(
            item.progression, item.newest, repetition, of, f"{seed}:{place}", pace
        )
        for place, item in enumerate(block.shape)
    )


def _aged_quiet_slots(template: Template, seconds: float) -> dict[int, str]:
    return {
        place: age(item.newest, item.progression.unit, seconds)
        for place, item in enumerate(template.items)
        if isinstance(item, TemplateSlot)
        and item.quiet
        and isinstance(item.progression, progressions.CurrentTime)
    }


def _perturbed_files(
    series: FileSeries, perturbation: Perturbation | None, clock: SessionClock
) -> Iterator[tuple[str, bytes | None]]:
    for index, path in enumerate(series.paths):
        content = series.raw if series.content is None else _at(series.content, index).encode()
        if perturbation is None or perturbation.how not in (PerturbationKind.OLDER, PerturbationKind.AGED):
            yield path, content
        elif perturbation.how is PerturbationKind.OLDER:
            yield path, None if index == len(series.paths) - 1 else content
        else:
            older = age_timestamps(path, perturbation.seconds, clock)
            if older != path:
                yield path, None
            if series.content is not None:
                content = age_timestamps(content.decode(), perturbation.seconds, clock).encode()
            yield older, content
    if perturbation is None or perturbation.how is not PerturbationKind.AHEAD:
        return
    repetitions = max(0, min(perturbation.repetitions, MOST_FILES, LARGEST // max(1, len(series.raw))))
    for number in range(1, repetitions + 1):
        name = _new_name(series, number, clock, perturbation.pace)
        inside = series.content
        text = None if inside is None else _advanced(inside, number, f"{name}:content", perturbation.pace)
        yield name, series.raw if text is None else text.encode()


def _new_name(series: FileSeries, repetition: int, clock: SessionClock, pace: float) -> str:
    slots = [item for item in series.name.items if isinstance(item, TemplateSlot)]
    if pace or any(
        isinstance(slot.progression, progressions.Counting | progressions.Random) for slot in slots
    ):
        return _advanced(series.name, repetition, f"{series.path}:name", pace)
    # If the time is all that a name says, new names must differ from each other and from all existing ones,
    # so their times lie before the session.
    span = clock.now - clock.started + 5
    changed: Mapping[int, str] = {
        place: age(item.newest, item.progression.unit, span + repetition)
        for place, item in enumerate(series.name.items)
        if isinstance(item, TemplateSlot) and isinstance(item.progression, progressions.CurrentTime)
    }
    name = series.name.written(changed)
    return name if changed else _advanced(series.name, repetition, series.path)


def _at(template: Template, index: int) -> str:
    items = enumerate(template.items)
    return template.written({n: item.texts[index] for n, item in items if isinstance(item, TemplateSlot)})


def _advanced(template: Template, repetition: int, seed: str, pace: float = 0.0) -> str:
    return template.written(
        {
            place: progressions.extrapolate(
                item.progression, item.newest, repetition, f"{seed}:{place}", pace
            )
            for place, item in enumerate(template.items)
            if isinstance(item, TemplateSlot)
        }
    )


def describe_perturbation(series: FileSeries, location: PartLocation, perturbation: Perturbation) -> str:
    """Say how one part was perturbed, for a report."""
    part = location.part
    match perturbation.how:
        case PerturbationKind.OLDER:
            if part.kind is PartKind.GROWTH:
                return f"{part.place} without its newest addition"
            if part.kind is PartKind.FILES:
                return f"{part.place} without its newest file"
            return f"{part.place} back at {part.before}"
        case PerturbationKind.AHEAD:
            return _ahead(series, location, perturbation.repetitions)
        case PerturbationKind.AGED if part.stamped:
            return f"{part.place} {perturbation.seconds:,g} seconds older"
        case PerturbationKind.REPLACED if part.kind in (PartKind.IDENTIFIER, PartKind.DIGEST):
            return f"{part.place} replaced by another"
        case _:
            return f"{part.place} as it is"


def _ahead(series: FileSeries, location: PartLocation, repetitions: int) -> str:
    part = location.part
    if location.where is SeriesField.FILES:
        return f"{reachable_repetitions(series, location, repetitions):,} more files {part.place}"
    template = series.content if location.where is SeriesField.CONTENT else series.name
    item = template.items[location.item] if template is not None else ""
    if isinstance(item, AppendedBlock):
        count = reachable_repetitions(series, location, repetitions)
        lines = item.newest.count("\n")
        if part.name.endswith("added"):
            whole = series.content.text.count("\n") if series.content is not None else 0
            return f"{part.file} of {whole + count * lines:,} lines"
        return f"{count:,} more in {part.place}"
    if not isinstance(item, TemplateSlot):
        return part.place
    text = progressions.extrapolate(item.progression, item.newest, repetitions, "")
    match item.progression:
        case progressions.Counting(notation=notation) if (
            notation.base == 10 and not notation.width and not notation.most
        ):
            text = f"{parse_number(text, notation).numerator:,}"
        case _:
            pass
    if part.kind in (PartKind.IDENTIFIER, PartKind.DIGEST):
        return f"{part.place} replaced by another"
    if part.kind in (PartKind.STAMP, PartKind.OTHER, PartKind.PROCESS):
        return f"{part.place} as it is"
    name = part.name.removeprefix("$.")
    if name.startswith("file name"):
        return f"{text} in the {name} {part.file}"
    between = " at " if name.startswith("line ") else " "
    return f"{name}{between}{text} in {part.file}".strip()
