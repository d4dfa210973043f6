"""File series: one file, followed through the repetitions by name and content, and found again later."""

from __future__ import annotations

import enum
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.progressions import repetitions_ahead
from pytest_hookharness.judging.state_diff.template_inference import infer_template
from pytest_hookharness.judging.state_diff.templates import (
    AppendedBlock,
    Template,
    TemplateMismatch,
    TemplateSlot,
    Values,
)
from pytest_hookharness.judging.state_diff.timestamps import Reading, shape, tokenize
from pytest_hookharness.model.fast_dataclass import dataclass

# Content by state path; None for a file that does not exist.
Files = Mapping[str, bytes | None]

# The largest file that is followed or written, in bytes.
LARGEST = 4 * 1024 * 1024


_OF_GIT = re.compile(r"/\.git/(?:.*/)?(?:refs/|logs/|[A-Z_]*HEAD$|packed-refs$)")


class SeriesKind(enum.Enum):
    """What happens to a file: it is changed in place, renamed in each repetition, or created in each one."""

    IN_PLACE = "stays"
    RENAMED = "moves"
    CREATED = "comes"


@dataclass(frozen=True, slots=True)
class FileSeries:
    """
    One file, followed through the repetitions.

    Attributes:
        paths: Its path in each repetition, newest last; for created files, the path of each of them.
        name: The template of its path.
        content: The template of its text; ``None`` if it is binary and never changes.
        raw: Its newest content.
    """

    kind: SeriesKind
    paths: tuple[str, ...]
    name: Template
    content: Template | None
    raw: bytes

    @property
    def path(self) -> str:
        """Its newest path."""
        return self.paths[-1]


@dataclass(frozen=True, slots=True)
class Unfollowable:
    """A file that is missing later or left its template; ``why`` ends a sentence about it."""

    path: str
    why: str


def text_of(content: bytes) -> str | None:
    """Return the text of a file; ``None`` if it is binary."""
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def follow_files(states: Sequence[Files], clock: SessionClock) -> list[FileSeries] | None:
    """Return a series for each file that differs between states; ``None`` if one cannot be followed."""
    paths = sorted({path for state in states for path in state})
    contents = {path: [state.get(path) for state in states] for path in paths}
    changing = {path: row for path, row in contents.items() if len(set(row)) > 1}
    found: list[FileSeries | None] = []
    others: dict[str, list[bytes | None]] = {}
    for path, row in changing.items():
        known = [content for content in row if content is not None]
        if len(known) == len(row):
            found.append(_series(SeriesKind.IN_PLACE, (path,), known, clock))
        else:
            others[path] = row
    found += _follow_names(others, len(states), clock)
    followed = [series for series in found if series is not None]
    return followed if len(followed) == len(found) else None


def _group_by_shape(paths: Iterable[str], reading: Reading) -> list[list[str]]:
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in paths:
        groups[tuple(shape(token, reading) for token in tokenize(path, reading))].append(path)
    return [*groups.values()]


def _follow_names(
    others: dict[str, list[bytes | None]], repetitions: int, clock: SessionClock
) -> Iterator[FileSeries | None]:
    # Names are grouped by shape, strictly first: a lenient reading only gets the files that are left.
    left = dict(others)
    for reading in (Reading.PLAIN, Reading.RANDOM, Reading.HEXADECIMAL):
        for group in _group_by_shape(left, reading):
            grouped = _by_repetition({path: left[path] for path in group}, repetitions)
            if grouped is None:
                continue
            kind, rows = grouped
            for line in zip(*(sorted(row, key=natural_key) for row in rows), strict=True):
                contents = [next(content for content in left[path] if content is not None) for path in line]
                yield _series(kind, line, contents, clock)
            for path in group:
                del left[path]
    # These files appear or disappear, but not one like them in each repetition.
    yield from (None for _ in left)


def _by_repetition(
    rows: dict[str, list[bytes | None]], repetitions: int
) -> tuple[SeriesKind, list[list[str]]] | None:
    """
    Group files by repetition, if all of them are renamed or all are created in each repetition.

    The first state is ignored for created files: older files of the same kind may lie there.
    """
    present = {path: [content is not None for content in row] for path, row in rows.items()}
    # A file that also changes its content is not followed under another name.
    if any(len({content for content in row if content is not None}) > 1 for row in rows.values()):
        return None
    if all(sum(row) == 1 for row in present.values()):
        renamed = [
            [path for path, row in present.items() if row[repetition]] for repetition in range(repetitions)
        ]
        if len(set(map(len, renamed))) == 1:
            return SeriesKind.RENAMED, renamed
    created = [
        [
            path
            for path, row in present.items()
            if row == [later >= repetition for later in range(repetitions)]
        ]
        for repetition in range(1, repetitions)
    ]
    if sum(map(len, created)) == len(rows) and len(set(map(len, created))) == 1:
        return SeriesKind.CREATED, created
    return None


def natural_key(path: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts paths by the numbers in them."""
    pieces = re.split(r"([0-9]{1,300})", path)
    return [(1, int(piece), "") if place % 2 else (0, 0, piece) for place, piece in enumerate(pieces)]


def _series(
    kind: SeriesKind, paths: tuple[str, ...], contents: list[bytes], clock: SessionClock
) -> FileSeries | None:
    newest, changes = paths[-1], len(set(contents)) > 1
    # A name that nobody gave to a commit would break the repository.
    if max(map(len, contents)) > LARGEST or (changes and _OF_GIT.search(newest)):
        return None
    name = infer_template(paths, clock) if len(paths) > 1 else Template((newest,))
    if name is None or _grows(name):
        return None
    texts = [text for content in contents if (text := text_of(content)) is not None]
    if len(texts) < len(contents):
        # A binary file that changes cannot be predicted.
        return None if changes else FileSeries(kind, paths, name, None, contents[-1])
    content = infer_template(texts, clock)
    if content is None or (kind is SeriesKind.CREATED and _grows(content)):
        return None
    return FileSeries(kind, paths, name, content, contents[-1])


def _grows(template: Template) -> bool:
    return any(isinstance(item, AppendedBlock) for item in template.items)


_EMPTY = Values({}, {})


@dataclass(frozen=True, slots=True)
class FileObservation:
    """A file of a series in one state, with the values in its path and in its text."""

    path: str
    name: Values
    content: Values


Observed = FileObservation | Unfollowable


def observe_all(all_series: Iterable[FileSeries], files: Files) -> list[tuple[FileSeries, Observed | None]]:
    """Return each series with its file before a repetition; ``None`` for a created file that is missing."""
    found: list[tuple[FileSeries, Observed | None]] = []
    # Two series with similar names must not claim the same file.
    taken: set[str] = set()
    for series in all_series:
        observed: Observed | None = _observe(series, files, taken)
        if isinstance(observed, FileObservation):
            taken.add(observed.path)
        elif series.kind is SeriesKind.CREATED:
            observed = None
        found.append((series, observed))
    return found


def observe_next(
    pairs: Iterable[tuple[FileSeries, Observed | None]], before: Files, after: Files, known: set[str]
) -> Iterator[tuple[FileSeries, FileObservation | None, Observed]]:
    """
    Yield each series with its file before and after a repetition; of created files, one that is new.

    Paths that are accounted for are added to ``known``.
    """
    existing = {path for path, content in before.items() if content is not None}
    for series, seen in pairs:
        created = series.kind is SeriesKind.CREATED
        old = seen if isinstance(seen, FileObservation) else None
        new = _observe(series, after, known | existing if created else known)
        if isinstance(new, FileObservation):
            # An older created file must stay as it is, so it is compared with the other files.
            known |= {new.path} if old is None or created else {new.path, old.path}
        yield series, old, new


def allowed_repetitions(pairs: Iterable[tuple[FileSeries, Observed | None]]) -> frozenset[Fraction]:
    """Return how many repetitions a count may be ahead of the newest state after one more repetition."""
    return frozenset(
        ahead + 1
        for series, old in pairs
        if isinstance(old, FileObservation)
        for ahead in _repetitions_of(series, old)
    )


def _observe(series: FileSeries, files: Files, excluded: Collection[str]) -> Observed:
    failure = Unfollowable(
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
            failure = Unfollowable(path, values)
    if not found:
        return failure
    if series.kind is not SeriesKind.CREATED:
        return found[0]
    # If several files were created, the newest counts.
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
