"""
This module is concerned with likeness: turns that are the same but for numbers, times and ids.

Middle floor: judging. Pure. A loop whose hooks count or stamp never comes back to the same state; what
comes back is the conduct of its hooks and the standing of host and agent. How the files moved meanwhile
is not looked at here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeAlias

from pytest_hookharness.judging.outlines import outline
from pytest_hookharness.model.processes import Exited, Run
from pytest_hookharness.model.protocol import Decision
from pytest_hookharness.model.trace import Fire, Happened, Hooked, Moved, Performed, Step

# Longer cycles are left to exact proofs.
LONGEST = 12
# A text without its numbers, times and ids.
Outline: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Likeness:
    """
    One turn without its numbers, times and ids.

    Attributes:
        conduct: What was done and decided in it, in order.
        standing: What holds after it, files apart: host, agent, and what the agent will see.
    """

    conduct: tuple[str, ...]
    standing: str


def conduct(steps: Iterable[Step], read: Outline = outline) -> tuple[str, ...]:
    """
    What was done and decided in some steps, without numbers, times and ids.
    """
    return tuple(_exchange(step, read) for step in steps)


def difference(expected: Iterable[Step], seen: Iterable[Step], read: Outline = outline) -> str:
    """
    Where the conduct of one turn departs from that of another, in a few words; empty if nowhere.
    """
    first, second = [*expected], [*seen]
    for one, other in zip(first, second, strict=False):
        if _exchange(one, read) != _exchange(other, read):
            return _departure(one, other)
    if len(first) == len(second):
        return ""
    return f"{_words(second[len(first)])} came in addition" if len(second) > len(first) else "less took place"


def _departure(expected: Step, seen: Step) -> str:
    one, other = expected.exchange, seen.exchange
    if not isinstance(one, Hooked) or not isinstance(other, Hooked) or one.event != other.event:
        return f"{_words(seen)} instead of {_words(expected)}"
    before, after = one.decision, other.decision
    if before.refused != after.refused:
        return f"{other.event} was {'refused' if after.refused else 'let through'}"
    if before.reasons != after.reasons and after.refused:
        return f"{other.event} was refused with other words: {' '.join(after.reasons)[:80]!r}"
    return f"{other.event} was answered otherwise"


def _words(step: Step) -> str:
    match step.exchange:
        case Moved(move=move):
            return f"the agent's {type(move).__name__.lower()}"
        case Happened(event=event):
            return f"the script's {type(event).__name__.lower()}"
        case Performed(call=call):
            return f"a call of {call.name}"
        case Hooked(event=event):
            return f"the event {event}"


def like_periods(newest: int, likeness: Callable[[int], Likeness | None]) -> Iterator[int]:
    """
    The periods after which the newest turn was alike twice, with all turns between; the shortest first.
    """
    for period in range(1, min(LONGEST, (newest - 1) // 2) + 1):
        first, last = likeness(newest - 2 * period), likeness(newest)
        if first is None or last is None:
            return
        lap = range(newest - period + 1, newest + 1)
        if first.standing == last.standing and all(likeness(turn) == likeness(turn - period) for turn in lap):
            yield period


def _exchange(step: Step, read: Outline) -> str:
    match step.exchange:
        case Moved(move=move):
            return f"moved {read(repr(move))}"
        case Happened(event=event):
            return f"happened {read(repr(event))}"
        case Performed(call=call, result=result, refused=refused):
            said = (call.name, _shape(call.input, read), read(result.text), result.failed, refused)
            return f"performed {said!r}"
        case Hooked(event=event, target=target, fires=fires, decision=decision):
            return f"hooked {event} {target} {[_fire(fire) for fire in fires]!r} {_decision(decision, read)}"


def _fire(fire: Fire) -> tuple[object, ...]:
    reply = fire.reply
    return (
        fire.hook.source,
        _ending(fire.run),
        reply.ruling.value,
        reply.fault or "",
        fire.transcript_opened,
    )


def _ending(run: Run | None) -> str:
    if run is None:
        return ""
    ending = run.ending
    return f"exit {ending.code}" if isinstance(ending, Exited) else type(ending).__name__


def _decision(decision: Decision, read: Outline) -> str:
    values = {item.name: getattr(decision, item.name) for item in fields(decision) if item.name != "rule"}
    return repr({name: _shape(value, read) for name, value in values.items()})


def _shape(value: object, read: Outline) -> object:
    match value:
        case str():
            return read(value)
        case Mapping():
            return {str(key): _shape(item, read) for key, item in value.items()}
        case list() | tuple():
            return [_shape(item, read) for item in value]
        case _ if is_dataclass(value):
            return read(repr(value))
        case _:
            return value
