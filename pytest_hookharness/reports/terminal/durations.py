"""
The slowest hooks of a run, in a table.

A row is plain JSON, so that it can cross from one process to another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.timings import MEDIAN, NEARLY_ALL, RunTime, Timing, joined, timings
from pytest_hookharness.reports.safe_text import plain

Row: TypeAlias = "tuple[str, str, float | None, Sequence[tuple[bool, float]]]"

_HEADS = ("p50", "p95", "of timeout", "runs", "event", "hook")


def rows(outcomes: Iterable[Outcome]) -> list[Row]:
    """Return the timings of several outcomes as plain values."""
    found = joined(timing for outcome in outcomes for timing in timings(outcome.trace))
    return [
        (
            each.event,
            each.command,
            each.limit,
            [(fire.cut, round(fire.seconds, 4)) for fire in each.hook_runs],
        )
        for each in found
    ]


def read(rows: Iterable[Row]) -> tuple[Timing, ...]:
    """Return one timing for each hook of these rows."""
    return joined(
        Timing(event=event, command=command, hook_runs=tuple(RunTime(*fire) for fire in fires), limit=limit)
        for event, command, limit, fires in rows
    )


def render_durations(found: Iterable[Timing], *, most: int = 0, least: float = 0.0) -> list[str]:
    """
    Return aligned lines, slowest hook first; empty if no hook is slow enough.

    Args:
        found: The timings.
        most: How many hooks are listed; 0 for all.
        least: Seconds that the 95th percentile must reach.
    """
    slow = sorted(found, key=lambda timing: timing.slowness, reverse=True)
    shown = [_cells(each) for each in slow if each.slowness.cut or each.slowness.seconds >= least]
    if not shown:
        return []
    cells = [_HEADS, *shown[: most or None]]
    widths = [max(len(line[place]) for line in cells) for place in range(len(_HEADS))]
    lines = ["  ".join(map(_align, _HEADS, line, widths)).rstrip() for line in cells]
    return [*lines, *_footnotes(slow)]


def _cells(timing: Timing) -> tuple[str, ...]:
    return (
        _time(timing.within(MEDIAN)),
        _time(timing.within(NEARLY_ALL)),
        _share(timing),
        str(len(timing.hook_runs)),
        plain(timing.event, 40),
        plain(timing.command, 100),
    )


def _share(timing: Timing) -> str:
    if not timing.limit:
        return ""
    share = 100 * timing.slowness.seconds / timing.limit
    if timing.slowness.cut and share < 100:
        # Ended by the harness's timeout: how long it would have run is unknown.
        return "unknown"
    return f"{share:.0f} %" if share >= 1 else "< 1 %"


def _time(fire: RunTime) -> str:
    text = f"{1000 * fire.seconds:.0f} ms" if fire.seconds < 1 else f"{fire.seconds:.2f} s"
    return f"> {text}" if fire.cut else text


def _footnotes(found: Sequence[Timing]) -> Iterator[str]:
    if any(timing.slowness.cut for timing in found):
        yield "> timed out then; it would have taken longer"


def _align(head: str, cell: str, width: int) -> str:
    return cell.ljust(width) if head in _HEADS[-2:] else cell.rjust(width)
