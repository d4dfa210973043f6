"""
The tables at the end of a run: one row for each simulation, and the slowest hooks.

A row is plain JSON, so that it can cross from one process to another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.timings import MEDIAN, NEARLY_ALL, RunTime, Timing, joined, timings
from pytest_hookharness.model.verdicts import Livelock
from pytest_hookharness.reports.safe_text import aligned, clip, columns, fit, plain, squeeze
from pytest_hookharness.reports.terminal.verdict_text import most_severe, shown_verdict

Row: TypeAlias = Mapping[str, str | int | float | bool | None]
DurationRow: TypeAlias = "tuple[str, str, float | None, Sequence[tuple[bool, float]]]"

HEADS = ("scenario", "host", "turns", "blocks", "verdict", "time", "result")
FAILED = "FAILED"
_NUMBERS = ("turns", "blocks", "time")
_DURATION_HEADS = ("p50", "p95", "of timeout", "runs", "event", "hook")
# Left out where there are fewer columns than this.
_COUNTS, _ROOMY = ("turns", "blocks"), 80
_GAP = "  "
# Columns: enough for a host's name without its version.
_NARROWEST = 14


def row(outcome: Outcome) -> dict[str, str | int | float | bool]:
    """Return the row of one outcome; one that failed has what was expected."""
    scenario = outcome.scenario
    broken = most_severe(outcome)
    name = f"{scenario.name}[{scenario.variant}]" if scenario.variant else scenario.name
    return {
        "scenario": name,
        "host": outcome.host,
        "iterations": outcome.iterations,
        "blocks": outcome.blocks(),
        "verdict": shown_verdict(outcome),
        "wall": round(outcome.wall, 3),
        "passed": outcome.passed,
        **({} if broken is None else {"expected": clip(broken.expected, 80)}),
    }


def properties(outcome: Outcome) -> dict[str, str | int | float | bool]:
    """Return an outcome as names and plain values for other tools; what does not apply is left out."""
    verdict = outcome.verdict
    period = {"period": verdict.period} if isinstance(verdict, Livelock) else {}
    slowest = max((timing.slowness for timing in timings(outcome.trace)), default=None)
    return {
        **row(outcome),
        "verdict": outcome.verdict_name,
        **period,
        "leftovers": len(outcome.leftovers),
        **({"p95_ms": round(1000 * slowest.seconds, 1)} if slowest is not None else {}),
        "seed": outcome.seed,
        "tier": outcome.tier.value,
        "findings": ",".join(finding.code for finding in outcome.findings),
    }


def render_table(rows: Sequence[Row], *, width: int = 100) -> str:
    """Return the rows in aligned columns of at most ``width`` characters, and the totals."""
    if not rows:
        return "no simulations"
    kept = [place for place, head in enumerate(HEADS) if width >= _ROOMY or head not in _COUNTS]
    whole = ((*cells(item)[:-1], _result(item)) for item in rows)
    shown = (tuple(row[place] for place in kept) for row in whole)
    heads = tuple(HEADS[place] for place in kept)
    lines = aligned(heads, shown, _align, lambda widths: _shrink(widths, width))
    return "\n".join([*(fit(line, width).rstrip() for line in lines), totals(rows)])


def totals(rows: Sequence[Row]) -> str:
    """Return how many simulations went as expected: ``3 simulations: 2 as expected, 1 failed``."""
    passed = [row["passed"] for row in rows]
    named = ((True, "as expected"), (False, "failed"), (None, "unknown"))
    parts = [f"{passed.count(value)} {name}" for value, name in named if value in passed]
    return f"{counted(len(rows), 'simulation')}: {', '.join(parts)}"


def _result(item: Row) -> str:
    """Return the result of a row, with what a simulation that failed was expected to do."""
    *_, result = cells(item)
    expected = plain(str(item.get("expected") or ""), 80)
    return f"{result}: expected {expected}" if expected and result == FAILED else result


def cells(item: Row) -> tuple[str, ...]:
    """Return the cells of a row, in the order of the heads."""
    return (
        plain(str(item["scenario"]), 100),
        plain(str(item["host"]), 40),
        str(item["iterations"]),
        str(item["blocks"]),
        str(item["verdict"]),
        f"{float(item['wall'] or 0):.1f} s",
        "unknown" if item["passed"] is None else "passed" if item["passed"] else FAILED,
    )


def _shrink(widths: list[int], most: int) -> list[int]:
    # What was expected is shortened first, then the host and the name: the others are what the table is for.
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - most
    for place, least in ((len(widths) - 1, _NARROWEST), (1, _NARROWEST), (0, _NARROWEST), (1, 6), (0, 6)):
        given = min(max(0, over), max(0, widths[place] - least))
        widths[place] -= given
        over -= given
    return widths


def _align(head: str, cell: str, width: int) -> str:
    if head in _NUMBERS:
        return " " * (width - columns(cell)) + cell
    return squeeze(cell, width) if head == "scenario" else fit(cell, width)


def duration_rows(outcomes: Iterable[Outcome]) -> list[DurationRow]:
    """Return the timings of several outcomes as plain values."""
    found = joined(timing for outcome in outcomes for timing in timings(outcome.trace))
    return [
        (each.event, each.command, each.limit, [(run.cut, round(run.seconds, 4)) for run in each.hook_runs])
        for each in found
    ]


def read_durations(rows: Iterable[DurationRow]) -> tuple[Timing, ...]:
    """Return one timing for each hook of these rows."""
    return joined(
        Timing(event=event, command=command, hook_runs=tuple(RunTime(*run) for run in runs), limit=limit)
        for event, command, limit, runs in rows
    )


def render_durations(found: Iterable[Timing], *, most: int = 0, least: float = 0.0) -> list[str]:
    """
    Return aligned lines, slowest hook first; empty if no hook is slow enough.

    Args:
        most: How many hooks are listed; 0 for all.
        least: Seconds that the 95th percentile must reach.
    """
    slow = sorted(found, key=lambda timing: timing.slowness, reverse=True)
    shown = [_duration_cells(each) for each in slow if each.slowness.cut or each.slowness.seconds >= least]
    if not shown:
        return []
    lines = aligned(_DURATION_HEADS, shown[: most or None], _align_duration)
    cut = any(timing.slowness.cut for timing in slow)
    return [*lines, *(["> timed out then; it would have taken longer"] if cut else [])]


def _duration_cells(timing: Timing) -> tuple[str, ...]:
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


def _time(run: RunTime) -> str:
    text = f"{1000 * run.seconds:.0f} ms" if run.seconds < 1 else f"{run.seconds:.2f} s"
    return f"> {text}" if run.cut else text


def _align_duration(head: str, cell: str, width: int) -> str:
    return cell.ljust(width) if head in ("event", "hook") else cell.rjust(width)
