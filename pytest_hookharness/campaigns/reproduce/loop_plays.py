"""
Plays that look for one recorded loop: whether a scenario shows it, and a small scenario that does.

Many scripts cannot show a loop: no refusal in them is the wanted one, or the hooks allow the stop. That is
found out at little cost, on one testbed: what two scripts begin with is played once and restored after that.
What is possible is then played as any other scenario.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field, replace
from typing import TypeAlias

from pytest_hookharness import agents, hosts
from pytest_hookharness.campaigns.reproduce.recorded_scenario import is_endless, shorten
from pytest_hookharness.campaigns.reproduce.reproduction import alike, replayed_refusals
from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.campaigns.shrinking.scenario_shrinker import MOST_SECONDS, Shrinker
from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.snapshots.inventory import SnapshotError
from pytest_hookharness.model.actions import DetectedLoop, HookRefusal
from pytest_hookharness.model.expectations import Expectation, counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Act
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Step, Trace
from pytest_hookharness.model.verdicts import BY_REFUSALS, Livelock, Undecided
from pytest_hookharness.reports.terminal.verdict_text import first_line
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

Folders: TypeAlias = Sequence[tuple[str, str]]
Seen: TypeAlias = Callable[[Trace, Folders], bool]
# Stops that are tried after the acts of a script.
_FURTHER = 3
_MOST_BEGINNINGS = 100


@dataclass(frozen=True, slots=True)
class _Beginning:
    """Where a session stood after some acts, with what took place until then."""

    acts: tuple[Act, ...]
    checkpoint: Checkpoint
    request: hosts.NextAct
    steps: tuple[Step, ...]


class ResumedPlays:
    """
    Plays of scripts, each from the longest beginning that was played before.

    ``seen`` says whether a trace has the wanted refusal; if ``endless``, a session that ends shows no loop.
    """

    def __init__(
        self,
        scenario: Scenario,
        testbed: Testbed,
        agent: agents.Agent,
        *,
        seen: Seen,
        endless: bool,
        remaining: Callable[[], float],
    ) -> None:
        self.seen = seen
        self.endless = endless
        self.remaining = remaining
        self._scenario = scenario
        self._testbed = testbed
        self._known: list[_Beginning] = []
        driver = SessionDriver(testbed, agent)
        self._keep(driver, driver.drive(remaining), ())

    def rules_out(self, scenario: Scenario) -> bool:
        """Return whether a scenario with other acts certainly does not show the loop."""
        same = replace(scenario, script=self._scenario.script, turns=self._scenario.turns)
        if same != self._scenario or not self._known:
            return False
        try:
            driver, request = self._play(scenario)
        except (SnapshotError, SimulationError, WorkspaceError):
            # After a failed restore nothing is known; from now on every scenario is played as a whole.
            self._known.clear()
            return False
        if request is None:
            return False
        trace = Trace(steps=tuple(driver.steps))
        if not self.seen(trace, self._testbed.workspace.folders):
            return True
        over = isinstance(request, hosts.Ended) or request.turn_over
        return self.endless and over and not any(each.decision.overridden for _, each in trace.hooked())

    def _play(self, scenario: Scenario) -> tuple[SessionDriver, hosts.NextAct | hosts.Ended | None]:
        """Play a script, and a few more stops; the request is ``None`` if a limit of ours ended it."""
        acts = scenario.script.acts
        begun = max(
            (one for one in self._known if one.acts == acts[: len(one.acts)]), key=lambda one: len(one.acts)
        )
        begun.checkpoint.restore()
        driver = begun.checkpoint.resume()
        driver.agent = replace(driver.agent, script=scenario.script)
        driver.steps = [*begun.steps]
        request: hosts.NextAct | hosts.Ended | None = begun.request
        further = 0
        while isinstance(request, hosts.NextAct):
            further += driver.agent.place >= len(acts)
            act = driver.choose(request) if further <= _FURTHER else None
            if act is None:
                break
            driver.give(request, act)
            request = driver.drive(self.remaining)
            if not further:
                self._keep(driver, request, acts[: driver.agent.place])
        return driver, request

    def _keep(
        self, driver: SessionDriver, request: hosts.NextAct | hosts.Ended | None, acts: Sequence[Act]
    ) -> None:
        """Keep a place between two moves of the agent itself, to which later plays return."""
        if not isinstance(request, hosts.NextAct) or request.given is not None:
            return
        if len(self._known) >= _MOST_BEGINNINGS:
            return
        if any(one.acts == tuple(acts) for one in self._known):
            return
        checkpoint = Checkpoint(self._testbed, driver.point)
        self._known.append(_Beginning(tuple(acts), checkpoint, request, tuple(driver.steps)))


@contextmanager
def open_resumed_plays(
    scenario: Scenario,
    settings: Settings,
    resources: Resources,
    *,
    seen: Seen,
    endless: bool,
    remaining: Callable[[], float],
) -> Generator[ResumedPlays | None]:
    """Open a testbed for the scripts of a scenario; ``None`` if it cannot be opened, or not be restored."""
    with ExitStack() as stack:
        plays = None
        with suppress(SnapshotError, SimulationError, WorkspaceError):
            testbed, agent = stack.enter_context(resources.open(scenario, settings))
            plays = ResumedPlays(scenario, testbed, agent, seen=seen, endless=endless, remaining=remaining)
        yield plays


# How many of the last refusals of an endless session may be of another hook.
_LAST = 3


def is_cut(outcome: Outcome) -> bool:
    """Return whether our budget ended a play before its last move."""
    return isinstance(outcome.verdict, Undecided) and outcome.verdict.turn < outcome.scenario.turns


@dataclass(slots=True)
class LoopPlays:
    """The plays for one loop of a project; ``top`` is its path in the transcript, ``hooks`` are found."""

    loop: DetectedLoop
    settings: Settings
    resources: Resources
    top: str
    hooks: set[str] = field(default_factory=set[str])
    plays: int = 0
    began: float = field(default_factory=time.monotonic)

    def play(self, scenario: Scenario, wall: float = 0.0, *, quick: bool = False) -> Outcome:
        """Play a scenario; ``quick``: without experiments about what changes a decision."""
        self.plays += 1
        # Experiments are made only if the verdict is about an endless loop.
        probes = self.settings.probes and is_endless(scenario) and not quick
        settings = replace(self.settings, wall=wall or self.settings.wall, probes=probes)
        return simulate(scenario, settings, self.resources)

    def play_on(self, whole: Outcome, scenario: Scenario) -> Outcome:
        """Return the play of a scenario; if all its moves were cut before the loop, that cut play."""
        late = is_cut(whole) and not self.find_alike(whole.trace, whole.folders)
        return whole if late else self.play(scenario)

    def shows(self, outcome: Outcome) -> bool:
        """Return whether an outcome shows the loop: the same hook and text, and no end or too many blocks."""
        endless = is_endless(outcome.scenario)
        # Another hook may refuse forever; then this loop is not among the last refusals any more.
        last = _LAST if not isinstance(outcome.verdict, Livelock) else max(_LAST, outcome.verdict.period)
        seen = self.find_alike(outcome.trace, outcome.folders, last=last if endless else 0)
        return (
            bool(seen)
            and (outcome.verdict_name in BY_REFUSALS | {"recursing"} or not endless)
            and not outcome.passed
        )

    def find_alike(
        self, trace: Trace, folders: Sequence[tuple[str, str]], *, last: int = 0
    ) -> list[HookRefusal]:
        """
        Return the refusals of a play that have the event, the text and, once known, a hook of the loop.

        If several hooks refuse at once, each of them counts. ``last`` is the number of last events that
        count; 0 for all.
        """
        wanted = self.loop.refusal
        return [
            one
            for group in replayed_refusals(trace)[-last:]
            for one in group
            if wanted is not None
            and alike(wanted, one, self.top, folders)
            and (not self.hooks or one.hook in self.hooks)
        ]

    def find_short(self, scenario: Scenario, kept: Act) -> tuple[Scenario, Outcome] | None:
        """Return a scenario with a few of the moves that shows the loop, and its play; or ``None``."""
        tried = ((some, self.play(some, quick=True)) for some in shorten(scenario, kept))
        return next((pair for pair in tried if self.shows(pair[1])), None)

    def describe(self, outcome: Outcome) -> str:
        """Return what the play of the whole session shows, in words."""
        if is_endless(outcome.scenario) or self.loop.refusal is None:
            return first_line(replace(outcome, violations=()))
        seen = self.find_alike(outcome.trace, outcome.folders)
        hooks = ", ".join(dict.fromkeys(one.hook for one in seen))
        by = f" by {hooks}" if hooks else ""
        # Texts that differ in numbers or paths are the same refusal.
        text = "this text" if len({one.reason for one in seen}) < 2 else "such a text"
        return f"{self.loop.refusal.event} was refused {counted(len(seen), 'time')} with {text}{by}"

    def count_calls(self, scenario: Scenario) -> int:
        """Return how many calls the hooks of the expected event are asked about."""
        (event,) = scenario.expect.decisions or {}
        return len(self.play(replace(scenario, expect=Expectation())).decisions(event))

    def shrink(self, scenario: Scenario, kept: Act, named: Mapping[str, str]) -> Shrinker:
        """
        Return a small scenario; it shows the loop in a play as thorough as that of the written test.

        If the project is not in the scenario, the ``named`` files may be enough.
        """
        quick = self._search(scenario, kept, named, quick=True)
        if quick.best == scenario or self.shows(self.play(quick.best)):
            return quick
        return self._search(scenario, kept, named, quick=False)

    def _search(self, scenario: Scenario, kept: Act, named: Mapping[str, str], *, quick: bool) -> Shrinker:
        thorough = not quick
        # No play begins after this time. A play that has begun is not cut, as a cut play shows nothing.
        until = min(time.monotonic() + MOST_SECONDS, self.began + self.settings.wall)

        def shows(some: Scenario) -> bool | None:
            nonlocal thorough
            try:
                outcome = self.play(some, MOST_SECONDS, quick=not thorough)
                if outcome.verdict_name == "undecided" and is_endless(some) and not thorough:
                    # Something changes in each turn, and experiments show whether it matters.
                    thorough = True
                    outcome = self.play(some, MOST_SECONDS)
            except (SimulationError, WorkspaceError):
                return False
            undecided = outcome.verdict_name == "undecided" and is_endless(some)
            return None if undecided else self.shows(outcome)

        shrinker = Shrinker(shows=shows, best=scenario, kept=kept, until=until)
        if scenario.project is not None:
            shrinker.try_out(replace(scenario, project=None, files={**named, **scenario.files}))
        with open_resumed_plays(
            shrinker.best,
            self.settings,
            self.resources,
            seen=lambda trace, folders: bool(self.find_alike(trace, folders)),
            endless=is_endless(scenario),
            remaining=lambda: max(0.0, shrinker.until - time.monotonic()),
        ) as plays:
            shrinker.rules_out = plays.rules_out if plays is not None else shrinker.rules_out
            shrinker.shrink()
        return shrinker
