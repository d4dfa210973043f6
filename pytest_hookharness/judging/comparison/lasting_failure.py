"""
Purposes: decisions that a hook changes for want of a command, and says so.

Pure. To refuse or to let through without a tool is the author's choice, if it was one:
words of the hook's own that name the trouble tell it from an accident.

Mishaps that last: hooks that refuse all from then on, or tell no more.

Pure. They are told from two runs of the same moves, one with one thing different.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from pytest_hookharness.judging.comparison.traces import Pair, pairs
from pytest_hookharness.judging.findings.codes import FAILS_CLOSED, WRONG_KEY
from pytest_hookharness.model.mutations import FailingTool, HangingTool, StateFile, TwoSessions, WithoutTool
from pytest_hookharness.model.processes import Exited, HeldOpen
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Trace
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
        for fire in hooked.hook_runs
    }


def _fires(trace: Trace, key: tuple[str, str], since: int) -> list[HookRun]:
    return [
        fire
        for step, hooked in trace.hooked()
        if step.turn >= since and hooked.event == key[0]
        for fire in hooked.hook_runs
        if fire.hook.command == key[1]
    ]


def _refuses(fire: HookRun) -> bool:
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
        hook = ", ".join(dict.fromkeys(fire.hook.command for fire in heard.hook_runs))
        return WRONG_KEY.found(told, turn=pair.turn, hook=hook)
    return None


def _marks(hooked: HookEvent) -> Iterator[str]:
    """
    The names of the files that hooks made; what the host itself lays down stands in the home folder.
    """
    for change in hooked.changes:
        if not change.path.startswith("home/"):
            yield posixpath.basename(change.path)


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
    known = {line for _, fire in usual.hook_runs() for line in _lines(fire)}
    for fire in (other for _, other in pair.hook_runs() if other.hook.command == pair.hook):
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


def _has_decided(fire: HookRun) -> bool:
    ending = fire.run.ending if fire.run is not None else None
    match ending:
        case Exited(code) | HeldOpen(Exited(code)):
            return code == 0 or fire.reply.ruling is not Ruling.NONE
        case _:
            return False


def _lines(fire: HookRun) -> Iterator[str]:
    if fire.run is None:
        return
    for output in (fire.run.stderr, fire.run.stdout):
        yield from output.text[:_LOOKED_AT].splitlines()


def _names(line: str, tool: str) -> bool:
    if _NOT_ITS_OWN.search(line):
        return False
    return bool(_TROUBLE.search(line) or re.search(rf"(?<![\w-]){re.escape(tool)}(?![\w-])", line))
