"""The stream of actions of a simulated session, for the detectors; the loop guard does not need it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from pytest_hookharness.model.actions import Action, ActionResult, Break, StreamItem
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.trace import Happened, HookEvent, Moved, Performed, Step, Trace


def actions_of(trace: Trace) -> Iterator[StreamItem]:
    """
    Yield the calls of a trace, with a break wherever somebody else acted.

    A refused stop is a break, too: the calls that follow it belong to a cycle of hook and agent, which is
    what the verdict is about.
    """
    for step in trace.steps:
        match step.exchange:
            case Performed() as performed:
                yield _action(step, performed)
            case Moved(move=Stop()):
                yield Break(why="stop")
            case Happened():
                yield Break(why="event")
            case Moved() | HookEvent():
                continue
            case _:
                assert_never(step.exchange)


def _action(step: Step, performed: Performed) -> Action:
    failed = ActionResult.FAILED if performed.result.failed else ActionResult.DONE
    return Action(
        tool=performed.call.name,
        arguments=performed.call.input,
        outcome=ActionResult.REFUSED if performed.refused else failed,
        result=performed.result.text,
        place=f"turn {step.turn}",
    )
