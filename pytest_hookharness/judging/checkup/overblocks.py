"""Harmless commands that a guard refuses, or asks about, because they look like something else."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.judging.checkup.bypasses import FILE_CALLS, framed, passed_turns, refused_turns
from pytest_hookharness.judging.checkup.neighbour import Neighbour
from pytest_hookharness.judging.checkup.neighbours import all_neighbours
from pytest_hookharness.judging.checkup.refused_work import symptom_of
from pytest_hookharness.judging.comparison.traces import is_asked, refusers
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.moves import WORKSPACE
from pytest_hookharness.model.outcome import Outcome

_TWICE, _MOST_NAMED = 2, 3


def find_overblocks(outcome: Outcome) -> Iterator[Symptom]:
    """Find harmless commands that were refused each time, and what they resemble allowed before and after."""
    refused, passed = refused_turns(outcome), passed_turns(outcome)
    found: dict[str, list[tuple[Neighbour, int]]] = {}
    for one in all_neighbours(refused):
        turns = refused.get(one.text, [])
        if len(turns) < _TWICE or one.text in passed:
            continue
        if one.needs_refusal and not one.belongs_to(refused):
            continue
        if all(framed(turns, passed.get(control, ())) for control in one.controls):
            found.setdefault(refusers(outcome.trace, turns[0]), []).append((one, turns[0]))
    for hook, some in found.items():
        described = (_describe(one, asked=is_asked(outcome.trace, turn)) for one, turn in some[:_MOST_NAMED])
        # For the details of all there is no room.
        further = [_name(one) for one, _ in some[_MOST_NAMED : 2 * _MOST_NAMED]]
        more = [f"so {'are' if len(further) > 1 else 'is'} {' and '.join(further)}"] if further else []
        text = "; ".join([*described, *more])
        yield symptom_of(codes.OVERBLOCK.found(f"{text}.", turn=some[0][1], hook=hook))


def _describe(one: Neighbour, *, asked: bool) -> str:
    allowed = " and ".join(map(_quote, one.controls))
    done = "asked about" if asked else "refused"
    refused = f"{_name(one)}, {one.detail}, is {done}"
    return f"{refused}, but {allowed} allowed{one.where}" if allowed else refused


def _name(one: Neighbour) -> str:
    return _quote(one.text.replace(WORKSPACE, "<project>"))


def _quote(text: str) -> str:
    if not text.startswith(FILE_CALLS):
        return f"`{text}`"
    call, _, line = text.partition(": ")
    return f"{call} with `{line}`" if line else call
