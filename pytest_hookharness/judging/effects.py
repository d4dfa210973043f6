"""
This module is concerned with effects: files that must change whenever hooks decide in a certain way.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_hookharness.judging.single_run_codes import EARLY_EXIT
from pytest_hookharness.model.outcome import ruled
from pytest_hookharness.model.trace import Hooked, Trace
from pytest_hookharness.model.verdicts import Finding


def find_lost_effects(trace: Trace, effects: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """
    Promised changes that did not come with a decision.

    Args:
        trace: What took place.
        effects: Files by ``event`` or ``event:ruling``, relative to the workspace.
    """
    for when, files in effects.items():
        event, _, ruling = when.partition(":")
        asked = [(step, hooked) for step, hooked in trace.hooked(event) if hooked.fires]
        for step, hooked in asked:
            if ruling and ruled(hooked).value != ruling:
                continue
            for file in files:
                if not _changes(hooked, file):
                    others = [other for _, other in asked if _changes(other, file)]
                    text = f"{_named(hooked)}: {file} stayed as it was{_elsewhere(hooked, others)}."
                    yield EARLY_EXIT.found(text, turn=step.turn, hook=_commands(hooked))


def _changes(hooked: Hooked, file: str) -> bool:
    path = f"workspace/{file.strip('/')}"
    return any(change.path == path or change.path.startswith(f"{path}/") for change in hooked.changes)


def _named(hooked: Hooked) -> str:
    target = f" of {hooked.target}" if hooked.target else ""
    return f"{hooked.event}{target}, {ruled(hooked).value}"


def _elsewhere(hooked: Hooked, others: Sequence[Hooked]) -> str:
    mine = {fire.hook.command for fire in hooked.fires}
    same = [other for other in others if mine & {fire.hook.command for fire in other.fires}]
    if not same:
        return ", and no other fire of the run changed it"
    ways = ", ".join(dict.fromkeys(_named(other) for other in same))
    return f"; the same hook changed it on {ways}"


def _commands(hooked: Hooked) -> str:
    return ", ".join(dict.fromkeys(fire.hook.command for fire in hooked.fires))
