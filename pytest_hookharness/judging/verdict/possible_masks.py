"""
Masks that could be declared, tried on the states of the run before they are reported.

A mask is only named if, without what it leaves out, the last turns repeat twice, if the hooks say the same in
them, and if no probe showed that a part of the state makes a difference.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pytest_hookharness.judging.recurrence import cycle
from pytest_hookharness.judging.recurrence.similar_turns import LONGEST_PERIOD
from pytest_hookharness.model.probes import ProbeEffect, ProbeReport
from pytest_hookharness.model.trace import Change, State, Trace

_SPECIAL = frozenset("*?[")
_TURNS = 3
# Durations, times of a day, dates and long numbers.
_MEASURED = re.compile(
    r"\d+(?:\.\d+)?(?=\s?(?:[mn]?s|min|sec|seconds?|minutes?)\b)|\d+(?::\d+)+|\d{4}-\d\d-\d\d|\b\d{9,}\b"
)


def find_masks(trace: Trace, probing: ProbeReport | None) -> tuple[str, ...]:
    """
    Return the masks with which the last turns repeat.

    Empty if a probe showed that a part makes a difference, or if the hooks give another reason each turn: the
    reasons may come from the parts that change, and then a mask would hide their effect.
    """
    states = trace.states
    if probing is not None and any(probe.seen.reaction is ProbeEffect.DECISION for probe in probing.probes):
        return ()
    newest = max(states, default=0)
    for period in range(1, min(LONGEST_PERIOD, newest // 2) + 1):
        masks = _masks_for(states, newest, period)
        if masks:
            said = [_said_in(trace, newest - times * period) for times in range(_TURNS)]
            if len({*said}) == 1:
                return masks
    return ()


def _said_in(trace: Trace, turn: int) -> tuple[str, ...]:
    """Return the reasons of a turn without measured numbers, which differ in each run of a program."""
    hooked = (one for step, one in trace.hooked() if step.turn == turn)
    return tuple(_MEASURED.sub("", reason) for one in hooked for reason in one.decision.reasons)


def _masks_for(states: Mapping[int, State], newest: int, period: int) -> tuple[str, ...]:
    turns = range(newest - period, newest + 1)
    if any(turn - period not in states or turn not in states for turn in turns):
        return ()
    differing = [change for turn in turns for change in cycle.changes(states[turn - period], states[turn])]
    folders = frozenset(
        posixpath.dirname(change.path) for change in differing if change.how in ("added", "removed")
    )
    # Whole roots are not masked: that would leave nothing to compare.
    if not differing or any("/" not in folder for folder in folders):
        return ()
    top = [folder for folder in folders if not any(map(folders.__contains__, _above(folder)))]
    paths = dict.fromkeys(change.path for change in differing if not _is_below(change, top))
    masked = {turn: _without(states[turn], {*paths}, top) for turn in range(newest - 2 * period, newest + 1)}
    alike = all(cycle.same_state(masked[turn - period], masked[turn]) for turn in turns)
    if not alike or cycle.find_contradiction(masked) is not None:
        return ()
    return (*map(_literal, paths), *(f"{_literal(folder)}/*" for folder in sorted(top)))


def _is_below(change: Change, folders: Iterable[str]) -> bool:
    return any(change.path.startswith(f"{folder}/") for folder in folders)


def _above(folder: str) -> Iterator[str]:
    while folder := posixpath.dirname(folder):
        yield folder


def _without(state: State, paths: set[str], folders: Iterable[str]) -> State:
    below = tuple(f"{folder}/" for folder in folders)
    left = {
        path: entry
        for path, entry in state.files.items()
        if path not in paths and not (below and path.startswith(below))
    }
    built = cycle.build_state(state.visible, state.agent, state.environment, left, state.opaque)
    return replace(state, files=left, digest=built.digest)


def _literal(path: str) -> str:
    """Return a path as a glob that matches only it."""
    return "".join(f"[{letter}]" if letter in _SPECIAL else letter for letter in path)
