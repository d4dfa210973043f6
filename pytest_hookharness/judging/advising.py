"""
This module is concerned with advice in refusals: whether an agent is given anything to act on.

Middle floor: judging. Pure. It asks for little: a thing that is named, or a usual word for a step. What is
written in another alphabet is not judged. So a reason that is found empty has nothing in it, and one that
is not found so may still be bad advice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_hookharness.model.trace import Trace

_TIMES = 3
# Somewhere in so many letters there is something.
_LONG = 4096
_THING = re.compile(r"""[`"'<{\[][^`"'>}\]]+[`"'>}\]]|\w[./\\_]\w|\d|(?<!\S)--?\w|\$\w|[^\x00-\x7f]""")
_STEP = re.compile(
    r"\b(?:"
    r"add|allow|approve|ask|avoid|call|change|check|choose|clean|commit|complete|"
    r"configure|continue|correct|create|delete|describe|do|edit|ensure|explain|file|finish|"
    r"first|fix|format|give|include|insert|install|instead|keep|let|lint|look|make|mark|"
    r"mend|merge|missing|move|must|need|needs|open|pass|please|provide|put|read|remove|"
    r"rename|replace|resolve|restore|retry|revert|review|rewrite|run|save|say|set|should|"
    r"show|split|start|stop|switch|tell|test|tests|try|turn|undo|unless|until|update|"
    r"use|verify|wait|without|write"
    r")\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class EmptyAdvice:
    """
    A reason that was said again and again and names nothing.

    Attributes:
        event: The event that was refused.
        reason: The words.
        times: How often they were said.
        turn: When first.
        hook: The commands that said them.
    """

    event: str
    reason: str
    times: int
    turn: int
    hook: str


def empty_advice(trace: Trace) -> Iterator[EmptyAdvice]:
    """
    The reasons of a trace that were said three times or more, word for word, with nothing to act on.

    A refusal without any reason is a finding of its own, and none of these.
    """
    said: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[int, str]] = {}
    for step, hooked in trace.hooked():
        if not hooked.decision.refused:
            continue
        for told in hooked.decision.reasons:
            saying = [fire for fire in hooked.fires if fire.reply.reason.strip() == told.strip()]
            if any(fire.reply.silent for fire in saying):
                continue
            # The hook is judged by its own words, and not by its name, which hosts put before them.
            words = (hooked.event, (saying[0].reason if saying else told).strip())
            said[words] += 1
            commands = dict.fromkeys(fire.hook.command for fire in saying)
            first.setdefault(words, (step.turn, ", ".join(commands)))
    for (event, reason), times in said.items():
        if reason and times >= _TIMES and not names_something(reason):
            turn, hook = first[event, reason]
            yield EmptyAdvice(event, reason, times, turn, hook)


def names_something(reason: str) -> bool:
    """
    Whether a reason names a thing, or has one of the usual words for a step.
    """
    return len(reason) > _LONG or _THING.search(reason) is not None or _STEP.search(reason) is not None
