"""One mutation is one file: every family in the registry is planned, run and reported."""

import ast
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import pytest_hookharness
from pytest_hookharness.campaigns.stress import mutations
from pytest_hookharness.campaigns.stress.first_run import HookTraits
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.campaigns.stress.plan import draw_up, plan_trials
from pytest_hookharness.campaigns.stress.stress_run import vary
from pytest_hookharness.judging.comparison.traces import by_decision
from pytest_hookharness.judging.findings.codes import STRICT_SHELL
from pytest_hookharness.model.mutations import FAULT_FAMILIES, VARY_FAMILIES, VaryRequest
from pytest_hookharness.reports.terminal.campaign_report import table
from pytest_hookharness.simulation.testbed.run_settings import Settings

ROOT = Path(pytest_hookharness.__file__).parent
MOODY = "case $MOOD in good) exit 0 ;; esac; echo no >&2; exit 2"


@dataclass(frozen=True, slots=True)
class Mood(Mutation, family="mood"):
    """A variable that must not matter, which no module of the package knows."""

    mood: str

    def __str__(self):
        return f"a {self.mood} mood"

    @property
    def subject(self):
        return self.mood

    def apply(self, scenario, _replay):
        return replace(scenario, env={**scenario.env, "MOOD": self.mood})

    def look(self, pair):
        return by_decision(STRICT_SHELL, pair)


@dataclass(frozen=True, slots=True)
class MoodFault(Mood, family="mood", fault=True):
    """The same variable, judged as a fault."""


@dataclass
class Runner:
    """Runs each trial with the harness of the test, one after the other."""

    harness: object
    until: float = 0.0

    def simulate(self, scenario, _):
        return self.harness.simulate(scenario)

    def side_by_side(self, jobs, _):
        yield from ((place, job(self)) for place, job in enumerate(jobs))


def register(monkeypatch, *planned):
    """Make a family the only one, and have it plan these mutations for its own word."""

    def plan(request, _outcome, _traits):
        yield from planned if request.family == "mood" else ()

    monkeypatch.setattr(mutations, "FAMILIES", (plan,))


@pytest.fixture
def moody(play):
    """A run of a scenario whose hook refuses a call in any mood but a good one."""
    agent = [{"run": "rm -rf x", "expect": "deny"}, {"stop": "Done."}]
    base = play(agent=agent, hooks={"PreToolUse": MOODY})
    return replace(base, scenario=replace(base.scenario, vary=(VaryRequest("mood"),)))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "outcome", "finding"),
    [(Mood, "fail-open", "STRICT-SHELL"), (MoodFault, "fail-open", "FAILS-OPEN")],
)
def test_a_registered_mutation_is_planned_run_and_reported(
    monkeypatch, harness, moody, kind, outcome, finding
):
    """A family in the registry is enough for plan, runs, findings, notes and table."""
    register(monkeypatch, kind("good"), kind("bad"), NotTried("mood", "there is none", "a mixed mood"))
    matrix = draw_up(moody, HookTraits(), None)
    seen = vary(moody, HookTraits(), Runner(harness), Settings())
    rows = {row.mutation: row.outcome for row in seen.trial_results}

    assert matrix.rows == (("mood", "a good mood"), ("mood", "a bad mood"))
    assert rows == {"a good mood": outcome, "a bad mood": "as declared", "a mixed mood": "not tried"}
    assert [one.name for one in seen.findings] == [finding]
    assert "Not tried (mood): a mixed mood: there is none." in seen.varied
    assert "a good mood" in table(seen, lambda words: words)


@pytest.mark.nightly
def test_a_mutation_that_must_not_matter_is_listed_by_its_subject(monkeypatch, harness, moody):
    """The list of what was tried needs nothing but family, subject and name."""
    register(monkeypatch, Mood("bad"), Mood("good"))

    assert "Tried: mood bad, good." in vary(moody, HookTraits(), Runner(harness), Settings()).varied


def test_every_word_of_the_scenario_file_means_something(moody):
    """Each word of `vary` and each family of faults is answered by a family of the registry."""
    for word in VARY_FAMILIES:
        wanted = replace(moody, scenario=replace(moody.scenario, vary=(VaryRequest(word),)))
        trials, untried = plan_trials(wanted, HookTraits())
        families = {one.family for one in (*trials, *untried)}
        if word == "faults":
            assert families == {*FAULT_FAMILIES}
        elif word != "unset":
            assert families == {word}


@pytest.mark.nightly
def test_lower_packages_know_no_mutation():
    """No class of a mutation is named below the campaigns, so a new one changes nothing there."""
    names = {kind.__name__ for kind in _below(Mutation) if kind.__module__.startswith("pytest_hookharness")}
    below = ("model", "hosts", "agents", "execution", "judging", "scenario_files", "reports", "simulation")
    files = [file for package in below for file in (ROOT / package).rglob("*.py")]
    found = {
        f"{file.relative_to(ROOT)}: {node.id}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Name) and node.id in names
    }

    assert len(names) > 20
    assert not found


def _below(kind):
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)
