"""
This module is concerned with mishaps that last: hooks that refuse all from then on, or tell no more.

Middle floor: judging. Pure. They are told from two runs of the same moves, one with one thing different.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from pytest_hookharness.judging.comparison import pairs
from pytest_hookharness.judging.fault_codes import FAILS_CLOSED
from pytest_hookharness.judging.pitfall_codes import WRONG_KEY
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import Fire, Hooked, Trace
from pytest_hookharness.model.variations import StateFile, TwoSessions
from pytest_hookharness.model.verdicts import Finding

# Fewer refusals may be meant: a guard that forgot what was read asks for it again.
_FEWEST = 3
# A mark is one file, or one and a lock; whoever changes more tells what was done.
_MOST_MARKS = 2
_SHOWN = 80


def find_lock_out(variation: StateFile, usual: Trace, varied: Trace) -> Finding | None:
    """
    A hook that refuses every call once its own file is broken, and none as long as it is whole.
    """
    # Whoever finds no file may take that for a session that was not let in yet.
    if variation.how == "delete":
        return None
    calm = {*_askings(usual)} - {key for key in _askings(usual) if any(map(_refuses, _fires(usual, key, 0)))}
    for key in _askings(varied):
        fires = _fires(varied, key, variation.turn + 1)
        if key in calm and len(fires) >= _FEWEST and all(map(_refuses, fires)):
            event, command = key
            reason = " ".join(fires[0].reply.reason.split())[:_SHOWN]
            said = f' with "{reason}"' if reason else ""
            text = f"{event}: with {variation}, each of {len(fires)} calls is refused{said}."
            return FAILS_CLOSED.found(text, turn=variation.turn, hook=command)
    return None


def _askings(trace: Trace) -> dict[tuple[str, str], None]:
    """
    The events about a tool, each with a command that was fired for it.
    """
    return {
        (hooked.event, fire.hook.command): None
        for _, hooked in trace.hooked()
        if hooked.target
        for fire in hooked.fires
    }


def _fires(trace: Trace, key: tuple[str, str], since: int) -> list[Fire]:
    return [
        fire
        for step, hooked in trace.hooked()
        if step.turn >= since and hooked.event == key[0]
        for fire in hooked.fires
        if fire.hook.command == key[1]
    ]


def _refuses(fire: Fire) -> bool:
    return fire.reply.ruling is Ruling.DENY


def find_silence(variation: TwoSessions, usual: Trace, varied: Trace) -> Finding | None:
    """
    A hook that tells a session something at its beginning, and nothing where another session is told it.

    What a hook did in the project, such as files that it made, it may tell to whom it did it for.
    """
    for pair in pairs(usual, varied):
        heard, silent = pair.before, pair.after
        if pair.turn or pair.differs:
            return None
        marks = [*_marks(heard)]
        if not heard.decision.to_agent or silent.decision.to_agent or len(marks) > _MOST_MARKS:
            continue
        said = "\n".join(heard.decision.to_agent)
        if any(mark in said for mark in marks):
            continue
        told = f"{heard.event}: the agent is told something; with {variation}, it is told nothing."
        hook = ", ".join(dict.fromkeys(fire.hook.command for fire in heard.fires))
        return WRONG_KEY.found(told, turn=pair.turn, hook=hook)
    return None


def _marks(hooked: Hooked) -> Iterator[str]:
    """
    The names of the files that hooks made; what the host itself lays down stands in the home folder.
    """
    for change in hooked.changes:
        if not change.path.startswith("home/"):
            yield posixpath.basename(change.path)
