"""
Matrices: all that will be different, one thing at a time, and in which order.

Pure. One seed gives one order. With a choice, kinds take turns, so that a budget that ends early
leaves out some of each kind and no kind as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from pytest_hookharness.campaigns.stress.fault_plans import plan_faults
from pytest_hookharness.campaigns.stress.plans import HookTraits, plan
from pytest_hookharness.hosts.session_state.facts import derive_digest
from pytest_hookharness.model.faults import Fed, Trial, TrialResult, Varied
from pytest_hookharness.model.mutations import HangingTool
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.simulation.testbed.run_settings import TrialSelection


@dataclass(frozen=True, slots=True)
class TestMatrix:
    """
    What is tried, and what is not.

    Attributes:
        trials: What is tried, in order.
        untried: Faults that cannot be tried here, each with its reason.
        notes: What else cannot be tried, in sentences.
    """

    trials: tuple[Trial, ...] = ()
    untried: tuple[TrialResult, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def begun(self) -> tuple[int, ...]:
        """
        The places of the trials in the order in which they begin: others work while the first ones wait.
        """
        places = range(len(self.trials))
        return tuple(sorted(places, key=lambda place: not _waits(self.trials[place])))


def _waits(trial: Trial) -> bool:
    match trial.change:
        case HangingTool():
            return True
        case Fed(way=way):
            return bool(way.delay) or not way.close
        case _:
            return False


def draw_up(base: Outcome, clues: HookTraits, choice: TrialSelection | None) -> TestMatrix:
    """
    The matrix of a scenario that was played once.

    Args:
        base: What that showed.
        clues: What its hooks suggest to try.
        choice: What of it is wanted; ``None`` for all.
    """
    varied, notes = _variations(base, clues)
    faults, untried = plan_faults(base, clues)
    trials: list[Trial] = [*varied, *faults]
    # What one kind cannot try another may try in its way; then it is tried.
    tried = {*map(str, trials)}
    untried = [cell for cell in untried if cell.fault not in tried]
    if choice is not None:
        trials = _chosen(trials, choice, base.seed)
        untried = [cell for cell in untried if choice.only in cell.fault]
        notes = [note for note in notes if choice.only in note]
    return TestMatrix(tuple(trials), tuple(untried), tuple(notes))


def _variations(base: Outcome, clues: HookTraits) -> tuple[list[Varied], list[str]]:
    varied: list[Varied] = []
    notes: list[str] = []
    for wish in base.scenario.vary:
        wanted = replace(base, scenario=replace(base.scenario, vary=(wish,)))
        found, why = plan(wanted, clues)
        varied += [Varied(wish.kind, one) for one in found]
        notes += why
    return varied, notes


def _chosen(trials: Sequence[Trial], choice: TrialSelection, seed: int) -> list[Trial]:
    named = [trial for trial in trials if choice.only in str(trial)]
    exact = [trial for trial in named if choice.only == str(trial)]
    drawn = sorted(exact or named, key=lambda trial: derive_digest(seed, trial.cause, str(trial)))
    return [*_in_turns(drawn)][: choice.most]


def _in_turns(trials: Sequence[Trial]) -> Iterator[Trial]:
    kinds: dict[str, list[Trial]] = {}
    for trial in trials:
        kinds.setdefault(trial.cause, []).append(trial)
    for row in zip_longest(*kinds.values()):
        yield from (trial for trial in row if trial is not None)
