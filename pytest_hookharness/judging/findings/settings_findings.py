"""Findings about the hook settings: what is wrong in them, and runs without any hook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.judging.findings.finding_catalogue import FindingCode
from pytest_hookharness.model.expectations import first_few
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.protocol import SettingsProblem
from pytest_hookharness.model.trace import Happened, HookEvent, Moved, Performed, Trace
from pytest_hookharness.model.verdicts import Finding


def find_settings_problems(problems: Sequence[SettingsProblem]) -> Iterator[Finding]:
    """Find what is wrong in the hook settings."""
    for problem in problems:
        place = ", ".join(part for part in (problem.source, problem.path) if part)
        said = problem.text.removeprefix(f"{problem.source}: ")
        text = f"{place}: {said}" if place else said
        yield _code(problem.kind).found(text, rule=problem.rule)


def _code(kind: str) -> FindingCode:
    if "unreachable" in kind:
        return finding_catalogue.UNREACHED
    if kind == "never-matches":
        return finding_catalogue.NEVER_FIRED
    if "option" in kind:
        return finding_catalogue.OPTION_IGNORED
    return (
        finding_catalogue.EVENT_UNKNOWN
        if "unknown" in kind and "event" in kind
        else finding_catalogue.CONFIG_OFF
    )


def find_never_fired(
    trace: Trace, configured: Sequence[str] | None, problems: Sequence[SettingsProblem]
) -> Iterator[Finding]:
    """Find that no hook ran, unless problems in the settings already explain it."""
    if configured is None or any(trace.hook_runs()):
        return
    if configured and len(configured) == sum(problem.kind == "never-matches" for problem in problems):
        return
    if not configured and any("option" not in problem.kind for problem in problems):
        return
    events = first_few([*dict.fromkeys(configured)])
    hooks = f"hooks are configured for {events}" if events else "none is configured for this host"
    text = f"No hook ran: {hooks}; events in this run: {_events(trace)}."
    yield finding_catalogue.NEVER_FIRED.found(text, turn=trace.turns)


def _events(trace: Trace) -> str:
    events: dict[str, None] = {}
    for step in trace.steps:
        match step.exchange:
            case Moved(move=Stop()):
                events["stop"] = None
            case Happened(event=event):
                events[type(event).__name__.lower()] = None
            case Performed(call=call):
                events[f"call of {call.name}"] = None
            case Moved() | HookEvent():
                continue
    return ", ".join(events) or "none that hooks can react to"
