"""
Names and locations of the parts of a pattern.

A name is a JSON path, a key, or a line number; reports show it, and probes address a part by its location.
"""

from __future__ import annotations

import enum
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import PurePosixPath

from pytest_hookharness.judging.state_diff.file_series import FileSeries, SeriesKind
from pytest_hookharness.judging.state_diff.progressions import Counting, CurrentTime, kind_of
from pytest_hookharness.judging.state_diff.templates import AppendedBlock, Template, TemplateSlot, newest_text
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import PartKind, StatePart

# In a longer text, places are named by their lines only.
_MOST = 1024 * 1024

# How far before a value its key is searched, in characters.
_KEY = 120

_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*")
_KEY_BESIDE = re.compile(r"""([A-Za-z_][\w.-]*)["']?[ \t]*[:=][ \t]*["']?$""")
_KEY_OF_LINE = re.compile(
    r"""[ \t]*(?:-[ \t]+)?(?:export[ \t]+)?["']?([A-Za-z_][\w.-]*)["']?[ \t]*[:=](?=\s|["'\d\[{-])"""
)
_HEADER = re.compile(r"^\[+([\w.\"' -]+)\]+[ \t]*$", re.MULTILINE)


class PlaceNames:
    """The names of the places in one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._inner = (len(text) - len(text.lstrip()), len(text.rstrip()))
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        headers = list(_HEADER.finditer(text)) if len(text) <= _MOST else []
        self._headers = [(match.start(), match[1]) for match in headers]
        tokens = list(_json_places(text)) if is_json(text) else []
        self._starts = [start for start, _ in tokens]
        self._paths = [path for _, path in tokens]

    def of_value(self, start: int, end: int) -> str:
        """Return the name of a value; empty if the value is the whole text."""
        if start <= self._inner[0] and end >= self._inner[1]:
            return ""
        if self._starts:
            return self._paths[max(0, bisect_right(self._starts, start) - 1)]
        line = bisect_right(self._lines, start)
        begin = self._lines[line - 1]
        beside = _KEY_BESIDE.search(self._text[max(begin, start - _KEY) : start])
        key = beside or _KEY_OF_LINE.match(self._text[begin : begin + _KEY], 0, start - begin)
        if key is None:
            return f"line {line}"
        above = bisect_right(self._headers, (start, "")) - 1
        return f"{self._headers[above][1]}.{key[1]}" if above >= 0 else key[1]

    def of_growth(self, start: int, end: int, chunk: str) -> str:
        """Return the name of a block that grows by one chunk per repetition."""
        if self._starts:
            inside = bisect_right(self._starts, start) - 1
            while inside > 0 and self._text[self._starts[inside]] not in ",{}[]":
                inside -= 1
            return self._paths[max(0, inside)]
        lines = chunk.count("\n")
        if lines and (chunk.endswith("\n") or chunk.startswith(("\n", "\r\n"))):
            return "line added" if lines == 1 else f"{lines} lines added"
        return self.of_value(start, end)


def is_json(text: str) -> bool:
    """Return whether a text is a JSON object or array."""
    if len(text) > _MOST or text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _json_places(text: str) -> Iterator[tuple[int, str]]:
    # One entry per open object or list: the current key or index. An object starts without a key.
    stack: list[str | int | None] = []
    expects_key = False
    for match in _JSON.finditer(text):
        piece = match[0]
        if piece in "]}":
            yield match.start(), _path(stack[:-1])
            stack.pop()
            continue
        if piece in "[{":
            yield match.start(), _path(stack)
            stack.append(0 if piece == "[" else None)
            expects_key = piece == "{"
        elif piece == ",":
            yield match.start(), _path(stack[:-1])
            last = stack[-1]
            stack[-1] = last + 1 if isinstance(last, int) else None
            expects_key = not isinstance(last, int)
        elif expects_key and piece.startswith('"'):
            stack[-1] = json.loads(piece, strict=False)
            expects_key = False
            yield match.start(), _path(stack)
        else:
            yield match.start(), _path(stack)


def _path(stack: list[str | int | None]) -> str:
    return "$" + "".join(map(_step, stack))


def _step(key: str | int | None) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    if key is None:
        return ""
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{json.dumps(key, ensure_ascii=False)}]"


_LONGEST = 60


class SeriesField(enum.Enum):
    """What of a series a part is in: the path, the content, or the number of files."""

    NAME = "name"
    CONTENT = "content"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class PartLocation:
    """Where a part is written: in which series of the pattern, and in which item of the template there."""

    series: int
    where: SeriesField
    item: int
    part: StatePart


def locate_parts(all_series: Sequence[FileSeries]) -> tuple[PartLocation, ...]:
    """Return all parts of some series, by path and place, each with a unique name."""
    found = [location for number, series in enumerate(all_series) for location in _locations(number, series)]
    seen: dict[tuple[str, str], int] = {}
    named: list[PartLocation] = []
    for location in found:
        key = (location.part.path, location.part.name)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            name = f"{location.part.name} ({seen[key]})".strip()
            location = replace(location, part=replace(location.part, name=name))  # noqa: PLW2901  # the same one, named
        named.append(location)
    return tuple(named)


def _locations(number: int, series: FileSeries) -> Iterator[PartLocation]:
    if series.kind is SeriesKind.CREATED:
        yield PartLocation(number, SeriesField.FILES, 0, _files(series))
        return
    for place, item in enumerate(series.name.items):
        if isinstance(item, TemplateSlot) and not item.quiet:
            yield PartLocation(number, SeriesField.NAME, place, _slot(item, series.path, "file name"))
    if series.content is None:
        return
    places = PlaceNames(series.content.text)
    offset = 0
    for place, item in enumerate(series.content.items):
        start, offset = offset, offset + len(newest_text(item))
        if isinstance(item, TemplateSlot) and not item.quiet:
            name = places.of_value(start, offset)
            yield PartLocation(number, SeriesField.CONTENT, place, _slot(item, series.path, name))
        elif isinstance(item, AppendedBlock):
            part = _growth(item, series.path, places.of_growth(start, offset, item.newest))
            yield PartLocation(number, SeriesField.CONTENT, place, part)


def _growth(block: AppendedBlock, path: str, name: str) -> StatePart:
    return StatePart(
        path=path,
        name=name,
        kind=PartKind.GROWTH,
        after=shorten(block.newest, _LONGEST),
        stamped=_stamped(block.slots),
    )


def _slot(slot: TemplateSlot, path: str, name: str) -> StatePart:
    progression = slot.progression
    return StatePart(
        path=path,
        name=name,
        kind=kind_of(progression),
        before=shorten(slot.texts[-2], _LONGEST),
        after=shorten(slot.newest, _LONGEST),
        step=_number(progression.step) if isinstance(progression, Counting) else None,
        stamped=isinstance(progression, CurrentTime),
    )


def _files(series: FileSeries) -> StatePart:
    folder = str(PurePosixPath(series.path).parent)
    mask = "".join("*" if isinstance(item, TemplateSlot) else newest_text(item) for item in series.name.items)
    parts = (PurePosixPath(mask).parts, PurePosixPath(series.path).parts)
    while any(one != other for one, other in zip(PurePosixPath(folder).parts, parts[0], strict=False)):
        folder = str(PurePosixPath(folder).parent)
    name = "/".join(parts[0][len(PurePosixPath(folder).parts) :])
    slots = [*_slots(series.name), *_slots(series.content)]
    return StatePart(
        path=folder,
        name=name,
        kind=PartKind.FILES,
        after=shorten(series.path, _LONGEST),
        stamped=_stamped(slots),
    )


def _slots(template: Template | None) -> Iterator[TemplateSlot]:
    yield from (item for item in (template.items if template else ()) if isinstance(item, TemplateSlot))


def _stamped(slots: Sequence[TemplateSlot]) -> bool:
    return any(isinstance(slot.progression, CurrentTime) for slot in slots)


def _number(step: Fraction) -> int | float:
    return step.numerator if step.denominator == 1 else float(step)


def shorten(text: str, most: int = 40) -> str:
    """Return a text, cut at its end if it is longer than some characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
