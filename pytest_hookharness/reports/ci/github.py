"""
GitHub Actions: broken expectations as annotations, and a run as a step summary.

Workflow commands are documented by GitHub under "Workflow commands for GitHub
Actions", the bound of a summary (1 MiB for each step) under "Adding a job summary".
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.reports.safe_text import code, fence, plain, plain_lines
from pytest_hookharness.reports.terminal.table import HEADS, Row, cells, totals

MOST_BYTES = 1 << 20
_MOST_ROWS = 500
_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureAnnotation:
    """
    One item that failed or could not be played.

    Attributes:
        file: Its file, relative to the repository.
        line: The line of the broken expectation.
        level: ``error`` or ``warning``.
    """

    name: str
    file: str
    line: int
    headline: str
    story: str = ""
    level: str = "error"


def annotation(failure: FailureAnnotation) -> str:
    """Return the workflow command that shows a failure beside the line of its expectation."""
    place = f"file={_property(failure.file)},line={failure.line}"
    title, text = _property(plain(failure.name, _LONGEST)), _data(plain(failure.headline, _LONGEST))
    return f"::{failure.level} {place},title={title}::{text}"


def warning(title: str, text: str) -> str:
    """Return the workflow command that shows a warning without a file."""
    return f"::warning title={_property(plain(title, _LONGEST))}::{_data(plain(text, _LONGEST))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def step_summary(
    rows: Sequence[Row], failures: Sequence[FailureAnnotation], *, most: int = MOST_BYTES
) -> str:
    """
    Return a run as Markdown: a table of all simulations, and the report of each failure, folded.

    Reports that do not fit into ``most`` bytes are counted instead.
    """
    head = totals(rows)
    text = _lines(["## Hook scenarios", "", head, "", *_table(rows)])
    # 200 bytes are kept for the sentence about what does not fit.
    room = most - len(text.encode()) - 200
    if room < 0:
        return _lines(["## Hook scenarios", "", head, ""]) if most > 200 else ""
    left_out = 0
    for failure in failures:
        folded = _folded(failure)
        size = len(folded.encode())
        if size > room:
            left_out += 1
            continue
        text, room = text + folded, room - size
    if left_out:
        text += f"\n{counted(left_out, 'more failure')} did not fit; see the log.\n\n"
    return text


def _table(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    # Failures come first, so that only passed ones are left out.
    shown = sorted(rows, key=lambda row: row["passed"] is not False)[:_MOST_ROWS]
    lines = [_row(HEADS), _row("---" for _ in HEADS), *(_row(_cells(row)) for row in shown)]
    left_out = len(rows) - len(shown)
    return [*lines, "", *([f"and {counted(left_out, 'more simulation')}", ""] if left_out else [])]


def _row(row: Iterable[str]) -> str:
    return f"| {' | '.join(row)} |"


def _cells(row: Row) -> tuple[str, ...]:
    _, _, *facts, result = cells(row)
    return cell(row["scenario"]), cell(row["host"]), *facts, result.replace("FAILED", "**FAILED**")


def cell(text: object) -> str:
    """Return a text as one cell of a Markdown table."""
    # A bar begins a new cell, even inside a code span.
    return code(str(text)).replace("|", "\\|")


def _folded(failure: FailureAnnotation) -> str:
    head = html.escape(plain(f"{failure.name}: {failure.headline}", _LONGEST))
    story = fence(plain_lines(failure.story))
    return _lines(["<details>", f"<summary><code>{head}</code></summary>", *story, "</details>", ""])


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
