"""Which trials a matrix has, and in which order."""

import os
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.stress.first_run import HookTraits
from pytest_hookharness.campaigns.stress.plan import draw_up
from pytest_hookharness.model.mutations import Parallel, VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.simulation.testbed.run_settings import TrialSelection

REQUESTS = tuple(map(VaryRequest, ("key-order", "unset", "shells", "processes", "stdin", "faults")))
BASE = Outcome(
    scenario=Scenario(name="test", vary=REQUESTS),
    host="claude-code@1",
    trace=Trace(),
    verdict=Terminated(turn=1),
)


@pytest.fixture
def words():
    """The trials of a matrix in words, in order."""

    def draw(choice=None, seed=0):
        matrix = draw_up(replace(BASE, seed=seed), HookTraits(), choice)
        return [str(trial) for trial in matrix.trials]

    return draw


def test_one_seed_gives_one_order(words):
    """The same seed gives the same order of the same trials, and another seed another order of them."""
    first = words(TrialSelection(), 3)

    assert first == words(TrialSelection(), 3)
    assert first != words(TrialSelection(), 4)
    assert sorted(first) == sorted(words(TrialSelection(), 4)) == sorted(words())


def test_families_take_turns():
    """The beginning of a matrix has one trial of each family, so that a short budget leaves out no family."""
    matrix = draw_up(BASE, HookTraits(), TrialSelection())
    families = {trial.family for trial in matrix.trials}

    assert {trial.family for trial in matrix.trials[: len(families)]} == families


def test_what_one_family_tries_is_not_called_untried_by_another():
    """A shell that one family tries is not reported as untried because another family cannot try it."""

    def untried(*families):
        scenario = replace(BASE.scenario, vary=tuple(map(VaryRequest, families)))
        return [row.mutation for row in draw_up(replace(BASE, scenario=scenario), HookTraits(), None).untried]

    tried = {str(trial) for trial in draw_up(BASE, HookTraits(), None).trials}
    assert "the shell `dash`" in tried
    assert not tried & {*untried("shells", "stdin", "faults")}


def test_a_choice_is_the_beginning_of_the_order(words):
    """If the number of trials is limited, the first ones are tried."""
    assert words(TrialSelection(most=4)) == words(TrialSelection())[:4]


def test_a_race_is_selected_like_a_mutation():
    """Parallel hook runs are a row of the matrix, unless the selection has other words or is full."""
    base = replace(BASE, scenario=replace(BASE.scenario, parallel=Parallel()))
    row = ("parallel", "8 hook runs side by side")

    assert draw_up(base, HookTraits(), None).rows[-1] == row
    assert draw_up(base, HookTraits(), TrialSelection(only="side by side")).rows == (row,)
    assert row not in draw_up(base, HookTraits(), TrialSelection(only="standard input")).rows
    assert len(draw_up(base, HookTraits(), TrialSelection(most=4)).rows) == 4


def test_the_same_words_mean_that_trial_alone(words):
    """Words choose all trials that hold them, but only the one that is just called so if there is one."""
    whole = "standard input that is closed"

    assert words(TrialSelection(only=whole)) == [whole]
    assert len(words(TrialSelection(only="standard input that"))) > 3
    assert words(TrialSelection(only="nobody calls a trial so")) == []


def test_the_name_of_a_family_selects_the_family():
    """A family is selected by its name, with what it cannot try, although the words of others contain it."""
    matrix = draw_up(BASE, HookTraits(), None)
    expected = {str(trial) for trial in matrix.trials if trial.family == "stdin"}
    chosen = draw_up(BASE, HookTraits(), TrialSelection(only="stdin"))
    race = replace(BASE, scenario=replace(BASE.scenario, parallel=Parallel()))

    assert {str(trial) for trial in chosen.trials} == expected != set()
    assert {trial.family for trial in chosen.trials} == {"stdin"}
    assert {row.family for row in chosen.untried} <= {"stdin"}
    assert draw_up(race, HookTraits(), TrialSelection(only="parallel")).rows == (
        ("parallel", "8 hook runs side by side"),
    )


def test_no_row_is_listed_twice():
    """What several requests try is one row of the plan, as in the table of what was tried."""
    traits = HookTraits(words=frozenset({"git"}), environment=os.environ)
    requests = tuple(map(VaryRequest, ("tools", "faults", "tools")))
    matrix = draw_up(replace(BASE, scenario=replace(BASE.scenario, vary=requests)), traits, None)

    assert [row for row in matrix.rows if matrix.rows.count(row) > 1] == []
    assert [note for note in matrix.notes if matrix.notes.count(note) > 1] == []
    assert ("tools", "no `git` on the PATH") in matrix.rows


def test_what_waits_begins_first():
    """Trials that wait most of their time begin first, and otherwise the order stays."""
    matrix = draw_up(BASE, HookTraits(words=frozenset({"git"}), environment=os.environ), None)
    words = [str(matrix.trials[place]) for place in matrix.begun]
    waiting = [
        "nothing after it",
        "never closed",
        "after 200 ms",
        "after 500 ms",
        "pieces of 64 bytes",
        "`git` that never returns",
    ]

    assert sorted(matrix.begun) == [*range(len(matrix.trials))]
    assert all(any(end in word for word in words[: len(waiting)]) for end in waiting), words
    assert words[len(waiting) :] == [str(one) for one in matrix.trials if str(one) in words[len(waiting) :]]
