"""
Two runs compared event by event, as long as both have the same events.

After the first event with another decision the two sessions differ, so nothing after it is compared. In one
of the runs a mutation that must not matter is active; a difference names the code and the hook at fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from pytest_hookharness.judging.findings import codes
from pytest_hookharness.judging.findings.finding_catalogue import CRASHED
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import effective_ruling
from pytest_hookharness.model.processes import Exited, HeldOpen, NotStarted, Signaled, TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Trace, commands_of
from pytest_hookharness.model.verdicts import Finding, FindingCode

_WORDS = {
    Ruling.NONE: "allows",
    Ruling.ALLOW: "allows",
    Ruling.ASK: "asks",
    Ruling.DEFER: "puts off",
    Ruling.DENY: "refuses",
}
_LONGEST = 600
# One failure may be how a hook begins anew.
_FEWEST_FAILURES = 2
_TRACEBACK = "Traceback (most recent call last):"
_ENDS_SO = re.compile(r"[\w.]+(?:Error|Exception|Exit|Interrupt)\b")


@dataclass(frozen=True, slots=True)
class Pair:
    """One event that two runs have in common, with its turn in the first."""

    turn: int
    before: HookEvent
    after: HookEvent

    @property
    def differs(self) -> bool:
        """Whether the decisions differ; the reason of a refusal may differ without being a difference."""
        return _decision(self.before) != _decision(self.after)

    def hook_runs(self) -> Iterator[tuple[HookRun, HookRun]]:
        """Yield the runs of the same hooks."""
        left = [*self.after.hook_runs]
        for before in self.before.hook_runs:
            after = next((after for after in left if after.hook == before.hook), None)
            if after is not None:
                left.remove(after)
                yield before, after

    @property
    def hook(self) -> str:
        """The command whose runs differ; the first of the event if no single one differs."""
        for before, after in self.hook_runs():
            if (before.reply.ruling, describe_end(before)) != (after.reply.ruling, describe_end(after)):
                return before.hook.command
        return self.before.hook_runs[0].hook.command if self.before.hook_runs else ""


def pairs(first: Trace, second: Trace) -> Iterator[Pair]:
    """Yield the events of two runs, up to and including the first with another decision."""
    for (step, before), (_, after) in zip(first.hooked(), second.hooked(), strict=False):
        cut = any(one.run is not None and one.run.cut_by_budget for one in after.hook_runs)
        if cut or (before.event, before.target) != (after.event, after.target):
            return
        pair = Pair(step.turn, before, after)
        yield pair
        if pair.differs:
            return


def _decision(hooked: HookEvent) -> tuple[object, ...]:
    decision = hooked.decision
    return effective_ruling(hooked), decision.refused, decision.updated_input, decision.halt is not None


def describe_decision(hooked: HookEvent, hook: str, *, quoting: bool = False) -> str:
    """Return the decision of an event and the end of one of its hook runs, such as ``refuses (exit 2)``."""
    hook_run = next((one for one in hooked.hook_runs if one.hook.command == hook), None)
    ruling = Ruling.DENY if hooked.decision.refused else effective_ruling(hooked)
    word = _WORDS[ruling]
    return word if hook_run is None else f"{word} ({describe_end(hook_run, quoting=quoting)})"


def describe_end(hook_run: HookRun, *, quoting: bool = False) -> str:
    """
    Return how a hook run ended, such as ``exit 2``; ``quoting`` adds the line that says why.

    That is the first line of standard error, or the last one after a traceback of Python.
    """
    if hook_run.run is None:
        return "answered by the scenario"
    lines = hook_run.run.stderr.text.strip().splitlines() if quoting else []
    line = lines[-1 if _TRACEBACK in lines and _ENDS_SO.match(lines[-1]) else 0] if lines else ""
    said = f': "{_without_folder(line, hook_run)[:_LONGEST]}"' if line else ""
    match hook_run.run.ending:
        case Exited(code) | HeldOpen(Exited(code)):
            return f"exit {code}{said}"
        case Signaled(signal) | HeldOpen(Signaled(signal)):
            return f"signal {signal}{said}"
        case TimedOut(after):
            return f"cut after {after:g} s{said}"
        case NotStarted(reason):
            return f"not started: {reason}"
        case HeldOpen():
            raise TypeError(f"unknown exit: {hook_run.run.ending.exit!r}")


def _without_folder(line: str, hook_run: HookRun) -> str:
    # Each run has its own workspace; its long path would push the cause out of the quoted part.
    folder = hook_run.payload.get("cwd")
    return line.replace(f"{folder}/", "") if isinstance(folder, str) and folder.strip("/") else line


def refusing_runs(trace: Trace, turn: int) -> Iterator[HookRun]:
    """Yield the hook runs that refused something in a turn."""
    refused = (one for step, one in trace.hooked() if step.turn == turn and one.decision.refused)
    return (hook_run for hooked in refused for hook_run in hooked.deciding)


def refusers(trace: Trace, turn: int) -> str:
    """Return the commands that refused something in a turn, joined by commas."""
    return commands_of(refusing_runs(trace, turn))


def is_asked(trace: Trace, turn: int) -> bool:
    """Return whether in a turn a hook asked the user, who answered no, instead of refusing by itself."""
    return any(step.turn == turn and hooked.decision.ruling is Ruling.ASK for step, hooked in trace.hooked())


def was_refused(trace: Trace, label: str) -> bool | None:
    """Return whether the call with a label was refused; ``None`` if the call was never made."""
    return next((done.refused for _, done in trace.performed() if done.call.label == label), None)


def was_asked(trace: Trace, label: str) -> bool:
    """Return whether a hook asked the user about the call with a label."""
    return any(is_asked(trace, step.turn) for step, done in trace.performed() if done.call.label == label)


# A code, and the command at fault.
Defect: TypeAlias = tuple[FindingCode, str]
# The messages of shells about a variable that is not set.
_UNSET = ("unbound variable", "parameter not set", "parameter null or not set")


def find_first(
    mutation: object, usual: Trace, seen: Trace, look: Callable[[Pair], Defect | None]
) -> Finding | None:
    """Return a finding for the first event of two runs in which ``look`` sees a defect."""
    for pair in pairs(usual, seen):
        defect = look(pair)
        if defect is not None:
            code, hook = defect
            before = describe_decision(pair.before, hook)
            after = describe_decision(pair.after, hook, quoting=True)
            text = f"{pair.before.event} in turn {pair.turn}: {before}; with {mutation}, {after}."
            return code.found(text, turn=pair.turn, hook=hook)
    return None


def by_decision(code: FindingCode, pair: Pair) -> Defect | None:
    """Report a code where the decision differs."""
    return (code, pair.hook) if pair.differs else None


def by_leak(pair: Pair) -> Defect | None:
    """Report a hook that now fails silently: an exit code other than 0, no decision and no output."""
    leaks = (before for before, after in pair.hook_runs() if status(before) == 0 and failed_silently(after))
    leaking = next(leaks, None)
    return (codes.STATUS_LEAK, leaking.hook.command) if leaking is not None else None


def by_failure(pair: Pair) -> Defect | None:
    """Report a hook that now fails, or whose shell stumbles over a variable that is not set."""
    ended_well = ((before, after) for before, after in pair.hook_runs() if status(before) == 0)
    failures = (before for before, after in ended_well if _failed(after) or _stumbled(after))
    failing = next(failures, None)
    return (codes.STRICT_SHELL, failing.hook.command) if failing is not None else None


def find_lasting_failure(mutation: object, usual: Trace, seen: Trace, *, since: int) -> Finding | None:
    """Return the finding for a hook that usually ends with 0, and fails in each run after a turn."""
    runs: dict[str, list[tuple[int, str, HookRun]]] = {}
    for step, hooked in seen.hooked():
        for hook_run in hooked.hook_runs if step.turn > since else ():
            runs.setdefault(hook_run.hook.command, []).append((step.turn, hooked.event, hook_run))
    for command, later in runs.items():
        before = [one for _, one in usual.hook_runs() if one.hook.command == command]
        is_fine = bool(before) and all(status(one) == 0 for one in before)
        if is_fine and len(later) >= _FEWEST_FAILURES and all(_failed(one) for _, _, one in later):
            turn, event, first = later[0]
            end = describe_end(first, quoting=True)
            fails = f"every later run fails ({len(later)} x {end})"
            text = f"{event} in turn {turn}: exit 0; with {mutation}, {fails}."
            return CRASHED.found(text, turn=turn, hook=command)
    return None


def status(hook_run: HookRun) -> int | None:
    """Return the exit code of a hook run; ``None`` if it did not exit."""
    match hook_run.ending:
        case Exited(code) | HeldOpen(Exited(code)):
            return code
        case _:
            return None


def failed_silently(hook_run: HookRun) -> bool:
    """Return whether a hook run exited badly without a decision and without any output."""
    silent = hook_run.run is not None and not hook_run.run.stdout.total and not hook_run.run.stderr.total
    return silent and status(hook_run) is not None and _failed(hook_run)


def _failed(hook_run: HookRun) -> bool:
    """Return whether a hook run ended badly without a decision."""
    if hook_run.run is None or isinstance(hook_run.run.ending, TimedOut | NotStarted):
        return False
    return status(hook_run) != 0 and hook_run.reply.ruling is Ruling.NONE


def _stumbled(hook_run: HookRun) -> bool:
    # Some shells end the script with the exit code of a refusal, so the ruling does not show it.
    text = hook_run.run.stderr.text if hook_run.run is not None else ""
    return status(hook_run) != 0 and any(words in text for words in _UNSET)
