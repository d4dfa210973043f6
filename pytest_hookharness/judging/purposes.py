"""
This module is concerned with purposes: decisions that a hook changes for want of a command, and says so.

Middle floor: judging. Pure. To refuse or to let through without a tool is the author's choice, if it was one:
words of the hook's own that name the trouble tell it from an accident.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.judging.comparison import Pair, pairs
from pytest_hookharness.model.processes import Exited, HeldOpen
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import Fire, Trace
from pytest_hookharness.model.variations import FailingTool, HangingTool, WithoutTool

# As shells, env and Python say it, and as the failing stand-in does.
_NOT_ITS_OWN = re.compile(
    r"not found\s*$|command not found|No such file or directory|FileNotFoundError|: internal error\s*$"
)
_TROUBLE = re.compile(
    r"\b(?:missing|absent|not (?:there|installed|available)|unavailable|cannot|can't|could ?n[o']t|unable|"
    r"needs?|needed|requires?|required|install|fail|fails|failed|failure|timed out|too long|no answer)\b",
    re.IGNORECASE,
)
_LOOKED_AT = 1 << 14


def spoken_purpose(tool: str, usual: Trace, pair: Pair) -> str:
    """
    The words by which a hook says that it decides otherwise for want of a command; empty if it says nothing.

    Args:
        tool: The command.
        usual: The run in which nothing is wrong with it; what is said there too tells nothing.
        pair: The event.
    """
    known = {line for _, fire in usual.fires() for line in _lines(fire)}
    for fire in (other for _, other in pair.fires() if other.hook.command == pair.hook):
        for line in _lines(fire) if _has_decided(fire) else ():
            if line not in known and _names(line, tool):
                return line
    return ""


def find_purpose(
    variation: WithoutTool | FailingTool | HangingTool, usual: Trace, varied: Trace
) -> tuple[Pair, str] | None:
    """
    The event at which a run went otherwise on purpose, and the words that say so.
    """
    for pair in pairs(usual, varied):
        if pair.differs and (words := spoken_purpose(variation.name, usual, pair)):
            return pair, words
    return None


def _has_decided(fire: Fire) -> bool:
    ending = fire.run.ending if fire.run is not None else None
    match ending:
        case Exited(code) | HeldOpen(Exited(code)):
            return code == 0 or fire.reply.ruling is not Ruling.NONE
        case _:
            return False


def _lines(fire: Fire) -> Iterator[str]:
    if fire.run is None:
        return
    for output in (fire.run.stderr, fire.run.stdout):
        yield from output.text[:_LOOKED_AT].splitlines()


def _names(line: str, tool: str) -> bool:
    if _NOT_ITS_OWN.search(line):
        return False
    return bool(_TROUBLE.search(line) or re.search(rf"(?<![\w-]){re.escape(tool)}(?![\w-])", line))
