"""
The records of a trace file: how one simulation began, its states, how it ended.

A record is plain JSON with its kind under ``record``. A simulation has one ``begin``, then a ``step`` for
each exchange and a ``state`` for each turn, and finally an ``end``, or ``trouble`` if it could not be
played. A file without either was interrupted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import cast

from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Edit, Read, RunCommand, Stop, Subagent, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.probes import ProbeReport
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.protocol import Hook, Json
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import State
from pytest_hookharness.model.verdicts import Finding, FindingCode, Verdict, Violation, verdict_name
from pytest_hookharness.reports.terminal.advice import advice
from pytest_hookharness.reports.terminal.phrases import describe_move
from pytest_hookharness.reports.terminal.probe_report import render_probes
from pytest_hookharness.reports.terminal.story import story
from pytest_hookharness.reports.terminal.verdict_text import first_line
from pytest_hookharness.reports.trace.hook_runs import (
    MOST,
    TraceRecord,
    as_data,
    attributes,
    excerpt,
    hook_data,
    of_bytes,
    process_data,
    rule_data,
)
from pytest_hookharness.reports.trace.steps import change_data

VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceHeader:
    """
    The facts of a run that the scenario does not contain.

    Attributes:
        id: Node id of the test, or of the item of a scenario file.
        front_end: ``pytest`` or ``hookharness``.
        tier: The isolation of hook runs; ``None`` while it is not known.
        began: Day and time in ISO 8601.
    """

    id: str
    front_end: str
    host: str
    seed: int = 0
    tier: Tier | None = None
    hooks: Sequence[Hook] = ()
    replay_command: str = ""
    began: str = ""


def begin(scenario: Scenario, header: TraceHeader) -> TraceRecord:
    """Return the record of what is about to be played."""
    origin = scenario.origin
    return {
        "record": "begin",
        "version": VERSION,
        **attributes(header, "id", "front_end", "host", "seed", "tier", "replay_command", "began"),
        "scenario": scenario.name,
        **attributes(scenario, "variant", "why"),
        "file": None if origin is None else str(origin.file),
        "line": None if origin is None else origin.line(scenario.mark("expect")),
        "hooks": [hook_data(hook) for hook in header.hooks],
        "expected": _expected(scenario.expect),
    }


def _expected(expect: Expectation) -> list[Json]:
    """Return one line for each expectation that the scenario states."""
    nothing = Expectation()
    pairs = ((field.name, getattr(expect, field.name)) for field in dataclasses.fields(expect))
    return [f"{name}: {_text(value)}" for name, value in pairs if value != getattr(nothing, name)]


def _text(value: object) -> str:
    match value:
        case Mapping():
            return ", ".join(f"{key} {_text(item)}" for key, item in value.items())
        case tuple():
            return ", ".join(map(_text, value)) or "none"
        case Tools() | RunCommand() | Edit() | Read() | Stop() | Subagent():
            return describe_move(value)
        case _ if dataclasses.is_dataclass(value) and type(value).__str__ is object.__str__:
            pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
            return ", ".join(f"{name} {_text(item)}" for name, item in pairs if item not in (None, (), {}))
        case _:
            return str(value)


def state(turn: int, after: State) -> TraceRecord:
    """Return the record of the state after a turn."""
    return {
        "record": "state",
        "turn": turn,
        "digest": after.digest,
        "opaque": after.opaque,
        "files": len(after.files),
        "visible": as_data(after.visible),
    }


def trouble(why: str) -> TraceRecord:
    """Return the record of a simulation that could not be played, and why."""
    return {"record": "trouble", "why": excerpt(why)}


def end(
    outcome: Outcome,
    codes: Mapping[str, FindingCode] | None = None,
    replay_command: str = "",
    incident: str = "",
) -> TraceRecord:
    """Return the record of an outcome; ``codes`` is the catalogue of findings, ``incident`` the report."""
    return {
        "record": "end",
        "verdict": _verdict(outcome.verdict),
        **attributes(outcome, "passed", "terminated", "iterations", "assumptions", "varied"),
        **attributes(outcome, "trial_results", "background", "kept_workspace"),
        "first_line": first_line(outcome),
        "advice": advice(outcome),
        "story": excerpt(story(outcome, replay_command=replay_command)),
        "blocks": outcome.blocks(),
        "hook_runs": outcome.hook_runs(),
        "seconds": outcome.wall,
        "findings": [_finding(finding, codes or {}) for finding in outcome.findings],
        "violations": [_violation(violation, outcome.scenario) for violation in outcome.violations],
        "probe_reports": [_probe_report(report, outcome.verdict) for report in outcome.probe_reports],
        "leftovers": [process_data(process) for process in outcome.leftovers],
        "calls": _calls(outcome),
        "incident": excerpt(incident),
    }


def _verdict(verdict: Verdict) -> TraceRecord:
    data: TraceRecord = {"name": verdict_name(verdict)}
    for field in dataclasses.fields(verdict):
        value = getattr(verdict, field.name)
        changed = field.name == "changed"
        data[field.name] = [change_data(item) for item in value] if changed else as_data(value)
    return data


def _finding(finding: Finding, codes: Mapping[str, FindingCode]) -> TraceRecord:
    code = codes.get(finding.code)
    return {
        **attributes(finding, "code", "name", "text", "advice", "turn", "hook", "times"),
        "rule": None if finding.rule is None else rule_data(finding.rule),
        "page": None if code is None else attributes(code, "what", "why", "fix"),
    }


def _violation(violation: Violation, scenario: Scenario) -> TraceRecord:
    origin = scenario.origin
    line = None if origin is None else origin.line(violation.path)
    return {**attributes(violation, "path", "expected", "seen"), "line": line}


def _probe_report(report: ProbeReport, verdict: Verdict) -> TraceRecord:
    data = cast("TraceRecord", as_data(report))
    return {**data, "inert": report.inert, "words": list(render_probes(report, verdict))}


def _calls(outcome: Outcome) -> list[Json]:
    return [
        {
            "command": name,
            **attributes(call, "argv", "cwd", "stdin_kind"),
            "stdin": None if call.stdin is None else of_bytes(call.stdin),
        }
        for name, calls in outcome.calls.items()
        for call in calls[:MOST]
    ]
