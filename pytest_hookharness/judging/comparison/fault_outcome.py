"""
Bearings: how hooks took a fault, and which way of taking it is a defect.

Pure. Two runs make the same moves, one without the fault and one with it, and each
asking of the first is looked up in the second, whatever was decided before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from pytest_hookharness.judging.comparison.traces import ended
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.faults import Direction, FaultOutcome, Trial, TrialResult
from pytest_hookharness.model.mutations import FailingTool, HangingTool, WithoutTool
from pytest_hookharness.model.processes import Cut, Exited, HeldOpen, NotStarted, TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Trace
from pytest_hookharness.model.verdicts import Finding, FindingCode

# What tells most first.
_RANK: Sequence[FaultOutcome] = ("inert", "open", "hung", "closed", "differs", "as declared", "not tried")
# What a shell says if it could not run the command.
_NOT_RUN = (126, 127)
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultEvidence:
    """
    How one fire took a fault.

    Attributes:
        cell: That as a cell.
        turn: The turn.
        code: The defect that it is; ``None`` if it is none.
    """

    cell: TrialResult
    turn: int
    code: FindingCode | None


def find_bearings(
    fault: Trial, directions: Mapping[str, Direction], usual: Trace, faulty: Trace
) -> tuple[FaultEvidence, ...]:
    """
    How the hooks took a fault: for each of them and each kind of payload what tells most.

    Args:
        fault: The fault.
        directions: What hooks must do when they cannot decide, by a word of their command.
        usual: The run without the fault.
        faulty: The run with it.
    """
    found: dict[tuple[str, str], FaultEvidence] = {}
    for turn, event, fire, other in _fires(usual, faulty):
        sight = _look(fault, directions, turn, event, fire, other)
        if sight is None:
            continue
        key = fire.hook.command, sight.cell.payload
        if key not in found or _weight(sight) < _weight(found[key]):
            found[key] = sight
    return tuple(found.values())


def _weight(sight: FaultEvidence) -> tuple[bool, int]:
    return sight.code is None, _RANK.index(sight.cell.verdict)


def _fires(usual: Trace, faulty: Trace) -> Iterator[tuple[int, str, HookRun, HookRun]]:
    others = _asked(faulty)
    for key, hooked in _asked(usual).items():
        other = others.get(key)
        # A plugin lies elsewhere where the path is what is wrong, so the hooks themselves may differ.
        for fire, its_other in zip(hooked.hook_runs, other.hook_runs if other else (), strict=False):
            if fire.hook.command == its_other.hook.command:
                yield key[0], hooked.event, fire, its_other


def _asked(trace: Trace) -> dict[tuple[int, str, str, int], HookEvent]:
    """
    Each asking of hooks by its turn, its event, its target, and how many like it were before in the turn.
    """
    found: dict[tuple[int, str, str, int], HookEvent] = {}
    for step, hooked in trace.hooked():
        number = 0
        while (key := (step.turn, hooked.event, hooked.target, number)) in found:
            number += 1
        found[key] = hooked
    return found


def _look(
    fault: Trial, directions: Mapping[str, Direction], turn: int, event: str, fire: HookRun, other: HookRun
) -> FaultEvidence | None:
    bearing = _bearing(fault, fire, other)
    if bearing is None:
        return None
    command = fire.hook.command
    declared = _declared(directions, command)
    meant = (declared, bearing) in (("allow", "open"), ("block", "closed"))
    payload: Literal["deny", "allow"] = "deny" if _refuses(fire) else "allow"
    before, after = _told(fire), f"{_told(other, quoting=True)}{_taken(fault, other)}"
    cell = TrialResult(
        cause=fault.cause,
        fault=str(fault),
        payload=payload,
        verdict="as declared" if meant else bearing,
        hook=command,
        evidence=f"{event} in turn {turn}: {before}; then {after}",
    )
    return FaultEvidence(cell=cell, turn=turn, code=_code(cell.verdict))


def _bearing(fault: Trial, fire: HookRun, other: HookRun) -> FaultOutcome | None:
    if fire.run is None or other.run is None or _unknown(fire) or _unknown(other):
        return None
    if isinstance(other.run.ending, TimedOut) and not isinstance(fire.run.ending, TimedOut):
        return "hung"
    if _refuses(other) and not _refuses(fire):
        return "closed"
    if _not_run(other) and not _not_run(fire) and not _refuses(other) and not _is_of_tool(fault):
        return "inert"
    if _refuses(fire) and not _refuses(other):
        return "open"
    return "as declared"


def _unknown(fire: HookRun) -> bool:
    ending = fire.run.ending if fire.run is not None else None
    return isinstance(ending, TimedOut) and ending.by is Cut.BUDGET


def _refuses(fire: HookRun) -> bool:
    return fire.reply.ruling is Ruling.DENY


def _not_run(fire: HookRun) -> bool:
    ending = fire.run.ending if fire.run is not None else None
    match ending:
        case NotStarted():
            return True
        case Exited(code) | HeldOpen(Exited(code)):
            return code in _NOT_RUN
        case _:
            return False


def _is_of_tool(fault: Trial) -> bool:
    # A script ends with these codes too if the last thing that it runs is not there: then it did run.
    return isinstance(fault.change, WithoutTool | FailingTool | HangingTool)


def _declared(directions: Mapping[str, Direction], command: str) -> Direction | None:
    word = next((word for word in directions if word and word in command), "")
    return directions.get(word)


def _told(fire: HookRun, *, quoting: bool = False) -> str:
    word = "refuses" if _refuses(fire) else "does not refuse"
    return f"{word} ({ended(fire, quoting=quoting)})"


def _taken(fault: Trial, fire: HookRun) -> str:
    """
    How much of its input a hook took, where that is what is wrong.
    """
    if fault.cause != "stdin" or fire.run is None:
        return ""
    taken, size = fire.run.stdin_taken, len(fire.stdin)
    gone = taken < size and not isinstance(fire.run.ending, TimedOut)
    cut = "; the host's write fails" if gone else ""
    return f"; {taken} of {size} bytes taken{cut}"


def _code(verdict: FaultOutcome) -> FindingCode | None:
    match verdict:
        case "open":
            return codes.FAILS_OPEN
        case "closed":
            return codes.FAILS_CLOSED
        case "inert":
            return codes.INERT
        case "hung":
            return codes.HANGS
        case "as declared" | "differs" | "not tried":
            return None
        case _:
            assert_never(verdict)


def join_sights(sights: Sequence[FaultEvidence]) -> Iterator[Finding]:
    """
    Defects of one kind, one hook and one cause as one finding.
    """
    alike: dict[tuple[FindingCode, str, str], list[FaultEvidence]] = {}
    for sight in sights:
        if sight.code is not None:
            alike.setdefault((sight.code, sight.cell.hook, sight.cell.cause), []).append(sight)
    for (code, hook, _), same in alike.items():
        first = same[0]
        text = f"Fault: {first.cell.fault}. {first.cell.evidence}."
        others = [*dict.fromkeys(sight.cell.fault for sight in same if sight.cell.fault != first.cell.fault)]
        left = len(others) - _SHOWN
        more = [*others[:_SHOWN], *([f"{left} more"] if left > 0 else [])]
        text += f" Also: {'; '.join(more)}." if more else ""
        yield replace(code.found(text, turn=first.turn, hook=hook), times=1 + len(others))
