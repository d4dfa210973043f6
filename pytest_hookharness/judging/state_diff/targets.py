"""
Targets: the parts of threads that can be pushed, and what they are called.

Pure.

Names of places in a text: a JSON path, a key, a line.

Pure.
"""

from __future__ import annotations

import enum
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePosixPath

from pytest_hookharness.judging.state_diff.file_series import Course, FileSeries
from pytest_hookharness.judging.state_diff.progressions import Counting, Stamped, kind_of
from pytest_hookharness.judging.state_diff.templates import Region, Template, TemplateSlot, newest_of
from pytest_hookharness.model.probes import PartKind, StatePart

# A longer text is told by its lines alone.
_MOST = 1024 * 1024

# How long a key and what leads to its value may be.
_KEY = 120

_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*")
_KEY_BESIDE = re.compile(r"""([A-Za-z_][\w.-]*)["']?[ \t]*[:=][ \t]*["']?$""")
_KEY_OF_LINE = re.compile(
    r"""[ \t]*(?:-[ \t]+)?(?:export[ \t]+)?["']?([A-Za-z_][\w.-]*)["']?[ \t]*[:=](?=\s|["'\d\[{-])"""
)
_HEADER = re.compile(r"^\[+([\w.\"' -]+)\]+[ \t]*$", re.MULTILINE)


class Places:
    """
    The names of the places of one text.
    """

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
        """
        The name of a value; empty if it is all that the text says.
        """
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
        """
        The name of a place that gets one chunk more each lap.
        """
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
    """
    Whether a text is a JSON object or array.
    """
    if len(text) > _MOST or text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _json_places(text: str) -> Iterator[tuple[int, str]]:
    # Each open object or list with the key or number that one is at; an object begins without a key.
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


class Where(enum.Enum):
    """
    Where in a thread a part is: in the path, in the content, or in that files come at all.
    """

    NAME = "name"
    CONTENT = "content"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class Target:
    """
    What a push of one part changes.

    Attributes:
        thread: The thread, as a place in the list of all threads.
        where: Where in the thread.
        item: The item of the template that is meant.
        part: The part.
    """

    thread: int
    where: Where
    item: int
    part: StatePart


def targets_of(threads: Sequence[FileSeries]) -> tuple[Target, ...]:
    """
    All parts of some threads, by path and place.
    """
    found = [target for number, thread in enumerate(threads) for target in _targets(number, thread)]
    seen: dict[tuple[str, str], int] = {}
    named: list[Target] = []
    for target in found:
        key = (target.part.path, target.part.name)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            name = f"{target.part.name} ({seen[key]})".strip()
            target = replace(target, part=replace(target.part, name=name))  # noqa: PLW2901  # the same one, named
        named.append(target)
    return tuple(named)


def _targets(number: int, thread: FileSeries) -> Iterator[Target]:
    if thread.course is Course.COMES:
        yield Target(number, Where.FILES, 0, _files(thread))
        return
    for place, item in enumerate(thread.name.items):
        if isinstance(item, TemplateSlot) and not item.quiet:
            yield Target(number, Where.NAME, place, _slot(item, thread.path, "file name"))
    if thread.content is None:
        return
    places = Places(thread.content.text)
    offset = 0
    for place, item in enumerate(thread.content.items):
        start, offset = offset, offset + len(newest_of(item))
        if isinstance(item, TemplateSlot) and not item.quiet:
            name = places.of_value(start, offset)
            yield Target(number, Where.CONTENT, place, _slot(item, thread.path, name))
        elif isinstance(item, Region):
            name = places.of_growth(start, offset, item.newest)
            part = StatePart(
                path=thread.path,
                name=name,
                kind=PartKind.GROWTH,
                after=_short(item.newest),
                stamped=_stamped(item.slots),
            )
            yield Target(number, Where.CONTENT, place, part)


def _slot(slot: TemplateSlot, path: str, name: str) -> StatePart:
    motion = slot.motion
    return StatePart(
        path=path,
        name=name,
        kind=kind_of(motion),
        before=_short(slot.texts[-2]),
        after=_short(slot.newest),
        step=_number(motion.step) if isinstance(motion, Counting) else None,
        unit=motion.unit if isinstance(motion, Stamped) else "",
        stamped=isinstance(motion, Stamped),
    )


def _files(thread: FileSeries) -> StatePart:
    folder = str(PurePosixPath(thread.path).parent)
    mask = "".join("*" if isinstance(item, TemplateSlot) else newest_of(item) for item in thread.name.items)
    parts = (PurePosixPath(mask).parts, PurePosixPath(thread.path).parts)
    while any(one != other for one, other in zip(PurePosixPath(folder).parts, parts[0], strict=False)):
        folder = str(PurePosixPath(folder).parent)
    name = "/".join(parts[0][len(PurePosixPath(folder).parts) :])
    slots = [*_slots(thread.name), *_slots(thread.content)]
    return StatePart(
        path=folder, name=name, kind=PartKind.FILES, after=_short(thread.path), stamped=_stamped(slots)
    )


def _slots(template: Template | None) -> Iterator[TemplateSlot]:
    yield from (item for item in (template.items if template else ()) if isinstance(item, TemplateSlot))


def _stamped(slots: Sequence[TemplateSlot]) -> bool:
    return any(isinstance(slot.motion, Stamped) for slot in slots)


def _number(step: Fraction) -> int | float:
    return step.numerator if step.denominator == 1 else float(step)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
