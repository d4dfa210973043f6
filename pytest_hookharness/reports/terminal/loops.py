"""
The loops found in a transcript, as text and as JSON. Text from a transcript may be hostile and is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.model.actions import Analysis, DetectedLoop
from pytest_hookharness.model.protocol import Payload
from pytest_hookharness.reports.safe_text import plain

_WIDTH = 1000


def describe_loops(analysis: Analysis) -> str:
    """Return an analysis as text."""
    return "\n".join(_lines(analysis))


def _lines(analysis: Analysis) -> Iterator[str]:
    number = len(analysis.loops)
    seen = "no loops" if not number else f"{number} loop{'s' if number > 1 else ''}"
    yield f"{seen} in {analysis.actions} actions: {plain(analysis.source, 200)} ({analysis.form})"
    for loop in analysis.loops:
        who = f", agent {plain(loop.agent, 40)}" if loop.agent else ""
        yield f"  {loop.title}, {_place(loop)}{who}"
        yield f"    {plain(loop.text, _WIDTH)}"
        yield f"    Next: {plain(loop.advice, _WIDTH)}"
    for why, count in analysis.unread.items():
        yield f"  left out: {count} x {plain(why, 80)}"
    if analysis.unanswered:
        yield f"  without a result: {analysis.unanswered}"
    if analysis.own:
        yield f"  refused by the loop guard itself, not counted: {analysis.own}"


def _place(loop: DetectedLoop) -> str:
    if not loop.first:
        return f"until {plain(loop.last, 80)}"
    return f"{plain(loop.first, 80)} to {plain(loop.last, 80)}"


def as_json(analysis: Analysis) -> Payload:
    """Return an analysis as plain data."""
    return {
        "source": analysis.source,
        "form": analysis.form,
        "actions": analysis.actions,
        "unanswered": analysis.unanswered,
        "unread": dict(analysis.unread),
        "own_refusals": analysis.own,
        "loops": [
            {
                "name": loop.name,
                "period": loop.period,
                "count": loop.count,
                "agent": loop.agent,
                "first": loop.first,
                "last": loop.last,
                "drifting": loop.drifting,
                "repetition": list(loop.repetition),
                "error": loop.error,
                "refusal": _refusal(loop),
                "text": loop.text,
                "advice": loop.advice,
            }
            for loop in analysis.loops
        ],
    }


def _refusal(loop: DetectedLoop) -> Payload | None:
    if loop.refusal is None:
        return None
    one = loop.refusal
    return {"event": one.event, "hook": one.hook, "reason": one.reason, "doubt": one.doubt}
