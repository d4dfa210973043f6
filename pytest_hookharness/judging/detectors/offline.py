"""
Detection of loops in a whole stream of actions, each reported once.

The actions of several agents may be mixed; each agent is followed on its own.
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


def detect(stream: Iterable[StreamItem], limits: Limits | None = None) -> tuple[DetectedLoop, ...]:
    """Return the loops of a stream, in the order in which they were closed."""
    limits = limits or Limits()
    agent_streams: dict[str, _AgentStream] = {}
    found: list[DetectedLoop] = []
    for item in stream:
        agent_stream = agent_streams.get(item.agent)
        if agent_stream is None:
            agent_stream = agent_streams[item.agent] = _AgentStream(limits, found)
        match item:
            case Action():
                agent_stream.follow(item)
            case Break():
                agent_stream.memory, agent_stream.open = Memory(), None
            case _:
                assert_never(item)
    return tuple(found)


class _AgentStream:
    """
    The stream of one agent.

    Attributes:
        found: The loops of all streams so far.
        memory: What the detectors remember.
        places: Where the newest actions were read.
        open: Index of the loop that the newest action belongs to.
    """

    __slots__ = ("found", "limits", "memory", "open", "places")

    def __init__(self, limits: Limits, found: list[DetectedLoop]) -> None:
        self.limits = limits
        self.found = found
        self.memory = Memory()
        self.places: deque[str] = deque(maxlen=limits.window)
        self.open: int | None = None

    def follow(self, action: Action) -> None:
        """Add one more action."""
        self.memory = self.memory.follow(action, self.limits)
        self.places.append(action.place)
        loop = self.memory.found(self.limits)
        if loop is None:
            self.open = None
            return
        loop = replace(loop, agent=action.agent, last=action.place)
        known = self.found[self.open] if self.open is not None else None
        if self.open is not None and known is not None and known.title == loop.title:
            # The loop continues: it keeps its start and the text of its first repetitions.
            drifting = known.drifting or loop.drifting
            self.found[self.open] = with_text(
                replace(loop, repetition=known.repetition, first=known.first, drifting=drifting)
            )
            return
        # The loop was only recognised now, but it began with its first action in the window.
        span = loop.count * max(1, loop.period)
        self.open = len(self.found)
        self.found.append(replace(loop, first=self.places[-span] if span <= len(self.places) else ""))
