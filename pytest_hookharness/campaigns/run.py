"""
A scenario with everything it asks for: its own run, and the campaigns `vary`, `explore` and `parallel`.

Each campaign is imported only if a scenario asks for it: most do not, and the modules are many.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_hookharness.judging.verdict.conclusion import judge_explored
from pytest_hookharness.model.exploration import Exploration, ExploreOptions
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Hung, Livelock, Recursing
from pytest_hookharness.simulation.loop import Observer, OnProbe, OnTurn
from pytest_hookharness.simulation.parallel_jobs import TrialRunner
from pytest_hookharness.simulation.simulate import simulate as simulate_one
from pytest_hookharness.simulation.single_run import Resources, run_once
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings
from pytest_hookharness.simulation.testbed.testbed import Testbed

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pytest_hookharness.campaigns.stress.first_run import HookTraits
    from pytest_hookharness.campaigns.stress.plan import TestMatrix
    from pytest_hookharness.campaigns.stress.stress_run import OnTrial

# Seconds in which a testbed for suggestions is opened, whatever is left of the budget.
_OPENING = 1.0


def simulate(
    scenario: Scenario,
    settings: Settings,
    resources: Resources,
    *,
    on_turn: OnTurn | None = None,
    on_trial: OnTrial | None = None,
    on_probe: OnProbe = lambda: None,
    executor: Executor | None = None,
    observer: Observer | None = None,
) -> Outcome:
    """
    Simulate a scenario, then everything that its keys `vary`, `explore` and `parallel` ask for.

    Args:
        on_turn: Called after each turn with its number and the number of hook runs so far.
        executor: Runs mutations and explores in other processes; ``None`` for this one.

    Raises:
        Interrupted: Ctrl-C; carries what was seen until then.
        NoFreeSlot: Other simulations used the processor time that a hook run needed.
        SimulationError: The scenario asks for something that the harness cannot do.
        hosts.UnknownHost, agents.UnknownBehaviour: The scenario names one that does not exist.
        WorkspaceError: The workspace could not be made, read or removed.
        ExecutionError: The supervisor was lost, or the tier is not available.
    """
    _check(scenario)
    until = time.monotonic() + settings.wall
    traits: list[HookTraits] = []
    stressed = bool(scenario.vary) or scenario.parallel is not None
    outcome = simulate_one(
        scenario,
        settings,
        resources,
        on_turn=on_turn,
        on_probe=on_probe,
        observer=observer,
        before_close=partial(_collect_traits, traits) if stressed else None,
        check=scenario.origin is not None,  # one made in Python may be about a hook that does not exist
    )
    rerun = settings.of_rerun(outcome)

    def rest() -> Settings:
        return replace(rerun, wall=max(0.0, until - time.monotonic()))

    if stressed:
        outcome = _vary(
            outcome, traits[0], rest(), TrialRunner(outcome.scenario, resources, executor), on_trial
        )
    if scenario.explore is not None:
        outcome = _explore(outcome, scenario.explore, rest(), resources, executor)
    if observer is not None:
        observer.end(outcome)
    return outcome


def plan_trials(scenario: Scenario, settings: Settings, resources: Resources) -> TestMatrix:
    """
    Return the trials that `vary` would make of a scenario, without making them.

    The scenario itself runs once, because what its hooks do decides which trials make sense.

    Raises:
        Interrupted: Ctrl-C.
    """
    from pytest_hookharness.campaigns.stress.plan import draw_up

    traits: list[HookTraits] = []
    run = run_once(scenario, settings, resources, before_close=partial(_collect_traits, traits))
    return draw_up(run.outcome, traits[0], settings.choice)


def _check(scenario: Scenario) -> None:
    if scenario.explore is not None:
        from pytest_hookharness.campaigns.explore.explorer import check_explorable

        check_explorable(scenario)


def _collect_traits(traits: list[HookTraits], testbed: Testbed, outcome: Outcome) -> None:
    from pytest_hookharness.campaigns.stress.first_run import HookTraits

    traits.append(HookTraits.of(testbed, outcome.trace))


def _vary(
    outcome: Outcome,
    traits: HookTraits,
    settings: Settings,
    runner: TrialRunner,
    on_trial: OnTrial | None,
) -> Outcome:
    """Simulate a scenario again with one mutation at a time, and run its hooks in parallel."""
    from pytest_hookharness.campaigns.stress.stress_run import vary

    latest = outcome

    def note_trial(seen: Outcome, made: int, total: int) -> None:
        nonlocal latest
        latest = seen
        if on_trial is not None:
            on_trial(seen, made, total)

    try:
        return vary(outcome, traits, runner, settings, note_trial)
    except KeyboardInterrupt:
        raise Interrupted(latest) from None


def _doubt(outcome: Outcome, explored: Exploration) -> str:
    """Return why another try might lead out of the lock-out, as a clause; empty if no reason is known."""
    from pytest_hookharness.judging.findings.finding_catalogue import FLAKY
    from pytest_hookharness.simulation.left_running import describe_left

    if explored.trap is None:
        return ""
    met = (step for successor in explored.trap.met for step in successor.steps)
    steps = (*explored.trap.trace.steps, *met)
    if isinstance(outcome.verdict, Livelock) and outcome.verdict.evidence == "driven":
        return f"the decision could depend on {' and '.join(outcome.verdict.matters)}"
    if outcome.chance:
        return f"the hooks draw random numbers ({outcome.chance})"
    if any(finding.name == FLAKY.name for finding in outcome.findings):
        return "the scenario's own session did not go the same way twice (FLAKY)"
    return describe_left(Trace(steps=steps))


def _explore(
    outcome: Outcome,
    options: ExploreOptions,
    settings: Settings,
    resources: Resources,
    executor: Executor | None,
) -> Outcome:
    """Find out which states an agent with free choice can reach with the hooks of a scenario."""
    from pytest_hookharness.campaigns.explore.candidate_moves import suggest
    from pytest_hookharness.campaigns.explore.expansion import expand_here, expand_with
    from pytest_hookharness.campaigns.explore.explorer import Explorer

    if isinstance(outcome.verdict, Hung | Recursing):
        return outcome
    scenario = outcome.scenario
    seconds = min(options.seconds, settings.wall)
    try:
        # Even with no time left, the outcome says what was not explored.
        opening = replace(settings, wall=max(_OPENING, settings.wall))
        with resources.open(replace(scenario, explore=None), opening) as (testbed, _):
            suggestions = suggest(testbed)
        expand_all = partial(expand_here, resources) if executor is None else expand_with(executor)
        explorer = Explorer(scenario, settings, suggestions, expand_all, seconds=seconds)
        explored = explorer.explore(outcome)
        outcome = judge_explored(outcome, explored, _doubt(outcome, explored))
    except KeyboardInterrupt:
        raise Interrupted(outcome) from None
    if explorer.interrupted:
        raise Interrupted(outcome)
    return outcome
