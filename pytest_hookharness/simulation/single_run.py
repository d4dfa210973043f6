"""One run of a scenario, from its testbed to its outcome, and what is checked before its verdict holds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_hookharness import agents
from pytest_hookharness.execution.exhaustion import naming_exhaustion
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.regex import SlowPattern
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import BudgetEnded, granted, limited_to, remaining
from pytest_hookharness.model.verdicts import Capped, Doubt, Livelock, Terminated
from pytest_hookharness.simulation import left_running
from pytest_hookharness.simulation.loop import Loop, Observer, OnProbe, OnTurn, Passing
from pytest_hookharness.simulation.probing import time_shift
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
_UNCHECKED = Doubt("no time was left to check the run with a moved clock by a second one")

# A source without any of these does not ask for the time.
_TIME_WORD = re.compile(
    rb"(?i:date|time|now|clock|seconds|since|\bago\b|newer|[acm]min\b)|%[ac]r|\^T|-[MAC]\b"
)

# Called with the testbed, still open, and the outcome of the run on it.
BeforeClose: TypeAlias = Callable[[Testbed, Outcome], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """
    What a simulation needs besides its scenario and settings.

    Attributes:
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


@dataclass(frozen=True, slots=True)
class SingleRun:
    """
    What one run of a scenario gave.

    Attributes:
        time_may_matter: Whether the run could go differently with more time between its turns.
        used: Seconds of the budget that it used.
        unfinished: Whether the budget ended it, so that a difference from another run shows nothing.
        gap: Why a program did not see the clock that the kernel was to show it; empty if all did.
        shown: Whether a process may have been shown the clock that the kernel moved.
        tried: Whether copies of its states were played, in which nothing was seen to be chance.
        clock_uses: Where the sources of its hooks decide by the clock, in words, if the session ended.
        running_clocks: Where they ask for clocks that plays at other times do not move, in words.
        named_times: Seconds from its end to times that these sources name.
    """

    outcome: Outcome
    time_may_matter: bool
    used: float
    unfinished: bool = False
    gap: str = ""
    shown: bool = True
    tried: bool = False
    clock_uses: tuple[str, ...] = ()
    running_clocks: tuple[str, ...] = ()
    named_times: tuple[float, ...] = ()


def rerun(
    scenario: Scenario,
    settings: Settings,
    resources: Resources,
    passing: Passing = "clock",
    *,
    later: float = 0.0,
) -> SingleRun | None:
    """
    Run a scenario for comparison; ``None`` if its time ended before it did, so that it shows nothing.

    ``passing`` and ``later`` are those of `run_once`.
    """
    if settings.wall <= 0:
        return None
    began = time.monotonic()
    try:
        run = run_once(scenario, settings, resources, passing=passing, later=later)
    except SimulationError:
        if time.monotonic() - began < settings.wall:
            raise
        return None
    return None if run.unfinished else run


def run_once(
    scenario: Scenario,
    settings: Settings,
    resources: Resources,
    *,
    on_turn: OnTurn | None = None,
    on_probe: OnProbe = lambda: None,
    observer: Observer | None = None,
    before_close: BeforeClose | None = None,
    passing: Passing = "clock",
    later: float = 0.0,
    check: bool = False,
) -> SingleRun:
    """
    Run one scenario once; check a run whose clock was moved by a second one.

    ``passing`` says how time passes for the hooks, and the clock is ``later`` seconds ahead from the start.
    The other arguments and the exceptions are those of `simulate`.
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
            session = Loop(testbed, agent, on_turn, observer, on_probe, passing=passing, later=later)
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
                outcome = session.conclude(RunEnd.by_doubt(session.turn, doubt))
        if settings.keep and (settings.keep_passing or not outcome.passed):
            outcome = replace(outcome, kept_workspace=str(testbed.workspace.keep()))
        if before_close is not None:
            before_close(testbed, outcome)
        matter = session.time_may_matter(ended=isinstance(outcome.verdict, Terminated))
        gap, unfinished = testbed.workspace.clock.gap, end.how == "wall"
        # Only of plays for comparison somebody wants to know it.
        shown = settings.probes or unfinished or bool(gap) or _was_shown(testbed, outcome)
        run = SingleRun(outcome, matter, clock() - began, unfinished, gap, shown, session.was_tried)
        return _with_clock_uses(run, testbed) if settings.probes and settings.paces else run


def _with_clock_uses(run: SingleRun, testbed: Testbed) -> SingleRun:
    """Return a run that ended with what the sources of its hooks show of the clock."""
    scenario, ended = testbed.scenario, isinstance(run.outcome.verdict, Terminated)
    hook_runs = [one for _, one in run.outcome.trace.hook_runs() if not one.hook.is_one_word]
    if not ended or scenario.processes or scenario.cover or not hook_runs:
        return run
    from pytest_hookharness.simulation.testbed.hook_scripts import hook_scripts

    found = [*hook_scripts(testbed, hook_runs)]
    if not any(_TIME_WORD.search(script.text) for script in found):
        return run
    # Most hooks have nothing to do with the time, and the readers of sources take long to load.
    from pytest_hookharness.judging.probing.limits import find_named_times
    from pytest_hookharness.simulation.probing.hidden_chance import find_clock_words, find_running_clocks
    from pytest_hookharness.simulation.probing.host_values import find_host_values

    used = find_host_values([one.payload for one in hook_runs], found)
    running = tuple(dict.fromkeys(find_running_clocks(found)))
    uses = tuple(dict.fromkeys((*find_clock_words(found), *used.compared)))
    times = find_named_times((one.text for one in found), testbed.workspace.clock.now) if uses else ()
    return replace(run, clock_uses=uses, running_clocks=running, named_times=times)


def _was_shown(testbed: Testbed, outcome: Outcome) -> bool:
    from pytest_hookharness.simulation.probing.host_values import has_times
    from pytest_hookharness.simulation.probing.observed_repetition import time_was_shown

    told = any(has_times(one.payload) for _, one in outcome.trace.hook_runs())
    # Background processes are not stopped when they ask for the time.
    return told or bool(testbed.scenario.processes) or time_was_shown(testbed)


def _add_detach(scenario: Scenario) -> Scenario:
    # Few scenarios have background processes, so their modules are imported only then.
    if not scenario.processes:
        return scenario
    from pytest_hookharness.simulation.background.tracking import with_detach

    return with_detach(scenario)


def _find_doubt(outcome: Outcome, settings: Settings, resources: Resources, gap: str) -> Doubt | None:
    """Return why the verdict does not hold if some program may not have seen a moved clock, or nothing."""
    if not isinstance(outcome.verdict, Terminated | Capped | Livelock):
        return None
    # File times are not part of the state. A state can therefore repeat while files grow older, which would
    # end the second run too early; so only the cap ends it.
    scenario = replace(outcome.scenario, until="guard")
    try:
        second = rerun(scenario, settings.of_rerun(outcome), resources, "aging")
    except KeyboardInterrupt:
        raise Interrupted(outcome) from None
    if second is None:
        return _UNCHECKED
    return time_shift.find_doubt(outcome, second.outcome, gap)


def _check_again(
    outcome: Outcome, settings: Settings, resources: Resources, testbed: Testbed, began: float
) -> Doubt | None:
    """Return why the verdict does not hold, by a second run or by those with living processes; or nothing."""
    clock = testbed.slot.clock

    def rest() -> Settings:
        return replace(settings, wall=max(0.0, min(settings.wall - (clock() - began), remaining())))

    moved = testbed.workspace.clock
    if (moved.moved or moved.gap) and (doubt := _find_doubt(outcome, rest(), resources, moved.gap)):
        return doubt

    def replay(longer: Settings) -> Outcome | None:
        played = rerun(replace(outcome.scenario, until="guard"), longer, resources)
        return None if played is None else played.outcome

    try:
        return left_running.find_difference(outcome, rest().of_rerun(outcome), replay, clock)
    except KeyboardInterrupt:
        raise Interrupted(outcome) from None
