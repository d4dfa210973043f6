"""
Fault outcomes: how hooks took a fault, and which outcomes are defects.

Two runs make the same moves, one without the fault and one with it. Each hook event of the first is looked
up in the second, whatever was decided before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pytest_hookharness.judging.comparison.traces import describe_end, status
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import Direction, FaultOutcome
from pytest_hookharness.model.processes import NotStarted, TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Trace
from pytest_hookharness.model.verdicts import FindingCode

# The most telling first.
RANK: Sequence[FaultOutcome] = (
    "inert", "fail-open", "hung", "fail-closed", "differs", "as declared", "not tried",
)  # fmt: skip
# The exit codes of a shell that could not run the command.
_NOT_RUN = (126, 127)
_CODES: Mapping[FaultOutcome, FindingCode] = {
    "fail-open": codes.FAILS_OPEN,
    "fail-closed": codes.FAILS_CLOSED,
    "inert": codes.INERT,
    "hung": codes.HANGS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultReaction:
    """One hook run without a fault, the same one with it, and how that one took the fault."""

    turn: int
    event: str
    before: HookRun
    after: HookRun
    outcome: FaultOutcome

    @property
    def hook(self) -> str:
        """The command of the hook."""
        return self.before.hook.command

    @property
    def payload(self) -> Literal["deny", "allow"]:
        """Whether the payload is refused without the fault."""
        return "deny" if _refuses(self.before) else "allow"

    def __str__(self) -> str:
        before, after = _describe(self.before), _describe(self.after, quoting=True)
        return f"{self.event} in turn {self.turn}: {before}; then {after}"


def find_reactions(usual: Trace, faulty: Trace, *, explains_127: bool = False) -> Iterator[FaultReaction]:
    """
    Yield how each hook run took a fault.

    ``explains_127``: because of the fault, a script that did run can end with exit code 126 or 127.
    """
    others = _by_place(faulty)
    for key, hooked in _by_place(usual).items():
        other = others.get(key)
        # A plugin lies in another folder where the path is the fault, so only the commands are compared.
        for before, after in zip(hooked.hook_runs, other.hook_runs if other else (), strict=False):
            if before.hook.command == after.hook.command:
                outcome = _outcome(before, after, explains_127=explains_127)
                if outcome is not None:
                    yield FaultReaction(
                        turn=key[0], event=hooked.event, before=before, after=after, outcome=outcome
                    )


def _by_place(trace: Trace) -> dict[tuple[int, str, str, int], HookEvent]:
    """Return the hook events by turn, event, target, and the number of equal ones before in that turn."""
    found: dict[tuple[int, str, str, int], HookEvent] = {}
    for step, hooked in trace.hooked():
        number = 0
        while (key := (step.turn, hooked.event, hooked.target, number)) in found:
            number += 1
        found[key] = hooked
    return found


def _outcome(before: HookRun, after: HookRun, *, explains_127: bool) -> FaultOutcome | None:
    if before.run is None or after.run is None or before.run.cut_by_budget or after.run.cut_by_budget:
        return None
    if isinstance(after.run.ending, TimedOut) and not isinstance(before.run.ending, TimedOut):
        return "hung"
    if _refuses(after) and not _refuses(before):
        return "fail-closed"
    if _not_run(after) and not _not_run(before) and not _refuses(after) and not explains_127:
        return "inert"
    if _refuses(before) and not _refuses(after):
        return "fail-open"
    return "as declared"


def _refuses(hook_run: HookRun) -> bool:
    return hook_run.reply.ruling is Ruling.DENY


def _not_run(hook_run: HookRun) -> bool:
    return isinstance(hook_run.ending, NotStarted) or status(hook_run) in _NOT_RUN


def _describe(hook_run: HookRun, *, quoting: bool = False) -> str:
    word = "refuses" if _refuses(hook_run) else "does not refuse"
    return f"{word} ({describe_end(hook_run, quoting=quoting)})"


def is_declared(directions: Mapping[str, Direction], command: str, outcome: FaultOutcome) -> bool:
    """Return whether the directions, by a word of the command ("" for all), declare an outcome of a fault."""
    word = next((word for word in directions if word and word in command), "")
    return (directions.get(word), outcome) in (("allow", "fail-open"), ("block", "fail-closed"))


def code_of(outcome: FaultOutcome) -> FindingCode | None:
    """Return the defect that a fault outcome is; ``None`` if it is none."""
    return _CODES.get(outcome)
