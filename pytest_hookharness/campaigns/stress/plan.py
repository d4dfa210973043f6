"""
The test matrix: every trial of a scenario, one difference at a time, and their order.

One seed gives one order. With a selection, families take turns, so that a budget that ends early leaves out
some mutations of each family and no family as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from pytest_hookharness.campaigns.stress import mutations
from pytest_hookharness.campaigns.stress.hook_traits import HookTraits
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.hosts.session_state.facts import derive_digest
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import Parallel, TrialResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.simulation.testbed.run_settings import TrialSelection

# The family of parallel hook runs in tables.
RACE = "parallel"


@dataclass(frozen=True, slots=True)
class TestMatrix:
    """
    What is tried, and what cannot be tried.

    Attributes:
        trials: The mutations, in order.
        untried: Mutations that cannot be tried here, each with its reason.
        notes: What else cannot be tried, in sentences.
        race: Parallel hook runs that are tried as well; ``None`` for none.
    """

    trials: tuple[Mutation, ...] = ()
    untried: tuple[TrialResult, ...] = ()
    notes: tuple[str, ...] = ()
    race: Parallel | None = None

    @property
    def begun(self) -> tuple[int, ...]:
        """The places of the trials in the order in which they begin: those that wait first."""
        return tuple(sorted(range(len(self.trials)), key=lambda place: not self.trials[place].waits))

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """Family and words of everything that is tried, each once, as in the table of what was tried."""
        race = () if self.race is None else ((RACE, str(self.race)),)
        return tuple(dict.fromkeys((*((trial.family, str(trial)) for trial in self.trials), *race)))


def plan_trials(outcome: Outcome, traits: HookTraits) -> tuple[list[Mutation], list[NotTried]]:
    """Return the mutations that a scenario asks for, and what of them cannot be tried."""
    planned = [
        one
        for request in outcome.scenario.vary
        for family in mutations.FAMILIES
        for one in family.plan(request, outcome, traits)
        # Only the word `faults` stands for several families; its names choose among them.
        if request.family != "faults" or not request.names or one.family in request.names
    ]
    trials = [one for one in planned if isinstance(one, Mutation)]
    # What must not matter is cheaper to try than faults, so it comes first.
    trials.sort(key=lambda trial: trial.as_fault)
    return trials, [one for one in planned if isinstance(one, NotTried)]


def draw_up(base: Outcome, traits: HookTraits, selection: TrialSelection | None) -> TestMatrix:
    """
    Return the test matrix of a scenario that was run once.

    Args:
        base: What that run showed.
        traits: What its hooks suggest to try.
        selection: Which trials to keep; ``None`` for all.
    """
    trials, left_out = plan_trials(base, traits)
    # What one family cannot try, another may try in its own way.
    tried = {*map(str, trials)}
    untried = [one.result for one in left_out if one.mutation and one.mutation not in tried]
    notes = [str(one) for one in left_out if not one.mutation]
    race = base.scenario.parallel
    if selection is not None:
        by_family = selection.only in {
            RACE,
            *(trial.family for trial in trials),
            *(one.family for one in left_out),
        }

        def chosen(family: str, words: str) -> bool:
            return selection.only == family if by_family else selection.only in words

        trials = _select([one for one in trials if chosen(one.family, str(one))], selection, base.seed)
        untried = [one for one in untried if chosen(one.family, one.mutation)]
        notes = [str(one) for one in left_out if not one.mutation and chosen(one.family, str(one))]
        race = race if chosen(RACE, str(race)) and len(trials) != selection.most else None
    return TestMatrix(tuple(trials), tuple(untried), tuple(dict.fromkeys(notes)), race)


def _select(trials: Sequence[Mutation], selection: TrialSelection, seed: int) -> list[Mutation]:
    exact = [trial for trial in trials if selection.only == str(trial)]
    drawn = sorted(exact or trials, key=lambda trial: derive_digest(seed, trial.family, str(trial)))
    return [*_in_turns(drawn)][: selection.most]


def _in_turns(trials: Sequence[Mutation]) -> Iterator[Mutation]:
    families: dict[str, list[Mutation]] = {}
    for trial in trials:
        families.setdefault(trial.family, []).append(trial)
    for row in zip_longest(*families.values()):
        yield from (trial for trial in row if trial is not None)
