"""
Phases of a session: one that locks out, one that outlives its session.

Pure.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_hookharness.judging.findings.codes import STUCK_PHASE
from pytest_hookharness.model.moves import Read, Resume, ToolCall
from pytest_hookharness.model.trace import Happened, HookEvent, Moved, Performed, Step, Trace
from pytest_hookharness.model.verdicts import Finding

_SHOWN = 3
_WORKSPACE = "workspace/"
# Files that guards keep from agents in every phase: hidden ones, and those whose names tell of secrets.
_GUARDED = re.compile(
    r"(?:^|/)\.[^./]|secret|credential|passw|token|(?:^|/)id_\w+$|\.(?:env|pem|key|p12)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Look:
    """
    A read of the agent that hooks refused.

    Attributes:
        file: What it wanted to read.
        refusal: The refusal.
    """

    file: str
    refusal: HookEvent


@dataclass(frozen=True, slots=True)
class _Answer:
    """
    What became of a call when a session made it first.
    """

    number: int
    turn: int
    call: ToolCall
    became: str


def find_stuck_phases(trace: Trace, *, alike: bool = False) -> Iterator[Finding]:
    """
    Sessions that are locked out from their start, and calls that a later session gets for nothing.

    Args:
        trace: What took place.
        alike: Whether it is promised that each session answers a call, made first, as those before it did.
    """
    sessions = _sessions(trace)
    for session in sessions:
        yield from _locked_out(session)
    if alike:
        for before, after in itertools.pairwise(sessions):
            yield from _left_over(before, after)


def _sessions(trace: Trace) -> list[list[Step]]:
    sessions: list[list[Step]] = [[]]
    for step in trace.steps:
        if isinstance(step.exchange, Happened) and isinstance(step.exchange.event, Resume):
            sessions.append([])
        sessions[-1].append(step)
    return sessions


def _locked_out(session: Sequence[Step]) -> Iterator[Finding]:
    calls = [step.exchange for step in session if isinstance(step.exchange, Performed)]
    looks = list(_looks(session))
    reasons = {look.refusal.decision.reasons for look in looks}
    files = [*dict.fromkeys(look.file for look in looks)]
    # One file may be refused for its own sake; so may several, each for a reason that speaks of it, and many
    # secret ones for one reason.
    if (
        len(files) < 2
        or all(map(_GUARDED.search, files))
        or len(reasons) > 1
        or not all(call.refused for call in calls)
    ):
        return
    refusals = [step.turn for step in session if _refused(step)]
    text = (
        f"From its start the session lets nothing through, not even reads of {_listed(files)}; "
        "so the agent cannot do what would end that."
    )
    fires = looks[0].refusal.hook_runs
    hook = ", ".join(
        fire.hook.command for fire in fires if fire.reply.ruling is looks[0].refusal.decision.ruling
    )
    yield STUCK_PHASE.found(text, turn=min(refusals), hook=hook, rule=looks[0].refusal.decision.rule)


def _refused(step: Step) -> bool:
    return isinstance(step.exchange, Performed) and step.exchange.refused


def _looks(session: Sequence[Step]) -> Iterator[_Look]:
    read: Read | None = None
    for step in session:
        match step.exchange:
            case Moved(move=Read() as move) if move.expect in (None, "allow"):
                read = move
            case Moved():
                read = None
            case HookEvent(decision=decision) as hooked if read is not None and decision.refused:
                yield _Look(read.file, hooked)
                read = None
            case _:
                continue


def _left_over(before: Sequence[Step], after: Sequence[Step]) -> Iterator[Finding]:
    once, again = _first_answers(before), _first_answers(after)
    for key, answer in again.items():
        earlier = once.get(key)
        if earlier is None or earlier.became == answer.became:
            continue
        text = (
            f"{_named(answer.call)} was {earlier.became} when first made in one session, and {answer.became} "
            f"in the next, which began with {_kept(before, after, answer.number)}."
        )
        yield STUCK_PHASE.found(text, turn=answer.turn)


def _first_answers(session: Sequence[Step]) -> dict[str, _Answer]:
    answers: dict[str, _Answer] = {}
    for step in session:
        match step.exchange:
            case Performed(call=call, refused=refused):
                key = json.dumps([call.name, call.input], sort_keys=True)
                became = "refused" if refused else "let through"
                answers.setdefault(key, _Answer(step.number, step.turn, call, became))
            case _:
                continue
    return answers


def _named(call: ToolCall) -> str:
    subject = next((value for value in call.input.values() if isinstance(value, str) and value), "")
    return f"{call.name} {subject!r}" if subject else call.name


def _kept(before: Sequence[Step], after: Sequence[Step], until: int) -> str:
    """
    What was written in one session and not since.
    """
    since = set(_changed([step for step in after if step.number < until]))
    written = {path for path, how in _changed(before).items() if how != "removed"}
    folders = {path.rpartition("/")[0] for path in written}
    # What hosts themselves keep lies in the home folder.
    kept = sorted(path for path in written - since - folders if path.startswith(_WORKSPACE))
    listed = _listed([path.removeprefix(_WORKSPACE) for path in kept])
    return f"{listed} left over" if kept else "no file of the workspace left over"


def _changed(steps: Sequence[Step]) -> dict[str, str]:
    return {
        change.path: change.how
        for step in steps
        if isinstance(step.exchange, HookEvent | Performed)
        for change in step.exchange.changes
    }


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more
