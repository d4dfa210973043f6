"""
This module is concerned with the sessions of stand-ins as a tree of lines.

Middle floor: reports. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.nesting import ChildFire, ChildSession
from pytest_hookharness.reports.plain import plain, quoted

_MOST_LINES = 16
_MOST_FIRES = 4
_CALL = 44
_COMMAND = 40


def write_children(children: Sequence[ChildSession]) -> list[str]:
    """
    Each session below the one that it was started from, with the fires of its hooks; bounded.
    """
    lines = [
        line for child in children if not _has_parent(child, children) for line in _tree(child, children)
    ]
    if len(lines) > _MOST_LINES:
        return [*lines[:_MOST_LINES], f"  ... {counted(len(lines) - _MOST_LINES, 'line')} ..."]
    return lines


def _has_parent(child: ChildSession, children: Sequence[ChildSession]) -> bool:
    return any(other.number == child.parent < child.number for other in children)


def _tree(child: ChildSession, children: Sequence[ChildSession]) -> Iterator[str]:
    indent = "  " * max(1, min(child.depth, 12))
    yield f"{indent}{plain(' '.join(child.argv), _CALL)}  {_became(child)}"
    for fire in child.fires[:_MOST_FIRES]:
        yield f"{indent}  {_fire(fire)}"
    if len(child.fires) > _MOST_FIRES:
        yield f"{indent}  and {counted(len(child.fires) - _MOST_FIRES, 'more fire')}"
    for other in children:
        if other.parent == child.number < other.number:
            yield from _tree(other, children)


def _became(child: ChildSession) -> str:
    if child.refused:
        return f"is refused, beyond {plain(child.refused, 40)}"
    return f"on {counted(child.size, 'byte')}: {plain(child.ended, 20) or 'cut off'}"


def _fire(fire: ChildFire) -> str:
    ended = f"exited {fire.code}" if fire.code is not None else "did not end by itself"
    said = f" -> {plain(fire.ruling, 10)}" if fire.ruling != "none" else ""
    because = f" {quoted(fire.reason, 40)}" if fire.reason.strip() else ""
    return f"{plain(fire.event, 24)} {plain(fire.command, _COMMAND)}  {ended}{said}{because}"
