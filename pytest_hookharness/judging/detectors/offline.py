"""
Whole streams: every loop in them, each told once.

Pure. The streams of several agents may be mixed; each is looked at by itself.

The moves in a trace, as a stream that detectors can follow.

Pure. A stop that was tried is a break: what an agent does anew because its stop was
refused is a lasso's business.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from pytest_hookharness.judging.detectors.messages import Limits, with_text
from pytest_hookharness.judging.detectors.window import Memory
from pytest_hookharness.model.actions import Action, ActionResult, Break, DetectedLoop, StreamItem
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.trace import Happened, HookEvent, Moved, Performed, Step, Trace


def actions_of(trace: Trace) -> Iterator[StreamItem]:
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


def detect(stream: Iterable[StreamItem], limits: Limits | None = None) -> tuple[DetectedLoop, ...]:
    """
    The loops of a stream, in the order in which they were closed.
    """
    limits = limits or Limits()
    watches: dict[str, _Watch] = {}
    found: list[DetectedLoop] = []
    for moment in stream:
        watch = watches.get(moment.agent)
        if watch is None:
            watch = watches[moment.agent] = _Watch(limits, found)
        match moment:
            case Action():
                watch.follow(moment)
            case Break():
                watch.memory, watch.open = Memory(), None
            case _:
                assert_never(moment)
    return tuple(found)


class _Watch:
    """
    One agent's stream on its way.

    Attributes:
        found: The loops of all streams so far.
        memory: What the detectors remember.
        places: Where the newest actions were read.
        open: The index of the loop that the newest action belongs to.
    """

    __slots__ = ("found", "limits", "memory", "open", "places")

    def __init__(self, limits: Limits, found: list[DetectedLoop]) -> None:
        self.limits = limits
        self.found = found
        self.memory = Memory()
        self.places: deque[str] = deque(maxlen=limits.window)
        self.open: int | None = None

    def follow(self, action: Action) -> None:
        """
        Take one more action into account.
        """
        self.memory = self.memory.follow(action, self.limits)
        self.places.append(action.place)
        loop = self.memory.found(self.limits)
        if loop is None:
            self.open = None
            return
        loop = replace(loop, agent=action.agent, last=action.place)
        known = self.found[self.open] if self.open is not None else None
        if self.open is not None and known is not None and known.title == loop.title:
            # Told from where it began, in the words of its first laps.
            drifting = known.drifting or loop.drifting
            self.found[self.open] = with_text(
                replace(loop, repetition=known.repetition, first=known.first, drifting=drifting)
            )
            return
        span = loop.count * max(1, loop.period)
        self.open = len(self.found)
        self.found.append(replace(loop, first=self.places[-span] if span <= len(self.places) else ""))
