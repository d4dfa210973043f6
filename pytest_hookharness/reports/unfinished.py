"""
This module is concerned with runs that came to no end: what was seen of them, as Markdown.

Middle floor: reports. Pure.
"""

from __future__ import annotations

from pytest_hookharness.model.counting import counted
from pytest_hookharness.reports.excerpts import Record
from pytest_hookharness.reports.markdown import code, fence
from pytest_hookharness.reports.plain import plain
from pytest_hookharness.reports.runs import Run

_MOST = 20
_LONGEST = 400


def unfinished(run: Run) -> str:
    """
    A note on a run that was interrupted, or that could not be played.
    """
    became = "interrupted" if run.trouble is None else "not played"
    lines = [f"## {became}: {code(str(run.begin['id']))}"]
    if run.trouble is not None:
        why = run.trouble["why"]
        lines += fence([plain(str(why["text"]) if isinstance(why, dict) else "", _LONGEST)])
    lines += ["", f"Seen until then: {counted(len(run.steps), 'step')}."]
    if run.steps:
        lines += fence(map(_told, run.steps[-_MOST:]))
    return "\n".join(lines) + "\n"


def _told(step: Record) -> str:
    return f"turn {step['turn']}  {plain(str(step['words']), _LONGEST)}"
