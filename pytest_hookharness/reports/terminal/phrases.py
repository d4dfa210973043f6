"""
Describe moves, events, endings and replies in one line each.

Every union is matched to its end, so a new member does not type-check until it has a description.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import assert_never

from pytest_hookharness.model import moves, processes
from pytest_hookharness.model.expectations import counted, first_few
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.scenario import AssumedCap
from pytest_hookharness.model.time_budget import format_duration
from pytest_hookharness.model.trace import Change, HookEvent, HookRun
from pytest_hookharness.model.verdicts import Cap, Limit
from pytest_hookharness.reports.safe_text import plain, quoted

_HOUR = 3600.0
# Longer texts are cut in the middle, because their ends decide; EVERYTHING is for `-v`.
_REASON = 70
LONGEST_ADVICE, LONGEST_TEXT, EVERYTHING = 160, 600, 1 << 16
_COMMAND = 44
_VARIABLE = r"\$\{?[A-Z_]*(?:DIR|ROOT)\}?"
# Quotes around the whole path are removed too, unless the rest of the path needs them.
_FOLDER = re.compile(rf'"{_VARIABLE}/([^"\s]*)"|"{_VARIABLE}"/|{_VARIABLE}/')


def describe_move(move: moves.Move) -> str:
    """Describe what the agent does."""
    match move:
        case moves.Tools(calls=calls, say=say):
            return _said(say) + "calls " + first_few([_call(call) for call in calls], between=" and ")
        case moves.RunCommand(command=command, say=say):
            return f"{_said(say)}runs {quoted(command)}"
        case moves.Edit(file=file, say=say):
            return f"{_said(say)}edits {plain(file)}"
        case moves.Read(file=file, say=say):
            return f"{_said(say)}reads {plain(file)}"
        case moves.Stop(text=text):
            return f"stops: {quoted(text)}"
        case moves.Subagent(kind=kind, prompt=prompt, say=say):
            return f"{_said(say)}starts the subagent {plain(kind, 40)}: {quoted(prompt)}"
        case moves.SubagentText(kind=kind, text=text):
            return f"its subagent {plain(kind, 40)} stops: {quoted(text)}"
        case _:
            assert_never(move)


def _said(say: str) -> str:
    return f"says {quoted(say, 40)}, " if say else ""


def _call(call: moves.ToolCall) -> str:
    written = json.dumps(call.input, default=str, ensure_ascii=False)
    return f"{plain(call.name, 40)} {plain(written)}"


def describe_event(event: moves.Event) -> str:
    """Describe what happens to the agent."""
    match event:
        case moves.Prompt(text=text):
            return f"writes: {quoted(text)}"
        case moves.Wait(seconds=seconds):
            # A short wait is printed as it was written.
            return f"waits {seconds:g} s" if seconds < _HOUR else f"waits {format_duration(seconds)}"
        case moves.Compact(trigger=trigger):
            return f"compacts the conversation ({plain(trigger, 20)})"
        case moves.Resume(fork=fork):
            return "continues in a copy of the session" if fork else "resumes the session"
        case moves.End(reason=reason):
            return f"ends the session ({plain(reason, 20)})"
        case moves.Corrupt(file=file, how=how):
            return f"corrupts {plain(file)} ({plain(how, 20)})"
        case _:
            assert_never(event)


def describe_ending(ending: processes.Ending, wall: float | None = None) -> str:
    """Describe how a hook run ended; without ``wall`` (seconds) where lines are compared."""
    took = "" if wall is None else f" in {_time(wall)}"
    match ending:
        case processes.Exited() | processes.Signaled():
            return f"{_exit(ending)}{took}"
        case processes.TimedOut(after=after, by=processes.Cut.BACKGROUND):
            return f"goes on in the background; the harness ended it after {after:.3g} s"
        case processes.TimedOut(after=after, by=by, ignored_term=ignored_term):
            return f"timed out after {after:.3g} s ({_whose(by)})" + (
                " and ignored the signal" if ignored_term else ""
            )
        case processes.HeldOpen(exit=ended, holders=holders):
            who = first_few([describe_process(process) for process in holders]) or "another process"
            hold = "hold" if len(holders) > 1 else "holds"
            return f"{_exit(ended)}, but {who} {hold} its output open"
        case processes.NotStarted(reason=reason):
            return f"was not started: {plain(reason, _REASON)}"
        case _:
            assert_never(ending)


def _whose(by: processes.Cut) -> str:
    match by:
        case processes.Cut.LIMIT:
            return "the host's timeout"
        case processes.Cut.HOOK_TIMEOUT:
            return "the harness's hook timeout"
        case processes.Cut.BUDGET:
            return "the time budget ended"
        case processes.Cut.BACKGROUND:
            return "the time in the background"
        case _:
            assert_never(by)


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.095 else f"{max(1, round(seconds * 1000))} ms"


def _exit(ending: processes.Exited | processes.Signaled) -> str:
    match ending:
        case processes.Exited(code):
            return f"exited {code}"
        case processes.Signaled(signal):
            return f"was killed by signal {signal}"
        case _:
            assert_never(ending)


def describe_process(process: processes.Process) -> str:
    """Describe a process by its command line and its number."""
    return f"{plain(process.command, _COMMAND)} (pid {process.pid})"


def describe_activity(activity: processes.Activity) -> str:
    """Describe what a process was doing when its hook run timed out."""
    who = describe_process(activity.process)
    if activity.asks:
        name = f"{plain(activity.process.name, _COMMAND)} (pid {activity.process.pid})"
        return f"{name} asks on the terminal and nobody answers: {quoted(activity.asks, _REASON)}"
    if activity.waits_for:
        return f"{who} waits for {plain(activity.waits_for)}"
    if activity.blocked_in:
        return f"{who} is blocked in {plain(activity.blocked_in, 40)}"
    return f"{who} is running" if activity.state == "R" else f"{who} is in state {plain(activity.state, 4)}"


def text_of_command(hook_run: HookRun) -> str:
    """Return the command of a hook run, or the type of its handler."""
    return (
        plain(without_folder(hook_run.hook.command), _COMMAND) or f"{plain(hook_run.hook.type, 20)} handler"
    )


def without_folder(command: str) -> str:
    """Return a command without the host's folder variables, which add nothing for a reader."""
    return _FOLDER.sub(lambda found: found[1] or "", command)


def describe_reply(hook_run: HookRun, hooked: HookEvent, longest: int = LONGEST_TEXT) -> str:
    """
    Describe what the host made of the reply of one hook run; empty if it said nothing.

    Texts of more than ``longest`` characters are cut in the middle.
    """
    reply, decision, parts = hook_run.reply, hooked.decision, list[str]()
    if reply.ruling is not Ruling.NONE:
        parts.append("-> " + _ruling(reply.ruling, hooked) + _because(hook_run.reason, longest))
    if reply.halt is not None:
        parts.append(f"-> halt{_because(reply.halt, longest)}")
    if reply.behaviour is not None:
        parts.append(f"-> {plain(reply.behaviour, 20)}")
    if reply.context and decision.context_refuses:
        parts.append(_refusing_context(reply.context, hooked, longest))
    elif reply.context and reply.context not in decision.reasons:
        parts.append(f"-> tells the agent {quoted(reply.context, longest)}")
    if reply.fault is not None:
        parts.append(f"({plain(reply.fault, longest)})")
    return "  ".join(parts)


def _refusing_context(text: str, hooked: HookEvent, longest: int) -> str:
    return f"-> {_ruling(Ruling.DENY, hooked)}, by a text for the agent{_because(text, longest)}"


def text_of_reason(hook_run: HookRun) -> str:
    """Return the quoted reason of one hook run, or its text for the agent if that keeps the turn going."""
    return quoted(hook_run.demand, LONGEST_ADVICE)


def last_error_line(hook_run: HookRun) -> str:
    """Return the last line that a hook run wrote to standard error; empty if it wrote none."""
    written = "" if hook_run.run is None else hook_run.run.stderr.text.rstrip()
    return written[max(written.rfind("\n"), written.rfind("\r")) + 1 :].strip()


def _because(reason: str, longest: int) -> str:
    return f" {quoted(reason, longest)}" if reason.strip() else ""


def _ruling(ruling: Ruling, hooked: HookEvent) -> str:
    match ruling:
        case Ruling.DENY:
            if hooked.decision.overridden:
                return "block, which the host overrides"
            if hooked.decision.refused:
                return "block"
            # It comes too late for the call, which no host undoes.
            told = "\n".join(hooked.decision.to_agent)
            only = any(reason and reason in told for reason in hooked.decision.reasons)
            return f"block, which the host {'only tells the agent' if only else 'does not honour'}"
        case Ruling.NONE | Ruling.ALLOW | Ruling.ASK | Ruling.DEFER:
            return str(ruling.value)
        case _:
            assert_never(ruling)


def describe_tier(tier: processes.Tier) -> str:
    """Describe the isolation tier, with what it cannot exclude."""
    match tier:
        case processes.Tier.NAMESPACES:
            return "namespaces: no process of a hook survives, and /tmp is private"
        case processes.Tier.SUBREAPER:
            return "subreaper: no process of a hook survives; /tmp is shared with the machine"
        case processes.Tier.GROUP:
            return (
                "process group: a process that leaves its group is looked for and may survive; "
                "/tmp is shared with the machine"
            )
        case _:
            assert_never(tier)


def describe_cap(
    cap: Cap | None, host: str, limits: Sequence[Limit] = (), assumed: AssumedCap | None = None
) -> str:
    """Describe what the host would do about a loop, by itself or as the scenario assumes."""
    if cap is not None and cap.overrides is not None:
        return f"{host} would override refusal {cap.overrides}"
    if limits:
        return f"{host} would end the run in turn {limits[0].turn}"
    if assumed is not None and assumed.refusals is None:
        return "the scenario sets cap: none, so nothing overrides it"
    if cap is None:
        return f"{host} has no known cap on refusals"
    return f"the cap of {host} would never act on this loop"


def text_of_changes(changed: tuple[Change, ...]) -> str:
    """Return the first few paths that differ."""
    return first_few([plain(change.path, 60) for change in changed])


def and_more(left: int, what: str, indent: str = "  ") -> list[str]:
    """Return the line that counts what is not listed; none if everything is."""
    return [f"{indent}and {counted(left, f'more {what}')}"] if left > 0 else []


def bounded(lines: Sequence[str], most: int, indent: str = "") -> list[str]:
    """Return at most ``most`` lines, and in place of those before the last four the number left out."""
    if len(lines) <= most:
        return [*lines]
    left_out = counted(len(lines) - most, "line")
    return [*lines[: most - 4], f"{indent}... {left_out} ...", *lines[-4:]]
