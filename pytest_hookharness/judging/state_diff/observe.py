"""Observations: finding the files of a series in a later state, and reading the values of their parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction

from pytest_hookharness.judging.state_diff.file_series import (
    Files,
    FileSeries,
    SeriesKind,
    natural_key,
    text_of,
)
from pytest_hookharness.judging.state_diff.progressions import repetitions_ahead
from pytest_hookharness.judging.state_diff.templates import (
    AppendedBlock,
    Template,
    TemplateMismatch,
    TemplateSlot,
    Values,
)
from pytest_hookharness.model.fast_dataclass import dataclass

_EMPTY = Values({}, {})


@dataclass(frozen=True, slots=True)
class FileObservation:
    """
    A file of a series in one state.

    Attributes:
        path: Its path.
        name: The values in its path.
        content: The values in its text.
    """

    path: str
    name: Values
    content: Values


@dataclass(frozen=True, slots=True)
class ObservationFailure:
    """
    A file of a series that is missing, or does not match its template.

    Attributes:
        path: Its path.
        why: The reason, as the end of a sentence.
    """

    path: str
    why: str


def observe_all(
    all_series: Sequence[FileSeries], files: Files
) -> list[FileObservation | ObservationFailure | None]:
    """
    Return the file of each series before a repetition; ``None`` for a created file that does not exist yet.
    """
    found: list[FileObservation | ObservationFailure | None] = []
    # Two series with similar names must not claim the same file.
    taken: set[str] = set()
    for series in all_series:
        observed = _observe(series, files, taken)
        if isinstance(observed, FileObservation):
            taken.add(observed.path)
        found.append(
            None
            if isinstance(observed, ObservationFailure) and series.kind is SeriesKind.CREATED
            else observed
        )
    return found


def observe_next(
    series: FileSeries, before: Files, after: Files, known: Collection[str]
) -> FileObservation | ObservationFailure:
    """Return the file of a series after a repetition; of created files, the one that did not exist before."""
    created = series.kind is SeriesKind.CREATED
    existing = {path for path, content in before.items() if created and content is not None}
    return _observe(series, after, {*known, *existing})


def allowed_repetitions(pairs: Iterable[tuple[FileSeries, FileObservation | None]]) -> frozenset[Fraction]:
    """Return how many repetitions a count may be ahead of the newest state after one more repetition."""
    return frozenset(
        ahead + 1 for series, old in pairs if old is not None for ahead in _repetitions_of(series, old)
    )


def _observe(
    series: FileSeries, files: Files, excluded: Collection[str]
) -> FileObservation | ObservationFailure:
    failure = ObservationFailure(
        series.path, "does not exist" if series.kind is SeriesKind.IN_PLACE else "has no successor"
    )
    found: list[FileObservation] = []
    paths = series.paths if series.kind is SeriesKind.IN_PLACE else sorted(files, key=natural_key)
    for path in paths:
        content = files.get(path)
        name = series.name.values(path)
        if content is None or path in excluded or isinstance(name, TemplateMismatch):
            continue
        values = _values(series, content)
        if isinstance(values, Values):
            found.append(FileObservation(path, name, values))
        else:
            failure = ObservationFailure(path, values)
    if not found:
        return failure
    if series.kind is not SeriesKind.CREATED:
        return found[0]
    # Of several created files, the newest counts.
    return max(found, key=lambda observed: max(_repetitions_of(series, observed), default=Fraction(0)))


def _repetitions_of(series: FileSeries, seen: FileObservation) -> list[Fraction]:
    found = [*_repetitions_in(series.name, seen.name)]
    return found if series.content is None else [*found, *_repetitions_in(series.content, seen.content)]


def _values(series: FileSeries, content: bytes) -> Values | str:
    if series.content is None:
        return _EMPTY if content == series.raw else "has other content"
    text = text_of(content)
    if text is None:
        return "is no longer text"
    values = series.content.values(text)
    if isinstance(values, Values):
        return values
    return f"has other text in line {text.count(chr(10), 0, values.offset) + 1}"


def _repetitions_in(template: Template, values: Values) -> Iterator[Fraction]:
    for place, item in enumerate(template.items):
        if isinstance(item, TemplateSlot):
            ahead = repetitions_ahead(item.progression, item.newest, values.slots[place])
            if ahead is not None:
                yield ahead
        elif isinstance(item, AppendedBlock):
            chunks = values.chunks[place]
            yield Fraction(len(chunks) - len(item.chunks))
            yield from (ahead for _, _, ahead in newest_chunk_values(item, chunks) if ahead is not None)


def newest_chunk_values(
    block: AppendedBlock, chunks: tuple[str, ...]
) -> Iterator[tuple[TemplateSlot, str, Fraction | None]]:
    """Yield each slot of the newest chunk with its value and how many repetitions the value is ahead."""
    match = block.pattern.fullmatch(chunks[-1]) if chunks else None
    if match is not None:
        for slot, text in zip(block.slots, match.groups(), strict=True):
            yield slot, text, repetitions_ahead(slot.progression, slot.newest, text)
