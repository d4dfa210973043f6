"""
This module is concerned with the moves in a trace, as a stream that detectors can follow.

Middle floor: judging. Pure. A stop that was tried is a break: what an agent does anew because its stop was
refused is a lasso's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from pytest_hookharness.model.actions import Action, Break, Moment, Outcome
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.trace import Happened, Hooked, Moved, Performed, Step, Trace


def moments(trace: Trace) -> Iterator[Moment]:
    """
    The calls of a trace, and where somebody else spoke.
    """
    for step in trace.steps:
        match step.exchange:
            case Performed() as performed:
                yield _action(step, performed)
            case Moved(move=Stop()):
                yield Break(why="stop")
            case Happened():
                yield Break(why="event")
            case Moved() | Hooked():
                continue
            case _:
                assert_never(step.exchange)


def _action(step: Step, performed: Performed) -> Action:
    failed = Outcome.FAILED if performed.result.failed else Outcome.DONE
    return Action(
        tool=performed.call.name,
        arguments=performed.call.input,
        outcome=Outcome.REFUSED if performed.refused else failed,
        result=performed.result.text,
        place=f"turn {step.turn}",
    )
