"""
The summary table: one row for each simulation of a run.

A row is plain JSON, so that it can cross from one process to another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.timings import timings
from pytest_hookharness.model.verdicts import Livelock
from pytest_hookharness.reports.safe_text import columns, fit, plain, squeeze

Row: TypeAlias = Mapping[str, str | int | float | bool | None]

_HEADS = ("scenario", "host", "iterations", "blocks", "verdict", "time", "result")
_NUMBERS = ("iterations", "blocks", "time")
_GAP = "  "
# Columns: enough for a host's name without its version.
_NARROWEST = 14


def row(outcome: Outcome) -> dict[str, str | int | float | bool]:
    """Return the row of one outcome."""
    scenario = outcome.scenario
    name = f"{scenario.name}[{scenario.variant}]" if scenario.variant else scenario.name
    return {
        "scenario": name,
        "host": outcome.host,
        "iterations": outcome.iterations,
        "blocks": outcome.blocks(),
        "verdict": outcome.verdict_name,
        "wall": round(outcome.wall, 3),
        "passed": outcome.passed,
    }


def rows(outcomes: Sequence[Outcome]) -> list[Row]:
    """Return the rows of several outcomes, in order."""
    return [row(outcome) for outcome in outcomes]


def properties(outcome: Outcome) -> dict[str, str | int | float | bool]:
    """Return an outcome as names and plain values for other tools; what does not apply is left out."""
    verdict = outcome.verdict
    period = {"period": verdict.period} if isinstance(verdict, Livelock) else {}
    slowest = max((timing.slowness for timing in timings(outcome.trace)), default=None)
    return {
        **row(outcome),
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
    cells = [_HEADS, *map(_cells, rows)]
    widths = _shrink([max(columns(line[place]) for line in cells) for place in range(len(_HEADS))], width)
    lines = [fit(_GAP.join(map(_align, _HEADS, line, widths)), width).rstrip() for line in cells]
    broken = sum(1 for item in rows if item["passed"] is False)
    unknown = sum(1 for item in rows if item["passed"] is None)
    lines.append(totals(len(rows), broken, unknown))
    return "\n".join(lines)


def totals(simulations: int, failed: int, unknown: int) -> str:
    """Return how many simulations went as expected: ``3 simulations: 2 as expected, 1 failed``."""
    parts = [f"{simulations - failed - unknown} as expected"]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{unknown} unknown"] if unknown else []
    return f"{counted(simulations, 'simulation')}: {', '.join(parts)}"


def _cells(item: Row) -> tuple[str, ...]:
    return (
        plain(str(item["scenario"]), 100),
        plain(str(item["host"]), 40),
        str(item["iterations"]),
        str(item["blocks"]),
        str(item["verdict"]),
        f"{float(item['wall'] or 0):.1f} s",
        "unknown" if item["passed"] is None else "passed" if item["passed"] else "FAILED",
    )


def _shrink(widths: list[int], most: int) -> list[int]:
    # The host is shortened first, then the name: the other columns are what the table is for.
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - most
    for place in (1, 0):
        given = min(max(0, over), max(0, widths[place] - _NARROWEST))
        widths[place] -= given
        over -= given
    return widths


def _align(head: str, cell: str, width: int) -> str:
    if head in _NUMBERS:
        return " " * (width - columns(cell)) + cell
    return squeeze(cell, width) if head == "scenario" else fit(cell, width)
