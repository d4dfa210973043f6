"""
Faults brought about: a scenario in whose world one thing is wrong.

Pure. Its moves are those of a run, made again whatever the hooks answer; what was refused then
is only asked about, for a guard that is broken would let it be carried out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from pytest_hookharness.campaigns.stress.alterations import GIVEN, ReplayScript, alter, plainly
from pytest_hookharness.model.faults import (
    Fault,
    Fed,
    FullDisk,
    InWorktree,
    JunkTool,
    Occupied,
    Placed,
    ReadOnly,
    SpoiledScript,
    StartedIn,
    Surroundings,
)
from pytest_hookharness.model.moves import Act, Corrupt, Edit, Read, RunCommand, Script, Stop, Tools
from pytest_hookharness.model.mutations import FailingTool, HangingTool, Shaping, Shell, WithoutTool
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.model.trace import Performed, Trace

_MOST_TURNS = 12
_JUNK = "<html><body>502 Bad Gateway</body></html>\n"
_EXTRA = "a_text_beyond_ascii"


def make_trial(scenario: Scenario, trace: Trace) -> Scenario:
    """
    The scenario as it was played, as a list of moves, without its promises.
    """
    refused = {
        step.turn for step in trace.steps if isinstance(step.exchange, Performed) and step.exchange.refused
    }
    acts = (act for act in ReplayScript.of(trace).acts if act[0] <= _MOST_TURNS)
    made = tuple(_only_asked(act) if turn in refused else act for turn, act in acts)
    return replace(plainly(scenario), script=Script(acts=(*made, Stop())))


def _only_asked(act: Act) -> Act:
    match act:
        case RunCommand() | Edit() | Read():
            return replace(act, given=GIVEN)
        case Tools(calls=calls):
            return replace(act, calls=tuple(replace(call, given=GIVEN) for call in calls))
        case _:
            return act


def with_fault(scenario: Scenario, fault: Fault) -> Scenario:
    """
    A scenario with one thing wrong.
    """
    change = fault.change
    match change:
        case WithoutTool() | FailingTool() | HangingTool() | Shell():
            return alter(scenario, change, ReplayScript(()))
        case JunkTool(name):
            return replace(scenario, commands={**scenario.commands, name: Double(stdout=_JUNK)})
        case Fed(way=way):
            return replace(scenario, stdin=way)
        case StartedIn(folder=folder):
            return replace(scenario, cwd=folder)
        case InWorktree(name):
            return replace(scenario, worktree=name)
        case Placed(name=name):
            return replace(scenario, place=name)
        case SpoiledScript(path, how):
            mode = "0644" if how == "chmod" else ""
            return _beginning_with(Corrupt(file=path, how=how, text=mode), scenario)
        case ReadOnly(path):
            return replace(scenario, readonly=(*scenario.readonly, path))
        case Occupied(path):
            return replace(scenario, files={**scenario.files, f"{path}/.keep": ""})
        case FullDisk(path):
            return replace(scenario, full=(*scenario.full, path))
        case Surroundings():
            return _in(change, scenario)
        case _:
            assert_never(change)


def _beginning_with(event: Corrupt, scenario: Scenario) -> Scenario:
    return replace(scenario, script=replace(scenario.script, acts=(event, *scenario.script.acts)))


def _in(surroundings: Surroundings, scenario: Scenario) -> Scenario:
    files = {**scenario.files, **surroundings.files}
    home = {**scenario.home, **surroundings.home}
    made = replace(scenario, env={**scenario.env, **surroundings.env}, files=files, home=home)
    if not surroundings.extra:
        return made
    shaping = scenario.payload or Shaping()
    extra = {**shaping.extra, _EXTRA: surroundings.extra}
    return replace(made, payload=replace(shaping, extra=extra))
