"""
This module is concerned with the list on a trace page: what one line says of each simulation.

Middle floor: reports. Pure. Records come from files of anybody, so nothing in them is taken for granted.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.reports.runs import Run

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
        verdict: The word for the verdict; ``interrupted`` or ``trouble`` where there is none.
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
    turns: int | float
    blocks: int | float
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
        item = _text(run.begin, "id")
        seen[item] += 1
        rows.append(_row(run, seen[item], f"run-{number}", passed.get(item)))
    return rows


def _row(run: Run, number: int, data: str, passed: bool | None) -> Row:
    end: Mapping[str, Json] = run.end or {}
    item = _text(run.begin, "id")
    file, _, rest = item.partition("::")
    last = max((_number(step, "turn") for step in run.steps), default=0)
    return Row(
        key=item if number == 1 else f"{item} ({number})",
        data=data,
        name=_name(run.begin) or rest or run.name,
        number=number,
        host=_text(run.begin, "host"),
        file=file if rest else _text(run.begin, "file"),
        verdict=_verdict(run),
        promise=_promise(run, passed),
        said=_text(end, "first_line") or _without_end(run, last),
        turns=last,
        blocks=_number(end, "blocks"),
        seconds=_number(end, "seconds") if "seconds" in end else None,
    )


def _name(begin: Mapping[str, Json]) -> str:
    """
    The name of a scenario of a file; what a test in Python plays has none of its own.
    """
    if not _text(begin, "file"):
        return ""
    variant = _text(begin, "variant")
    return f"{_text(begin, 'scenario')}[{variant}]" if variant else _text(begin, "scenario")


def _verdict(run: Run) -> str:
    if run.end is not None:
        verdict = run.end.get("verdict")
        return _text(verdict, "name") if isinstance(verdict, Mapping) else ""
    return "interrupted" if run.trouble is None else "trouble"


def _promise(run: Run, passed: bool | None) -> str:
    if run.end is None:
        return UNKNOWN
    kept = run.end.get("passed") is True
    # A test in Python may expect what a scenario of its own would have to promise.
    if not _text(run.begin, "file"):
        if passed is None:
            return KEPT if kept else LEFT
        kept = passed
    return KEPT if kept else BROKEN


def _without_end(run: Run, last: float) -> str:
    if run.trouble is not None:
        why = run.trouble.get("why")
        return _text(why, "text") if isinstance(why, Mapping) else ""
    return f"interrupted: {counted(len(run.steps), 'step')} were seen, the last in turn {last}"


def _text(record: Mapping[str, Json], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _number(record: Mapping[str, Json], key: str) -> int | float:
    value = record.get(key)
    return value if isinstance(value, int | float) else 0
