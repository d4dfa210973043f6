"""
The records of a trace file: how one simulation began, its states, how it ended.

Pure. A record is plain JSON with the word for its kind under ``record``. Those of a
simulation are one ``begin``, then a ``step`` for each exchange and a ``state`` for each turn, and at last an
``end``, or ``trouble`` if it could not be played. Without either it was interrupted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import Edit, Read, RunCommand, Stop, Subagent, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.protocol import Hook, Json
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import State
from pytest_hookharness.model.verdicts import Finding, FindingCode, Verdict, Violation, verdict_name
from pytest_hookharness.reports.terminal.headline import first_line
from pytest_hookharness.reports.terminal.phrases import move_words
from pytest_hookharness.reports.terminal.probe_report import write_probing
from pytest_hookharness.reports.terminal.story import story
from pytest_hookharness.reports.trace.hook_runs import (
    MOST,
    TraceRecord,
    as_data,
    excerpt,
    hook_data,
    of_bytes,
    process_data,
    rule_data,
)
from pytest_hookharness.reports.trace.steps import change_data

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceHeader:
    """
    What no scenario knows of itself: by whom, when and where it is played.

    Attributes:
        id: Node id of the test, or of the item of a scenario file.
        door: By which way in: ``pytest`` or ``hookharness``.
        host: The profile that is simulated, with its version.
        seed: The seed of the run.
        tier: How fires are kept apart from the machine; ``None`` while that is not known.
        hooks: The hooks that are configured.
        again: The shell command that plays it again.
        began: The day and the time, as ISO 8601 has them.
    """

    id: str
    door: str
    host: str
    seed: int = 0
    tier: Tier | None = None
    hooks: Sequence[Hook] = ()
    again: str = ""
    began: str = ""


def begin(scenario: Scenario, occasion: TraceHeader) -> TraceRecord:
    """
    What is to be played.
    """
    origin = scenario.origin
    return {
        "record": "begin",
        "version": VERSION,
        "id": occasion.id,
        "door": occasion.door,
        "scenario": scenario.name,
        "variant": scenario.variant,
        "why": scenario.why,
        "host": occasion.host,
        "seed": occasion.seed,
        "tier": None if occasion.tier is None else occasion.tier.value,
        "file": None if origin is None else str(origin.file),
        "line": None if origin is None else origin.line(scenario.mark("expect")),
        "hooks": [hook_data(hook) for hook in occasion.hooks],
        "expected": _promised(scenario.expect),
        "again": occasion.again,
        "began": occasion.began,
    }


def _promised(expect: Expectation) -> list[Json]:
    """
    What was promised, a line for each key that was written.
    """
    nothing = Expectation()
    pairs = ((field.name, getattr(expect, field.name)) for field in dataclasses.fields(expect))
    return [f"{name}: {_told(value)}" for name, value in pairs if value != getattr(nothing, name)]


def _told(value: object) -> str:
    match value:
        case Mapping():
            return ", ".join(f"{key} {_told(item)}" for key, item in value.items())
        case tuple():
            return ", ".join(map(_told, value)) or "none"
        case Tools() | RunCommand() | Edit() | Read() | Stop() | Subagent():
            return move_words(value)
        case _ if dataclasses.is_dataclass(value) and type(value).__str__ is object.__str__:
            pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
            return ", ".join(f"{name} {_told(item)}" for name, item in pairs if item not in (None, (), {}))
        case _:
            return str(value)


def state(turn: int, after: State) -> TraceRecord:
    """
    The state after a turn.
    """
    return {
        "record": "state",
        "turn": turn,
        "digest": after.digest,
        "opaque": after.opaque,
        "files": len(after.files),
        "visible": as_data(after.visible),
    }


def trouble(why: str) -> TraceRecord:
    """
    A simulation that could not be played to a verdict, and why.
    """
    return {"record": "trouble", "why": excerpt(why)}


def end(
    outcome: Outcome, codes: Mapping[str, FindingCode] | None = None, again: str = "", entry: str = ""
) -> TraceRecord:
    """
    What came of it.

    Args:
        outcome: What was seen.
        codes: What is known of each kind of finding, by its code.
        again: The shell command that plays it again.
        entry: The debugging entry about it.
    """
    return {
        "record": "end",
        "verdict": _verdict(outcome.verdict),
        "passed": outcome.passed,
        "terminated": outcome.terminated,
        "first_line": first_line(outcome),
        "story": excerpt(story(outcome, again=again)),
        "iterations": outcome.iterations,
        "blocks": outcome.blocks(),
        "hook_runs": outcome.hook_runs(),
        "seconds": outcome.wall,
        "findings": [_finding(finding, codes or {}) for finding in outcome.findings],
        "violations": [_violation(violation, outcome.scenario) for violation in outcome.violations],
        "assumptions": list(outcome.assumptions),
        "probe_reports": [_probing(outcome, place) for place in range(len(outcome.probe_reports))],
        "trial_results": as_data(outcome.trial_results),
        "varied": list(outcome.varied),
        "leftovers": [process_data(process) for process in outcome.leftovers],
        "calls": _calls(outcome),
        "background": as_data(outcome.background),
        "kept_workspace": outcome.kept_workspace,
        "entry": excerpt(entry),
    }


def _verdict(verdict: Verdict) -> TraceRecord:
    data: TraceRecord = {"name": verdict_name(verdict)}
    for field in dataclasses.fields(verdict):
        value = getattr(verdict, field.name)
        # What is kept of contents there are digests.
        changed = field.name == "changed"
        data[field.name] = [change_data(item) for item in value] if changed else as_data(value)
    return data


def _finding(finding: Finding, codes: Mapping[str, FindingCode]) -> TraceRecord:
    code = codes.get(finding.code)
    return {
        "code": finding.code,
        "name": finding.name,
        "text": finding.text,
        "advice": finding.advice,
        "turn": finding.turn,
        "hook": finding.hook,
        "times": finding.times,
        "rule": None if finding.rule is None else rule_data(finding.rule),
        "page": None if code is None else {"what": code.what, "why": code.why, "fix": code.fix},
    }


def _violation(violation: Violation, scenario: Scenario) -> TraceRecord:
    origin = scenario.origin
    return {
        "path": violation.path,
        "line": None if origin is None else origin.line(violation.path),
        "expected": violation.expected,
        "seen": violation.seen,
    }


def _probing(outcome: Outcome, place: int) -> TraceRecord:
    probing = outcome.probe_reports[place]
    data = cast("TraceRecord", as_data(probing))
    return {**data, "inert": probing.inert, "words": list(write_probing(probing, outcome.verdict))}


def _calls(outcome: Outcome) -> list[Json]:
    return [
        {
            "command": name,
            "argv": list(call.argv),
            "cwd": call.cwd,
            "stdin": None if call.stdin is None else of_bytes(call.stdin),
            "stdin_kind": call.stdin_kind,
        }
        for name, calls in outcome.calls.items()
        for call in calls[:MOST]
    ]
