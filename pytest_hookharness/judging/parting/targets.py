"""
This module is concerned with targets: the parts of threads that can be pushed, and what they are called.

Middle floor: judging. Pure.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePosixPath

from pytest_hookharness.judging.parting.motions import Counting, Stamped, kind_of
from pytest_hookharness.judging.parting.naming import Places
from pytest_hookharness.judging.parting.templates import Region, Slot, Template, newest_of
from pytest_hookharness.judging.parting.threads import Course, Thread
from pytest_hookharness.model.parts import Part, PartKind

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
    part: Part


def targets_of(threads: Sequence[Thread]) -> tuple[Target, ...]:
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


def _targets(number: int, thread: Thread) -> Iterator[Target]:
    if thread.course is Course.COMES:
        yield Target(number, Where.FILES, 0, _files(thread))
        return
    for place, item in enumerate(thread.name.items):
        if isinstance(item, Slot) and not item.quiet:
            yield Target(number, Where.NAME, place, _slot(item, thread.path, "file name"))
    if thread.content is None:
        return
    places = Places(thread.content.text)
    offset = 0
    for place, item in enumerate(thread.content.items):
        start, offset = offset, offset + len(newest_of(item))
        if isinstance(item, Slot) and not item.quiet:
            name = places.of_value(start, offset)
            yield Target(number, Where.CONTENT, place, _slot(item, thread.path, name))
        elif isinstance(item, Region):
            name = places.of_growth(start, offset, item.newest)
            part = Part(
                path=thread.path,
                name=name,
                kind=PartKind.GROWTH,
                after=_short(item.newest),
                stamped=_stamped(item.slots),
            )
            yield Target(number, Where.CONTENT, place, part)


def _slot(slot: Slot, path: str, name: str) -> Part:
    motion = slot.motion
    return Part(
        path=path,
        name=name,
        kind=kind_of(motion),
        before=_short(slot.texts[-2]),
        after=_short(slot.newest),
        step=_number(motion.step) if isinstance(motion, Counting) else None,
        unit=motion.unit if isinstance(motion, Stamped) else "",
        stamped=isinstance(motion, Stamped),
    )


def _files(thread: Thread) -> Part:
    folder = str(PurePosixPath(thread.path).parent)
    mask = "".join("*" if isinstance(item, Slot) else newest_of(item) for item in thread.name.items)
    parts = (PurePosixPath(mask).parts, PurePosixPath(thread.path).parts)
    while any(one != other for one, other in zip(PurePosixPath(folder).parts, parts[0], strict=False)):
        folder = str(PurePosixPath(folder).parent)
    name = "/".join(parts[0][len(PurePosixPath(folder).parts) :])
    slots = [*_slots(thread.name), *_slots(thread.content)]
    return Part(
        path=folder, name=name, kind=PartKind.FILES, after=_short(thread.path), stamped=_stamped(slots)
    )


def _slots(template: Template | None) -> Iterator[Slot]:
    yield from (item for item in (template.items if template else ()) if isinstance(item, Slot))


def _stamped(slots: Sequence[Slot]) -> bool:
    return any(isinstance(slot.motion, Stamped) for slot in slots)


def _number(step: Fraction) -> int | float:
    return step.numerator if step.denominator == 1 else float(step)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
