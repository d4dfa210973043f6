"""One scenario from its testbed to its outcome, and further runs that it is compared with."""

from __future__ import annotations

from pytest_hookharness.judging.verdict.conclusion import judge_without_cap, may_be_repeated
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import AssumedCap, Scenario
from pytest_hookharness.model.time_budget import remaining
from pytest_hookharness.model.verdicts import Capped
from pytest_hookharness.simulation.loop import Observer, OnProbe, OnTurn
from pytest_hookharness.simulation.single_run import BeforeClose, Resources, SingleRun, rerun, run_once
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings

# How often a session of hooks that draw random numbers is played again, the part of the time left for it, and
# the seconds that it may take where the first play took less.
_MOST_REPEATS, _REPEATING, _SHORT = 8, 1 / 4, 2.0


def simulate(
    scenario: Scenario,
    settings: Settings,
    resources: Resources,
    *,
    on_turn: OnTurn | None = None,
    on_probe: OnProbe = lambda: None,
    observer: Observer | None = None,
    before_close: BeforeClose | None = None,
    check: bool = False,
) -> Outcome:
    """
    Run one scenario, and compare it with runs at other times if its hooks may read the clock.

    Args:
        on_turn: Called after each turn with its number and the number of hook runs so far.
        on_probe: Called after each probe.
        observer: Hears of each step of the scenario's own run, and not about runs for comparison.
        before_close: Called once the scenario's own run is judged.
        check: Refuse a scenario if a program of its hooks certainly exists nowhere.

    Raises:
        Interrupted: Ctrl-C; carries what was seen until then.
        SimulationError: The scenario asks for something that the harness cannot do.
    """
    settings = replace(settings, lead=max(settings.lead, settings.wall))
    run = run_once(
        scenario,
        settings,
        resources,
        on_turn=on_turn,
        on_probe=on_probe,
        observer=observer,
        before_close=before_close,
        check=check,
    )
    run = _with_hooks_alone(run, scenario, settings, resources)
    # Covered folders are the developer's own: nothing runs on them a second time.
    compared = settings.probes and settings.paces and not scenario.cover
    if compared and may_be_repeated(run.outcome) and not run.tried:
        run = _with_repeats(run, scenario, settings, resources)
    if not compared or not (run.time_may_matter or run.clock_uses or run.running_clocks):
        return replace(run.outcome, wall=run.used)
    # Most runs need no comparison.
    from pytest_hookharness.simulation.other_times import OtherTimes

    try:
        return OtherTimes(run, scenario, settings, resources).compare()
    except KeyboardInterrupt:
        raise Interrupted(run.outcome) from None


def _with_hooks_alone(
    run: SingleRun, scenario: Scenario, settings: Settings, resources: Resources
) -> SingleRun:
    """Return a run that the host's cap ended with what its hooks do without the cap, if that is unknown."""
    verdict, left = run.outcome.verdict, min(settings.wall - run.used, remaining())
    # A run until the cap was asked for as just that, and covered folders are the developer's own.
    if scenario.until == "guard" or scenario.cover or not settings.probes:
        return run
    if not isinstance(verdict, Capped) or not verdict.without.is_open or verdict.status:
        return run
    rest = replace(settings, wall=left, keep=False)
    try:
        alone = rerun(replace(scenario, cap=AssumedCap()), rest, resources)
    except KeyboardInterrupt:
        raise Interrupted(run.outcome) from None
    if alone is None:
        return replace(run, used=settings.wall)
    outcome = judge_without_cap(run.outcome, alone.outcome)
    return replace(run, outcome=outcome, used=run.used + alone.used)


def _with_repeats(run: SingleRun, scenario: Scenario, settings: Settings, resources: Resources) -> SingleRun:
    """Return a run with how its session goes when it is played again, if its hooks draw random numbers."""
    from pytest_hookharness.judging.verdict.conclusion import differ, judge_repeats, was_cut
    from pytest_hookharness.judging.verdict.run_end import doubt_of_hook_runs

    if was_cut(run.outcome):
        return run
    given, used = min(_REPEATING * min(settings.wall - run.used, remaining()), max(_SHORT, run.used)), 0.0
    again, repeats = settings.of_rerun(run.outcome), list[Outcome]()
    try:
        while used < given and len(repeats) < _MOST_REPEATS and not differ(run.outcome, repeats):
            repeat = rerun(replace(scenario, until="guard"), replace(again, wall=given - used), resources)
            used += given if repeat is None else repeat.used
            # After a cut by our own time limit, the course of the run is unknown.
            if repeat is not None and not doubt_of_hook_runs(repeat.outcome.trace):
                repeats.append(repeat.outcome)
    except KeyboardInterrupt:
        raise Interrupted(run.outcome) from None
    run = replace(run, outcome=judge_repeats(run.outcome, repeats), used=run.used + used)
    # If one differs, a play at another time differs by chance as well, unless the clock is what decides.
    by_chance = differ(run.outcome, repeats) and not run.clock_uses
    return replace(run, time_may_matter=False) if by_chance else run
