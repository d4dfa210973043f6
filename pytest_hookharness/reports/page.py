"""
This module is concerned with the trace page: many simulations as one file for a browser.

Middle floor: reports. Pure. The file needs nothing but itself. What hooks and agents said is data in it,
never markup: JSON without a sign that could end its element, which a script of ours puts into text nodes. The
page's own policy names that script and its style by their digests; a browser loads and runs nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from string import Template

from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.reports.excerpts import bound
from pytest_hookharness.reports.page_rows import Row, rows_of
from pytest_hookharness.reports.plain import plain
from pytest_hookharness.reports.runs import Run

SCRIPTS = ("text.js", "course.js", "list.js", "fire.js", "item.js", "page.js")
# Bytes of data that a browser opens without complaint, and how long one text may be to keep within them.
_MOST = 96 << 20
_LONGEST = (64 << 10, 16 << 10, 4 << 10, 1 << 10)


def page(runs: Sequence[Run], passed: Mapping[str, bool] | None = None) -> str:
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


def _plain_row(row: Row) -> str:
    cells = (row.name, row.host, row.verdict, row.promise, row.said)
    return "<tr>" + "".join(f"<td>{html.escape(plain(cell, 400))}</td>" for cell in cells) + "</tr>"


def _data(runs: Sequence[Run]) -> list[str]:
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


def _elements(runs: Sequence[Run], longest: int) -> Iterator[str]:
    for number, run in enumerate(runs):
        text = embedded(_records(run))
        # No text is longer than all of it.
        if len(text) > longest:
            text = embedded(_records(run, longest))
        yield f'<script type="application/json" id="run-{number}">{text}</script>'


def _records(run: Run, longest: int | None = None) -> dict[str, Json]:
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
