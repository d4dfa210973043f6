"""Replays: a scenario to be run again, with the moves of an earlier run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import (
    Act,
    Edit,
    Read,
    RunCommand,
    Script,
    Stop,
    SubagentText,
    ToolResult,
    Tools,
)
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Happened, Moved, Performed, Trace

# A call with this result is only asked about: nothing is executed even if a guard allows it.
GIVEN = ToolResult(text="done")
_MOST_TURNS = 12


@dataclass(frozen=True, slots=True)
class ReplayScript:
    """
    The acts of agent and script in a run.

    Attributes:
        acts: Each act with its turn; an event of the script has that of the move before it.
    """

    acts: tuple[tuple[int, Act], ...]

    @classmethod
    def of(cls, trace: Trace) -> ReplayScript:
        """Return the acts of a run."""
        return cls(tuple(_acts(trace)))

    def until(self, turn: int) -> tuple[Act, ...]:
        """Return all acts before those of a turn."""
        return tuple(act for number, act in self.acts if number < turn)

    def move(self, turn: int) -> Act | None:
        """Return the move of a turn."""
        return next((act for number, act in self.acts if number == turn), None)


def _acts(trace: Trace) -> Iterator[tuple[int, Act]]:
    for step in trace.steps:
        match step.exchange:
            case Moved(move=SubagentText()):
                # It follows from the move that started the subagent.
                continue
            case Moved(move=move):
                yield step.turn, move
            case Happened(event=event):
                yield step.turn, event
            case _:
                continue


def without_expectations(scenario: Scenario) -> Scenario:
    """Return a scenario to be run again: without expectations, mutations and parallel hook runs."""
    return replace(scenario, vary=(), parallel=None, expect=Expectation())


def with_fixed_moves(scenario: Scenario, trace: Trace) -> Scenario:
    """
    Return the scenario of a run with its moves as a fixed list, whatever the hooks answer.

    Refused calls are only asked about, because a guard broken by a fault would let them be executed.
    """
    refused = {
        step.turn for step in trace.steps if isinstance(step.exchange, Performed) and step.exchange.refused
    }
    acts = (act for act in ReplayScript.of(trace).acts if act[0] <= _MOST_TURNS)
    moves = tuple(_only_asked(act) if turn in refused else act for turn, act in acts)
    return replace(without_expectations(scenario), script=Script(acts=(*moves, Stop())))


def _only_asked(act: Act) -> Act:
    match act:
        case RunCommand() | Edit() | Read():
            return replace(act, given=GIVEN)
        case Tools(calls=calls):
            return replace(act, calls=tuple(replace(call, given=GIVEN) for call in calls))
        case _:
            return act
