"""
This module is concerned with telling how far parts were pushed, in the words of a report.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from typing import assert_never

from pytest_hookharness.judging.parting.motions import Counting, ahead
from pytest_hookharness.judging.parting.numerals import read
from pytest_hookharness.judging.parting.pushing import extent
from pytest_hookharness.judging.parting.targets import Target, Where
from pytest_hookharness.judging.parting.templates import Region, Slot
from pytest_hookharness.judging.parting.threads import Thread
from pytest_hookharness.model.parts import PartKind, Push, Pushing


def tell(thread: Thread, target: Target, push: Push) -> str:
    """
    How far one part was pushed.
    """
    part = target.part
    match push.how:
        case Pushing.OLDER:
            if part.kind is PartKind.GROWTH:
                return f"{part.place} without its newest addition"
            if part.kind is PartKind.FILES:
                return f"{part.place} without its newest file"
            return f"{part.place} back at {part.before}"
        case Pushing.AHEAD:
            return _ahead(thread, target, push.laps)
        case Pushing.AGED:
            return (
                f"{part.place} {push.seconds:,g} seconds older" if part.stamped else f"{part.place} as it is"
            )
        case Pushing.REPLACED:
            random = part.kind in (PartKind.IDENTIFIER, PartKind.DIGEST)
            return f"{part.place} replaced by another" if random else f"{part.place} as it is"
        case Pushing.TRANSCRIPT | Pushing.WAITED:
            return f"{part.place} as it is"
        case _:
            assert_never(push.how)


def _ahead(thread: Thread, target: Target, laps: int) -> str:
    part = target.part
    if target.where is Where.FILES:
        return f"{extent(thread, target, laps):,} more files {part.place}"
    template = thread.content if target.where is Where.CONTENT else thread.name
    item = template.items[target.item] if template is not None else ""
    if isinstance(item, Region):
        count = extent(thread, target, laps)
        lines = item.newest.count("\n")
        if part.name.endswith("added"):
            whole = thread.content.text.count("\n") if thread.content is not None else 0
            return f"{part.file} of {whole + count * lines:,} lines"
        return f"{count:,} more in {part.place}"
    if not isinstance(item, Slot):
        return part.place
    text = ahead(item.motion, item.newest, laps, "")
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
