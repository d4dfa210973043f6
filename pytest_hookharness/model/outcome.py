"""The outcome: scenario, trace, verdict and findings in one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from pytest_hookharness.model.background import BackgroundReport
from pytest_hookharness.model.delivery import DoubleCall
from pytest_hookharness.model.exploration import Exploration
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import TrialResult
from pytest_hookharness.model.name_hint import UnknownName, is_near, name_hint
from pytest_hookharness.model.processes import Process, Tier
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, Trace
from pytest_hookharness.model.verdicts import (
    Finding,
    Livelock,
    Terminated,
    Verdict,
    VerdictName,
    Violation,
    verdict_name,
)

if TYPE_CHECKING:
    from pytest_hookharness.model.probes import ProbeReport

# pytest cuts the middle out of longer texts, and some of the rest of a line is for names.
_LONGEST_REPR = 100

# With one of these findings, the end of a session does not prove that its hooks allowed the stop.
INCONCLUSIVE_FINDINGS = frozenset({"HUNG-HOOK", "NOT-RUN", "CONFIG-OFF", "EVENT-UNKNOWN", "NEVER-FIRED"})


# How it is said that a source names random numbers.
OF_CHANCE = "Assumed of chance: "
# Parts of the assumption about missing files that hooks look for, and that another agent may make.
NOT_MADE, LOOKED_FOR, OR = "The agent does not make ", ", which the hooks look for.", " or "
# How assumptions begin that may not hold for other agents, at other times or on other versions of a host.
_DECISIVE = (NOT_MADE, "The hooks read the clock", "Assumed ", "The scenario masks")


def decisive(assumptions: Sequence[str]) -> tuple[str, ...]:
    """Return the assumptions that hold only for this session; those about files not made come first."""
    found = [one for one in assumptions if one.startswith(_DECISIVE)]
    return tuple(sorted(found, key=lambda one: not one.startswith(NOT_MADE)))


def files_not_made(assumptions: Sequence[str]) -> list[str]:
    """Return the missing paths in the workspace that hooks look for, as the assumptions name them."""
    named = (one for one in assumptions if one.startswith(NOT_MADE) and one.endswith(LOOKED_FOR))
    return [path for one in named for path in one[len(NOT_MADE) : -len(LOOKED_FOR)].split(OR)]


# A decision: its turn, its event, and whether the host honoured a refusal.
Decided: TypeAlias = tuple[int, str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """
    The result of one simulation.

    Attributes:
        host: The simulated host profile, with its version.
        verdict: Whether and how the session ends.
        findings: Defects found in it.
        violations: Expectations of the scenario that were not met.
        assumptions: Facts that the verdict depends on, in sentences.
        tier: How hook runs were isolated from the machine.
        wall: Duration in seconds, that of slower runs for comparison included.
        calls: Calls of each test double, by name.
        probe_reports: Probes of saved states; their hook runs are not part of the trace.
        varied: Tried mutations, and those that could not be tried, in sentences.
        explored: The result of the exploration; ``None`` if there was none.
        trial_results: The result of each tried mutation.
        kept_workspace: Path of the kept workspace; empty if it was removed.
        background: The record of process hooks.
        folders: Absolute paths of the folders of the run, each with the name that begins its state paths.
        chance: How the hooks that could refuse draw random numbers, in words, as far as their sources show
            it. Empty for a loop, whose evidence says what it rests on.
        events: Names of the events that the host has; empty if they are not known.
    """

    scenario: Scenario
    host: str
    trace: Trace
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    violations: tuple[Violation, ...] = ()
    assumptions: tuple[str, ...] = ()
    tier: Tier = Tier.GROUP
    seed: int = 0
    wall: float = 0.0
    calls: Mapping[str, tuple[DoubleCall, ...]] = field(default_factory=dict)
    probe_reports: tuple[ProbeReport, ...] = ()
    varied: tuple[str, ...] = ()
    explored: Exploration | None = None
    trial_results: tuple[TrialResult, ...] = ()
    kept_workspace: str = ""
    background: BackgroundReport = BackgroundReport()
    folders: tuple[tuple[str, str], ...] = ()
    chance: str = ""
    events: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return one line, as failed assertions show it; the report of a failed test has the story."""
        broken = "; ".join(f"{one.path}: expected {one.expected}" for one in self.violations)
        names = ", ".join(dict.fromkeys(finding.name for finding in self.findings))
        if len(broken) > _LONGEST_REPR:
            broken = f"{broken[:_LONGEST_REPR]}..."
        parts = [f"{self.scenario.id} on {self.host}", self.verdict_name, names, broken]
        return f"<Outcome {', '.join(filter(None, parts))}>"

    @property
    def verdict_name(self) -> VerdictName:
        """The name of the verdict, as in scenario files."""
        return verdict_name(self.verdict)

    @property
    def terminated(self) -> bool:
        """
        Whether the hooks decided to allow the stop.

        False if the session ended without such a decision: a hook was cut, did not start or never ran.
        ``verdict`` and ``findings`` show what happened.
        """
        inconclusive = any(finding.name in INCONCLUSIVE_FINDINGS for finding in self.findings)
        return isinstance(self.verdict, Terminated) and not inconclusive

    @property
    def livelock(self) -> bool:
        """Whether an infinite loop was proved."""
        return isinstance(self.verdict, Livelock)

    @property
    def passed(self) -> bool:
        """Whether all expectations of the scenario were met."""
        return not self.violations

    @property
    def iterations(self) -> int:
        """Number of turns since the first prompt."""
        return self.trace.turns

    def blocks(self, event: str | None = None) -> int:
        """
        Return the number of refusals that the host honoured: in total, or for one event.

        Raises:
            UnknownName: The host has no such event.
        """
        return sum(1 for _, hooked in self.trace.hooked(self._known(event)) if hooked.decision.refused)

    def _known(self, event: str | None) -> str | None:
        if event is not None and self.events and event not in self.events:
            raise UnknownName(f"{self.host} has no event {event!r}{name_hint(event, self.events, 'events')}")
        return event

    def first_difference(self, other: Outcome) -> tuple[Decided, Decided] | None:
        """Return the first decisions that differ between two plays; either play may have ended before."""
        pairs = zip(self.decided, other.decided, strict=False)
        return next((pair for pair in pairs if pair[0] != pair[1]), None)

    @property
    def decided(self) -> list[Decided]:
        """The decisions, in order."""
        return [(step.turn, hooked.event, hooked.decision.refused) for step, hooked in self.trace.hooked()]

    def hook_runs(self, hook: str | None = None) -> int:
        """
        Return the number of hook runs: all, those of an event, or those whose command contains a word.

        Raises:
            UnknownName: There are none, and the word is nearly the name of an event.
        """
        number = sum(
            1
            for _, run in self.trace.hook_runs()
            if hook is None or hook == run.hook.event or hook in run.hook.command
        )
        if not number and hook is not None and hook.isidentifier() and is_near(hook, self.events):
            self._known(hook)
        return number

    def decisions(self, event: str) -> tuple[Ruling, ...]:
        """Return the effective decisions on an event, in order; raise ``UnknownName`` for no such event."""
        return tuple(effective_ruling(hooked) for _, hooked in self.trace.hooked(self._known(event)))

    def reasons(self, event: str | None = None) -> tuple[str, ...]:
        """
        Return the reasons of all refusals, in order.

        Raises:
            UnknownName: The host has no such event.
        """
        asked = (hooked for _, hooked in self.trace.hooked(self._known(event)))
        return tuple(reason for hooked in asked for reason in hooked.decision.reasons)

    @property
    def sessions(self) -> int:
        """Number of sessions that fake agents ran."""
        return sum(1 for _, child in self.trace.children() if not child.refused)

    @property
    def depth(self) -> int:
        """Maximum nesting depth of these sessions."""
        return max((child.depth for _, child in self.trace.children() if not child.refused), default=0)

    @property
    def leftovers(self) -> tuple[Process, ...]:
        """Processes that outlived the hook run that started them."""
        found: list[Process] = []
        for _, hooked in self.trace.hooked():
            results = [hook_run.run for hook_run in hooked.hook_runs if hook_run.run is not None]
            found += [process for run in results for process in run.leftovers]
            # Several hook runs may have started one of these.
            found += {process.pid: process for run in results for process in run.unclaimed}.values()
        return tuple(found)


def effective_ruling(hooked: HookEvent) -> Ruling:
    """Return the effective decision on an event: a refusal that the cap overrides counts as allowed."""
    if hooked.decision.overridden:
        return Ruling.ALLOW
    if hooked.decision.ruling is Ruling.NONE:
        return Ruling.ALLOW
    return hooked.decision.ruling


def last_refusal(trace: Trace) -> HookEvent | None:
    """Return the last event that hooks refused, also if the host overrode them; ``None`` for none."""
    events = (event for _, event in reversed([*trace.hooked()]))
    return next((event for event in events if event.decision.refused or event.decision.overridden), None)
