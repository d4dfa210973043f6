"""
This module is concerned with generations: how sessions of stand-ins led to each other.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_hookharness.judging import codes
from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.nesting import ChildSession
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Finding

_LONGEST_CALL = 60


def find_chain(trace: Trace) -> tuple[str, ...]:
    """
    What led to the first session that a limit refused, in short sentences, the root first.
    """
    children = {child.number: child for _, child in trace.children()}
    refused = next((child for child in children.values() if child.refused), None)
    return tuple(map(describe, line_of(refused, children))) if refused is not None else ()


def line_of(child: ChildSession, children: Mapping[int, ChildSession]) -> tuple[ChildSession, ...]:
    """
    A session with all that it lies within, the outermost first.
    """
    line = [child]
    # A record may name anything as its parent; a session is always younger than that.
    while (parent := children.get(line[0].parent)) is not None and parent.number < line[0].number:
        line.insert(0, parent)
    return tuple(line)


def describe(child: ChildSession) -> str:
    """
    How a session was started, in one sentence.
    """
    call = " ".join(child.argv)
    call = call if len(call) <= _LONGEST_CALL else f"{call[: _LONGEST_CALL - 3]}..."
    end = ", which is refused" if child.refused else ""
    starts = f"{child.starter or 'a process'} starts session {child.number}"
    size = counted(child.size, "byte")
    return f"{starts} by `{call}`, a prompt of {size}{end}"


def find_held_children(trace: Trace) -> Iterator[Finding]:
    """
    One finding for each session that its hooks would not let stop, so that only the host's guard ended it.
    """
    for step, child in trace.children():
        if child.ended == "capped":
            refusing = [fire.command for fire in child.fires if fire.ruling == "deny"]
            starter = child.starter or "a process"
            text = f"The session that {starter} started was ended by its host's guard alone."
            yield codes.CHILD_CAPPED.found(text, turn=step.turn, hook=", ".join(dict.fromkeys(refusing)))
