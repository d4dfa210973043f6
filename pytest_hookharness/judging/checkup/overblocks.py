"""Harmless commands that a guard refuses, or asks about, because they look like something else."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.judging.checkup.bypasses import FILE_CALLS, command_calls
from pytest_hookharness.judging.checkup.neighbour import Neighbour
from pytest_hookharness.judging.checkup.neighbours import all_neighbours
from pytest_hookharness.judging.checkup.refused_work import refusal_word, symptom_in_turn
from pytest_hookharness.judging.comparison.traces import refusers
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.moves import WORKSPACE
from pytest_hookharness.model.outcome import Outcome

_MOST_NAMED = 3


def find_overblocks(outcome: Outcome) -> Iterator[Symptom]:
    """Find harmless commands that were refused each time, and what they resemble allowed before and after."""
    calls = command_calls(outcome)
    found: dict[str, list[tuple[Neighbour, int]]] = {}
    for one in all_neighbours(calls.refused):
        if not calls.is_kept(one.text) or (one.needs_refusal and not one.belongs_to(calls.refused)):
            continue
        if all(calls.is_allowed_around(control, one.text) for control in one.controls):
            turn = calls.refused[one.text][0]
            found.setdefault(refusers(outcome.trace, turn), []).append((one, turn))
    for some in found.values():
        described = (_describe(one, refusal_word(outcome, turn)) for one, turn in some[:_MOST_NAMED])
        # For the details of all there is no room.
        further = [_name(one) for one, _ in some[_MOST_NAMED : 2 * _MOST_NAMED]]
        more = [f"so {'are' if len(further) > 1 else 'is'} {' and '.join(further)}"] if further else []
        text = "; ".join([*described, *more])
        yield symptom_in_turn(codes.OVERBLOCK, f"{text}.", outcome, some[0][1])


def _describe(one: Neighbour, done: str) -> str:
    allowed = " and ".join(map(_quote, one.controls))
    refused = f"{_name(one)}, {one.detail}, is {done}"
    return f"{refused}, but {allowed} allowed{one.where}" if allowed else refused


def _name(one: Neighbour) -> str:
    return _quote(one.text.replace(WORKSPACE, "<project>"))


def _quote(text: str) -> str:
    if not text.startswith(FILE_CALLS):
        return f"`{text}`"
    call, _, line = text.partition(": ")
    return f"{call} with `{line}`" if line else call
