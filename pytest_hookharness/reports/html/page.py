"""
The trace page: many simulations in one HTML file that needs nothing else.

What hooks and agents said is data in it, never markup: JSON without a character that could end its element,
which the page's script puts into text nodes. The page's policy names script and style by their digests; a
browser loads and runs nothing else.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from string import Template
from typing import cast

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import decisive
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.trace.hook_runs import TraceRecord, bound
from pytest_hookharness.reports.trace.read import TraceRun, row

PASSED, FAILED, LEFT, UNKNOWN = "passed", "failed", "decided by its test", "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """
    One simulation in the list of the page.

    Attributes:
        key: Its unique name in addresses.
        data: The id of the element with its records.
        name: The scenario with its variant, or the test.
        number: The number of this run of the item, from 1.
        file: The file it comes from; empty if unknown.
        verdict: The name of the verdict; ``interrupted`` or ``not played`` if there is none.
        result: ``passed``, ``failed``, ``decided by its test`` or ``unknown``.
        seconds: Duration; ``None`` if unknown.
    """

    key: str
    data: str
    name: str
    number: int
    host: str
    file: str
    verdict: str
    result: str
    said: str
    turns: int
    blocks: int
    seconds: float | None


def rows_of(runs: Sequence[TraceRun], passed: Mapping[str, bool]) -> list[PageRow]:
    """Return a row for each run; ``passed`` has by node id whether a test passed, where it is known."""
    seen: Counter[str] = Counter()
    rows: list[PageRow] = []
    for number, run in enumerate(runs):
        item = str(run.begin["id"])
        seen[item] += 1
        rows.append(_row(run, seen[item], f"run-{number}", passed.get(item)))
    return rows


def _row(run: TraceRun, number: int, data: str, passed: bool | None) -> PageRow:
    item, shown = str(run.begin["id"]), row(run)
    file, _, rest = item.partition("::")
    scenario = str(run.begin["file"] or "")
    return PageRow(
        key=item if number == 1 else f"{item} ({number})",
        data=data,
        # A scenario of a Python test has no name of its own.
        name=str(shown["scenario"]) if scenario or not rest else rest,
        number=number,
        host=str(shown["host"]),
        file=file if rest else scenario,
        verdict=str(shown["verdict"]),
        result=_result(run, passed),
        said=_said(run),
        turns=cast("int", shown["iterations"]),
        blocks=cast("int", shown["blocks"]),
        seconds=cast("float", shown["wall"]) if run.end else None,
    )


def _result(run: TraceRun, passed: bool | None) -> str:
    if run.end is None:
        return UNKNOWN
    if run.live is not None:
        return PASSED if run.live["agreed"] else FAILED
    good = bool(run.end["passed"])
    # The expectations of a Python test are in its assertions, not in its scenario.
    if run.begin["file"] is None and run.begin["front_end"] == "pytest":
        if passed is None:
            return PASSED if good else LEFT
        good = passed
    return PASSED if good else FAILED


def _said(run: TraceRun) -> str:
    if run.end is not None:
        return str(run.live["headline"] if run.live is not None else run.end["first_line"])
    if run.trouble is not None:
        return str(cast("TraceRecord", run.trouble["why"])["text"])
    return f"interrupted: {counted(len(run.steps), 'step')} were seen"


SCRIPTS = ("text.js", "course.js", "list.js", "hook_run.js", "live.js", "item.js", "comparison.js", "page.js")
# Bytes of data that a browser opens, and the longest texts that are tried to stay below that.
_MOST = 96 << 20
_LONGEST = (64 << 10, 16 << 10, 4 << 10, 1 << 10)


def page(runs: Sequence[TraceRun], passed: Mapping[str, bool] | None = None) -> str:
    """Return the whole page as HTML; ``passed`` has by node id whether a test passed, where it is known."""
    style, script = _asset("page.css"), "\n".join(map(_asset, SCRIPTS))
    rows = rows_of(runs, passed or {})
    return Template(_asset("page.html")).substitute(
        policy=f"default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src {_digest(style)}; script-src {_digest(script)}",
        title=f"{counted(len(runs), 'hook simulation')}",
        style=style,
        script=script,
        plain="\n".join(map(_plain_row, rows)),
        index=embedded({"rows": [*map(dataclasses.asdict, rows)]}),
        runs="\n".join(_data(runs)),
    )


def embedded(value: Json) -> str:
    """Return a value as JSON that is safe inside a script element."""
    # Everything but ASCII is escaped too: lone surrogates, and line ends that only JavaScript knows.
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return (resources.files("pytest_hookharness.reports") / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _plain_row(row: PageRow) -> str:
    cells = (row.name, row.host, row.verdict, row.result, row.said)
    return "<tr>" + "".join(f"<td>{html.escape(plain(cell, 400))}</td>" for cell in cells) + "</tr>"


def _data(runs: Sequence[TraceRun]) -> list[str]:
    """Return the elements with the records, texts shortened until a browser can open all of them."""
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
        # A short element holds no long text.
        if len(text) > longest:
            text = embedded(_records(run, longest))
        yield f'<script type="application/json" id="run-{number}">{text}</script>'


def _records(run: TraceRun, longest: int | None = None) -> dict[str, Json]:
    """Return all records of a run, texts cut to ``longest`` bytes."""

    def shortened(record: Json) -> Json:
        return record if longest is None else bound(record, longest)

    return {
        "begin": shortened(run.begin),
        "steps": [*map(shortened, run.steps)],
        "states": [*map(shortened, run.states)],
        "live": shortened(run.live),
        # The incident report repeats the story in another form.
        "end": shortened(run.end and {key: value for key, value in run.end.items() if key != "incident"}),
        "decisive": shortened(_decisive(run.end) if run.end else []),
    }


def _decisive(end: TraceRecord) -> list[Json]:
    """Return the assumptions of a run that other agents, times or hosts may not meet."""
    verdict = cast("TraceRecord", end["verdict"])
    both = (verdict.get("assumptions") or [], end["assumptions"])
    assumed = dict.fromkeys(str(each) for some in both for each in cast("list[Json]", some))
    return [*decisive([*assumed])]
