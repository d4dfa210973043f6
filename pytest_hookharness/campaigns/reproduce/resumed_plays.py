"""
Scripts of one scenario on one testbed: what two scripts begin with is played once, and restored after that.

Nothing is judged here. It is found out at little cost that a script cannot show a loop: no refusal in it is
the wanted one, or the hooks allow the stop. What is possible is then played as any other scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.snapshots.inventory import SnapshotError
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Act
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Step, Trace
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.simulate import Resources
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

    Attributes:
        seen: Returns whether a trace, of a workspace with these folders, has the wanted refusal.
        endless: Whether a session that ends by itself does not show the loop.
        remaining: Returns the seconds that are left.
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
        """Return whether a scenario that differs in its acts only certainly does not show the loop."""
        same = replace(scenario, script=self._scenario.script, turns=self._scenario.turns)
        if same != self._scenario or not self._known:
            return False
        try:
            driver, request = self._play(scenario)
        except (SnapshotError, SimulationError, WorkspaceError):
            # Nothing follows from what could not be restored; every scenario is played as a whole then.
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
