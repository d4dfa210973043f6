"""
Simulations: a scenario played to its verdict, and the runs it is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import agents
from pytest_hookharness.campaigns.explore.candidate_moves import suggest
from pytest_hookharness.campaigns.explore.expansion import ExpansionTask, expand
from pytest_hookharness.campaigns.explore.explorer import Explorer, check_explorable, with_executor
from pytest_hookharness.campaigns.stress.hook_traits import HookTraits
from pytest_hookharness.campaigns.stress.plan import TestMatrix, draw_up
from pytest_hookharness.campaigns.stress.stress_run import OnTrial, TrialRunner, vary
from pytest_hookharness.campaigns.stress.trial import TrialOutcome
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.judging.expectations import check_expectations
from pytest_hookharness.judging.verdict.conclusion import judge_explored
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.model.exploration import Expansion, ExploreOptions
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.verdicts import Capped, Hung, Livelock, Recursing, Terminated
from pytest_hookharness.simulation.background.threads import ThreadSessions
from pytest_hookharness.simulation.background.tracking import with_detach
from pytest_hookharness.simulation.loop import Loop, OnProbe, OnTurn
from pytest_hookharness.simulation.parallel_jobs import stays_apart, work
from pytest_hookharness.simulation.probing import time_shift
from pytest_hookharness.simulation.session.observers import Observer
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings
from pytest_hookharness.simulation.testbed.testbed import Testbed
from pytest_hookharness.simulation.testbed.validation import check_references


def simulate(
    scenario: Scenario,
    *,
    settings: Settings,
    supervisor: Supervisor,
    base: Path,
    behaviours: Mapping[str, agents.BehaviourFunction] | None = None,
    on_turn: OnTurn | None = None,
    on_trial: OnTrial | None = None,
    on_probe: OnProbe = lambda: None,
    slot: CpuSlot | None = None,
    executor: Executor | None = None,
    witness: Observer | None = None,
) -> Outcome:
    """
    Play a scenario to its verdict.

    Args:
        scenario: What to play.
        settings: The settings of the run.
        supervisor: Who keeps the processes.
        base: Folder below which everything is written.
        behaviours: The agent behaviours that are known; those that ship with the harness by default.
        on_turn: Called after each turn with its number and the number of fires so far.
        on_trial: Called after each trial with what was seen so far, how many were made, and of how many.
        on_probe: Called after each experiment on a saved state.
        slot: Its place among simulations that are played at the same time; ``None`` if it is the only one.
        executor: Who explores what is to be explored, in other processes; ``None`` for this one.
        witness: Is told of the scenario's own run, step by step.

    Raises:
        Interrupted: Ctrl-C; it carries what was seen.
        Crowded: Others of those simulations took the time that a fire needed.
        SimulationError: The scenario asks for what the harness does not know how to do.
        hosts.UnknownHost: The scenario names a host that nobody knows.
        agents.UnknownBehaviour: Its behaviour is not known.
        WorkspaceError: The workspace could not be made, read or removed.
        ExecutionError: The supervisor was lost, or the tier is not to be had.
    """
    scenario = with_detach(scenario)
    check_explorable(scenario)
    run = _Run(supervisor, base, behaviours, slot)
    outcome, timely = run.play(scenario, settings, on_turn, on_probe, witness)
    run.seen = outcome
    again = _again(outcome, settings)
    # Covered folders are the developer's own: nothing is played on them a second time.
    if timely and settings.probes and not scenario.cover:
        finding = time_shift.compare(outcome, lambda pace: run.age(replace(scenario, pace=pace), again))
        outcome = check_expectations.with_findings(outcome, () if finding is None else (finding,))
    if scenario.vary or scenario.parallel is not None:
        outcome = run.vary(outcome, replace(again, wall=max(0.0, settings.wall - outcome.wall)), on_trial)
    if scenario.explore is not None:
        outcome = run.explore(outcome, again, scenario.explore, executor)
    if witness is not None:
        witness.end(outcome)
    return outcome


def lay_out(scenario: Scenario, *, settings: Settings, supervisor: Supervisor, base: Path) -> TestMatrix:
    """
    What would be different, one thing at a time, if a scenario were played that is to be varied.

    It is played once as it is, for what makes sense to try is seen by what its hooks do.

    Raises:
        Interrupted: Ctrl-C.
    """
    run = _Run(supervisor, base, None, None)
    outcome, _ = run.play(scenario, settings)
    return draw_up(outcome, run.clues, settings.choice)


def _again(outcome: Outcome, settings: Settings) -> Settings:
    """
    The settings for another run of the same scenario: as many turns as show whether it goes otherwise.
    """
    most = outcome.scenario.turns if settings.turns is None else settings.turns
    return replace(settings, turns=min(most, 3 * outcome.iterations + 5), probes=False, keep=False)


class _Run:
    """
    All that is played for one scenario: the scenario itself, and then others that are like it.

    Attributes:
        seen: What was seen of the scenario itself, which is told if the others are interrupted.
        clues: What its hooks suggest to try otherwise.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        base: Path,
        behaviours: Mapping[str, agents.BehaviourFunction] | None,
        slot: CpuSlot | None,
    ) -> None:
        self.seen: Outcome | None = None
        self.clues = HookTraits()
        self._supervisor = supervisor
        self._base = base
        self._behaviours = behaviours
        self._seat = slot

    @contextmanager
    def open(self, scenario: Scenario, settings: Settings) -> Generator[tuple[Testbed, agents.Agent]]:
        """
        Set the stage for one scenario.
        """
        agent = agents.start(scenario.script, self._behaviours)
        with Testbed.open(scenario, settings, self._supervisor, self._base, self._seat) as stage:
            check_references(scenario, stage.profile, stage.configuration)
            yield stage, agent

    def explore(
        self, outcome: Outcome, settings: Settings, wish: ExploreOptions, executor: Executor | None
    ) -> Outcome:
        """
        Find out what an agent that is free could bring about with the hooks of a scenario.
        """
        scenario = outcome.scenario
        if isinstance(outcome.verdict, Hung | Recursing):
            return outcome
        seconds = min(wish.seconds, max(0.0, settings.wall - outcome.wall))
        try:
            with self.open(replace(scenario, explore=None), settings) as (stage, _):
                suggestions = suggest(stage)
            work = self._expand_all if executor is None else with_executor(executor)
            explorer = Explorer(scenario, settings, suggestions, work, seconds=seconds)
            outcome = judge_explored(outcome, explorer.explore(outcome))
        except KeyboardInterrupt:
            raise Interrupted(outcome) from None
        if explorer.interrupted:
            raise Interrupted(outcome)
        return outcome

    def _expand_all(self, errands: Sequence[ExpansionTask]) -> Generator[tuple[int, Expansion]]:
        """
        Do errands, as many at once as there are processors where they share nothing.
        """
        first = errands[0]
        if (
            len(errands) == 1
            or self._seat is not None
            or not stays_apart(first.scenario, first.settings.tier, self._supervisor)
        ):
            for place, errand in enumerate(errands):
                yield place, expand(errand, self._supervisor, self._base, self._seat)
            return

        def with_seat(errand: ExpansionTask) -> Callable[[CpuSlot, Path], Expansion]:
            return lambda slot, base: expand(errand, self._supervisor, base, slot)

        yield from work([*map(with_seat, errands)], self._base)

    def vary(self, outcome: Outcome, settings: Settings, on_trial: OnTrial | None) -> Outcome:
        """
        Play a scenario again with one thing different at a time.
        """

        def note(seen: Outcome, made: int, number: int) -> None:
            self.seen = seen
            if on_trial is not None:
                on_trial(seen, made, number)

        try:
            return vary(outcome, self.clues, self, settings, note)
        except KeyboardInterrupt:
            raise Interrupted(self.seen or outcome) from None

    def side_by_side(
        self, jobs: Sequence[Callable[[TrialRunner], TrialOutcome]], settings: Settings
    ) -> Generator[tuple[int, TrialOutcome]]:
        """
        Do jobs, each in a theatre of its own, as many at once as there are processors.
        """
        scenario = self.seen.scenario if self.seen is not None else None
        alone = scenario is None or not stays_apart(scenario, settings.tier, self._supervisor)
        if self._seat is not None or alone:
            yield from ((place, job(self)) for place, job in enumerate(jobs))
            return

        def with_seat(job: Callable[[TrialRunner], TrialOutcome]) -> Callable[[CpuSlot, Path], TrialOutcome]:
            return lambda slot, base: job(_Run(self._supervisor, base, self._behaviours, slot))

        yield from work([*map(with_seat, jobs)], self._base)

    def play(
        self,
        scenario: Scenario,
        settings: Settings,
        on_turn: OnTurn | None = None,
        on_probe: OnProbe = lambda: None,
        witness: Observer | None = None,
        *,
        ageing: bool = False,
    ) -> tuple[Outcome, bool]:
        """
        Play one scenario; tell besides whether there is reason to ask how it would go at another pace.
        """
        watching = witness or Observer()
        with self.open(scenario, settings) as (stage, agent):
            watching.begin(stage)
            loop = (
                ThreadSessions(stage, agent, self._supervisor, on_turn, watching)
                if scenario.processes
                else Loop(stage, agent, on_turn, watching, on_probe, ageing=ageing)
            )
            try:
                end = loop.play()
            except KeyboardInterrupt:
                seen = self.seen or loop.conclude(RunEnd(how="interrupted", turn=loop.turn))
                raise Interrupted(seen) from None
            outcome = loop.conclude(end)
            doubt = self._doubt(outcome, settings) if stage.workspace.clock.moved else ""
            if doubt:
                outcome = loop.conclude(RunEnd(how="disagreed", turn=loop.turn, why=doubt))
            if settings.keep and not outcome.passed:
                outcome = replace(outcome, kept_workspace=str(stage.workspace.keep()))
            if scenario.vary:
                self.clues = HookTraits.of(stage, outcome.trace)
            return outcome, loop.timely

    def age(self, scenario: Scenario, settings: Settings) -> Outcome:
        """
        Play one scenario whose time passes by everything becoming older.
        """
        return self.play(scenario, settings, ageing=True)[0]

    def _doubt(self, outcome: Outcome, settings: Settings) -> str:
        # Covered folders are the developer's own: nothing is played on them a second time.
        told = isinstance(outcome.verdict, Terminated | Capped | Livelock)
        if not told or not settings.probes or outcome.scenario.cover:
            return ""
        self.seen = outcome
        # Times of files are no part of the state, which may come again while they become older.
        further = replace(outcome.scenario, until="guard")
        return time_shift.find_doubt(outcome, self.age(further, _again(outcome, settings)))
