"""
The test matrix: every trial of a scenario, one difference at a time, their order, and what all have shown.

One seed gives one order. With a selection, families take turns, so that a budget that ends early leaves out
some mutations of each family and no family as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from pytest_hookharness.campaigns.stress import mutations
from pytest_hookharness.campaigns.stress.first_run import HookTraits
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.campaigns.stress.trial import TrialOutcome, leave
from pytest_hookharness.hosts.session_state.facts import derive_digest
from pytest_hookharness.judging.expectations.check_expectations import with_findings
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import Parallel, TrialResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Finding, Violation
from pytest_hookharness.simulation.testbed.run_settings import TrialSelection

# The family of parallel hook runs in tables.
RACE = "parallel"


@dataclass(frozen=True, slots=True)
class TestMatrix:
    """
    What is tried, and what cannot be tried.

    Attributes:
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
        for plan in mutations.FAMILIES
        for one in plan(request, outcome, traits)
        # Only the word `faults` stands for several families; its names choose among them.
        if request.family != "faults" or not request.names or one.family in request.names
    ]
    trials = [one for one in planned if isinstance(one, Mutation)]
    # Mutations that must not matter are cheaper to try than faults, so they come first.
    trials.sort(key=lambda trial: trial.as_fault)
    return trials, [one for one in planned if isinstance(one, NotTried)]


def draw_up(base: Outcome, traits: HookTraits, selection: TrialSelection | None) -> TestMatrix:
    """Return the test matrix of a scenario that was run once, or of the selected trials."""
    trials, left_out = plan_trials(base, traits)
    # A mutation that one family cannot try may be tried by another family.
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


NO_TIME = "there was no time left"
# The beginning of a note about mutations that were not tried.
OUT_OF_TIME = "Not tried, because the time budget ended:"
_NO_DENIAL = (
    "No payload was refused without a fault, so nothing shows whether a guard still guards with one; "
    "add a call that it must refuse, with `expect: deny`."
)
_MOST_NAMES = 4
_SHOWN = 3


def summarize(
    base: Outcome,
    matrix: TestMatrix,
    tried: Mapping[int, TrialOutcome],
    others: Sequence[TrialOutcome],
) -> Outcome:
    """Return the outcome with the results so far: of planned trials, by their index, and of others."""
    made = [tried.get(place) or leave(trial, NO_TIME) for place, trial in enumerate(matrix.trials)]
    pairs = [*zip(matrix.trials, made, strict=True)]
    shown = [
        (trial, one.finding) for trial, result in pairs for one in result.evidence if one.finding is not None
    ]
    beyond = [finding for result in others for finding in result.findings]
    outcome = with_findings(base, (*join_findings(shown), *beyond))
    rows = (*(row for result in (*made, *others) for row in result.results), *matrix.untried)
    late = sum(_is_late(result) for result in (*made, *others))
    broken = _left_for_lack_of_time(outcome, late, len(matrix.rows))
    return replace(
        outcome,
        varied=(*_notes(matrix, pairs), *(note for result in others for note in result.notes)),
        trial_results=rows,
        violations=(*outcome.violations, *broken),
    )


def join_findings(shown: Iterable[tuple[Mutation, Finding]]) -> Iterator[Finding]:
    """Yield findings of one kind about one hook as one: the first, whose text names the other mutations."""
    alike: dict[tuple[str, str, str], list[tuple[Mutation, Finding]]] = {}
    for trial, finding in shown:
        alike.setdefault((finding.code, finding.hook, trial.group), []).append((trial, finding))
    for same in alike.values():
        first, finding = same[0]
        # A fault may show the same defect with two kinds of payloads.
        others: list[Mutation] = []
        for trial, _ in same:
            if trial != first and trial not in others:
                others.append(trial)
        left = len(others) - _SHOWN
        more = [*map(str, others[:_SHOWN]), *([f"{left} more"] if left > 0 else [])]
        text = f"{finding.text} Also with {'; '.join(more)}." if more else finding.text
        yield replace(finding, text=text, times=1 + len(others))


def _is_late(tried: TrialOutcome) -> bool:
    return any(row.evidence == NO_TIME for row in tried.results)


def _left_for_lack_of_time(outcome: Outcome, late: int, planned: int) -> Iterator[Violation]:
    # Who expects `undecided` has not expected that all was tried.
    if late and outcome.scenario.expect.verdict != "undecided":
        yield Violation(
            path=outcome.scenario.mark("vary"),
            expected="all mutations tried",
            seen=f"{late} of {planned} were not tried, for lack of time; give --hook-budget (--budget) more",
        )


def _notes(matrix: TestMatrix, pairs: Sequence[tuple[Mutation, TrialOutcome]]) -> Iterator[str]:
    invariant = [(trial, result) for trial, result in pairs if not trial.as_fault]
    tried = [trial for trial, result in invariant if not result.impossible and not _is_late(result)]
    late = [trial for trial, result in invariant if _is_late(result)]
    if tried or late:
        yield f"It ran again with {counted(len(tried), 'mutation')}, one at a time."
    if tried:
        yield f"Tried: {list_tried(tried)}."
    if late:
        yield f"{OUT_OF_TIME} {list_tried(late)}."
    yield from matrix.notes
    yield from (note for _, result in pairs for note in result.notes)
    faults = [result for trial, result in pairs if trial.as_fault]
    if faults:
        yield f"{sum(bool(result.evidence) for result in faults)} of {len(faults)} faults were tried."
        if not any(one.payload == "deny" for result in faults for one in result.evidence):
            yield _NO_DENIAL
    rows = [row for result in faults for row in result.results if row.evidence != NO_TIME]
    yield from map(_left_out, (row for row in (*rows, *matrix.untried) if row.outcome == "not tried"))


def _left_out(row: TrialResult) -> str:
    return f"Not tried ({row.family}): {row.mutation}: {row.evidence}."


def list_tried(trials: Iterable[Mutation]) -> str:
    """Return what was tried by family, such as ``key-order; tools jq (missing, failing, hanging)``."""
    families: dict[str, dict[str, list[str]]] = {}
    for trial in trials:
        families.setdefault(trial.family, {}).setdefault(trial.subject, []).append(trial.name)
    return "; ".join(f"{family} {_subjects(subjects)}".rstrip() for family, subjects in families.items())


def _subjects(subjects: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{subject} {_names(names)}".strip() for subject, names in subjects.items())


def _names(names: Sequence[str]) -> str:
    different = [*filter(None, dict.fromkeys(names))]
    if len(different) > _MOST_NAMES:
        return f"({len(different)} ways)"
    return f"({', '.join(different)})" if different else ""
