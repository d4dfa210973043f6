"""
Advice in refusals: whether an agent is given anything to act on.

Pure. It asks for little: a thing that is named, or a usual word for a step. What is
written in another alphabet is not judged. So a reason that is found empty has nothing in it, and one that
is not found so may still be bad advice.

Hooks that do not come to an end: what a check-up says where a verdict is bad.

Data only. The same in full stands in docs/endless-hooks.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import FindingCode

_LET_GO = (
    "Let the hook allow when nothing changed since its last refusal. On hosts that say `stop_hook_active`, "
    "read it and let go where it is true; elsewhere count refusals, by session, and let go after a few."
)

ENDLESS = (
    FindingCode(
        "",
        "livelock",
        "The hooks refuse the stop for ever: the same state came again, or what differs decides nothing.",
        "A real host goes on until its own guard acts, if it has one, and each refusal costs an answer of "
        "the model.",
        _LET_GO,
    ),
    FindingCode(
        "",
        "capped",
        "The hooks refused the stop until the host set that aside.",
        "The session ended, but not by the hook, and other hosts, or another version, have no such guard.",
        _LET_GO,
    ),
    FindingCode(
        "",
        "no-end",
        "Every stop was refused, eight times or more, and no end was seen, but no repeat either.",
        "Nobody knows when it ends, and each refusal costs an answer of the model.",
        "Say in the hook after how many refusals it lets go.",
    ),
    FindingCode(
        "",
        "hung",
        "The host waits for ever: for a hook, or for a person's word where nobody is.",
        "The session stands still until somebody looks after it.",
        "Give what the hook waits for a limit of its own, and never ask on a terminal.",
    ),
    FindingCode(
        "",
        "recursing",
        "A hook starts an agent whose hooks start agents again.",
        "Each session costs as much as the first, and their number grows without an end.",
        "Set a variable where the hook starts an agent, and end at once where it is set; but a hook that "
        "refuses must go on refusing there.",
    ),
    FindingCode(
        "",
        "lockout",
        "From some state no move of the agent leads to a stop.",
        "Whatever the agent does, only a person can end the session.",
        "Make sure that what the hook asks for can be done with the tools that the hooks allow.",
    ),
)


def look_up_ending(word: str) -> FindingCode | None:
    """
    What is called so, in whichever case.
    """
    return next((ending for ending in ENDLESS if ending.name == word.lower()), None)


_TIMES = 3
# Somewhere in so many letters there is something.
_LONG = 4096
# The last but one: programs put their name and a colon before their words.
_THING = re.compile(
    r"""[`"'<{\[][^`"'>}\]]+[`"'>}\]]|\w[./\\_]\w|\d|(?<!\S)--?\w|\$\w|\A[a-z][\w-]*: |[^\x00-\x7f]"""
)
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
            saying = [fire for fire in hooked.hook_runs if fire.reply.reason.strip() == told.strip()]
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
