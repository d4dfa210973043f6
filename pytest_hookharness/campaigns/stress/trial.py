"""
Trials: one mutation tried on a scenario, and what it shows.

A result without a defect is seen once. A defect counts if it is seen twice and two runs without the mutation
do not show it. If a run contradicts a fault's defect, five more must all agree. So a hook that decides by
chance is not blamed for anything else. Trials share nothing, so they may be made side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness.campaigns.stress.first_run import ReplayScript, with_fixed_moves, without_expectations
from pytest_hookharness.campaigns.stress.mutation import Evidence, Mutation, strongest
from pytest_hookharness.campaigns.stress.mutations.environment import find_first_failure
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.judging.comparison.fault_outcome import is_declared
from pytest_hookharness.judging.verdict.run_end import doubt_of_hook_runs
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import Direction, TrialResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.probes import UnknownDecisionError
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import BudgetEnded
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# Runs a scenario.
Play: TypeAlias = Callable[[Scenario], Outcome]
# Two, because a hook that flips a coin does the same again every other time.
_CONTROLS = 2
# After a contradiction, the numbers of further runs without and with the fault; all must agree.
_MORE_CONTROLS, _MORE_TIMES = 3, 2


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """
    What one trial has shown.

    Attributes:
        results: A row for each hook, and for each kind of payload where they are distinguished.
        evidence: What counts of what was seen.
        findings: Defects that no mutation has shown.
        notes: What was seen and proves nothing, in sentences.
        impossible: Whether it could not be run.
    """

    results: tuple[TrialResult, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    impossible: bool = False

    @property
    def tells_something(self) -> bool:
        """Whether anything unusual was seen."""
        return bool(self.findings or self.notes or any(one.finding for one in self.evidence))


def leave(trial: Mutation, why: str, *, left: bool = True) -> TrialOutcome:
    """Return the outcome of a trial that proves nothing; ``left`` if the trial should have been made."""
    nothing = Evidence(hook="", outcome="not tried", text=why)
    return TrialOutcome((trial.result(nothing, left=left),))


class Controls:
    """
    Runs of one scenario without any mutation, for all trials that need some.

    The trial that first asks makes them. No thread waits for another's run, because both might need the same
    CPU slot; two that ask at the same time both make one.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._made: list[Trace] = []

    def take(self, number: int, play: Play) -> Sequence[Trace]:
        """Return a number of runs, and make those that are missing."""
        while len(self._made) < number:
            self._made.append(play(self._scenario).trace)
        return self._made[:number]


class Trials:
    """The trials of one scenario; ``fixed`` is the scenario with a fixed list of moves, for faults."""

    def __init__(self, base: Outcome, remaining: Callable[[], float]) -> None:
        self.fixed = with_fixed_moves(base.scenario, base.trace)
        self._base = base
        self._remaining = remaining
        self._free = without_expectations(base.scenario)
        self._unchanged = Controls(self._free)
        self._faultless = Controls(self.fixed)
        self._replay = ReplayScript.of(base.trace)
        self._was_cut = bool(doubt_of_hook_runs(base.trace))
        self._hooks = tuple(dict.fromkeys(hook_run.hook.command for _, hook_run in base.trace.hook_runs()))

    def attempt(self, trial: Mutation, faultless: Trace, play: Play) -> TrialOutcome:
        """Make one trial; ``faultless`` is a run of the fixed moves without a fault."""

        def play_to_the_end(scenario: Scenario) -> Outcome:
            outcome = play(scenario)
            if doubt := doubt_of_hook_runs(outcome.trace):
                raise UnknownDecisionError(doubt.why)
            return outcome

        # If the run without a mutation was cut, cut runs are compared with it too.
        known = play if self._was_cut else play_to_the_end
        try:
            if trial.as_fault:
                return self._try_fault(trial, faultless, known)
            return self._try_invariant(trial, known)
        except UnknownDecisionError as error:
            return replace(leave(trial, str(error)), notes=(f"It shows nothing with {trial}: {error}.",))
        except (WorkspaceError, SimulationError) as error:
            tried = leave(trial, str(error))
            note = f"It could not run with {trial}: {error}."
            return tried if trial.as_fault else replace(tried, notes=(note,), impossible=True)

    def find_first_failure(self, play: Play) -> Finding | None:
        """Return the finding for a hook whose first run alone fails, each time that the scenario is run."""
        first = find_first_failure(self._base.trace)
        if first is None:
            return None
        return first if all(map(find_first_failure, self._unchanged.take(_CONTROLS, play))) else None

    def _try_invariant(self, trial: Mutation, play: Play) -> TrialOutcome:
        """Try what must not matter."""

        def mutated(other: Mutation) -> Outcome:
            return play(other.apply(self._free, self._replay))

        usual = self._base.trace if trial.reference is None else mutated(trial.reference).trace
        outcome = mutated(trial)
        evidence = trial.compare(usual, outcome.trace)
        if not evidence:
            if why := trial.was_met(outcome):
                return replace(
                    leave(trial, why, left=False), notes=(f"It shows nothing with {trial}: {why}.",)
                )
            note = trial.explain(usual, outcome.trace)
            return replace(self._of_every_hook(trial, ()), notes=(note,) if note else ())
        # If the time ends here, the difference that was seen once is reported.
        with suppress(BudgetEnded):
            if trial.reference is None:
                controls = self._unchanged.take(_CONTROLS, play)
                steady = not any(trial.compare(self._base.trace, control) for control in controls)
            else:
                steady = not trial.compare(usual, mutated(trial.reference).trace)
            if steady and trial.compare(usual, mutated(trial).trace):
                return self._of_every_hook(trial, evidence)
        why = self._once()
        seen = "; ".join(one.finding.text if one.finding else one.text for one in evidence)
        note = f"A decision differed {why}, with {trial}."
        return replace(leave(trial, f"{why}: {seen}"), notes=(note,))

    def _of_every_hook(self, trial: Mutation, evidence: Sequence[Evidence]) -> TrialOutcome:
        """Return an outcome in which hooks without evidence did as usual."""
        about = {one.hook: one for one in evidence}
        hooks = dict.fromkeys([*self._hooks, *about])
        rows = (about.get(hook) or Evidence(hook=hook, outcome="as declared", text="") for hook in hooks)
        return TrialOutcome(tuple(map(trial.result, rows)), evidence=tuple(evidence))

    def _once(self) -> str:
        """Return why a difference that was not seen a second time does not count."""
        chance = "perhaps by chance" if self._remaining() else "for the time ran out before it was seen twice"
        return f"once, {chance}"

    def _try_fault(self, trial: Mutation, faultless: Trace, play: Play) -> TrialOutcome:
        directions = self._base.scenario.on_failure
        reference = trial.reference
        mutated = trial.apply(self.fixed, self._replay)

        def take_reference(mutation: Mutation) -> Trace:
            return play(mutation.apply(self.fixed, self._replay)).trace

        usual = faultless if reference is None else take_reference(reference)
        outcome = play(mutated)
        first = strongest(declare(one, directions) for one in trial.compare(usual, outcome.trace))
        if not first:
            return leave(trial, "no hook ran that runs without the fault")
        if not any(one.finding for one in first):
            if why := trial.was_met(outcome):
                return leave(trial, why, left=False)
            return TrialOutcome(tuple(map(trial.result, first)), first)

        def control() -> Trace:
            return play(self.fixed).trace if reference is None else take_reference(reference)

        def find_doubts(controls: Iterable[Trace], times: int) -> Mapping[int, str]:
            """Return the contradiction of each doubtful piece of evidence, by its index."""
            without = [trial.compare(usual, run) for run in controls]
            again = [trial.compare(usual, play(mutated).trace) for _ in range(times)]
            declared = [[declare(one, directions) for one in run] for run in again]
            return _contradict(first, [*map(strongest, without)], [*map(strongest, declared)])

        doubts = find_doubts(
            self._faultless.take(_CONTROLS, play) if reference is None else [control()], times=1
        )
        if doubts:
            # On a busy machine one run of many may be odd; that must hide no defect.
            with suppress(BudgetEnded):
                doubts = find_doubts([control() for _ in range(_MORE_CONTROLS)], times=_MORE_TIMES)
        return self._judge(trial, first, doubts)

    def _judge(self, trial: Mutation, seen: Sequence[Evidence], doubts: Mapping[int, str]) -> TrialOutcome:
        """Return the outcome of a fault with what contradicts its evidence, by the index of that."""
        kept = tuple(one for place, one in enumerate(seen) if place not in doubts)
        doubted = (
            replace(
                seen[place],
                outcome="not tried",
                text=f"contradicted by another run, {seen[place].outcome}: {seen[place].text} ({doubt})",
            )
            for place, doubt in doubts.items()
        )
        rows = (*map(trial.result, kept), *(trial.result(one, left=True) for one in doubted))
        return TrialOutcome(rows, kept)


def _contradict(
    first: Sequence[Evidence],
    controls: Sequence[Sequence[Evidence]],
    repetitions: Sequence[Sequence[Evidence]],
) -> Mapping[int, str]:
    """
    Return the contradiction of each defect that other runs do not confirm, by its index.

    A run without the fault should show no defect, and another run with it the same defect.
    """
    doubts: dict[int, str] = {}
    for place, one in enumerate(first):
        if one.finding is None:
            continue
        for other in (each for run in controls for each in run if each.hook == one.hook):
            if other.outcome != "as declared":
                doubts[place] = f"also without the fault, {other.outcome}: {other.text}"
        for run in repetitions:
            same = [each for each in run if (each.hook, each.payload) == (one.hook, one.payload)]
            if not same:
                doubts[place] = "the next time, the hook did not run there"
            elif same[0].outcome != one.outcome:
                doubts[place] = f"the next time, {same[0].outcome}: {same[0].text}"
    return doubts


def declare(evidence: Evidence, directions: Mapping[str, Direction]) -> Evidence:
    """Return evidence without its defect if the hook is declared to take faults in that way."""
    if is_declared(directions, evidence.hook, evidence.outcome):
        return replace(evidence, outcome="as declared", finding=None)
    return evidence
