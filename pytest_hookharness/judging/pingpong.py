"""
This module is concerned with agent and hooks that undo each other's changes of a file.

Middle floor: judging. Pure. It rests on the contents before and after each step, not on what anybody says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_hookharness.judging import codes
from pytest_hookharness.model.trace import Change, Hooked, Performed, Trace
from pytest_hookharness.model.verdicts import Finding

_OFTEN = 2


def find_pingpong(trace: Trace) -> Iterator[Finding]:
    """
    One finding for each file that hooks brought back at least twice from the same change of the agent.
    """
    done: dict[str, Change] = {}
    undone: Counter[tuple[str, str, str]] = Counter()
    for step in trace.steps:
        match step.exchange:
            case Performed(changes=changed):
                done |= {change.path: change for change in changed}
            case Hooked(changes=changed) as hooked:
                for change in changed:
                    mine = done.pop(change.path, None)
                    if mine is None or not _undoes(change, mine):
                        continue
                    key = (change.path, mine.before, mine.after)
                    undone[key] += 1
                    if undone[key] == _OFTEN:
                        yield _finding(step.turn, hooked, change.path)
            case _:
                continue


def _undoes(change: Change, mine: Change) -> bool:
    return change.before == mine.after and change.after == mine.before and change.before != change.after


def _finding(turn: int, hooked: Hooked, path: str) -> Finding:
    text = f"{path}: what the agent changed was changed back by hooks of {hooked.event}, and that again."
    hooks = ", ".join(dict.fromkeys(fire.hook.command for fire in hooked.fires))
    return codes.PINGPONG.found(text, turn=turn, hook=hooks)
