"""
Runs: the records of one simulation, read back from its trace file.

Pure. A trace file may come from anywhere, so nothing in it is taken for granted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn, cast

from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.table import Row
from pytest_hookharness.reports.trace.hook_runs import TraceRecord
from pytest_hookharness.reports.trace.records import VERSION
from pytest_hookharness.reports.trace.schema import DEFINITIONS, RECORDS, STEPS
from pytest_hookharness.reports.trace.validate import misfit

# Bytes of one line; what is longer was not written by us.
LONGEST_LINE = 64 << 20
_KINDS = ("begin", "step", "state", "end", "trouble")


class UnreadableTrace(ValueError):
    """
    A file is no trace file, or one that is not understood; the message names file and line.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRun:
    """
    One simulation, as far as it was written down.

    Attributes:
        name: The name of the file.
        begin: How it began.
        steps: The steps, in order.
        states: The states, in order of their turns.
        end: What came of it; ``None`` if it was interrupted, or could not be played.
        trouble: Why it could not be played, as a record; ``None`` if that is not so.
        torn: Whether a last line was left out that is not whole.
    """

    name: str
    begin: TraceRecord
    steps: tuple[TraceRecord, ...] = ()
    states: tuple[TraceRecord, ...] = ()
    end: TraceRecord | None = None
    trouble: TraceRecord | None = None
    torn: bool = False

    @property
    def interrupted(self) -> bool:
        """
        Whether it came to no end of any kind.
        """
        return self.end is None and self.trouble is None


def read_run(lines: Iterable[bytes], name: str) -> TraceRun | None:
    """
    Take the lines of a trace file for a run; a last line without a line end is left out.

    Returns:
        ``None`` if there is no whole line: whoever wrote it came to nothing.

    Raises:
        UnreadableTrace: It is not a trace file of a version that is known here.
    """
    found: dict[str, list[TraceRecord]] = {kind: [] for kind in _KINDS}
    torn = False
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}"
        if len(line) > LONGEST_LINE:
            raise UnreadableTrace(
                f"{where}: is longer than {LONGEST_LINE} bytes; no trace file has such lines"
            )
        if not line.endswith(b"\n"):
            torn = True
            break
        record = _record(line, where)
        kind = record["record"]
        if (kind == "begin") != (number == 1) or found["end"] or found["trouble"]:
            raise UnreadableTrace(f"{where}: a {kind!r} record does not belong there; each run is a file")
        found[str(kind)].append(record)
    if not found["begin"]:
        return None
    return TraceRun(
        name=name,
        begin=found["begin"][0],
        steps=tuple(found["step"]),
        states=tuple(found["state"]),
        end=next(iter(found["end"]), None),
        trouble=next(iter(found["trouble"]), None),
        torn=torn,
    )


def _record(line: bytes, where: str) -> TraceRecord:
    try:
        record = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        raise UnreadableTrace(f"{where}: is no JSON; a trace file has one JSON object in each line") from None
    if not isinstance(record, dict) or record.get("record") not in _KINDS:
        known = ", ".join(_KINDS)
        raise UnreadableTrace(f"{where}: is no record of a trace; known under 'record' are {known}")
    if record["record"] == "begin" and record.get("version") != VERSION:
        raise UnreadableTrace(
            f"{where}: is of version {plain(str(record.get('version')), 20)}, known is {VERSION}; "
            "read it with the pytest-hookharness that wrote it"
        )
    kind = record.get("kind") if record["record"] == "step" else record["record"]
    if not isinstance(kind, str) or (record["record"] == "step" and kind not in STEPS):
        raise UnreadableTrace(f"{where}: is a step of no kind that is known; those are {', '.join(STEPS)}")
    wrong = misfit(record, RECORDS[kind], DEFINITIONS)
    if wrong:
        raise UnreadableTrace(f"{where}: {plain(wrong, 200)}; `hookharness schema --trace` prints the format")
    return cast("TraceRecord", record)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(literal: str) -> float:
    # JSON has no word for what is larger than all numbers, and browsers read no page that holds one.
    number = float(literal)
    return number if math.isfinite(number) else _refuse(literal)


def row(run: TraceRun) -> Row:
    """
    The row of a run for the table.
    """
    begin, end = run.begin, run.end or {}
    variant = f"[{begin['variant']}]" if begin["variant"] else ""
    turns = (cast("int", step["turn"]) for step in run.steps)
    verdict = cast("TraceRecord", end["verdict"])["name"] if run.end else "interrupted"
    return {
        "scenario": f"{begin['scenario']}{variant}",
        "host": str(begin["host"]),
        "iterations": cast("int", end.get("iterations", max(turns, default=0))),
        "blocks": cast("int", end.get("blocks", sum(map(_refused, run.steps)))),
        "verdict": "not played" if run.trouble else str(verdict),
        "wall": cast("float", end.get("seconds", 0.0)),
        "passed": cast("bool", end["passed"]) if run.end else None,
    }


def _refused(step: TraceRecord) -> bool:
    return step["kind"] == "hooked" and bool(cast("TraceRecord", step["decision"])["refused"])
