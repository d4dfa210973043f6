"""
Deviations: whether one repetition changed the files as the repetitions before did.

Parts may depend on each other: a log repeats a counter, or a counter is the number of lines of a log. If a
probe perturbs only one of them, the other follows it in the next repetition, or pulls it back. Both are
normal, so a count may be one repetition ahead of any count or block of the pattern, not only of its own.

Process numbers and durations can look like counts for three repetitions. If one more repetition does not
continue such a step, the step is refuted and no longer expected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from pytest_hookharness.judging.state_diff import file_series, progressions
from pytest_hookharness.judging.state_diff.file_series import FileObservation, Files, FileSeries, Unfollowable
from pytest_hookharness.judging.state_diff.file_timestamps import equal_except_timestamps
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.part_locations import PartLocation, SeriesField, shorten
from pytest_hookharness.judging.state_diff.templates import (
    AppendedBlock,
    Item,
    Template,
    TemplateSlot,
    Values,
)
from pytest_hookharness.judging.state_diff.timestamps import TEXT, is_near, unit_of
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import PartKind


@dataclass(frozen=True, slots=True)
class _Rules:
    """
    What one repetition may do.

    Attributes:
        repetitions: How many repetitions a count may be ahead after it.
        names: The names of the items of a series.
        clock: The clock of the session, with the present after the repetition.
    """

    repetitions: frozenset[Fraction]
    names: Mapping[tuple[int, SeriesField, int], str]
    clock: SessionClock


def find_deviation(
    all_series: Sequence[FileSeries],
    locations: Sequence[PartLocation],
    before: Files,
    after: Files,
    clock: SessionClock,
) -> str:
    """Say how a repetition deviates from the pattern; empty if it does not."""
    pairs = file_series.observe_all(all_series, before)
    missing = next((old for _, old in pairs if isinstance(old, Unfollowable)), None)
    if missing is not None:
        return f"{missing.path} {missing.why} before the repetition."
    names = {(location.series, location.where, location.item): location.part.name for location in locations}
    rules = _Rules(file_series.allowed_repetitions(pairs), names, clock)
    known: set[str] = set()
    for number, (series, old, new) in enumerate(file_series.observe_next(pairs, before, after, known)):
        if isinstance(new, Unfollowable):
            return f"{new.path} {new.why} after the repetition."
        difference = next(_compared(number, series, old, new, rules), "")
        if difference:
            return f"{new.path}: {difference}."
    return _unexpected_change(before, after, known, clock)


def _compared(
    number: int, series: FileSeries, old: FileObservation | None, new: FileObservation, rules: _Rules
) -> Iterator[str]:
    name = old.name if old else None
    yield from _differences(number, SeriesField.NAME, series.name, name, new.name, rules)
    if series.content is not None:
        content = old.content if old else None
        yield from _differences(number, SeriesField.CONTENT, series.content, content, new.content, rules)


def _differences(
    number: int, where: SeriesField, template: Template, old: Values | None, new: Values, rules: _Rules
) -> Iterator[str]:
    for place, item in enumerate(template.items):
        name = rules.names.get((number, where, place), "")
        if isinstance(item, TemplateSlot):
            before = old.slots[place] if old else None
            yield from _slot(item, name or "a value", before, new.slots[place], rules)
        elif isinstance(item, AppendedBlock) and old is not None:
            yield from _block(item, name, old.chunks[place], new.chunks[place], rules)


def _is_current(text: str, unit: str, clock: SessionClock) -> bool:
    return is_near(text, clock) if unit == TEXT else unit_of(text, clock) == unit


def _slot(slot: TemplateSlot, name: str, old: str | None, new: str, rules: _Rules) -> Iterator[str]:
    progression = slot.progression
    if isinstance(progression, progressions.CurrentTime):
        # A hook writes the current time or, in a quiet slot, leaves the old one.
        still = slot.quiet and new == old
        if not still and not _is_current(new, progression.unit, rules.clock):
            yield f"{name} is {shorten(new)}, which is not the time of the repetition"
    count = progressions.repetitions_ahead(progression, slot.newest, new)
    if (
        isinstance(progression, progressions.Counting)
        and count is not None
        and old is not None
        and count not in rules.repetitions
    ):
        wanted = progressions.extrapolate(progression, old, 1, "")
        yield f"{name} went from {shorten(old)} to {shorten(new)}, not to {shorten(wanted)}"


def _block(
    block: AppendedBlock, name: str, old: tuple[str, ...], new: tuple[str, ...], rules: _Rules
) -> Iterator[str]:
    name = "the text" if not name or name.endswith("added") else name
    # Normally one chunk is added. A hook may also rewrite a log to match a counter that was perturbed alone.
    if len(new) == len(old) + 1:
        if new[:-1] != old:
            yield f"in {name}, text from before the repetition has changed"
    elif Fraction(len(new) - len(block.chunks)) not in rules.repetitions:
        yield f"{name} grew by {len(new) - len(old)} additions, not by 1"
    older = {place: text for place, (_, text, _) in enumerate(file_series.newest_chunk_values(block, old))}
    for place, (slot, text, _) in enumerate(file_series.newest_chunk_values(block, new)):
        yield from _slot(slot, f"a value added to {name}", older.get(place), text, rules)


def _unexpected_change(before: Files, after: Files, known: set[str], clock: SessionClock) -> str:
    for path in sorted((before.keys() | after.keys()) - known):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if old is None or new is None:
            return f"{path} {'is new' if old is None else 'is gone'} after the repetition, unlike before."
        # A time in seconds stays the same in many fast repetitions, and then changes without any meaning.
        if not equal_except_timestamps(old, new, clock):
            return f"{path} changed in the repetition, but not in those before."
    return ""


def refute_steps(all_series: Sequence[FileSeries], before: Files, after: Files) -> Iterator[FileSeries]:
    """Yield the series without the steps that a repetition refuted; one without a file stays as it is."""
    pairs = file_series.observe_all(all_series, before)
    repetitions = file_series.allowed_repetitions(pairs)
    for series, _, new in file_series.observe_next(pairs, before, after, set()):
        if isinstance(new, Unfollowable):
            yield series
            continue
        content = None if series.content is None else _template(series.content, new.content, repetitions)
        yield replace(series, name=_template(series.name, new.name, repetitions), content=content)


def find_unpredictable(
    all_series: Sequence[FileSeries], locations: Sequence[PartLocation], before: Files, after: Files
) -> Iterator[int]:
    """
    Yield the indices of numbers that the hooks derive from the files by an unknown rule.

    Replaying a repetition gives such a number the very same value, so it depends on the state and its later
    values decide; but they cannot be predicted.
    """
    found = [
        new
        for _, _, new in file_series.observe_next(
            file_series.observe_all(all_series, before), before, after, set()
        )
    ]
    for index, location in enumerate(locations):
        observation, series = found[location.series], all_series[location.series]
        if (
            isinstance(observation, Unfollowable)
            or location.part.kind is not PartKind.NUMBER
            or location.where is SeriesField.FILES
        ):
            continue
        in_name = location.where is SeriesField.NAME
        template, values = (
            (series.name, observation.name) if in_name else (series.content, observation.content)
        )
        item = None if template is None else template.items[location.item]
        if isinstance(item, TemplateSlot) and values.slots.get(location.item) == item.newest:
            yield index


def _template(template: Template, new: Values, repetitions: frozenset[Fraction]) -> Template:
    items: list[Item] = []
    for place, item in enumerate(template.items):
        if isinstance(item, TemplateSlot):
            items.append(_refuted_slot(item, new.slots[place], repetitions))
        elif isinstance(item, AppendedBlock):
            texts = iter([text for _, text, _ in file_series.newest_chunk_values(item, new.chunks[place])])
            shape = [
                _refuted_slot(piece, next(texts, piece.newest), repetitions)
                if isinstance(piece, TemplateSlot)
                else piece
                for piece in item.shape
            ]
            items.append(replace(item, shape=tuple(shape)))
        else:
            items.append(item)
    return Template(tuple(items))


def _refuted_slot(slot: TemplateSlot, text: str, repetitions: frozenset[Fraction]) -> TemplateSlot:
    count = progressions.repetitions_ahead(slot.progression, slot.newest, text)
    if not isinstance(slot.progression, progressions.Counting) or count is None or count in repetitions:
        return slot
    return replace(slot, progression=progressions.without_step(slot.progression))
