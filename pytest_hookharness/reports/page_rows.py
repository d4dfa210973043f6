"""
This module is concerned with the list on a trace page: what one line says of each simulation.

Middle floor: reports. Pure. What is read back from trace files was held against their schema.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.reports.excerpts import Record
from pytest_hookharness.reports.runs import Run, row

KEPT, BROKEN, LEFT, UNKNOWN = "kept", "broken", "left to its test", "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    One simulation in a line.

    Attributes:
        key: Its name in addresses, which no other on the page has.
        data: The element that holds its records.
        name: The scenario with its variant, or the test.
        number: Which of the runs of this item it is, from 1.
        host: The host that was simulated.
        file: The file it comes from; empty if that is not known.
        verdict: The word for the verdict; ``interrupted`` or ``not played`` where there is none.
        promise: Whether its promises were kept: ``kept``, ``broken``, ``left to its test`` or ``not known``.
        said: What is to be said about it in one sentence.
        turns: Number of the last turn.
        blocks: Refusals that the host honoured.
        seconds: How long it took; ``None`` if that is not known.
    """

    key: str
    data: str
    name: str
    number: int
    host: str
    file: str
    verdict: str
    promise: str
    said: str
    turns: int
    blocks: int
    seconds: float | None

    def as_json(self) -> dict[str, Json]:
        """
        The same as plain JSON.
        """
        return dataclasses.asdict(self)


def rows_of(runs: Sequence[Run], passed: Mapping[str, bool]) -> list[Row]:
    """
    A row for each run, in order.

    Args:
        runs: The runs.
        passed: Whether tests passed, by their node ids, as far as that is known.
    """
    seen: Counter[str] = Counter()
    rows: list[Row] = []
    for number, run in enumerate(runs):
        item = str(run.begin["id"])
        seen[item] += 1
        rows.append(_row(run, seen[item], f"run-{number}", passed.get(item)))
    return rows


def _row(run: Run, number: int, data: str, passed: bool | None) -> Row:
    item, told = str(run.begin["id"]), row(run)
    file, _, rest = item.partition("::")
    scenario = str(run.begin["file"] or "")
    return Row(
        key=item if number == 1 else f"{item} ({number})",
        data=data,
        # What a test in Python plays has no name of its own.
        name=str(told["scenario"]) if scenario or not rest else rest,
        number=number,
        host=str(told["host"]),
        file=file if rest else scenario,
        verdict=str(told["verdict"]),
        promise=_promise(run, passed),
        said=_said(run),
        turns=cast("int", told["iterations"]),
        blocks=cast("int", told["blocks"]),
        seconds=cast("float", told["wall"]) if run.end else None,
    )


def _promise(run: Run, passed: bool | None) -> str:
    if run.end is None:
        return UNKNOWN
    kept = bool(run.end["passed"])
    # A test in Python may expect what a scenario of its own would have to promise.
    if run.begin["file"] is None and run.begin["door"] == "pytest":
        if passed is None:
            return KEPT if kept else LEFT
        kept = passed
    return KEPT if kept else BROKEN


def _said(run: Run) -> str:
    if run.end is not None:
        return str(run.end["first_line"])
    if run.trouble is not None:
        return str(cast("Record", run.trouble["why"])["text"])
    return f"interrupted: {counted(len(run.steps), 'step')} were seen"
