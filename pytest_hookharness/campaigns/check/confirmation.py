"""
The confirmation of a symptom: a second, smaller session that shows it too.

A symptom that no second session shows is not reported as a problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness.campaigns.check import corpora
from pytest_hookharness.campaigns.check.failing_gates import with_succeeding_checks
from pytest_hookharness.campaigns.check.gates.ways_out import find_way_out
from pytest_hookharness.campaigns.check.grouping import SymptomEvidence, as_far_as_seen, is_cut
from pytest_hookharness.campaigns.check.hook_statistics import is_same
from pytest_hookharness.campaigns.check.session_scenario import alone
from pytest_hookharness.campaigns.check.shrinking import shrink
from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.judging.checkup.bad_ends import refused_throughout
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.model.bad_ends import ENDLESS
from pytest_hookharness.model.checkup import CheckSession, HookSet, Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import BudgetEnded
from pytest_hookharness.simulation.parallel_jobs import TrialRunner
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# Plays a session, in at most the given seconds.
PlaySession: TypeAlias = Callable[[CheckSession, float, TrialRunner], Outcome]
Shown: TypeAlias = tuple[Scenario, Symptom]
# How many sessions with other words are also searched for a way out.
_MOST_OTHERS = 2


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The search for a session that confirms one symptom, while there are seconds left for one."""

    place: HookSet
    seconds_left: Callable[[], float]
    play: PlaySession
    evidence: SymptomEvidence
    tier: Tier | None = None

    def run(self, runner: TrialRunner) -> tuple[SymptomEvidence, Shown | None]:
        """Return the evidence with the smallest session found; with ``None`` if none showed the symptom."""
        # A session whose checks succeed is short: it comes first, while there is time for it.
        passed = self._let_checks_succeed(runner)
        evidence, shown = self._confirm(runner)
        return evidence, shown and (shown[0], self._as_gate(*shown, passed, runner))

    def _may_be_gate(self, vary: object) -> bool:
        # A loop that something started ends by its own rules, and a gate with failing checks is known as one.
        session, kind = self.evidence.session, self.evidence.symptom.kind
        return kind in ENDLESS and not (session.active or session.way_out or session.event or vary)

    def _let_checks_succeed(self, runner: TrialRunner) -> tuple[CheckSession, Outcome | None] | None:
        """Return the session in which the checks of the hook succeed, with its outcome if it was played."""
        session, wall = self.evidence.session, self.seconds_left()
        if not self._may_be_gate(session.scenario.vary):
            return None
        succeeds = with_succeeding_checks(self.place, session, self.evidence.symptom.hook)
        played = self._play(succeeds, wall, runner) if succeeds is not None and wall else None
        return (succeeds, played) if succeeds is not None else None

    def _confirm(self, runner: TrialRunner) -> tuple[SymptomEvidence, Shown | None]:
        evidence, session = self.evidence, self.evidence.session

        def look(scenario: Scenario) -> Symptom | None:
            wall = self.seconds_left()
            if not wall:
                # The symptom was seen, and no time is left to find a smaller session.
                return evidence.symptom if scenario == session.scenario else None
            smaller = replace(session, scenario=scenario, active="")
            return self._find(smaller, evidence.symptom, wall, runner)

        # Its session has shown it several times already, but not that it never ends.
        # A mutation counts only if it was seen twice.
        repeated = evidence.symptom.kind in ENDLESS - {"livelock"} or bool(session.scenario.vary)
        if session.proof or (session.active and repeated):
            return evidence, (session.scenario, evidence.symptom)
        if session.event or session.active:
            again = look(session.scenario)
            return evidence, None if again is None else (session.scenario, again)
        small = shrink(session.scenario, evidence.symptom, evidence.trace, look)
        return evidence, small and (small[0], self._attribute(*small, runner))

    def _as_gate(
        self,
        scenario: Scenario,
        symptom: Symptom,
        passed: tuple[CheckSession, Outcome | None] | None,
        runner: TrialRunner,
    ) -> Symptom:
        """
        Return the symptom of a gate, if an agent may stop in another session.

        That is one in which the agent does what each refusal asks for, or the checks succeed.
        """
        evidence, session = self.evidence, self.evidence.session
        if not self._may_be_gate(scenario.vary):
            return symptom
        if passed is not None:
            succeeds, outcome = passed
            if outcome is not None and outcome.verdict_name == "terminated":
                return as_far_as_seen(symptom, succeeds)
            untried = f"Not tried: an agent that {succeeds.way_out} may be allowed to stop."
            tried = (
                f"An agent that {succeeds.way_out} is refused too, where test doubles stand for the checks."
            )
            told = tried if outcome else untried
            symptom = replace(symptom, assumes=(*symptom.assumes, told), avoidable=not outcome)

        def play(session: CheckSession) -> Outcome | None:
            wall = self.seconds_left()
            return self._play(session, wall, runner) if wall else None

        seen = [
            (replace(session, scenario=scenario), symptom, evidence.trace),
            *evidence.others[:_MOST_OTHERS],
        ]
        # A command that only a hook names may be harmful: it runs only where it cannot reach this machine.
        runs = (self.tier or available_tiers()[0]) is Tier.NAMESPACES
        ways = (find_way_out(one, trace, told, self.place.root, play, runs=runs) for one, told, trace in seen)
        first = next(ways)
        return first.described(symptom) if first is not None and all(ways) else symptom

    def _play(self, session: CheckSession, wall: float, runner: TrialRunner) -> Outcome | None:
        try:
            return self.play(session, wall, runner)
        except (SimulationError, WorkspaceError, BudgetEnded):
            return None

    def _attribute(self, scenario: Scenario, symptom: Symptom, runner: TrialRunner) -> Symptom:
        """Return the symptom with the one hook that shows it alone, if several ran in parallel."""
        if not symptom.shared:
            return symptom
        for hook in (hook for hook in self.place.hooks if hook.command in symptom.hook.split(", ")):
            wall = self.seconds_left()
            session = CheckSession(title="one hook", scenario=alone(scenario, hook))
            found = replace(symptom, hook=hook.command, shared=False)
            if wall and self._find(session, found, wall, runner) is not None:
                return found
        return symptom

    def _find(
        self, session: CheckSession, wanted: Symptom, wall: float, runner: TrialRunner
    ) -> Symptom | None:
        outcome = self._play(session, wall, runner)
        if outcome is None:
            return None
        whole = session.scenario == self.evidence.session.scenario
        if whole and wanted.kind in ENDLESS and is_cut(outcome) and refused_throughout(outcome) > 1:
            # As far as it was played again it went as before, and no time was left to prove it once more.
            return wanted
        found = find_symptoms(outcome, mark=corpora.MARKER, harmless=session.harmless)
        exact = (one for one in found if one.cause == wanted.cause)
        return next(exact, next((one for one in found if _is_like(one, wanted)), None))


def _is_like(one: Symptom, wanted: Symptom) -> bool:
    """Return whether a symptom is the wanted one, also where more or less of an endless loop was seen."""
    return is_same(one.kind, wanted.kind) and one.cause[1:] == wanted.cause[1:]
