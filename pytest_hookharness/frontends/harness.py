"""The engine as pytest and the shell command use it: one supervisor, many simulations."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_hookharness import agents, hosts
from pytest_hookharness.agents.behaviours import errors_at
from pytest_hookharness.execution.exhaustion import Exhausted, naming_exhaustion
from pytest_hookharness.execution.processes.sandbox import ExecutionError, Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.frontends.screen import ProgressLine
from pytest_hookharness.model.exploration import ExploreOptions
from pytest_hookharness.model.regex import SlowPattern
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import BudgetEnded
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings, SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pytest_hookharness.campaigns.stress.plan import TestMatrix
    from pytest_hookharness.campaigns.stress.stress_run import OnTrial
    from pytest_hookharness.execution.workspace.disposal import Disposal
    from pytest_hookharness.execution.workspace.scratch_folder import ScratchFolder
    from pytest_hookharness.frontends.replay_command import TraceItem
    from pytest_hookharness.model.outcome import Outcome
    from pytest_hookharness.simulation.loop import Observer
    from pytest_hookharness.simulation.parallel_jobs import RunsAhead, TimedOutcome
    from pytest_hookharness.simulation.single_run import Resources
    from pytest_hookharness.simulation.testbed.spare_testbed import SpareTestbed

# Errors that a person can do something about. Any other is a defect of the harness and keeps its traceback.
USER_ERRORS: tuple[type[Exception], ...] = (
    SimulationError,
    WorkspaceError,
    ExecutionError,
    Exhausted,
    SlowPattern,
    BudgetEnded,
    hosts.UnknownHost,
    agents.UnknownBehaviour,
)
# Stands for every host, at every version that is known.
ALL_HOSTS = "all"


def finding_names() -> Mapping[str, str]:
    """Return the codes and names of findings, each with why a scenario may not expect it; empty if it may."""
    from pytest_hookharness.judging.findings.finding_catalogue import DIVERGE, catalogue

    refused = {DIVERGE: "is found by comparing hosts, not in a single run; give each host its variant"}
    return {word: refused.get(code, "") for code in catalogue() for word in (code.code, code.name)}


def known_behaviours(hook: Any = None) -> Mapping[str, agents.BehaviourFunction]:
    """Return the behaviours that ship with the harness and those that pytest plugins registered."""
    registered = hook.pytest_hook_behaviours() if hook is not None else ()
    return {name: function for known in (agents.BEHAVIOURS, *registered) for name, function in known.items()}


class Harness(AbstractContextManager["Harness"]):
    """
    One supervisor and the settings of a run.

    Attributes:
        interrupted: What was seen of the simulation that Ctrl-C ended.
        fired_scenarios: The scenarios in which tests fired single events, by what they were made of.
    """

    def __init__(
        self,
        settings: Settings,
        hook: Any = None,
        line: ProgressLine | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        """
        Start nothing yet.

        Args:
            hook: pytest's hook relay; ``None`` outside of pytest.
            line: Shows the progress; ``None`` for a line that shows nothing.
            supervisor: One that was started already, and ends with this harness.
        """
        self.settings = settings
        self.interrupted: Outcome | None = None
        self.fired_scenarios: dict[tuple[object, ...], Scenario] = {}
        self._hook = hook
        self._line = line or ProgressLine()
        self._supervisor = supervisor
        self._scratch: ScratchFolder | None = None
        self._disposal: Disposal | None = None
        self._spare: SpareTestbed | None = None
        self._ahead: RunsAhead | None = None

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the supervisor and every process it still has, and remove the scratch folder."""
        with ExitStack() as stack:
            stack.callback(self._remove_scratch)
            if self._supervisor is not None:
                stack.callback(self._supervisor.close)
            if self._disposal is not None:
                stack.callback(self._disposal.close)
                self._disposal = None
            stack.callback(self._end_spare)
            if self._supervisor is not None:
                # It ends while the rest is closed.
                stack.callback(self._supervisor.dismiss)
            # Their threads use all of these, so they go first.
            if self._ahead is not None:
                stack.callback(self._ahead.stop)
            self._supervisor = None

    def _remove_scratch(self) -> None:
        # Kept workspaces lie in it. Without --keep, what is left is from a run that Ctrl-C ended.
        scratch, self._scratch = self._scratch, None
        if scratch is not None:
            scratch.close()

    @property
    def supervisor(self) -> Supervisor:
        """The supervisor, started when it is first needed."""
        if self._supervisor is None:
            self._supervisor = Supervisor()
        return self._supervisor

    @property
    def base(self) -> Path:
        """The folder below which everything is written."""
        if self.settings.base is not None:
            return self.settings.base
        if self._scratch is None:
            from pytest_hookharness.execution.workspace.scratch_folder import ScratchFolder

            self._scratch = ScratchFolder(keep=self.settings.keep)
        return self._scratch.path

    @property
    def disposal(self) -> Disposal | None:
        """Removes workspaces in the background; ``None`` outside of pytest, where few are made."""
        if self._disposal is None and self._hook is not None:
            from pytest_hookharness.execution.workspace.disposal import Disposal

            self._disposal = Disposal(self.base / ".removed")
        return self._disposal

    @property
    def behaviours(self) -> Mapping[str, agents.BehaviourFunction]:
        """The known behaviours, by name."""
        return known_behaviours(self._hook)

    @property
    def resources(self) -> Resources:
        """What a simulation needs besides its scenario and settings."""
        from pytest_hookharness.simulation.single_run import Resources

        return Resources(
            supervisor=self.supervisor,
            base=self.base,
            behaviours=self.behaviours,
            disposal=self.disposal,
        )

    def open_testbed(self, scenario: Scenario) -> Testbed:
        """Set up a testbed in which single events of a scenario are fired."""
        self._end_runs_ahead()
        if self._spare is None:
            from pytest_hookharness.simulation.testbed.spare_testbed import SpareTestbed

            self._spare = SpareTestbed()
        with naming_exhaustion():
            return self._spare.take(scenario) or self._spare.lend(scenario, self._make_testbed(scenario))

    def _make_testbed(self, scenario: Scenario) -> Testbed:
        # Not of `resources`, whose module loads all that plays sessions and judges them.
        return Testbed(scenario, self.settings, self.supervisor, self.base, disposal=self.disposal)

    def give_back(self, testbed: Testbed) -> None:
        """Close a testbed of `open_testbed`, or keep it for the next test if it is as new."""
        if self._spare is not None:
            self._spare.give_back(testbed)

    def _end_spare(self) -> None:
        """Close the testbed that waits for its next test, so that a new workspace may have its name."""
        if self._spare is not None:
            self._spare.close()

    def _end_runs_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead.finish()

    def _be_alone(self) -> None:
        self._end_runs_ahead()
        self._end_spare()

    def simulate(
        self,
        scenario: Scenario,
        on_trial: OnTrial | None = None,
        item: TraceItem | None = None,
        executor: Executor | None = None,
    ) -> Outcome:
        """
        Play a scenario to its verdict, for the item of its file or of a test.

        An executor runs mutations, and expands states of an exploration; ``None`` for this process.
        """
        self._be_alone()
        with self._noting_interrupts(), self._line.about(scenario.id):
            return self._simulate(scenario, self.base, on_trial=on_trial, item=item, executor=executor)

    def plan_trials(self, scenario: Scenario) -> TestMatrix:
        """Return the trials that a scenario with ``vary`` would get, after playing it once without any."""
        from pytest_hookharness.campaigns import run

        self._be_alone()
        return run.plan_trials(scenario, self.settings, self.resources)

    def play(self, scenario: Scenario, upcoming: Callable[[], Iterable[Scenario]]) -> TimedOutcome:
        """
        Play a scenario to its verdict, concurrently with those that will be played next.

        ``upcoming`` returns them in this order, as far as they may run concurrently with it.
        """
        from pytest_hookharness.simulation.parallel_jobs import MOST_AHEAD, RunsAhead, TimedOutcome

        self._end_spare()
        self._ahead = self._ahead or RunsAhead(self._simulate)
        with self._noting_interrupts(), self._line.about(scenario.id):
            if self._ahead.wants_more(scenario):
                candidates = itertools.islice(itertools.chain((scenario,), upcoming()), MOST_AHEAD)
                together = list(itertools.takewhile(self._can_run_ahead, candidates))
                # Whatever the resources consist of is made now, before several threads use it.
                self._ahead.begin(together if len(together) > 1 else (), self.resources.base)
            played = self._ahead.take(scenario)
        if played is not None and not self._ahead.was_too_slow(scenario, played, self.settings.wall):
            return played
        began = time.monotonic()
        return TimedOutcome(self.simulate(scenario), time.monotonic() - began)

    def _can_run_ahead(self, scenario: Scenario) -> bool:
        from pytest_hookharness.simulation.parallel_jobs import can_run_concurrently

        if self._ahead is not None and self._ahead.needs_all_processors(scenario):
            return False
        return can_run_concurrently(scenario, self.settings.tier, self.supervisor)

    def _simulate(
        self,
        scenario: Scenario,
        base: Path,
        slot: CpuSlot | None = None,
        on_trial: OnTrial | None = None,
        item: TraceItem | None = None,
        executor: Executor | None = None,
    ) -> Outcome:
        from pytest_hookharness.campaigns import run

        progress = self._line.entry_of(scenario.id)
        with errors_at(scenario), self.recording(scenario, item) as observer:
            return run.simulate(
                scenario,
                self.settings,
                replace(self.resources, base=base, slot=slot),
                on_turn=progress.turn,
                on_trial=on_trial or progress.trial,
                on_probe=progress.probe,
                executor=executor,
                observer=observer,
            )

    def recording(
        self, scenario: Scenario, item: TraceItem | None = None
    ) -> AbstractContextManager[Observer]:
        """Open a trace file if the run writes them; gives the observer that writes it."""
        from pytest_hookharness.simulation.loop import Observer

        if self.settings.traces is None:
            return nullcontext(Observer())
        from pytest_hookharness.frontends.output.simulation_files import recording
        from pytest_hookharness.frontends.replay_command import TraceItem, replay_command

        item = item or TraceItem.of_scenario(scenario, replay_command(scenario, self.settings))
        front_end = "hookharness" if self._hook is None else "pytest"
        return recording(self.settings.traces, self.settings.seed, item, scenario, front_end)

    @contextmanager
    def _noting_interrupts(self) -> Generator[None]:
        try:
            yield
        except Interrupted as interrupted:
            self.interrupted = interrupted.outcome
            raise


def simulate(
    scenario: Scenario, settings: Settings | None = None, executor: Executor | None = None
) -> Outcome:
    """
    Simulate a scenario, with everything that its keys ask for, and return its outcome.

    An executor does the work of ``vary`` and ``explore`` in other processes or on other machines; ``None``
    for
    this process.
    """
    with Harness(settings or Settings()) as harness:
        return harness.simulate(scenario, executor=executor)


def explore(
    scenario: Scenario, executor: Executor | None = None, settings: Settings | None = None
) -> Outcome:
    """
    Play a scenario, and explore what else an agent could do with its hooks.

    Args:
        scenario: The scenario. Its ``explore`` limits the exploration; without one, the moves are those that
            its script and the refusals of its hooks name.
        executor: Expands states in other processes or on other machines; ``None`` for this process.

    Returns:
        The outcome; ``explored`` is the exploration.
    """
    explored = replace(scenario, explore=scenario.explore or ExploreOptions())
    with Harness(settings or Settings()) as harness:
        return harness.simulate(explored, executor=executor)
