"""Findings about phases of a session: a phase that locks the agent out, or one that outlives its session."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence

from pytest_hookharness.judging.findings.codes import STUCK_PHASE
from pytest_hookharness.judging.findings.settings_findings import shorten_list
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Read, Resume, ToolCall
from pytest_hookharness.model.trace import Happened, HookEvent, Moved, Performed, Step, Trace
from pytest_hookharness.model.verdicts import Finding

_WORKSPACE = "workspace/"
# Files that guard hooks protect in every phase: hidden files, and files whose names suggest secrets.
_PROTECTED = re.compile(
    r"(?:^|/)\.[^./]|secret|credential|passw|token|(?:^|/)id_\w+$|\.(?:env|pem|key|p12)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _RefusedRead:
    """A read of a file that hooks refused."""

    file: str
    refusal: HookEvent


@dataclass(frozen=True, slots=True)
class _FirstAnswer:
    """The result of the first time that a session made a call."""

    number: int
    turn: int
    call: ToolCall
    result: str


def find_stuck_phases(trace: Trace, *, alike: bool = False) -> Iterator[Finding]:
    """
    Find sessions that can do nothing from their start, and calls that a later session answers differently.

    Args:
        trace: What took place.
        alike: Whether the scenario expects each session to answer the first call of a kind as the session
            before did.
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
    reads = list(_refused_reads(session))
    reasons = {read.refusal.decision.reasons for read in reads}
    files = [*dict.fromkeys(read.file for read in reads)]
    # Only two or more ordinary files that were refused for one reason show a lock-out: a guard hook may
    # protect a single file, or secret files, or give a reason about each file.
    if (
        len(files) < 2
        or all(map(_PROTECTED.search, files))
        or len(reasons) > 1
        or not all(call.refused for call in calls)
    ):
        return
    refusals = [step.turn for step in session if _refused(step)]
    text = (
        f"From its start the session allows nothing, not even reads of {shorten_list(files)}, "
        "so the agent cannot do what would end this phase."
    )
    first = reads[0].refusal
    hook = ", ".join(
        hook_run.hook.command
        for hook_run in first.hook_runs
        if hook_run.reply.ruling is first.decision.ruling
    )
    yield STUCK_PHASE.found(text, turn=min(refusals), hook=hook, rule=first.decision.rule)


def _refused(step: Step) -> bool:
    return isinstance(step.exchange, Performed) and step.exchange.refused


def _refused_reads(session: Sequence[Step]) -> Iterator[_RefusedRead]:
    read: Read | None = None
    for step in session:
        match step.exchange:
            case Moved(move=Read() as move) if move.expect in (None, "allow"):
                read = move
            case Moved():
                read = None
            case HookEvent(decision=decision) as hooked if read is not None and decision.refused:
                yield _RefusedRead(read.file, hooked)
                read = None
            case _:
                continue


def _left_over(before: Sequence[Step], after: Sequence[Step]) -> Iterator[Finding]:
    old, new = _first_answers(before), _first_answers(after)
    for key, answer in new.items():
        earlier = old.get(key)
        if earlier is None or earlier.result == answer.result:
            continue
        text = (
            f"The first {_title(answer.call)} was {earlier.result} in one session and {answer.result} "
            f"in the next, which began with {_kept(before, after, answer.number)}."
        )
        yield STUCK_PHASE.found(text, turn=answer.turn)


def _first_answers(session: Sequence[Step]) -> dict[str, _FirstAnswer]:
    answers: dict[str, _FirstAnswer] = {}
    for step in session:
        match step.exchange:
            case Performed(call=call, refused=refused):
                key = json.dumps([call.name, call.input], sort_keys=True)
                result = "refused" if refused else "allowed"
                answers.setdefault(key, _FirstAnswer(step.number, step.turn, call, result))
            case _:
                continue
    return answers


def _title(call: ToolCall) -> str:
    subject = next((value for value in call.input.values() if isinstance(value, str) and value), "")
    return f"{call.name} {subject!r}" if subject else call.name


def _kept(before: Sequence[Step], after: Sequence[Step], until: int) -> str:
    """Describe the files that one session wrote and the next has not changed."""
    since = set(_changed([step for step in after if step.number < until]))
    written = {path for path, how in _changed(before).items() if how != "removed"}
    folders = {path.rpartition("/")[0] for path in written}
    # Files of the host itself are in the home folder.
    kept = sorted(path for path in written - since - folders if path.startswith(_WORKSPACE))
    names = shorten_list([path.removeprefix(_WORKSPACE) for path in kept])
    return f"{names} left over" if kept else "no file of the workspace left over"


def _changed(steps: Sequence[Step]) -> dict[str, str]:
    return {
        change.path: change.how
        for step in steps
        if isinstance(step.exchange, HookEvent | Performed)
        for change in step.exchange.changes
    }
