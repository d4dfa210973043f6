"""
Races: runs of the same hooks side by side, and what they leave less of than one after the other.

All of them begin with the state in which the session first comes to these hooks, and everything they do is
undone. Counters are counted at the first such event; without counters, each new set of hooks is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from pytest_hookharness import agents, hosts
from pytest_hookharness.campaigns.stress.hook_race import (
    Call,
    Race,
    RaceSetup,
    Ran,
    UnjudgedError,
    WeighedRace,
)
from pytest_hookharness.execution.races.interleaving import run_interleaved
from pytest_hookharness.judging.comparison.lost_updates import (
    CounterReading,
    find_lost,
    find_torn,
    is_number,
    read_counter,
)
from pytest_hookharness.judging.findings.codes import LOST_UPDATES, TORN_STATE
from pytest_hookharness.model.mutations import Parallel
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec, TimedOut
from pytest_hookharness.model.protocol import Hook, Payload
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed


class CountedRace(Race[tuple[CounterReading, ...]]):
    """A race in a controlled order, which shows in the counters of a scenario."""

    def __init__(self, setup: RaceSetup, hooks: Sequence[Hook]) -> None:
        super().__init__(setup, hooks)
        self._counters = setup.parallel.counts
        self._reason = ""
        self._holds = 0
        if self._number < 2:
            raise SimulationError(
                f"parallel.width: the event runs one hook, {hooks[0].command}, and once is not side by side; "
                "write 2 or more"
            )

    @property
    def note(self) -> str:
        """How it was tried, as a sentence."""
        waves = self._setup.parallel.waves or self.waves
        often = "once" if waves == 1 else f"{waves} times over"
        tried = f"{self._setup.event} started {self._number} hook runs side by side, {often}: "
        if self._reason:
            return f"{tried}order not controlled ({self._reason}), so that nothing was lost may be luck."
        return f"{tried}in a controlled order, with {self._holds} holds before a write."

    def _check(self, measure: tuple[CounterReading, ...]) -> None:
        for place, (counter, one) in enumerate(zip(self._counters, measure, strict=True)):
            if not one.amount:
                raise SimulationError(
                    f"parallel.counts[{place}]: {counter} counts nothing after runs one after the other"
                    f"{f' ({one.torn})' if one.torn else ''}; name what each run adds to"
                )

    def _is_certain(self) -> bool:
        return not self._reason

    def _side_by_side(self) -> Ran:
        testbed, parallel = self._testbed, self._setup.parallel
        # The files in which runs are counted, and all others that they leave in the workspace.
        inside = (path.removeprefix("workspace/") for path in self._written if path.startswith("workspace/"))
        names = {*inside, *(one.file for one in self._counters)}
        watched = [str(testbed.workspace.root / name) for name in sorted(names)]
        start = partial(_start, testbed)
        done = run_interleaved(start, self._launches(), watched, parallel.apart, self._setup.remaining())
        if late := [run for run in done.runs if isinstance(run.ending, TimedOut)]:
            raise SimulationError(
                f"parallel: {len(late)} of {len(done.runs)} hook runs side by side had not ended when "
                "their time was over, so nothing can be counted; see whether they wait for each other"
            )
        self._reason, self._holds = done.reason, self._holds + done.holds
        return self._pair(done.runs)

    def _measure(self) -> tuple[CounterReading, ...]:
        read = self._setup.checkpoint.editor.read
        return tuple(read_counter(read(f"workspace/{one.file}"), one) for one in self._counters)

    def _compare_wave(
        self, alone: Sequence[tuple[CounterReading, ...]], together: tuple[CounterReading, ...]
    ) -> Iterator[Finding]:
        for place, counter in enumerate(self._counters):
            before = [counts[place] for counts in alone]
            if lost := find_lost(before, together[place]):
                name = f"the number in {counter.file}" if is_number(before) else str(counter)
                yield self._found(LOST_UPDATES, f"{self._number} runs side by side leave {name} at {lost}")
            if torn := find_torn(before, together[place]):
                yield self._found(
                    TORN_STATE, f"after {self._number} runs side by side {counter.file} is torn: {torn}"
                )


def _start(testbed: Testbed, launches: Sequence[ProcessSpec], budget: float) -> tuple[ProcessResult, ...]:
    return testbed.sandbox.run(launches, budget=budget)


_SHOWN = 3


def run_race(
    testbed: Testbed, agent: agents.Agent, parallel: Parallel, remaining: Callable[[], float]
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """
    Run a session, and its hooks side by side where the session first comes to them.

    Return their defects, and sentences about how it was tried and what is not known.

    Raises:
        SimulationError: The session never comes to the named hooks, or the counters do not count them.
    """
    driver = _RacingDriver(testbed, agent, parallel, remaining)
    most = testbed.settings.turns or testbed.scenario.turns
    while not driver.is_done and driver.turn < most:
        request = driver.drive(remaining)
        if not isinstance(request, hosts.NextAct):
            break
        driver.give(request, driver.choose(request))
    if parallel.different and not driver.met:
        event = parallel.event or "hook"
        raise SimulationError(
            f"parallel.different: the session has no two {event} inputs that differ; have the agent make two "
            "different calls, or drop the key"
        )
    if parallel.event and not driver.met:
        which = f" with {parallel.hook!r} in its command" if parallel.hook else ""
        raise SimulationError(
            f"parallel.event: the session fires no {parallel.event} hook{which}; "
            "name one that it does fire, or have the agent do what triggers it"
        )
    return tuple(driver.findings), tuple(dict.fromkeys(driver.notes))


class _RacingDriver(SessionDriver):
    """A session driver that runs hooks side by side before they run for the first time, once ``met``."""

    def __init__(
        self, testbed: Testbed, agent: agents.Agent, parallel: Parallel, remaining: Callable[[], float]
    ) -> None:
        super().__init__(testbed, agent)
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.met = False
        self._parallel = parallel
        self._remaining = remaining
        self._tried: set[tuple[str, ...]] = set()
        self._calls: dict[str, list[Call]] = {}

    @property
    def is_done(self) -> bool:
        """Whether nothing more is to be tried: counters are counted at the first event."""
        return self.met and bool(self._parallel.counts)

    def _run_hooks(self, request: hosts.RunHooks, budget: float) -> None:
        wanted = self._parallel
        hooks = tuple(
            hook for hook in request.hooks if hook.type == "command" and wanted.hook in hook.command
        )
        if hooks and wanted.event in ("", request.event) and not self.is_done:
            calls = self._calls_until(request, hooks)
            if calls and (self._is_new(request.event, _hooks_of(calls)) or wanted.counts):
                self.met = True
                self._race(calls, request.event)
        super()._run_hooks(request, min(budget, self._remaining()))

    def _calls_until(self, request: hosts.RunHooks, hooks: Sequence[Hook]) -> list[Call]:
        """Return the inputs that runs now get in turn; none if two are wanted and there is one."""
        if not self._parallel.different:
            return [(hooks, request.payload)]
        known = self._calls.setdefault(request.event, [])
        if all(_asked(payload) != _asked(request.payload) for _, payload in known):
            known.append((hooks, request.payload))
        return known.copy() if len(known) > 1 else []

    def _race(self, calls: Sequence[Call], event: str) -> None:
        with Checkpoint(self.testbed, self.point) as checkpoint:
            setup = RaceSetup(self.testbed, checkpoint, self._parallel, event, calls, self._remaining)
            (self._count if self._parallel.counts else self._weigh)(setup, _hooks_of(calls))

    def _count(self, setup: RaceSetup, hooks: Sequence[Hook]) -> None:
        race = CountedRace(setup, hooks)
        self.findings += (replace(one, turn=self.turn) for one in race.find())
        self.notes.append(race.note)

    def _is_new(self, event: str, hooks: Sequence[Hook]) -> bool:
        """Return whether these hooks are tried together at that event for the first time, and note it."""
        key = (event, *(hook.command for hook in hooks))
        new = key not in self._tried
        self._tried.add(key)
        return new

    def _weigh(self, setup: RaceSetup, hooks: Sequence[Hook]) -> None:
        side_by_side = f"{setup.parallel.width} runs of {setup.event} side by side"
        try:
            racing = WeighedRace(setup, hooks).find_racing()
            # Other hooks beside these change nothing, so this was tried if these were.
            if not racing or (len(racing) < len(hooks) and not self._is_new(setup.event, racing)):
                return
            race = WeighedRace(setup, racing)
            found = race.find()
        except UnjudgedError as trouble:
            self.notes.append(f"Not tried (parallel): what {side_by_side} lose; {trouble}.")
            return
        self.findings += (replace(one, turn=self.turn) for one in found)
        if race.doubts and not found:
            files = ", ".join([*race.doubts][:_SHOWN])
            self.notes.append(
                f"Not known (parallel): {side_by_side} leave less in {files}; the system does not report how "
                "often that was written, and runs that did not write have lost nothing."
            )


def _hooks_of(calls: Sequence[Call]) -> tuple[Hook, ...]:
    """Return the hooks of several inputs, each once."""
    found: list[Hook] = []
    found += (hook for hooks, _ in calls for hook in hooks if hook not in found)
    return tuple(found)


def _asked(payload: Payload) -> object:
    """Return what an input is about: the call, or all of it."""
    return payload.get("tool_input", payload)
