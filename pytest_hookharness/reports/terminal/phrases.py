"""
Words: how moves, events, endings and replies are said in a line.

Pure. Every union is matched to its end, so that a new member does not
type-check until it can be said.
"""

from __future__ import annotations

import json
import re
from typing import assert_never

from pytest_hookharness.model.moves import (
    Compact,
    Corrupt,
    Edit,
    End,
    Event,
    Move,
    Prompt,
    Read,
    Resume,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    Tools,
    Wait,
)
from pytest_hookharness.model.processes import (
    Activity,
    Cut,
    Ending,
    Exited,
    HeldOpen,
    NotStarted,
    Process,
    Signaled,
    Tier,
    TimedOut,
)
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import Change, HookEvent, HookRun
from pytest_hookharness.reports.safe_text import plain, quoted

_REASON = 70
_COMMAND = 44
_LISTED = 3
_FOLDER = re.compile(r'"?\$\{?[A-Z_]*(?:DIR|ROOT)\}?"?/')


def move_words(move: Move) -> str:
    """
    What the agent does.
    """
    match move:
        case Tools(calls=calls, say=say):
            return _said(say) + "calls " + listed([_call(call) for call in calls], " and ")
        case RunCommand(command=command, say=say):
            return f"{_said(say)}runs {quoted(command)}"
        case Edit(file=file, say=say):
            return f"{_said(say)}edits {plain(file)}"
        case Read(file=file, say=say):
            return f"{_said(say)}reads {plain(file)}"
        case Stop(text=text):
            return f"stops: {quoted(text)}"
        case Subagent(kind=kind, prompt=prompt, say=say):
            return f"{_said(say)}starts the subagent {plain(kind, 40)}: {quoted(prompt)}"
        case _:
            assert_never(move)


def _said(say: str) -> str:
    return f"says {quoted(say, 40)}, " if say else ""


def _call(call: ToolCall) -> str:
    written = json.dumps(call.input, default=str, ensure_ascii=False)
    return f"{plain(call.name, 40)} {plain(written)}"


def event_words(event: Event) -> str:
    """
    What happens to the agent.
    """
    match event:
        case Prompt(text=text):
            return f"writes: {quoted(text)}"
        case Wait(seconds=seconds):
            return f"waits {seconds:g} s"
        case Compact(trigger=trigger):
            return f"compacts the conversation ({plain(trigger, 20)})"
        case Resume(fork=fork):
            return "takes up a copy of the session" if fork else "resumes the session"
        case End(reason=reason):
            return f"ends the session ({plain(reason, 20)})"
        case Corrupt(file=file, how=how):
            return f"harms {plain(file)} ({plain(how, 20)})"
        case _:
            assert_never(event)


def ending_words(ending: Ending, wall: float | None = None) -> str:
    """
    How a fire ended; ``wall`` is left out where lines are compared.
    """
    took = "" if wall is None else f" in {_time(wall)}"
    match ending:
        case Exited() | Signaled():
            return f"{_exit(ending)}{took}"
        case TimedOut(after=after, by=by, ignored_term=ignored_term):
            return f"was cut after {after:.3g} s ({_whose(by)})" + (
                " and ignored the signal" if ignored_term else ""
            )
        case HeldOpen(exit=ended, holders=holders):
            who = listed([process_words(process) for process in holders]) or "another process"
            hold = "hold" if len(holders) > 1 else "holds"
            return f"{_exit(ended)} but {who} {hold} its output open"
        case NotStarted(reason=reason):
            return f"was not started: {plain(reason, _REASON)}"
        case _:
            assert_never(ending)


def _whose(by: Cut) -> str:
    match by:
        case Cut.LIMIT:
            return "the host's limit"
        case Cut.HOOK_TIMEOUT:
            return "our patience"
        case Cut.BUDGET:
            return "the time for all of it was over"
        case _:
            assert_never(by)


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.095 else f"{max(1, round(seconds * 1000))} ms"


def _exit(ending: Exited | Signaled) -> str:
    match ending:
        case Exited(code):
            return f"exited {code}"
        case Signaled(signal):
            return f"was killed by signal {signal}"
        case _:
            assert_never(ending)


def process_words(process: Process) -> str:
    """
    A process, by its command line and its number.
    """
    return f"{plain(process.command, _COMMAND)} (pid {process.pid})"


def activity_words(activity: Activity) -> str:
    """
    What a process was doing when its fire was cut.
    """
    who = process_words(activity.process)
    if activity.asks:
        name = f"{plain(activity.process.name, _COMMAND)} (pid {activity.process.pid})"
        return f"nobody answers {name}, which asks on the terminal: {quoted(activity.asks, _REASON)}"
    if activity.waits_for:
        return f"{who} waits for {plain(activity.waits_for)}"
    if activity.blocked_in:
        return f"{who} is blocked in {plain(activity.blocked_in, 40)}"
    return f"{who} is running" if activity.state == "R" else f"{who} is in state {plain(activity.state, 4)}"


def command_words(fire: HookRun) -> str:
    """
    The command of a fire, or the kind of its handler.
    """
    return plain(without_folder(fire.hook.command), _COMMAND) or f"{plain(fire.hook.type, 20)} handler"


def without_folder(command: str) -> str:
    """
    A command without the folder that a variable of the host stands for, which tells nothing.
    """
    return _FOLDER.sub("", command)


def reply_words(fire: HookRun, hooked: HookEvent) -> str:
    """
    What a fire said, as far as its host made something of it; empty if it said nothing.
    """
    reply, decision = fire.reply, hooked.decision
    parts: list[str] = []
    if reply.ruling is not Ruling.NONE:
        parts.append("-> " + _ruling(reply.ruling, hooked) + _because(fire.reason))
    if reply.halt is not None:
        parts.append(f"-> halt{_because(reply.halt)}")
    if reply.behaviour is not None:
        parts.append(f"-> {plain(reply.behaviour, 20)}")
    if reply.context and reply.context not in decision.reasons:
        parts.append(f"-> tells the agent {quoted(reply.context, _REASON)}")
    if reply.fault is not None:
        parts.append(f"({plain(reply.fault, _REASON)})")
    return "  ".join(parts)


def reason_words(fire: HookRun) -> str:
    """
    What a fire said its ruling was for.
    """
    return quoted(fire.reason, _REASON)


def _because(reason: str) -> str:
    return f" {quoted(reason, _REASON)}" if reason.strip() else ""


def _ruling(ruling: Ruling, hooked: HookEvent) -> str:
    match ruling:
        case Ruling.DENY:
            if hooked.decision.overridden:
                return "block, which the host overrides"
            return "block" if hooked.decision.refused else "block, which the host does not honour"
        case Ruling.NONE | Ruling.ALLOW | Ruling.ASK | Ruling.DEFER:
            return str(ruling.value)
        case _:
            assert_never(ruling)


def tier_words(tier: Tier) -> str:
    """
    How fires were kept apart, and what cannot be claimed because of it.
    """
    match tier:
        case Tier.NAMESPACES:
            return "namespaces: nothing of a fire survives, and /tmp is private"
        case Tier.SUBREAPER:
            return "subreaper: nothing of a fire survives; /tmp is shared with the machine"
        case Tier.GROUP:
            return (
                "process group: a process that leaves its group is not seen; /tmp is shared with the machine"
            )
        case _:
            assert_never(tier)


def changed_words(changed: tuple[Change, ...]) -> str:
    """
    The paths that differ, the first few by name.
    """
    return listed([plain(change.path, 60) for change in changed])


def listed(parts: list[str], glue: str = ", ") -> str:
    """
    The first few parts, and how many more there are.
    """
    more = f" and {len(parts) - _LISTED} more" if len(parts) > _LISTED else ""
    return glue.join(parts[:_LISTED]) + more
