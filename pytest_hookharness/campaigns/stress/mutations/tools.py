"""Mutations of the commands that hooks call: missing, failing, hanging, or printing junk."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.campaigns.stress.first_run import STANDARD_COMMANDS, HookTraits, ReplayScript
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.judging.comparison.traces import Defect, Pair, by_leak, find_first, pairs
from pytest_hookharness.judging.findings.codes import UNGUARDED_TOOL
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, HeldOpen, TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.model.trace import HookRun, Performed, Trace
from pytest_hookharness.model.verdicts import Finding

_MOST, _MOST_AS_FAULTS = 4, 3
_JUNK = "<html><body>502 Bad Gateway</body></html>\n"
# EX_SOFTWARE of sysexits.h: an internal error, which is no answer of any command.
_INTERNAL_ERROR = 70


@dataclass(frozen=True, slots=True)
class _ToolMutation(Mutation, family="tools"):
    """
    One command in trouble.

    A hook that decides differently without its tool has a defect, unless its own output names the trouble:
    then its author has chosen to refuse or to allow without it.
    """

    command: str
    fault: bool = False

    @property
    def explains_127(self) -> bool:
        return True

    @property
    def as_fault(self) -> bool:
        return self.fault

    @property
    def subject(self) -> str:
        return self.command

    def was_met(self, outcome: Outcome) -> str:
        return "" if outcome.calls.get(self.command) else f"nobody called `{self.command}`"

    def find_difference(self, usual: Trace, seen: Trace) -> Finding | None:
        other = _first_other_call(usual, seen)

        def look(pair: Pair) -> Defect | None:
            if pair.turn >= other:
                # The agent's own command needed the tool too, so the hooks now see another world.
                return None
            runs = pair.hook_runs()
            held_up = next((before for before, after in runs if _cut(after) and not _cut(before)), None)
            if held_up is not None:
                return UNGUARDED_TOOL, held_up.hook.command
            if pair.differs and not _announced(self.command, usual, pair):
                return UNGUARDED_TOOL, pair.hook
            return by_leak(pair)

        return find_first(self, usual, seen, look)

    def explain(self, usual: Trace, seen: Trace) -> str:
        for pair in pairs(usual, seen):
            if pair.differs and (line := _announced(self.command, usual, pair)):
                at = f"at {pair.before.event} in turn {pair.turn}"
                return f'The decision differs on purpose with {self}, {at}: {pair.hook} says "{line}".'
        return ""

    def _doubled(self, scenario: Scenario, double: Double) -> Scenario:
        return replace(scenario, commands={**scenario.commands, self.command: double})


@dataclass(frozen=True, slots=True)
class WithoutTool(_ToolMutation, name="missing"):
    """One command that is in no folder of PATH."""

    def __str__(self) -> str:
        return f"no `{self.command}` on the PATH"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        others = {word: double for word, double in scenario.commands.items() if word != self.command}
        return replace(scenario, hidden=(*scenario.hidden, self.command), commands=others)

    def was_met(self, outcome: Outcome) -> str:
        # A missing command leaves no record of its calls.
        return ""


@dataclass(frozen=True, slots=True)
class FailingTool(_ToolMutation, name="failing"):
    """One command that fails with an exit code that is no answer."""

    def __str__(self) -> str:
        return f"a `{self.command}` that fails with exit code {_INTERNAL_ERROR}"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return self._doubled(
            scenario, Double(exit=_INTERNAL_ERROR, stderr=f"{self.command}: internal error\n")
        )


@dataclass(frozen=True, slots=True)
class HangingTool(_ToolMutation, name="hanging"):
    """One command that never returns."""

    @property
    def waits(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"a `{self.command}` that never returns"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return self._doubled(scenario, Double(hangs=True))


@dataclass(frozen=True, slots=True)
class JunkTool(_ToolMutation, name="junk"):
    """One command that succeeds and prints junk."""

    fault: bool = True

    @property
    def explains_127(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"a `{self.command}` that prints junk"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return self._doubled(scenario, Double(stdout=_JUNK))


def plan(request: VaryRequest, outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    """Yield trouble with the commands that are named, or else with those that the hooks call."""
    match request.family:
        case "tools" if request.names:
            for command in request.names:
                yield from _trouble(command, outcome, traits)
                yield HangingTool(command)
        case "tools":
            yield from _invariants(outcome, traits)
        case "faults":
            yield from _faults(outcome, traits)
        case _:
            return


def _invariants(outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    commands = [command for command in traits.tools if command not in outcome.scenario.commands]
    if not commands:
        why = "the hooks name no command that may be missing; name those that may: tools: [NAME]"
        yield NotTried("tools", why)
    for command in commands[:_MOST]:
        yield from _trouble(command, outcome, traits)
    if commands:
        why = f"a command that never returns; name those that may: tools: [{commands[0]}]"
        yield NotTried("tools", why)
    for command in sorted(traits.runners - STANDARD_COMMANDS):
        if traits.has(command):
            yield NotTried("tools", f"the command {command}, which runs the hook itself")
    yield from (NotTried("tools", f"the command {command}, one of many") for command in commands[_MOST:])


def _trouble(command: str, outcome: Outcome, traits: HookTraits) -> Iterator[Mutation]:
    if traits.has(command) or command in outcome.scenario.commands:
        yield WithoutTool(command)
    yield FailingTool(command)


def _faults(outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    commands = tuple(dict.fromkeys([*outcome.scenario.commands, *traits.tools]))
    if not commands:
        yield NotTried("tools", "the hooks name no command that may be missing", "a missing tool")
    for command in commands[:_MOST_AS_FAULTS]:
        for kind in (WithoutTool, FailingTool, HangingTool, JunkTool):
            yield kind(command, fault=True)
    for command in commands[_MOST_AS_FAULTS:]:
        yield NotTried("tools", "one of many", f"`{command}` missing")


# As shells, env and Python say it, and as the double of a failing command does.
_NOT_ITS_OWN = re.compile(
    r"not found\s*$|command not found|No such file or directory|FileNotFoundError|: internal error\s*$"
)
_TROUBLE = re.compile(
    r"\b(?:missing|absent|not (?:there|installed|available)|unavailable|cannot|can't|could ?n[o']t|unable|"
    r"needs?|needed|requires?|required|install|fail|fails|failed|failure|timed out|too long|no answer)\b",
    re.IGNORECASE,
)
_LOOKED_AT = 1 << 14


def _announced(command: str, usual: Trace, pair: Pair) -> str:
    """
    Return the line in which a hook says that a missing command changes its decision; empty for none.

    A line that also occurs in the run with the command does not count.
    """
    known = {line for _, hook_run in usual.hook_runs() for line in _lines(hook_run)}
    for hook_run in (after for _, after in pair.hook_runs() if after.hook.command == pair.hook):
        for line in _lines(hook_run) if _has_decided(hook_run) else ():
            if line not in known and _names(line, command):
                return line
    return ""


def _first_other_call(usual: Trace, seen: Trace) -> float:
    """Return the turn of the first shell command of the agent that ended differently; infinity for none."""
    endings = [
        [
            (step.turn, step.exchange.run.ending if step.exchange.run is not None else None)
            for step in trace.steps
            if isinstance(step.exchange, Performed)
        ]
        for trace in (usual, seen)
    ]
    both = zip(*endings, strict=False)
    others = (turn for (turn, before), (_, after) in both if None not in (before, after) and before != after)
    return next(others, math.inf)


def _has_decided(hook_run: HookRun) -> bool:
    match hook_run.ending:
        case Exited(code) | HeldOpen(Exited(code)):
            return code == 0 or hook_run.reply.ruling is not Ruling.NONE
        case _:
            return False


def _lines(hook_run: HookRun) -> Iterator[str]:
    if hook_run.run is None:
        return
    for output in (hook_run.run.stderr, hook_run.run.stdout):
        yield from output.text[:_LOOKED_AT].splitlines()


def _names(line: str, command: str) -> bool:
    if _NOT_ITS_OWN.search(line):
        return False
    return bool(_TROUBLE.search(line) or re.search(rf"(?<![\w-]){re.escape(command)}(?![\w-])", line))


def _cut(hook_run: HookRun) -> bool:
    return hook_run.run is not None and isinstance(hook_run.run.ending, TimedOut)
