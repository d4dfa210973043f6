"""
Threads: one file, followed through the laps by its name and its content.

Pure.
"""

from __future__ import annotations

import enum
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.template_inference import derive
from pytest_hookharness.judging.state_diff.templates import Region, Template
from pytest_hookharness.judging.state_diff.timestamps import Reading, cut, shape

# Content by state path; None for a file that is not there.
Files = Mapping[str, bytes | None]

# The largest file that is followed, and the largest that is written.
LARGEST = 4 * 1024 * 1024


class Course(enum.Enum):
    """
    What becomes of a file: it stays, it moves to another name each lap, or one like it comes each lap.
    """

    STAYS = "stays"
    MOVES = "moves"
    COMES = "comes"


@dataclass(frozen=True, slots=True)
class FileSeries:
    """
    One file, followed through the laps.

    Attributes:
        course: What becomes of it.
        paths: Its path at each lap, the newest last; of the files that came, if they come.
        name: The template of its path.
        content: The template of its text; nothing if it is no text, and the same each lap.
        raw: Its newest content.
    """

    course: Course
    paths: tuple[str, ...]
    name: Template
    content: Template | None
    raw: bytes

    @property
    def path(self) -> str:
        """
        Its newest path.
        """
        return self.paths[-1]


@dataclass(frozen=True, slots=True)
class Lost:
    """
    A file that cannot be followed.

    Attributes:
        path: Its path.
        why: Why not, as the end of a sentence about the file.
    """

    path: str
    why: str


def text_of(content: bytes) -> str | None:
    """
    The text of a file; nothing if it is none.
    """
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def follow(moments: Sequence[Files], clock: SessionClock) -> list[FileSeries | Lost]:
    """
    The threads of the files that differ between moments, and the files that are on none.
    """
    paths = sorted({path for moment in moments for path in moment})
    contents = {path: [moment.get(path) for moment in moments] for path in paths}
    changing = {path: row for path, row in contents.items() if len(set(row)) > 1}
    found: list[FileSeries | Lost] = []
    others: dict[str, list[bytes | None]] = {}
    for path, row in changing.items():
        known = [content for content in row if content is not None]
        if len(known) == len(row):
            found.append(_thread(Course.STAYS, (path,), known, clock))
        else:
            others[path] = row
    return [*found, *_follow_names(others, len(moments), clock)]


def _follow_names(
    others: dict[str, list[bytes | None]], repetitions: int, clock: SessionClock
) -> Iterator[FileSeries | Lost]:
    left = dict(others)
    for reading in (Reading.PLAIN, Reading.RANDOM, Reading.HEXADECIMAL):
        groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for path in left:
            groups[tuple(shape(token, reading) for token in cut(path, reading))].append(path)
        for group in groups.values():
            sets = _sets({path: left[path] for path in group}, repetitions)
            if sets is None:
                continue
            course, rows = sets
            for line in zip(*(sorted(row, key=natural) for row in rows), strict=True):
                contents = [next(content for content in left[path] if content is not None) for path in line]
                yield _thread(course, line, contents, clock)
            for path in group:
                del left[path]
    why = "it comes and goes, or came only once, and no file of a like name does so each lap"
    yield from (Lost(path, why) for path in left)


def _sets(rows: dict[str, list[bytes | None]], repetitions: int) -> tuple[Course, list[list[str]]] | None:
    """
    The files of each lap, if one kind of them takes its course; the first lap is not asked for what comes.
    """
    present = {path: [content is not None for content in row] for path, row in rows.items()}
    if any(len({content for content in row if content is not None}) > 1 for row in rows.values()):
        return None
    if all(sum(row) == 1 for row in present.values()):
        moved = [[path for path, row in present.items() if row[lap]] for lap in range(repetitions)]
        if len(set(map(len, moved))) == 1:
            return Course.MOVES, moved
    came = [
        [path for path, row in present.items() if row == [later >= lap for later in range(repetitions)]]
        for lap in range(1, repetitions)
    ]
    if sum(map(len, came)) == len(rows) and len(set(map(len, came))) == 1:
        return Course.COMES, came
    return None


def natural(path: str) -> list[tuple[int, int, str]]:
    """
    The key that sorts paths by the numbers in them.
    """
    pieces = re.split(r"([0-9]{1,300})", path)
    return [(1, int(piece), "") if place % 2 else (0, 0, piece) for place, piece in enumerate(pieces)]


def _thread(
    course: Course, paths: tuple[str, ...], contents: list[bytes], clock: SessionClock
) -> FileSeries | Lost:
    newest = paths[-1]
    if max(map(len, contents)) > LARGEST:
        return Lost(newest, f"it is larger than {LARGEST // 1024 // 1024} MiB")
    name = derive(paths, clock) if len(paths) > 1 else Template((newest,))
    if isinstance(name, str) or any(isinstance(item, Region) for item in name.items):
        return Lost(newest, "its name changes from lap to lap, and by no rule")
    texts = [text for content in contents if (text := text_of(content)) is not None]
    if len(texts) < len(contents):
        if len(set(contents)) > 1:
            return Lost(newest, "it is no text, and changes from lap to lap")
        return FileSeries(course, paths, name, None, contents[-1])
    content = derive(texts, clock)
    if isinstance(content, str):
        return Lost(newest, content)
    if course is Course.COMES and any(isinstance(item, Region) for item in content.items):
        return Lost(newest, "each file of its kind is longer than the one before")
    return FileSeries(course, paths, name, content, contents[-1])
