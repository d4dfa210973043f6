"""
Trials: one thing different, tried on a scenario, and what it shows.

What is no defect is seen once. A defect counts only if it is seen twice, and if runs without the
difference do not show it, so that hooks that decide by chance are not blamed for anything else. Trials share
nothing, so they may be made side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pytest_hookharness.campaigns.stress.alterations import ReplayScript, alter, plainly, twins
from pytest_hookharness.campaigns.stress.concurrency import LostUpdates
from pytest_hookharness.campaigns.stress.faults_of import make_trial, with_fault
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.judging.comparison.fault_outcome import FaultEvidence, find_bearings
from pytest_hookharness.judging.comparison.lasting_failure import find_purpose
from pytest_hookharness.judging.comparison.relations import find_first_failure, find_variance
from pytest_hookharness.model.faults import (
    Change,
    Fault,
    FaultOutcome,
    JunkTool,
    Surroundings,
    Trial,
    TrialResult,
    Varied,
)
from pytest_hookharness.model.mutations import (
    FailingTool,
    HangingTool,
    MovedWords,
    Quoted,
    Replayed,
    SameName,
    Wide,
    WithoutTool,
)
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# Plays a scenario.
Play: TypeAlias = Callable[[Scenario], Outcome]
# Two, because a hook that throws a coin does the same again every other time.
_CONTROLS = 2


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """
    What one trial has shown.

    Attributes:
        trial_results: How each hook took it.
        sights: The same of a fault, with the defects.
        findings: What is wrong with the hooks, if it was no fault that showed it.
        doubts: What was seen and proves nothing, in sentences.
        impossible: Whether it could not be played.
    """

    trial_results: tuple[TrialResult, ...] = ()
    sights: tuple[FaultEvidence, ...] = ()
    findings: tuple[Finding, ...] = ()
    doubts: tuple[str, ...] = ()
    impossible: bool = False

    @property
    def tells_something(self) -> bool:
        """
        Whether more was seen than that all went as usual.
        """
        return bool(self.findings or self.doubts or any(sight.code for sight in self.sights))


def leave(trial: Trial, why: str) -> TrialOutcome:
    """
    What a trial shows that was not made, or proves nothing.
    """
    return TrialOutcome(
        (TrialResult(cause=trial.cause, fault=str(trial), verdict="not tried", evidence=why, left=True),)
    )


def _spare(trial: Trial, why: str) -> TrialOutcome:
    """
    What a trial shows that was made, and in which nothing of what is different was met.
    """
    return TrialOutcome(
        (TrialResult(cause=trial.cause, fault=str(trial), verdict="not tried", evidence=why),)
    )


def _uncalled(change: Change | Replayed, outcome: Outcome) -> str:
    """
    Why a command that is not as usual shows nothing; empty if it was called, or nobody can know.
    """
    match change:
        case FailingTool(name=name) | HangingTool(name=name) | JunkTool(name=name):
            return "" if outcome.calls.get(name) else f"nobody called `{name}`"
        case _:
            return ""


def _purposes(change: Replayed, usual: Trace, seen: Trace) -> Iterator[str]:
    match change:
        case WithoutTool() | FailingTool() | HangingTool():
            changed = find_purpose(change, usual, seen)
        case _:
            return
    if changed is not None:
        pair, words = changed
        event = f"{pair.before.event} in turn {pair.turn}"
        yield f'It goes otherwise on purpose with {change}, at {event}, where {pair.hook} says "{words}".'


class Controls:
    """
    Runs of one scenario with nothing different, for all trials that need some.

    Each is made by the trial that first asks. No thread waits for another's, for both might want one seat;
    where two ask at the same time, both make one.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._made: list[Trace] = []

    def take(self, number: int, play: Play) -> Sequence[Trace]:
        """
        So many runs, as few as possible of them made now.
        """
        while len(self._made) < number:
            self._made.append(play(self._scenario).trace)
        return self._made[:number]


class Trials:
    """
    The trials of one scenario.

    Attributes:
        fixed: The scenario as it was played, as a list of moves.
    """

    def __init__(self, base: Outcome, remaining: Callable[[], float]) -> None:
        self.fixed = make_trial(base.scenario, base.trace)
        self._base = base
        self._remaining = remaining
        self._unchanged = Controls(plainly(base.scenario))
        self._faultless = Controls(self.fixed)
        self._recording = ReplayScript.of(base.trace)
        self._hooks = tuple(dict.fromkeys(fire.hook.command for _, fire in base.trace.hook_runs()))

    def attempt(
        self,
        trial: Trial,
        usual: Trace,
        play: Play,
        crowd: Callable[[Wide], LostUpdates],
    ) -> TrialOutcome:
        """
        Make one trial.

        Args:
            trial: The trial.
            usual: What the list of moves shows without a fault.
            play: Plays a scenario.
            crowd: Finds out what a crowd of fires loses.
        """
        try:
            if isinstance(trial, Fault):
                return self._try_fault(trial, usual, play)
            change = trial.change
            if isinstance(change, Wide):
                lost = crowd(change)
                return replace(self._of_findings(trial, lost.findings, None), doubts=tuple(lost.notes))
            return self._vary(trial, change, play)
        except (WorkspaceError, SimulationError) as error:
            tried = leave(trial, str(error))
            said = f"It could not be played with {trial}: {error}."
            return tried if isinstance(trial, Fault) else replace(tried, doubts=(said,), impossible=True)

    def find_first_failure(self, play: Play) -> Finding | None:
        """
        A hook that fails at its first fire only, each time that the scenario is played.
        """
        first = find_first_failure(self._base.trace)
        if first is None:
            return None
        return first if all(map(find_first_failure, self._unchanged.take(_CONTROLS, play))) else None

    def _vary(self, trial: Varied, change: Replayed, play: Play) -> TrialOutcome:
        def varied(other: Replayed) -> Outcome:
            return play(alter(self._base.scenario, other, self._recording))

        usual = self._base.trace
        if isinstance(change, SameName):
            usual = varied(twins(change.turn, change.file)[0]).trace
        outcome = varied(change)
        seen = outcome.trace
        finding = find_variance(change, usual, seen)
        if finding is None and (why := _uncalled(change, outcome)):
            return replace(_spare(trial, why), doubts=(f"It shows nothing with {trial}: {why}.",))
        if finding is None:
            return replace(self._of_findings(trial, (), None), doubts=tuple(_purposes(change, usual, seen)))
        steady = all(
            find_variance(change, self._base.trace, other) is None
            for other in self._unchanged.take(_CONTROLS, play)
        )
        if steady and find_variance(change, usual, varied(change).trace) is not None:
            return self._of_findings(trial, (finding,), self._word(trial, change, finding, usual, seen))
        why = "perhaps by chance" if self._remaining() else "and the time ran out before it was seen twice"
        doubt = f"It went otherwise once, {why}, with {trial}."
        return replace(leave(trial, f"{why}: {finding.text}"), doubts=(doubt,))

    def _word(
        self, trial: Varied, change: Replayed, finding: Finding, usual: Trace, seen: Trace
    ) -> FaultOutcome | None:
        """
        What a difference comes to for the hook that it is about.
        """
        if isinstance(change, MovedWords | Quoted):
            return "open" if change.must_be_refused else "closed"
        if isinstance(change, SameName):
            return None
        cells = (sight.cell for sight in find_bearings(trial, {}, usual, seen))
        odd = [cell for cell in cells if cell.hook == finding.hook and cell.verdict != "as declared"]
        return odd[0].verdict if odd else None

    def _of_findings(
        self, trial: Varied, findings: tuple[Finding, ...], word: FaultOutcome | None
    ) -> TrialOutcome:
        about = {finding.hook: finding for finding in findings}
        hooks = dict.fromkeys([*self._hooks, *about])
        cells = (
            TrialResult(cause=trial.cause, fault=str(trial), hook=hook, verdict="as declared")
            if hook not in about
            else TrialResult(
                cause=trial.cause,
                fault=str(trial),
                hook=hook,
                verdict=word or "differs",
                evidence=f"{about[hook].code} {about[hook].name}: {about[hook].text}",
            )
            for hook in hooks
        )
        return TrialOutcome(tuple(cells), findings=findings)

    def _try_fault(self, fault: Fault, usual: Trace, play: Play) -> TrialOutcome:
        directions = self._base.scenario.on_failure
        alone = self._with_input(fault, play)
        usual = usual if alone is None else alone

        def look(seen: Outcome) -> tuple[FaultEvidence, ...]:
            return find_bearings(fault, directions, usual, seen.trace)

        faulty = with_fault(self.fixed, fault)
        outcome = play(faulty)
        first = look(outcome)
        if not first:
            return leave(fault, "no hook was asked that is without it")
        if all(sight.code is None for sight in first):
            if why := _uncalled(fault.change, outcome):
                return _spare(fault, why)
            return TrialOutcome(tuple(sight.cell for sight in first), first)
        again = self._with_input(fault, play)
        controls = self._faultless.take(_CONTROLS, play) if again is None else (again,)
        unsteady = {
            sight.cell.hook
            for control in controls
            for sight in find_bearings(fault, {}, usual, control)
            if sight.cell.verdict != "as declared"
        }
        second = {(sight.cell.hook, sight.cell.payload): sight.cell.verdict for sight in look(play(faulty))}
        sights: list[FaultEvidence] = []
        doubted: list[TrialResult] = []
        for sight in first:
            cell = sight.cell
            same = second.get((cell.hook, cell.payload)) == cell.verdict and cell.hook not in unsteady
            if sight.code is None or same:
                sights.append(sight)
            else:
                why = f"perhaps by chance, once {cell.verdict}: {cell.evidence}"
                doubted.append(replace(cell, verdict="not tried", evidence=why, left=True))
        return TrialOutcome((*(sight.cell for sight in sights), *doubted), tuple(sights))

    def _with_input(self, fault: Fault, play: Play) -> Trace | None:
        """
        A run without a fault, but with the input that it takes to show; ``None`` if it takes none.
        """
        match fault.change:
            case Surroundings(extra=extra) as change if extra:
                bare = replace(fault, change=replace(change, env={}, files={}, home={}))
                return play(with_fault(self.fixed, bare)).trace
            case _:
                return None
