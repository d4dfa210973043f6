"""
Read the records of one simulation back from its trace file.

A trace file may come from anywhere, so everything in it is validated. No schema library is installed with the
harness; only the keywords that `trace.schema` uses are known here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, cast

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.table import Row
from pytest_hookharness.reports.trace.hook_runs import TraceRecord
from pytest_hookharness.reports.trace.records import VERSION
from pytest_hookharness.reports.trace.schema import DEFINITIONS, RECORDS, STEPS, Schema

# Bytes; a longer line was not written by the harness.
LONGEST_LINE = 64 << 20
_KINDS = ("begin", "step", "state", "live", "end", "trouble")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


class UnreadableTrace(ValueError):
    """A file is no valid trace file; the message names file and line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRun:
    """
    One simulation, as far as its trace file goes.

    Attributes:
        live: The comparison with the real program of its host; ``None`` if it was not made.
        end: How it ended; ``None`` if it was interrupted or could not be played.
        trouble: Why it could not be played; ``None`` if it was.
        torn: Whether an incomplete last line was left out.
    """

    name: str
    begin: TraceRecord
    steps: tuple[TraceRecord, ...] = ()
    states: tuple[TraceRecord, ...] = ()
    live: TraceRecord | None = None
    end: TraceRecord | None = None
    trouble: TraceRecord | None = None
    torn: bool = False


def read_run(lines: Iterable[bytes], name: str) -> TraceRun | None:
    """
    Read the lines of a trace file; a last line without a line end is left out.

    Returns:
        The run; ``None`` if there is no complete line.

    Raises:
        UnreadableTrace: It is not a trace file of this version.
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
            raise UnreadableTrace(
                f"{where}: a {kind!r} record does not belong there; each run has a file of its own"
            )
        found[str(kind)].append(record)
    if not found["begin"]:
        return None
    return TraceRun(
        name=name,
        begin=found["begin"][0],
        steps=tuple(found["step"]),
        states=tuple(found["state"]),
        live=next(iter(found["live"]), None),
        end=next(iter(found["end"]), None),
        trouble=next(iter(found["trouble"]), None),
        torn=torn,
    )


def _record(line: bytes, where: str) -> TraceRecord:
    try:
        record = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        raise UnreadableTrace(
            f"{where}: is not JSON; a trace file has one JSON object in each line"
        ) from None
    if not isinstance(record, dict) or record.get("record") not in _KINDS:
        known = ", ".join(_KINDS)
        raise UnreadableTrace(f"{where}: is no record of a trace; expected under 'record': {known}")
    if record["record"] == "begin" and record.get("version") != VERSION:
        raise UnreadableTrace(
            f"{where}: has version {plain(str(record.get('version')), 20)}, expected {VERSION}; "
            "read it with the version of pytest-hookharness that wrote it"
        )
    wrong = first_mismatch(record, RECORDS[_kind_of(record, where)], DEFINITIONS)
    if wrong:
        raise UnreadableTrace(f"{where}: {plain(wrong, 200)}; `hookharness schema --trace` prints the format")
    return cast("TraceRecord", record)


def _kind_of(record: dict[str, Any], where: str) -> str:
    kind = record.get("kind") if record["record"] == "step" else record["record"]
    if not isinstance(kind, str) or (record["record"] == "step" and kind not in STEPS):
        raise UnreadableTrace(f"{where}: is a step of unknown kind; expected: {', '.join(STEPS)}")
    return kind


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(literal: str) -> float:
    # JSON has no infinity, and browsers refuse a page that contains it.
    number = float(literal)
    return number if math.isfinite(number) else _refuse(literal)


def row(run: TraceRun) -> Row:
    """Return the row of a run for the summary table; one that failed has what was expected."""
    begin, end = run.begin, run.end or {}
    broken = cast("list[TraceRecord]", end.get("violations", []))
    differs = run.live is not None and not run.live["agreed"]
    expected = str(broken[0]["expected"]) if broken else "the same on the real program" if differs else ""
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
        "passed": (bool(end["passed"]) and not differs) if run.end else None,
        **({"expected": expected} if expected else {}),
    }


def _refused(step: TraceRecord) -> bool:
    return step["kind"] == "hook-event" and bool(cast("TraceRecord", step["decision"])["refused"])


def first_mismatch(value: object, schema: Schema, definitions: Mapping[str, Schema], path: str = "") -> str:
    """Return the first mismatch between a value and its schema, with its path; empty if it is valid."""
    if "$ref" in schema:
        return first_mismatch(value, definitions[str(schema["$ref"]).rpartition("/")[2]], definitions, path)
    if "anyOf" in schema:
        found = [first_mismatch(value, choice, definitions, path) for choice in schema["anyOf"]]
        return "" if "" in found else found[0]
    if "enum" in schema:
        known = schema["enum"]
        return "" if value in known and not isinstance(value, bool) else f"{_at(path)} is none of {known}"
    return _own(value, schema, path) or _below(value, schema, definitions, path)


def _own(value: object, schema: Schema, path: str) -> str:
    kind = schema.get("type")
    if kind is None:
        return ""
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return f"{_at(path)} is not of type {kind}"
    if "minimum" in schema and value < schema["minimum"]:
        return f"{_at(path)} is below {schema['minimum']}"
    return ""


def _below(value: object, schema: Schema, definitions: Mapping[str, Schema], path: str) -> str:
    if isinstance(value, dict):
        missing = [name for name in schema.get("required", ()) if name not in value]
        if missing:
            return f"{_at(path)} has no {missing[0]!r}"
        inner = ((name, schema.get("properties", {}).get(name), item) for name, item in value.items())
    elif isinstance(value, list):
        inner = ((str(place), schema.get("items"), item) for place, item in enumerate(value))
    else:
        return ""
    for name, below, item in inner:
        found = "" if below is None else first_mismatch(item, below, definitions, f"{path}/{name}")
        if found:
            return found
    return ""


def _at(path: str) -> str:
    return path or "the record"
