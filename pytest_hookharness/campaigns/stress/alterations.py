"""
Alterations: a scenario as a variation has it.

Pure. What is tried on the hooks is only asked about: the calls have their results already, so
that nothing is carried out even if a guard fails.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from pytest_hookharness import hosts
from pytest_hookharness.judging.comparison.tried import CONTROL, HARMLESS, TRIED
from pytest_hookharness.model.delivery import Delivery
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import (
    Act,
    Corrupt,
    Edit,
    Read,
    RunCommand,
    Script,
    Stop,
    ToolResult,
    Tools,
)
from pytest_hookharness.model.mutations import (
    EmptyInput,
    FailingTool,
    HangingTool,
    HookOrder,
    KeyOrder,
    MovedWords,
    Quoted,
    Replayed,
    SameName,
    Shaping,
    Shell,
    StateFile,
    TwoAgents,
    TwoProcesses,
    TwoSessions,
    Unset,
    WithoutTool,
)
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.model.trace import Happened, Moved, Trace

_SHAPING = Shaping(reversed=True, extra={"a_key_that_nobody_knows": {"of": ["any", "kind"]}})
GIVEN = ToolResult(text="done")


@dataclass(frozen=True, slots=True)
class ReplayScript:
    """
    What agent and script did in a run, as a script that does the same again.

    Attributes:
        acts: Each act with its turn; an event of the script has that of the move before it.
    """

    acts: tuple[tuple[int, Act], ...]

    @classmethod
    def of(cls, trace: Trace) -> ReplayScript:
        """
        The recording of a run.
        """
        return cls(tuple(_acts(trace)))

    def until(self, turn: int) -> tuple[Act, ...]:
        """
        All acts before those of a turn.
        """
        return tuple(act for number, act in self.acts if number < turn)

    def move(self, turn: int) -> Act | None:
        """
        The move of a turn.
        """
        return next((act for number, act in self.acts if number == turn), None)


def _acts(trace: Trace) -> Iterator[tuple[int, Act]]:
    for step in trace.steps:
        match step.exchange:
            case Moved(move=move):
                yield step.turn, move
            case Happened(event=event):
                yield step.turn, event
            case _:
                continue


def plainly(scenario: Scenario) -> Scenario:
    """
    The scenario to be played again, without its promises.
    """
    return replace(scenario, vary=(), expect=Expectation())


def alter(scenario: Scenario, variation: Replayed, recording: ReplayScript) -> Scenario:
    """
    A scenario with one thing different.
    """
    scenario = plainly(scenario)
    match variation:
        case KeyOrder():
            return replace(scenario, payload=_SHAPING)
        case EmptyInput():
            return replace(scenario, stdin=replace(scenario.stdin or Delivery(), shape="empty"))
        case Unset(variable):
            return replace(scenario, unset=(*scenario.unset, variable))
        case Shell(words, env):
            return replace(scenario, shell=words, env={**scenario.env, **env})
        case HookOrder(event, places):
            return replace(scenario, order={**scenario.order, event: places})
        case WithoutTool(name):
            return replace(scenario, hidden=(*scenario.hidden, name), commands=_without(name, scenario))
        case FailingTool(name, exit=code):
            double = Double(exit=code, stderr=f"{name}: internal error\n")
            return replace(scenario, commands={**scenario.commands, name: double})
        case HangingTool(name):
            return replace(scenario, commands={**scenario.commands, name: Double(hangs=True)})
        case StateFile():
            return replace(scenario, script=_harmed(scenario.script, variation, recording))
        case MovedWords() | Quoted():
            return replace(scenario, script=_asked(scenario, variation, recording))
        case TwoAgents():
            return replace(scenario, company="agent")
        case TwoSessions():
            return replace(scenario, company="session")
        case TwoProcesses():
            return replace(scenario, relaunched=True)
        case SameName():
            return _repeated(scenario, variation, recording)
        case _:
            assert_never(variation)


def _without(name: str, scenario: Scenario) -> Mapping[str, Double]:
    return {other: double for other, double in scenario.commands.items() if other != name}


def _harmed(script: Script, variation: StateFile, recording: ReplayScript) -> Script:
    before = recording.until(variation.turn + 1)
    after = [act for turn, act in recording.acts if turn > variation.turn]
    harm = Corrupt(file=variation.path, how=variation.how)
    return replace(script, acts=(*before, harm, *after), reactions=())


def _asked(scenario: Scenario, variation: MovedWords | Quoted, recording: ReplayScript) -> Script:
    match variation:
        case Quoted(text=text, harmless=harmless):
            control: RunCommand | Tools = RunCommand(command=harmless, given=GIVEN, label=CONTROL)
            tried: RunCommand | Tools = RunCommand(command=text, given=GIVEN, label=TRIED)
        case MovedWords(command=command, words=words):
            control = _described(scenario, HARMLESS, "Says hello", CONTROL)
            tried = _described(scenario, command, words, TRIED)
    controls = () if variation.must_be_refused else (control,)
    return Script(acts=(*recording.until(variation.turn), *controls, tried, Stop()))


def _described(scenario: Scenario, command: str, words: str, label: str) -> Tools:
    profile = hosts.find(scenario.host)
    call = profile.tools.call(RunCommand(command=command, given=GIVEN, label=label), "/")
    return Tools(calls=(replace(call, input={**call.input, "description": words}),))


def _repeated(scenario: Scenario, variation: SameName, recording: ReplayScript) -> Scenario:
    move = recording.move(variation.turn)
    if not isinstance(move, Edit | Read):
        raise TypeError(f"only a move on a file can be repeated on another, not {move!r}")
    acts = (*recording.until(variation.turn), move, replace(move, file=variation.twin), Stop())
    text = move.old if isinstance(move, Edit) and move.old is not None else "text\n"
    files = {**scenario.files, variation.twin: text}
    return replace(scenario, files=files, script=Script(acts=acts))


def twins(turn: int, file: str) -> tuple[SameName, SameName]:
    """
    Two further files for a move to be repeated on: one of another base name, one of the same.
    """
    folder, name = posixpath.split(file)
    nested = posixpath.join(folder, "nested")
    return (
        SameName(turn, file, posixpath.join(nested, f"other-{name}")),
        SameName(turn, file, posixpath.join(nested, name)),
    )
