"""
Two runs side by side, as far as both came to the same events.

Pure. From the first event that was decided otherwise on the two runs tell of different
sessions, so nothing behind it is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_hookharness.model.outcome import effective_ruling
from pytest_hookharness.model.processes import Cut, Exited, HeldOpen, NotStarted, Signaled, TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Performed, Trace

_WORDS = {
    Ruling.NONE: "allows",
    Ruling.ALLOW: "allows",
    Ruling.ASK: "asks",
    Ruling.DEFER: "puts off",
    Ruling.DENY: "refuses",
}
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Pair:
    """
    One event that two runs came to in the same way.

    Attributes:
        turn: The turn.
        before: What took place in the first run.
        after: What took place in the second.
    """

    turn: int
    before: HookEvent
    after: HookEvent

    @property
    def differs(self) -> bool:
        """
        Whether it was decided otherwise; the words of a refusal may differ.
        """
        return _decision(self.before) != _decision(self.after)

    def hook_runs(self) -> Iterator[tuple[HookRun, HookRun]]:
        """
        The fires of the same hooks.
        """
        left = [*self.after.hook_runs]
        for fire in self.before.hook_runs:
            other = next((other for other in left if other.hook == fire.hook), None)
            if other is not None:
                left.remove(other)
                yield fire, other

    @property
    def hook(self) -> str:
        """
        The command whose fires differ; the first of the event if none is to blame alone.
        """
        for fire, other in self.hook_runs():
            if (fire.reply.ruling, ended(fire)) != (other.reply.ruling, ended(other)):
                return fire.hook.command
        return self.before.hook_runs[0].hook.command if self.before.hook_runs else ""


def pairs(first: Trace, second: Trace) -> Iterator[Pair]:
    """
    The events of two runs, up to the first that was decided otherwise, and with it.
    """
    for (step, before), (_, after) in zip(first.hooked(), second.hooked(), strict=False):
        if (before.event, before.target) != (after.event, after.target) or any(
            map(_unknown, after.hook_runs)
        ):
            return
        pair = Pair(step.turn, before, after)
        yield pair
        if pair.differs:
            return


def _unknown(fire: HookRun) -> bool:
    ending = fire.run.ending if fire.run is not None else None
    return isinstance(ending, TimedOut) and ending.by is Cut.BUDGET


def _decision(hooked: HookEvent) -> tuple[object, ...]:
    decision = hooked.decision
    return effective_ruling(hooked), decision.refused, decision.updated_input, decision.halt is not None


def told(hooked: HookEvent, hook: str, *, quoting: bool = False) -> str:
    """
    What became of an event, and how a hook of it ended, in words.
    """
    fire = next((fire for fire in hooked.hook_runs if fire.hook.command == hook), None)
    ruling = Ruling.DENY if hooked.decision.refused else effective_ruling(hooked)
    return f"{_WORDS[ruling]} ({ended(fire, quoting=quoting)})" if fire is not None else _WORDS[ruling]


def ended(fire: HookRun, *, quoting: bool = False) -> str:
    """
    How a fire ended, in words, with what it said on standard error if that is quoted.
    """
    if fire.run is None:
        return "answered by the scenario"
    line = next(iter(fire.run.stderr.text.strip().splitlines()), "") if quoting else ""
    said = f': "{_without_folder(line, fire)[:_LONGEST]}"' if line else ""
    match fire.run.ending:
        case Exited(code) | HeldOpen(Exited(code)):
            return f"exit {code}{said}"
        case Signaled(signal) | HeldOpen(Signaled(signal)):
            return f"signal {signal}{said}"
        case TimedOut(after):
            return f"cut after {after:g} s{said}"
        case NotStarted(reason):
            return f"not started: {reason}"
        case HeldOpen():
            raise TypeError(f"an exit that nobody knows: {fire.run.ending.exit!r}")


def _without_folder(line: str, fire: HookRun) -> str:
    # Each run has a workspace of its own, whose long path would stand where the cause should.
    folder = fire.payload.get("cwd")
    return line.replace(f"{folder}/", "") if isinstance(folder, str) and folder.strip("/") else line


def refusers(trace: Trace, turn: int) -> str:
    """
    The commands that refused something in a turn.
    """
    commands = [
        fire.hook.command
        for step, hooked in trace.hooked()
        if step.turn == turn and hooked.decision.refused
        for fire in hooked.hook_runs
        if fire.reply.ruling is hooked.decision.ruling
    ]
    return ", ".join(dict.fromkeys(commands))


def was_refused(trace: Trace, label: str) -> bool | None:
    """
    Whether the call with a label was refused; ``None`` if it was never made.
    """
    for step in trace.steps:
        exchange = step.exchange
        if isinstance(exchange, Performed) and exchange.call.label == label:
            return exchange.refused
    return None
