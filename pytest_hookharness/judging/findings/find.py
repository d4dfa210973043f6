"""
Findings: defects that are seen in a trace, whatever its verdict.

Pure. A finding rests on what a process did or what its host made of it, never
on how a script is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.judging.findings.finding_catalogue import FindingCode
from pytest_hookharness.judging.findings.loop_endings import empty_advice
from pytest_hookharness.judging.findings.nested_agents import (
    find_held_children,
    find_lost_agents,
    find_pingpong,
)
from pytest_hookharness.judging.findings.settings_problem import ConfigurationProblem
from pytest_hookharness.judging.findings.stuck_phases import find_stuck_phases
from pytest_hookharness.judging.findings.unheard_output import (
    find_double_noise,
    find_lost_effects,
    find_misheard,
)
from pytest_hookharness.judging.recurrence.cycle import contradiction
from pytest_hookharness.model.expectations import Expectation, counted
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.processes import (
    Cut,
    Exited,
    HeldOpen,
    NotStarted,
    Process,
    ProcessResult,
    Signaled,
    TimedOut,
)
from pytest_hookharness.model.protocol import Rule, Ruling
from pytest_hookharness.model.trace import Happened, HookEvent, HookRun, Moved, Performed, Trace
from pytest_hookharness.model.verdicts import Finding

_FAULTS = {
    "crashed": finding_catalogue.CRASHED,
    "not-run": finding_catalogue.NOT_RUN,
    "mangled": finding_catalogue.MANGLED,
    "ignored": finding_catalogue.MANGLED,
    "too-long": finding_catalogue.OUTPUT_CUT,
    "timed-out": finding_catalogue.HUNG_FIRE,
}
_SHOWN = 3
_NOTHING_PROMISED = Expectation()


@dataclass(frozen=True, slots=True)
class _Sight:
    """
    One defect, seen once.
    """

    code: FindingCode
    text: str
    rule: Rule | None = None


def find(
    trace: Trace,
    *,
    problems: Sequence[ConfigurationProblem] = (),
    flaky: bool = False,
    configured: Sequence[str] | None = None,
    expect: Expectation = _NOTHING_PROMISED,
) -> tuple[Finding, ...]:
    """
    All findings, each once, with how often and when first it was seen.

    Args:
        trace: What took place.
        problems: What is wrong in the hook configuration.
        flaky: The loop saw one state give two answers; the trace itself is looked at as well.
        configured: The events for which hooks are configured; ``None`` if that is not known.
        expect: What the scenario promises; some findings are promises that only hooks can break.
    """
    seen = [*_configuration(problems), *_fires(trace), *_refusals(trace), *_undone(trace)]
    seen += [*_states(trace, flaky=flaky), *_advice(trace)]
    seen += [*find_pingpong(trace), *find_lost_agents(trace), *find_held_children(trace)]
    if configured is not None and not any(trace.hook_runs()):
        seen += _never_fired(trace, configured, problems)
    seen += find_lost_effects(trace, expect.effects)
    seen += find_stuck_phases(trace, alike=expect.sessions_alike)
    seen += find_misheard(trace, expect.told)
    seen += find_double_noise(trace)
    return _merge(seen)


def _finding(sight: _Sight, turn: int = 0, hook: str = "") -> Finding:
    return sight.code.found(sight.text, turn=turn, hook=hook, rule=sight.rule)


def _merge(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    merged: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        key = (finding.code, finding.hook, finding.text)
        known = merged.setdefault(key, finding)
        if known is not finding:
            merged[key] = replace(known, times=known.times + 1, turn=min(known.turn, finding.turn))
    return tuple(sorted(merged.values(), key=lambda finding: (finding.turn, finding.code)))


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more


def _configuration(problems: Sequence[ConfigurationProblem]) -> Iterator[Finding]:
    for problem in problems:
        code = _code(problem.kind)
        place = ", ".join(part for part in (problem.source, problem.path) if part)
        yield _finding(_Sight(code, f"{place}: {problem.text}" if place else problem.text, problem.rule))


def _code(kind: str) -> FindingCode:
    if "unreachable" in kind:
        return finding_catalogue.UNREACHED
    if "option" in kind:
        return finding_catalogue.OPTION_IGNORED
    return (
        finding_catalogue.EVENT_UNKNOWN
        if "unknown" in kind and "event" in kind
        else finding_catalogue.CONFIG_OFF
    )


def _never_fired(
    trace: Trace, configured: Sequence[str], problems: Sequence[ConfigurationProblem]
) -> Iterator[Finding]:
    if not configured and any("option" not in problem.kind for problem in problems):
        # What left all hooks out is told already.
        return
    events = _listed([*dict.fromkeys(configured)])
    hooks = f"hooks are configured for {events}" if events else "none is configured"
    text = f"No hook was fired at all: {hooks}, and the run had {_course(trace)}."
    yield _finding(_Sight(finding_catalogue.NEVER_FIRED, text), trace.turns)


def _course(trace: Trace) -> str:
    """
    What took place, each kind of it once.
    """
    words: dict[str, None] = {}
    for step in trace.steps:
        match step.exchange:
            case Moved(move=Stop()):
                words["a stop"] = None
            case Happened(event=event):
                words[f"the event {type(event).__name__.lower()}"] = None
            case Performed(call=call):
                words[f"a call of {call.name}"] = None
            case Moved() | HookEvent():
                continue
    return ", ".join(words) or "nothing that hooks hear of"


def _states(trace: Trace, *, flaky: bool) -> Iterator[Finding]:
    twice = contradiction(trace.states)
    if twice is not None:
        text = (
            f"The state after turn {twice.first} was there again after turn {twice.again}, "
            f"but turn {twice.again + 1} went another way than turn {twice.first + 1}."
        )
        yield _finding(_Sight(finding_catalogue.FLAKY, text), twice.again + 1)
    elif flaky:
        yield _finding(
            _Sight(finding_catalogue.FLAKY, "The same state was followed by two different ones."), trace.turns
        )


def _refusals(trace: Trace) -> Iterator[Finding]:
    for step, hooked in trace.hooked():
        words = (*hooked.decision.reasons, *hooked.decision.to_agent)
        refusing = _refusing(hooked)
        # The host puts words of its own in the place of those that a hook does not say.
        filler = bool(refusing) and all(fire.reply.silent for fire in refusing)
        # What the hook did not mean as a refusal has no reason because of that, which is told instead.
        if any(fire.reply.unmeant for fire in refusing):
            continue
        if hooked.decision.refused and (filler or not any(word.strip() for word in words)):
            text = f"{hooked.event} was refused without a word of why."
            yield _finding(
                _Sight(finding_catalogue.SILENT_REFUSAL, text, hooked.decision.rule),
                step.turn,
                _refusers(hooked),
            )


def _advice(trace: Trace) -> Iterator[Finding]:
    for found in empty_advice(trace):
        text = f'{found.event} was refused {found.times} times with nothing but "{found.reason}".'
        yield _finding(_Sight(finding_catalogue.EMPTY_ADVICE, text), found.turn, found.hook)


def _undone(trace: Trace) -> Iterator[Finding]:
    for step, hooked in trace.hooked():
        decision = hooked.decision
        if decision.halt is not None or decision.ruling is Ruling.DENY:
            continue
        lost = [fire.hook.command for fire in hooked.hook_runs if fire.reply.ruling is Ruling.DENY]
        if lost:
            text = f"{hooked.event}: a refusal was undone by what was said beside it; let it stand alone."
            yield _finding(_Sight(finding_catalogue.MANGLED, text, decision.rule), step.turn, ", ".join(lost))


def _refusers(hooked: HookEvent) -> str:
    return ", ".join(fire.hook.command for fire in _refusing(hooked))


def _refusing(hooked: HookEvent) -> list[HookRun]:
    return [fire for fire in hooked.hook_runs if fire.reply.ruling is hooked.decision.ruling]


def _fires(trace: Trace) -> Iterator[Finding]:
    nested = _living(trace)
    for step, fire in trace.hook_runs():
        sights = [] if fire.run is None else [*_run(fire, fire.run, nested.get(step.number, 0))]
        said = _fault(fire)
        # What the process did says more than what the host made of it, so one defect is told once.
        if said is not None and not any(_covers(sight.code, said.code) for sight in sights):
            sights.append(said)
        for sight in sights:
            yield _finding(sight, step.turn, fire.hook.command)


def _living(trace: Trace) -> dict[int, int]:
    """
    How many sessions of stand-ins were still going on when the fires of a step were over, by its number.
    """
    living: dict[int, int] = {}
    for step, child in trace.children():
        if not (child.ended or child.refused or child.trouble):
            living[step.number] = living.get(step.number, 0) + 1
    return living


def _covers(seen: FindingCode, said: FindingCode) -> bool:
    if said is finding_catalogue.CRASHED:
        return seen in (finding_catalogue.CRASHED, finding_catalogue.HUNG_FIRE, finding_catalogue.NOT_RUN)
    return seen is said or (said is finding_catalogue.HUNG_FIRE and seen is finding_catalogue.HELD_OPEN)


def _out_of_budget(fire: HookRun) -> bool:
    # The run was over, not the patience with this fire; nothing is known about it.
    ending = fire.run.ending if fire.run is not None else None
    return isinstance(ending, TimedOut) and ending.by is Cut.BUDGET


def _fault(fire: HookRun) -> _Sight | None:
    if fire.reply.fault is None or fire.reply.unmeant or _out_of_budget(fire):
        return None
    word, _, rest = fire.reply.fault.partition(":")
    code = _FAULTS.get(word.strip())
    if code is None:
        return _Sight(finding_catalogue.MANGLED, f"{fire.hook.event}: {fire.reply.fault}", fire.reply.rule)
    return _Sight(code, f"{fire.hook.event}: {rest.strip() or word}", fire.reply.rule)


def _run(fire: HookRun, run: ProcessResult, nested: int) -> Iterator[_Sight]:
    if not fire.hook.command.strip():
        yield _Sight(finding_catalogue.NOT_RUN, f"{fire.hook.event}: the command is empty.", fire.reply.rule)
    rule = fire.reply.rule
    yield from _ending(fire, run, nested)
    holders = (
        {process.pid for process in run.ending.holders} if isinstance(run.ending, HeldOpen) else set[int]()
    )
    left = [process for process in run.leftovers if process.pid not in holders]
    if left:
        yield _Sight(finding_catalogue.LEFTOVER, f"{fire.hook.event} left {_processes(left)} behind.", rule)
    for name, output in (("standard output", run.stdout), ("standard error", run.stderr)):
        if output.cut_at is not None:
            text = f"{fire.hook.event}: the harness kept {output.cut_at} bytes of {name}; there were more."
            yield _Sight(finding_catalogue.OUTPUT_CUT, text, rule)


def _ending(fire: HookRun, run: ProcessResult, nested: int) -> Iterator[_Sight]:
    event, rule = fire.hook.event, fire.reply.rule
    match run.ending:
        case TimedOut(by=Cut.BUDGET):
            return
        case TimedOut() as cut:
            # Sessions that it started may be what takes so long; that it never ends is not assumed then.
            why = f"{counted(nested, 'session')} within it went on" if nested else "assumed: never ends"
            limit = "the host's limit" if cut.by is Cut.LIMIT else f"our patience; {why}"
            deaf = ", and it ignored the first signal" if cut.ignored_term else ""
            text = f"{event}: cut after {cut.after:g} s ({limit}){deaf}{_late(cut, run)}{_doing(cut)}."
            yield _Sight(finding_catalogue.HUNG_FIRE, text, rule)
        case HeldOpen() as held:
            holders = _processes(held.holders) if held.holders else "something"
            yield _Sight(finding_catalogue.HELD_OPEN, f"{event}: {holders} held the output open.", rule)
            yield from _exit(event, held.exit, rule)
        case NotStarted(reason):
            yield _Sight(finding_catalogue.NOT_RUN, f"{event}: not started: {reason}", rule)
        case Exited() | Signaled() as ended:
            yield from _exit(event, ended, rule)
        case _:
            assert_never(run.ending)


def _late(cut: TimedOut, run: ProcessResult) -> str:
    if cut.ended == Exited(2):
        return ", too late for its exit code 2"
    return ", too late for what it had printed" if run.stdout.data.strip() else ""


def _exit(event: str, ended: Exited | Signaled, rule: Rule) -> Iterator[_Sight]:
    match ended:
        case Exited(126):
            yield _Sight(
                finding_catalogue.NOT_RUN, f"{event}: exit code 126, found but not executable.", rule
            )
        case Exited(127):
            yield _Sight(finding_catalogue.NOT_RUN, f"{event}: exit code 127, command not found.", rule)
        case Exited():
            # What another code means is the host's business: its reply carries the fault.
            return
        case Signaled(signal):
            yield _Sight(finding_catalogue.CRASHED, f"{event}: killed by signal {signal}.", rule)
        case _:
            assert_never(ended)


def _doing(cut: TimedOut) -> str:
    # Process numbers differ from fire to fire and would keep equal findings apart.
    asks = [
        f"{item.process.name} asks `{item.asks}` on the terminal, and nobody answers"
        for item in cut.doing
        if item.asks
    ]
    waits = [f"{item.process.command} waits for {item.waits_for}" for item in cut.doing if item.waits_for]
    # A question that nobody answers is what all others wait for.
    return f": {_listed(asks or waits)}" if asks or waits else ""


def _processes(processes: Sequence[Process]) -> str:
    return _listed(sorted(f"`{process.command}`" for process in processes))
