"""The steps of a trace file: what the agent did, what happened, what the hooks replied."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import assert_never

from pytest_hookharness.model.agent_sessions import ChildSession
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.trace import Change, Exchange, Happened, HookEvent, Moved, Performed, Step
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.phrases import describe_event, describe_move
from pytest_hookharness.reports.trace.hook_runs import (
    MOST,
    TraceRecord,
    attributes,
    decision_data,
    excerpt,
    hook_run_data,
    of_json,
    run_data,
)

# Bytes of the longest file, and number of the files in one step, that have a diff.
LONGEST_FILE = 64 << 10
_MOST_DIFFERENCES = 50
_MOST_LINES = 2000
_NAME = 40


@dataclass(frozen=True, slots=True)
class Versions:
    """The contents of a file before and after a step; ``None`` where unknown."""

    before: bytes | None
    after: bytes | None


def step(seen: Step, contents: Mapping[str, Versions] | None = None, at: float = 0.0) -> TraceRecord:
    """
    Return the record of one step.

    ``contents`` holds known versions of changed files, by state path; ``at`` is the time at which the step
    was over, in seconds since the testbed was ready.
    """
    return {
        "record": "step",
        "number": seen.number,
        "turn": seen.turn,
        "at": round(at, 4),
        **_exchange(seen.exchange, contents or {}),
    }


def _exchange(exchange: Exchange, contents: Mapping[str, Versions]) -> TraceRecord:
    match exchange:
        case Moved():
            return {
                "kind": "moved",
                "words": describe_move(exchange.move),
                "move": {"name": type(exchange.move).__name__.lower(), "data": of_json(exchange.move)},
                "saw": [
                    {"kind": message.kind, "event": message.event, "text": excerpt(message.text)}
                    for message in exchange.saw.messages
                ],
            }
        case Happened():
            return {
                "kind": "happened",
                "words": describe_event(exchange.event),
                "happening": {"name": type(exchange.event).__name__.lower(), "data": of_json(exchange.event)},
            }
        case Performed():
            return {
                "kind": "performed",
                "words": _performed_words(exchange),
                "tool": exchange.call.name,
                "input": of_json(exchange.call.input),
                "result": excerpt(exchange.result.text),
                "failed": exchange.result.failed,
                "refused": exchange.refused,
                "run": None if exchange.run is None else run_data(exchange.run),
                **_consequences(exchange, contents),
            }
        case HookEvent():
            return {
                "kind": "hook-event",
                "words": _hook_event_words(exchange),
                "event": exchange.event,
                "target": exchange.target,
                "hook_runs": [hook_run_data(run, exchange) for run in exchange.hook_runs],
                "decision": decision_data(exchange.decision),
                **_consequences(exchange, contents),
            }
        case _:
            assert_never(exchange)


def _performed_words(performed: Performed) -> str:
    result = "failed" if performed.result.failed else "was carried out"
    return f"{plain(performed.call.name, _NAME)} {'was refused' if performed.refused else result}"


def _hook_event_words(hooked: HookEvent) -> str:
    decision, event = hooked.decision, plain(hooked.event, _NAME)
    if decision.halt is not None:
        return f"{event}: the turn is ended"
    if decision.overridden:
        return f"{event}: a refusal, which the host overrides"
    if decision.refused:
        return f"{event}: refused"
    return f"{event}: {decision.ruling.value}" if decision.ruling.value != "none" else f"{event}: allowed"


def _consequences(exchange: Performed | HookEvent, contents: Mapping[str, Versions]) -> TraceRecord:
    changes = exchange.changes
    return {
        "changes": [
            change_data(change, contents.get(change.path) if place < _MOST_DIFFERENCES else None)
            for place, change in enumerate(changes[:MOST])
        ],
        "more_changes": max(0, len(changes) - MOST),
        "children": [_child(child) for child in exchange.children[:MOST]],
    }


def change_data(change: Change, versions: Versions | None = None) -> TraceRecord:
    """Return a changed file, with a diff if it is a text with known contents."""
    diff = _difference(change, versions)
    return {
        **attributes(change, "path", "how"),
        "diff": None if diff is None else excerpt(diff),
        **attributes(change, "hooks", "in_doubt"),
    }


def _difference(change: Change, versions: Versions | None) -> str | None:
    if versions is None or versions.before is None or versions.after is None:
        return None
    if max(len(versions.before), len(versions.after)) > LONGEST_FILE:
        return None
    try:
        texts = [data.decode() for data in (versions.before, versions.after)]
    except UnicodeDecodeError:
        return None
    before, after = map(_lines, texts)
    if texts[0] == texts[1] or any("\0" in text for text in texts):
        return None
    # Comparing takes longer than in proportion to the lines.
    return _unified(change, before, after) if max(len(before), len(after)) <= _MOST_LINES else None


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def _unified(change: Change, before: Sequence[str], after: Sequence[str]) -> str:
    # Names with a line end would look like lines of the difference.
    name = plain(change.path, 400)
    old = "/dev/null" if change.how == "added" else f"a/{name}"
    new = "/dev/null" if change.how == "removed" else f"b/{name}"
    lines = difflib.unified_diff(before, after, old, new)
    unended = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + unended for line in lines)


def _child(child: ChildSession) -> TraceRecord:
    # Its environment is left out: it is the likeliest place of secrets, and decides nothing here.
    return {
        **attributes(child, "number", "parent", "depth", "host", "argv", "starter"),
        "bytes": child.size,
        **attributes(child, "folder", "ended", "refused", "trouble"),
        "hook_runs": [
            {**attributes(run, "event", "command", "code", "ruling"), "reason": excerpt(run.reason)}
            for run in child.hook_runs
        ],
        "calls": [{"tool": call.name, "refused": call.refused} for call in child.calls],
    }
