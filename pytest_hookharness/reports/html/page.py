"""
The trace page: many simulations as one file for a browser.

The file needs nothing but itself. What hooks and agents said is data in it,
never markup: JSON without a sign that could end its element, which a script of ours puts into text nodes. The
page's own policy names that script and its style by their digests; a browser loads and runs nothing else.

The list on a trace page: what one line says of each simulation.

What is read back from trace files was held against their schema.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import cast

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.trace.hook_runs import TraceRecord, bound
from pytest_hookharness.reports.trace.read import TraceRun, row

KEPT, BROKEN, LEFT, UNKNOWN = "kept", "broken", "left to its test", "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
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


def rows_of(runs: Sequence[TraceRun], passed: Mapping[str, bool]) -> list[PageRow]:
    """
    A row for each run, in order.

    Args:
        runs: The runs.
        passed: Whether tests passed, by their node ids, as far as that is known.
    """
    seen: Counter[str] = Counter()
    rows: list[PageRow] = []
    for number, run in enumerate(runs):
        item = str(run.begin["id"])
        seen[item] += 1
        rows.append(_row(run, seen[item], f"run-{number}", passed.get(item)))
    return rows


def _row(run: TraceRun, number: int, data: str, passed: bool | None) -> PageRow:
    item, told = str(run.begin["id"]), row(run)
    file, _, rest = item.partition("::")
    scenario = str(run.begin["file"] or "")
    return PageRow(
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


def _promise(run: TraceRun, passed: bool | None) -> str:
    if run.end is None:
        return UNKNOWN
    kept = bool(run.end["passed"])
    # A test in Python may expect what a scenario of its own would have to promise.
    if run.begin["file"] is None and run.begin["door"] == "pytest":
        if passed is None:
            return KEPT if kept else LEFT
        kept = passed
    return KEPT if kept else BROKEN


def _said(run: TraceRun) -> str:
    if run.end is not None:
        return str(run.end["first_line"])
    if run.trouble is not None:
        return str(cast("TraceRecord", run.trouble["why"])["text"])
    return f"interrupted: {counted(len(run.steps), 'step')} were seen"


SCRIPTS = ("text.js", "course.js", "list.js", "fire.js", "item.js", "page.js")
# Bytes of data that a browser opens without complaint, and how long one text may be to keep within them.
_MOST = 96 << 20
_LONGEST = (64 << 10, 16 << 10, 4 << 10, 1 << 10)


def page(runs: Sequence[TraceRun], passed: Mapping[str, bool] | None = None) -> str:
    """
    The whole page as HTML.

    Args:
        runs: What is on it, in order.
        passed: Whether tests passed, by their node ids, as far as that is known.
    """
    style, script = _asset("page.css"), "\n".join(map(_asset, SCRIPTS))
    rows = rows_of(runs, passed or {})
    return Template(_asset("page.html")).substitute(
        policy=f"default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src {_digest(style)}; script-src {_digest(script)}",
        title=f"{counted(len(runs), 'hook simulation')}",
        style=style,
        script=script,
        plain="\n".join(map(_plain_row, rows)),
        index=embedded({"rows": [row.as_json() for row in rows]}),
        runs="\n".join(_data(runs)),
    )


def embedded(value: Json) -> str:
    """
    A value as JSON that can stand inside of a script element.
    """
    # Whatever is no ASCII is escaped too: halves of pairs, and the line ends that only JavaScript knows.
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return (resources.files("pytest_hookharness.reports") / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _plain_row(row: PageRow) -> str:
    cells = (row.name, row.host, row.verdict, row.promise, row.said)
    return "<tr>" + "".join(f"<td>{html.escape(plain(cell, 400))}</td>" for cell in cells) + "</tr>"


def _data(runs: Sequence[TraceRun]) -> list[str]:
    """
    The elements with the records, their texts shortened until all of them together can be opened.
    """
    elements: list[str] = []
    for longest in _LONGEST:
        elements, size = [], 0
        for element in _elements(runs, longest):
            elements.append(element)
            size += len(element)
            if size > _MOST and longest != _LONGEST[-1]:
                break
        else:
            break
    return elements


def _elements(runs: Sequence[TraceRun], longest: int) -> Iterator[str]:
    for number, run in enumerate(runs):
        text = embedded(_records(run))
        # No text is longer than all of it.
        if len(text) > longest:
            text = embedded(_records(run, longest))
        yield f'<script type="application/json" id="run-{number}">{text}</script>'


def _records(run: TraceRun, longest: int | None = None) -> dict[str, Json]:
    """
    The records of a run, all of them; the texts in each as long as may be.
    """

    def shortened(record: Json) -> Json:
        return record if longest is None else bound(record, longest)

    return {
        "begin": shortened(run.begin),
        "steps": [*map(shortened, run.steps)],
        "states": [*map(shortened, run.states)],
        # The entry says the same in another form.
        "end": shortened(run.end and {key: value for key, value in run.end.items() if key != "entry"}),
    }
