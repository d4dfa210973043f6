"""
The outcome: scenario, trace, verdict and findings in one value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_hookharness.model.background import BackgroundReport
from pytest_hookharness.model.expectations import VerdictName
from pytest_hookharness.model.exploration import Exploration
from pytest_hookharness.model.mutations import TrialResult
from pytest_hookharness.model.probes import ProbeReport
from pytest_hookharness.model.processes import DoubleCall, Process, Tier
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, Trace
from pytest_hookharness.model.verdicts import (
    Finding,
    Livelock,
    Terminated,
    Verdict,
    Violation,
    verdict_name,
)

# Findings after which a session that ended is no proof that its hooks let go.
INCONCLUSIVE_FINDINGS = frozenset({"HUNG-FIRE", "NOT-RUN", "CONFIG-OFF", "EVENT-UNKNOWN", "NEVER-FIRED"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """
    Everything one simulation gave.

    Attributes:
        scenario: What was asked.
        host: The profile that was simulated, with its version.
        trace: What took place.
        verdict: What that means for termination.
        findings: Defects seen on the way.
        violations: Promises of the scenario that were not kept.
        assumptions: What the verdict rests on, in sentences.
        tier: How the fires were kept apart from the machine.
        seed: The seed of the run.
        wall: Seconds it took.
        calls: The calls of each double.
        probe_reports: Experiments on saved states; their fires are no part of the trace.
        varied: What of the scenario was varied, and what could not be, in sentences.
        explored: What a free agent could bring about; ``None`` if that was not asked for.
        trial_results: What each hook did in each trial of a mutation.
        kept_workspace: Where the workspace was kept; empty if it was not.
        background: What became of process hooks.
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

    @property
    def verdict_name(self) -> VerdictName:
        """
        The word for the verdict.
        """
        return verdict_name(self.verdict)

    @property
    def terminated(self) -> bool:
        """
        Whether the hooks let the agent stop by their own decision.

        A hook that was cut, that could not be run, or that was never asked has decided nothing, so this
        is false then although the session ended; ``verdict`` and ``findings`` say what took place.
        """
        hollow = any(finding.name in INCONCLUSIVE_FINDINGS for finding in self.findings)
        return isinstance(self.verdict, Terminated) and not hollow

    @property
    def livelock(self) -> bool:
        """
        Whether an endless loop was proved.
        """
        return isinstance(self.verdict, Livelock)

    @property
    def passed(self) -> bool:
        """
        Whether every promise of the scenario was kept.
        """
        return not self.violations

    @property
    def iterations(self) -> int:
        """
        Turns since the first prompt.
        """
        return self.trace.turns

    def blocks(self, event: str | None = None) -> int:
        """
        How many refusals the host honoured, in all or for one event.
        """
        return sum(1 for _, hooked in self.trace.hooked(event) if hooked.decision.refused)

    def hook_runs(self, hook: str | None = None) -> int:
        """
        How often hooks were fired: all, those of an event, or those whose command holds a word.
        """
        return sum(
            1
            for _, fire in self.trace.hook_runs()
            if hook is None or hook == fire.hook.event or hook in fire.hook.command
        )

    def decisions(self, event: str) -> tuple[Ruling, ...]:
        """
        What the host made of each asking of an event, in order.
        """
        return tuple(effective_ruling(hooked) for _, hooked in self.trace.hooked(event))

    def reasons(self, event: str | None = None) -> tuple[str, ...]:
        """
        The reasons of all refusals, in order.
        """
        return tuple(reason for _, hooked in self.trace.hooked(event) for reason in hooked.decision.reasons)

    @property
    def sessions(self) -> int:
        """
        How many sessions stand-ins played.
        """
        return sum(1 for _, child in self.trace.children() if not child.refused)

    @property
    def depth(self) -> int:
        """
        How many of these lay within each other, at most.
        """
        return max((child.depth for _, child in self.trace.children() if not child.refused), default=0)

    @property
    def leftovers(self) -> tuple[Process, ...]:
        """
        Processes that outlived the fire that started them.
        """
        return tuple(
            process
            for _, fire in self.trace.hook_runs()
            if fire.run is not None
            for process in fire.run.leftovers
        )


def effective_ruling(hooked: HookEvent) -> Ruling:
    """
    What really became of an event: a refusal that the guard set aside counts as allowed.
    """
    if hooked.decision.overridden:
        return Ruling.ALLOW
    if hooked.decision.ruling is Ruling.NONE:
        return Ruling.ALLOW
    return hooked.decision.ruling
