"""One scenario from its testbed to its outcome, and further runs that it is compared with."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_hookharness import agents
from pytest_hookharness.execution.exhaustion import naming_exhaustion
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.judging.verdict.conclusion import judge_paces, judge_without_cap
from pytest_hookharness.judging.verdict.repeats import differ, judge_repeats, may_be_repeated
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.regex import SlowPattern
from pytest_hookharness.model.scenario import AssumedCap, Scenario
from pytest_hookharness.model.time_budget import BudgetEnded, granted, limited_to, remaining
from pytest_hookharness.model.verdicts import Capped, Finding, Livelock, Terminated
from pytest_hookharness.simulation import left_running
from pytest_hookharness.simulation.loop import Loop, Observer, OnProbe, OnTurn, Passing
from pytest_hookharness.simulation.probing import time_shift
from pytest_hookharness.simulation.single_run import SingleRun
from pytest_hookharness.simulation.startup.named_programs import check_programs
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings, SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed
from pytest_hookharness.simulation.testbed.validation import check_references

if TYPE_CHECKING:
    from pytest_hookharness.execution.workspace.disposal import Disposal
    from pytest_hookharness.execution.workspace.project_copies import ProjectCopies
    from pytest_hookharness.simulation.background.threads import ThreadSessions

# Seconds in which a run can be judged, however little is left of its budget.
_CONCLUDING = 2.0
# How often a session of hooks that draw random numbers is played again, and the part of the time left for it.
_MOST_REPEATS, _REPEATING = 8, 1 / 4
_UNCHECKED = "no time was left to check the run with a moved clock by a second one"

# Called with the testbed, still open, and the outcome of the run on it.
BeforeClose: TypeAlias = Callable[[Testbed, Outcome], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """
    What a simulation needs besides its scenario and settings.

    Attributes:
        supervisor: Starts and ends all processes.
        base: The folder below which everything is written.
        behaviours: The known agent behaviours; ``None`` for those that ship with the harness.
        slot: The CPU slot that the simulation shares with others; ``None`` if it runs alone.
        disposal: Removes workspaces in the background; ``None`` to remove each when it is closed.
        copies: Where copies of projects are taken from; ``None`` to make a new one for each simulation.
    """

    supervisor: Supervisor
    base: Path
    behaviours: Mapping[str, agents.BehaviourFunction] | None = None
    slot: CpuSlot | None = None
    disposal: Disposal | None = None
    copies: ProjectCopies | None = None

    def open_testbed(self, scenario: Scenario, settings: Settings) -> Testbed:
        """Open a testbed for a scenario; the exceptions are those of `Testbed`."""
        return Testbed(scenario, settings, self.supervisor, self.base, self.slot, self.disposal, self.copies)

    @contextmanager
    def open(self, scenario: Scenario, settings: Settings) -> Generator[tuple[Testbed, agents.Agent]]:
        """
        Open a testbed for a scenario, and start its agent.

        Raises:
            SimulationError: What the scenario asks for takes too long, here or in the block.
            Exhausted: The machine lacks something that is needed, here or in the block.
        """
        agent = agents.start(scenario.script, self.behaviours)
        try:
            with naming_exhaustion(), ExitStack() as stack:
                with limited_to(settings.wall):
                    testbed = self.open_testbed(scenario, settings)
                    stack.enter_context(testbed)
                check_references(scenario, testbed.profile, testbed.configuration)
                yield testbed, agent
        except (BudgetEnded, SlowPattern) as error:
            raise SimulationError(str(error)) from error


class _NothingFollows(Exception):
    """A run for comparison shows nothing: its time ended, or a program did not see its clock."""


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
    Run one scenario, and compare it with slower runs if its hooks may read the clock.

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
    if not run.time_may_matter or not compared:
        return replace(run.outcome, wall=run.used)
    try:
        finding, used, ends = _compare_paces(run, scenario, settings, resources)
    except KeyboardInterrupt:
        raise Interrupted(run.outcome) from None
    outcome = replace(run.outcome, wall=run.used + used)
    # A session that ends by itself in every play ends, in whichever turn.
    return outcome if finding is None else judge_paces(outcome, finding, tried=run.tried and not ends)


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
        alone = _rerun(replace(scenario, cap=AssumedCap()), rest, resources)
    except KeyboardInterrupt:
        raise Interrupted(run.outcome) from None
    if alone is None:
        return replace(run, used=settings.wall)
    outcome = judge_without_cap(run.outcome, alone.outcome)
    return replace(run, outcome=outcome, used=run.used + alone.used)


def _with_repeats(run: SingleRun, scenario: Scenario, settings: Settings, resources: Resources) -> SingleRun:
    """Return a run with how its session goes when it is played again, if its hooks draw random numbers."""
    given, used = _REPEATING * min(settings.wall - run.used, remaining()), 0.0
    again, repeats = settings.of_rerun(run.outcome), list[Outcome]()
    try:
        while used < given and len(repeats) < _MOST_REPEATS and not differ(run.outcome, repeats):
            repeat = _rerun(replace(scenario, until="guard"), replace(again, wall=given - used), resources)
            used += given if repeat is None else repeat.used
            repeats += [] if repeat is None else [repeat.outcome]
    except KeyboardInterrupt:
        raise Interrupted(run.outcome) from None
    outcome = judge_repeats(run.outcome, repeats)
    # If one differs, a slower run differs by chance as well, and shows nothing about the clock.
    matter = run.time_may_matter and outcome.findings == run.outcome.findings
    return replace(run, outcome=outcome, used=run.used + used, time_may_matter=matter)


def _compare_paces(
    run: SingleRun, scenario: Scenario, settings: Settings, resources: Resources
) -> tuple[Finding | None, float, bool]:
    """Return the finding that the run can end otherwise, seconds used, and whether each other play ended."""
    rerun, given = settings.of_rerun(run.outcome), min(settings.wall - run.used, remaining())
    ended = isinstance(run.outcome.verdict, Terminated)
    timeless: Outcome | None = None
    used = 0.0
    others: list[Outcome] = []

    def simulate_slowly(pace: float) -> Outcome:
        nonlocal used, timeless
        if timeless is not None:
            return timeless
        # Without probes a repeated state would end a run that allows the stop as soon as seconds have passed.
        paced = replace(scenario, pace=pace, until="guard" if ended else scenario.until)
        slow = _rerun(paced, replace(rerun, wall=given - used), resources, "kernel")
        used = given if slow is None else used + slow.used
        if slow is None or slow.gap:
            raise _NothingFollows
        # No other time can change what was shown none, where time passed.
        if pace and not slow.shown and time_shift.goes_alike(run.outcome, slow.outcome):
            timeless = slow.outcome
        others.append(slow.outcome)
        return slow.outcome

    try:
        finding = time_shift.compare(run.outcome, simulate_slowly)
    except _NothingFollows:
        return None, used, False
    return finding, used, all(isinstance(other.verdict, Terminated) for other in others)


def _rerun(
    scenario: Scenario, settings: Settings, resources: Resources, passing: Passing = "shims"
) -> SingleRun | None:
    """Run a scenario for comparison; ``None`` if its time ended before it did, so that it shows nothing."""
    began = time.monotonic()
    try:
        run = run_once(scenario, settings, resources, passing=passing) if settings.wall > 0 else None
    except SimulationError:
        if time.monotonic() - began < settings.wall:
            raise
        return None
    return None if run is None or run.unfinished else run


def run_once(
    scenario: Scenario,
    settings: Settings,
    resources: Resources,
    *,
    on_turn: OnTurn | None = None,
    on_probe: OnProbe = lambda: None,
    observer: Observer | None = None,
    before_close: BeforeClose | None = None,
    passing: Passing = "shims",
    check: bool = False,
) -> SingleRun:
    """
    Run one scenario once; check a run whose clock was moved by a second one.

    ``passing`` says how time passes for the hooks. The other arguments and the exceptions are those of
    `simulate`.
    """
    observer = observer or Observer()
    opened = time.monotonic()
    with resources.open(_add_detach(scenario), settings) as (testbed, agent):
        # The budget begins before the testbed is opened; waiting for a processor does not count.
        clock = testbed.slot.clock
        began = clock() - (time.monotonic() - opened)
        if check:
            check_programs(testbed)
        observer.begin(testbed)
        session: Loop | ThreadSessions
        if scenario.processes:
            from pytest_hookharness.simulation.background.threads import ThreadSessions

            session = ThreadSessions(testbed, agent, resources.supervisor, on_turn, observer)
        else:
            session = Loop(testbed, agent, on_turn, observer, on_probe, passing=passing)
        try:
            with limited_to(max(0.0, settings.wall - (clock() - began)), clock):
                end = session.run()
        except KeyboardInterrupt:
            seen = session.conclude(RunEnd(how="interrupted", turn=session.turn))
            raise Interrupted(seen) from None
        except BudgetEnded:
            end = session.time_ended()
        with granted(max(_CONCLUDING, min(settings.wall - (clock() - began), remaining()))):
            outcome = session.conclude(end)
        # Covered folders are the developer's own: nothing runs on them a second time.
        again = settings.probes and not outcome.scenario.cover
        if again and (doubt := _check_again(outcome, settings, resources, testbed, began)):
            with granted(_CONCLUDING):
                outcome = session.conclude(RunEnd(how="disagreed", turn=session.turn, why=doubt))
        if settings.keep and (settings.keep_passing or not outcome.passed):
            outcome = replace(outcome, kept_workspace=str(testbed.workspace.keep()))
        if before_close is not None:
            before_close(testbed, outcome)
        matter = session.time_may_matter(ended=isinstance(outcome.verdict, Terminated))
        gap = testbed.workspace.clock.gap
        unfinished = end.how == "wall"
        shown = passing != "kernel" or unfinished or bool(gap) or _was_shown(testbed)
        return SingleRun(outcome, matter, clock() - began, unfinished, gap, shown, session.was_tried)


def _was_shown(testbed: Testbed) -> bool:
    from pytest_hookharness.simulation.probing.observed_repetition import time_was_shown

    # Background processes are not stopped when they ask for the time.
    return bool(testbed.scenario.processes) or time_was_shown(testbed)


def _add_detach(scenario: Scenario) -> Scenario:
    # Few scenarios have background processes, so their modules are imported only then.
    if not scenario.processes:
        return scenario
    from pytest_hookharness.simulation.background.tracking import with_detach

    return with_detach(scenario)


def _find_doubt(outcome: Outcome, settings: Settings, resources: Resources) -> str:
    """Return why the verdict on a run with a moved clock does not hold; empty if it does."""
    if not isinstance(outcome.verdict, Terminated | Capped | Livelock):
        return ""
    # File times are not part of the state. A state can therefore repeat while files grow older, which would
    # end the second run too early; so only the cap ends it.
    scenario = replace(outcome.scenario, until="guard")
    try:
        rerun = settings.of_rerun(outcome)
        second = _rerun(scenario, rerun, resources, "kernel")
        by_kernel = second is not None and not second.gap
        if second is not None and second.gap:
            rerun = replace(rerun, wall=rerun.wall - second.used)
            second = _rerun(scenario, rerun, resources, "aging")
    except KeyboardInterrupt:
        raise Interrupted(outcome) from None
    if second is None:
        return _UNCHECKED
    return time_shift.find_doubt(outcome, second.outcome, by_kernel=by_kernel)


def _check_again(
    outcome: Outcome, settings: Settings, resources: Resources, testbed: Testbed, began: float
) -> str:
    """Return why the verdict does not hold, by a second run or by those with living processes; or nothing."""
    clock = testbed.slot.clock

    def rest() -> Settings:
        return replace(settings, wall=max(0.0, min(settings.wall - (clock() - began), remaining())))

    if testbed.workspace.clock.moved and (doubt := _find_doubt(outcome, rest(), resources)):
        return doubt

    def replay(longer: Settings) -> Outcome | None:
        played = _rerun(replace(outcome.scenario, until="guard"), longer, resources)
        return None if played is None else played.outcome

    try:
        return left_running.find_difference(outcome, rest().of_rerun(outcome), replay, clock)
    except KeyboardInterrupt:
        raise Interrupted(outcome) from None
