"""
Rows of refusals: hooks that refuse one agent again and again with the same text.

A row of refused stops ends with a stop that no hook refused in this way, or with a prompt; a row of refused
calls ends with a call that was not refused in this way, with a stop, or with a prompt. Calls that were made
at once count as one. Numbers, times and ids in a reason are left out before two reasons are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import groupby

from pytest_hookharness.judging.detectors.messages import LoopLimits, with_text
from pytest_hookharness.judging.detectors.signatures import mask_numbers
from pytest_hookharness.judging.detectors.streams import detect, is_guard_refusal
from pytest_hookharness.model.actions import COMPACTED, Action, Break, DetectedLoop, HookRefusal, StreamItem
from pytest_hookharness.model.fast_dataclass import dataclass

_Key = tuple[str, str, str]


@dataclass(slots=True)
class _RefusedItems:
    """Refusals in a row: the first one, and the indexes of all refused items in the stream."""

    refusal: HookRefusal
    items: list[int] = field(default_factory=list[int])


def detect_all(stream: Sequence[StreamItem], limits: LoopLimits | None = None) -> tuple[DetectedLoop, ...]:
    """
    Return the loops of a transcript: rows of refusals, and the agent's own.

    A loop of calls that hooks refuse one by one is reported once, as a row of refusals.
    """
    limits = limits or LoopLimits()
    # An agent that goes on after its conversation was shortened is in the same loop.
    stream = [item for item in stream if not (isinstance(item, Break) and item.why == COMPACTED)]
    rows = find_rows(stream, limits.repetitions)
    refused = {(stream[index].agent, stream[index].place) for row in rows for index in row.items}
    own = [
        loop
        for loop in detect(stream, limits)
        if not {(loop.agent, loop.first), (loop.agent, loop.last)} <= refused
    ]
    return (*(_loop(stream, row) for row in rows), *own)


def find_rows(stream: Sequence[StreamItem], least: int) -> list[_RefusedItems]:
    """Return the rows of at least ``least`` refusals, in the order of their beginning."""
    agents = dict.fromkeys(item.agent for item in stream if item.refusals)
    found = [row for agent in agents for row in _rows(stream, agent) if len(row.items) >= least]
    return sorted(found, key=lambda row: row.items[0])


def _rows(stream: Sequence[StreamItem], agent: str) -> Iterator[_RefusedItems]:
    calls: dict[_Key, _RefusedItems] = {}
    stops: dict[_Key, _RefusedItems] = {}
    for first, items in _steps(stream, agent):
        item = items[0]
        is_call = isinstance(item, Action)
        counts = isinstance(item, Action) or item.why == "stop"
        refusals = {_key(one): one for each in items if counts for one in _counted(each)}
        # A stop ends the rows of calls; a prompt, whose refusals do not count, ends all.
        yield from (row for key, row in calls.items() if not is_call or key not in refusals)
        calls = _continued(calls, refusals, first) if is_call else {}
        if not is_call:
            yield from (row for key, row in stops.items() if key not in refusals)
            stops = _continued(stops, refusals, first)
    yield from (*calls.values(), *stops.values())


def _steps(stream: Sequence[StreamItem], agent: str) -> Iterator[tuple[int, list[StreamItem]]]:
    """Yield the items of one agent after the index of the first; calls of one message together."""

    def message_of(pair: tuple[int, StreamItem]) -> str | int:
        index, item = pair
        return item.message or index if isinstance(item, Action) else index

    own = ((index, item) for index, item in enumerate(stream) if item.agent == agent)
    for _, group in groupby(own, key=message_of):
        pairs = [*group]
        yield pairs[0][0], [item for _, item in pairs]


def _counted(item: StreamItem) -> Iterable[HookRefusal]:
    return () if isinstance(item, Action) and is_guard_refusal(item) else item.refusals


def _key(refusal: HookRefusal) -> _Key:
    return refusal.event, refusal.hook, mask_numbers(refusal.reason)


def _continued(
    rows: dict[_Key, _RefusedItems], refusals: dict[_Key, HookRefusal], index: int
) -> dict[_Key, _RefusedItems]:
    return {
        key: _RefusedItems(rows[key].refusal, [*rows[key].items, index])
        if key in rows
        else _RefusedItems(refusal, [index])
        for key, refusal in refusals.items()
    }


def _loop(stream: Sequence[StreamItem], row: _RefusedItems) -> DetectedLoop:
    first, last = stream[row.items[0]], stream[row.items[-1]]
    loop = DetectedLoop(
        name="refusals",
        period=0,
        count=len(row.items),
        error=row.refusal.reason,
        refusal=row.refusal,
        agent=first.agent,
    )
    return with_text(replace(loop, first=first.place, last=last.place))
