"""
Findings: defects that a trace shows, whatever its verdict.

A finding is based on what a process did or on what its host made of it, never on a script's source.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never

from pytest_hookharness.judging.findings import (
    finding_catalogue,
    hook_messages,
    session_findings,
    settings_findings,
    stream_devices,
)
from pytest_hookharness.judging.findings.finding_catalogue import FindingCode
from pytest_hookharness.judging.findings.uncaught_errors import FAILURE_REFUSES, uncaught_error
from pytest_hookharness.judging.recurrence.cycle import find_contradiction
from pytest_hookharness.model import processes
from pytest_hookharness.model.expectations import Expectation, counted, first_few
from pytest_hookharness.model.protocol import IN_BACKGROUND, Ruling, SettingsProblem
from pytest_hookharness.model.start_failures import StartFailure
from pytest_hookharness.model.trace import HookRun, Trace, commands_of, one_of
from pytest_hookharness.model.verdicts import Finding

# The faults that a host reports about the output or the end of a hook run, by their first word.
_FAULTS = {
    "crashed": finding_catalogue.CRASHED,
    "not-run": finding_catalogue.NOT_RUN,
    "mangled": finding_catalogue.MANGLED,
    "ignored": finding_catalogue.MANGLED,
    "too-long": finding_catalogue.OUTPUT_CUT,
    "timed-out": finding_catalogue.HUNG_HOOK,
}
_NO_EXPECTATION = Expectation()
_AWAIT_IT = "Remove `async` from the hook's settings and from its answer, so that the host waits for it."
# What to do about a script that was found but could not run.
_REMEDIES = {
    "syntax": (
        "Correct the error that its interpreter names; `bash -n FILE` or `python3 -m py_compile FILE` reads "
        "the script without running it."
    ),
    "module": "Install the module for the interpreter that the hook names, or keep it beside the script.",
}


# One defect of one hook run: its code, and what was seen.
_Defect: TypeAlias = tuple[FindingCode, str]


def find(
    trace: Trace,
    *,
    problems: Sequence[SettingsProblem] = (),
    flaky: bool = False,
    configured: Sequence[str] | None = None,
    expect: Expectation = _NO_EXPECTATION,
    endless: bool = False,
) -> tuple[Finding, ...]:
    """
    Return all findings, each once, with the number of times and the first turn.

    Args:
        flaky: The loop saw one state lead to two results; the trace is searched for it as well.
        configured: The events with configured hooks; ``None`` if that is unknown.
        expect: What the scenario expects; some findings are expectations that only hooks can break.
        endless: Whether what was refused last will be refused again without end.
    """
    return _merge(
        [
            *settings_findings.find_settings_problems(problems),
            *_hook_runs(trace),
            *_unclaimed(trace),
            *_refusals(trace),
            *_undone(trace),
            *_states(trace, flaky=flaky),
            *hook_messages.find_empty_advice(trace, endless=endless),
            *session_findings.find_pingpong(trace),
            *session_findings.find_missing_agents(trace),
            *session_findings.find_capped_children(trace),
            *settings_findings.find_never_fired(trace, configured, problems),
            *hook_messages.find_lost_effects(trace, expect.effects),
            *session_findings.find_stuck_phases(trace, alike=expect.sessions_alike),
            *hook_messages.find_unheard(trace, expect.told),
            *hook_messages.find_double_noise(trace),
            *stream_devices.find_refused_streams(trace),
        ]
    )


def _merge(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    merged: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        key = (finding.code, finding.hook, finding.text)
        known = merged.setdefault(key, finding)
        if known is not finding:
            merged[key] = replace(known, times=known.times + 1, turn=min(known.turn, finding.turn))
    return tuple(sorted(merged.values(), key=lambda finding: (finding.turn, finding.code)))


_ERROR_LENGTH = 120
_BESIDE_CODE = (
    "refused by exit code 2; the host is not known to read JSON then, so a reason in the JSON may be lost."
)
_ONE_OF_BOTH = "Exit with 0 beside a JSON answer, or with 2 and write the reason to standard error."


def _states(trace: Trace, *, flaky: bool) -> Iterator[Finding]:
    found = find_contradiction(trace.states)
    if found is not None:
        text = (
            f"The state after turn {found.first} came again after turn {found.second}, "
            f"but turn {found.second + 1} differs from turn {found.first + 1}."
        )
        yield finding_catalogue.FLAKY.found(text, turn=found.second + 1)
    elif flaky:
        yield finding_catalogue.FLAKY.found("One state led to two different states.", turn=trace.turns)


def _refusals(trace: Trace) -> Iterator[Finding]:
    for step, hooked in trace.hooked():
        words = (*hooked.decision.reasons, *hooked.decision.to_agent)
        refusing = hooked.deciding
        # A host replaces a missing reason with its own words, so the hooks' replies are checked as well.
        silent = bool(refusing) and all(hook_run.reply.silent for hook_run in refusing)
        # A refusal that the hook did not mean has no reason for that cause; STDOUT-DENIES or NOT-RUN reports
        # it.
        if any(hook_run.reply.unmeant or not hook_run.ran for hook_run in refusing):
            continue
        if hooked.decision.refused and (silent or not any(word.strip() for word in words)):
            if refusing and all(errors := [_failure(hook_run) for hook_run in refusing]):
                text = f"{hooked.event} {FAILURE_REFUSES}: {errors[0]}."
                yield finding_catalogue.CRASHED.found(text, turn=step.turn, hook=commands_of(refusing))
                continue
            found = finding_catalogue.SILENT_REFUSAL.found(
                f"{hooked.event} was refused without a reason.",
                turn=step.turn,
                hook=commands_of(refusing),
                rule=hooked.decision.rule,
            )
            beside = refusing and all(_answers_beside_code(hook_run) for hook_run in refusing)
            text = f"{hooked.event} was {_BESIDE_CODE}"
            yield replace(found, text=text, advice=_ONE_OF_BOTH) if beside else found


def _failure(hook_run: HookRun) -> str:
    """Return the uncaught error with which a hook ended, if its host reads that status as a refusal."""
    run = hook_run.run
    return (
        uncaught_error(run.stderr.text)[:_ERROR_LENGTH]
        if run and run.own_ending == processes.Exited(1)
        else ""
    )


def _answers_beside_code(hook_run: HookRun) -> bool:
    """Return whether a hook printed JSON, and refused by its exit code."""
    run = hook_run.run
    refused = run is not None and run.own_ending == processes.Exited(2)
    return run is not None and refused and run.stdout.data.lstrip()[:1] == b"{"


def _undone(trace: Trace) -> Iterator[Finding]:
    for step, hooked in trace.hooked():
        decision = hooked.decision
        if decision.halt is not None or decision.ruling is Ruling.DENY:
            continue
        lost = [hook_run for hook_run in hooked.hook_runs if hook_run.reply.ruling is Ruling.DENY]
        if lost:
            text = f"{hooked.event}: other output of the hooks cancelled a refusal; print the refusal alone."
            yield finding_catalogue.MANGLED.found(
                text, turn=step.turn, hook=commands_of(lost), rule=decision.rule
            )


def _hook_runs(trace: Trace) -> Iterator[Finding]:
    nested = _running_sessions(trace)
    for step, hook_run in trace.hook_runs():
        defects = [] if hook_run.run is None else [*_run(hook_run, hook_run.run, nested[step.number])]
        fault = _fault(hook_run)
        # What the process did is more exact than what the host made of it, so one defect is reported once.
        if fault is not None and not any(_covers(code, fault[0]) for code, _ in defects):
            defects.append(fault)
        for code, text in defects:
            found = code.found(text, turn=step.turn, hook=hook_run.hook.command, rule=hook_run.reply.rule)
            ending = hook_run.ending
            if code is finding_catalogue.HUNG_HOOK and isinstance(ending, processes.TimedOut):
                from pytest_hookharness.judging.findings import wait_advice

                found = replace(found, advice=wait_advice.advise_on_wait(ending, hook_run.host_limit))
            failure = hook_run.run.failure if hook_run.run is not None else None
            if code is finding_catalogue.NOT_RUN and failure is not None and failure.kind in _REMEDIES:
                found = replace(found, advice=_REMEDIES[failure.kind])
            yield replace(found, advice=_AWAIT_IT) if text.endswith(IN_BACKGROUND) else found


def _unclaimed(trace: Trace) -> Iterator[Finding]:
    """Find leftover processes that one of several hooks started, with all hooks that it can be."""
    for step, hooked in trace.hooked():
        by_pid: dict[int, list[HookRun]] = {}
        left: dict[int, processes.Process] = {}
        for hook_run in hooked.hook_runs:
            for process in () if hook_run.run is None else hook_run.run.unclaimed:
                by_pid.setdefault(process.pid, []).append(hook_run)
                left[process.pid] = process
        together: dict[str, list[int]] = {}
        for pid, hook_runs in by_pid.items():
            together.setdefault(commands_of(hook_runs), []).append(pid)
        for hooks, pids in together.items():
            doubt = one_of(hook_run.hook.command for hook_run in by_pid[pids[0]])
            text = f"{hooked.event} left {_processes([left[pid] for pid in pids])} running{doubt}."
            yield finding_catalogue.LEFTOVER.found(text, turn=step.turn, hook=hooks)


def _running_sessions(trace: Trace) -> Counter[int]:
    """Count, by step number, the sessions of fake agents that still ran when the hook runs had ended."""
    return Counter(
        step.number for step, child in trace.children() if not (child.ended or child.refused or child.trouble)
    )


def _covers(defect: FindingCode, fault: FindingCode) -> bool:
    if fault is finding_catalogue.CRASHED:
        return defect in (finding_catalogue.CRASHED, finding_catalogue.HUNG_HOOK, finding_catalogue.NOT_RUN)
    return defect is fault or (fault is finding_catalogue.HUNG_HOOK and defect is finding_catalogue.HELD_OPEN)


def _fault(hook_run: HookRun) -> _Defect | None:
    reply = hook_run.reply
    out_of_budget = (
        isinstance(hook_run.ending, processes.TimedOut) and hook_run.ending.by is processes.Cut.BUDGET
    )
    # If the time budget of the whole run ended, and not the timeout of this hook run, nothing is known.
    if reply.fault is None or reply.unmeant or out_of_budget:
        return None
    word, _, rest = reply.fault.partition(":")
    code = _FAULTS.get(word.strip())
    if code is None:
        return finding_catalogue.MANGLED, f"{hook_run.hook.event}: {reply.fault}"
    return code, f"{hook_run.hook.event}: {rest.strip() or word}"


def _run(hook_run: HookRun, run: processes.ProcessResult, nested: int) -> Iterator[_Defect]:
    event = hook_run.hook.event
    if not hook_run.hook.command.strip():
        yield finding_catalogue.NOT_RUN, f"{event}: the command is empty."
    yield from _ending(hook_run, run, nested)
    held = run.ending.holders if isinstance(run.ending, processes.HeldOpen) else ()
    holders = {process.pid for process in held}
    left = [process for process in run.leftovers if process.pid not in holders]
    if left:
        yield finding_catalogue.LEFTOVER, f"{event} left {_processes(left)} running."
    if run.warm_difference:
        yield finding_catalogue.WARM_DIFFERS, f"{event}: a forked run differed in {run.warm_difference}."
    for name, output in (("standard output", run.stdout), ("standard error", run.stderr)):
        if output.cut_at is not None:
            text = f"{event}: {name} is longer than the {output.cut_at} bytes that are kept."
            yield finding_catalogue.OUTPUT_CUT, text


def _limit(hook_run: HookRun, cut: processes.TimedOut, extended: float, nested: int) -> str:
    if cut.by is processes.Cut.LIMIT:
        return "the host's limit"
    limit = hook_run.host_limit
    of = "" if math.isinf(limit) else f" of {limit:g} s"
    surely = f"as far as seen, it waits beyond the host's limit{of}"
    why = "its later decision is unknown" if hook_run.cut_too_early else surely
    # Sessions that the hook started may cause the delay.
    why = f"{counted(nested, 'session')} within it still running" if nested else why
    longer = f", with {extended:.1f} s for which it waited for a CPU" if extended else ""
    return f"the hook timeout{longer}; {why}"


def _ending(hook_run: HookRun, run: processes.ProcessResult, nested: int) -> Iterator[_Defect]:
    event = hook_run.hook.event
    match run.ending:
        case processes.TimedOut(by=processes.Cut.BUDGET | processes.Cut.BACKGROUND):
            return
        case processes.TimedOut() as cut:
            text = f"{event}: cut after {cut.after:g} s ({_limit(hook_run, cut, run.extended, nested)})"
            stubborn = ", and it ignored the first signal" if cut.ignored_term else ""
            yield finding_catalogue.HUNG_HOOK, f"{text}{stubborn}{_late(cut, run)}{describe_doing(cut)}."
        case processes.HeldOpen() as held:
            holders = _processes(held.holders) if held.holders else "something"
            yield finding_catalogue.HELD_OPEN, f"{event}: {holders} held the output open."
            yield from _exit(event, held.exit, run.failure)
        case processes.NotStarted(reason):
            yield finding_catalogue.NOT_RUN, f"{event}: not started: {reason}"
        case processes.Exited() | processes.Signaled() as ended:
            yield from _exit(event, ended, run.failure)
        case _:
            assert_never(run.ending)


def _late(cut: processes.TimedOut, run: processes.ProcessResult) -> str:
    if cut.ended == processes.Exited(2):
        return ", too late for its exit code 2"
    return ", too late for what it had printed" if run.stdout.data.strip() else ""


def _exit(
    event: str, ended: processes.Exited | processes.Signaled, failure: StartFailure | None
) -> Iterator[_Defect]:
    match ended:
        case processes.Exited() if failure is not None:
            code = finding_catalogue.NOT_RUN if failure.prevents else finding_catalogue.CRASHED
            yield code, f"{event}: exit code {ended.code}: {failure}."
        case processes.Exited(126):
            yield finding_catalogue.NOT_RUN, f"{event}: exit code 126, found but not executable."
        case processes.Exited(127):
            yield finding_catalogue.NOT_RUN, f"{event}: exit code 127, command not found."
        case processes.Exited():
            # The host decides what another code means; a fault is part of its reply.
            return
        case processes.Signaled(signal):
            yield finding_catalogue.CRASHED, f"{event}: killed by signal {signal}."
        case _:
            assert_never(ended)


def describe_doing(cut: processes.TimedOut) -> str:
    """Return after a colon what a hook run waited for when it was cut; empty if that is unknown."""
    # No process ids: they differ between hook runs, and equal findings could not be merged.
    asks = [
        f"{item.process.name} asks `{item.asks}` on the terminal, where nobody answers"
        for item in cut.doing
        if item.asks
    ]
    waits = [f"{item.process.command} waits for {item.waits_for}" for item in cut.doing if item.waits_for]
    # If one process asks a question, the others only wait for it.
    return f": {first_few(asks or waits)}" if asks or waits else ""


def _processes(running: Sequence[processes.Process]) -> str:
    return first_few(sorted(f"`{process.command}`" for process in running))
