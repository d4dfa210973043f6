"""
The loop of one session: drive host, agent and hooks turn by turn until the judge has seen enough.

Where states are compared: after a turn, when the host asks the agent for its next move. Only there is a state
complete. No hook or command runs, the host waits for nothing else, and all that decides what follows is in
four parts: the host's session, the agent's position, the environment and the covered files. Two equal states
therefore have the same future, as far as hooks decide by nothing else. Within a turn a hook may be half done,
and after a turn that is over the agent is not asked, so such a state is of another kind.

What follows from a repetition: hooks may also decide by things that are not in the state (the time, chance,
files elsewhere). So one repetition is only proposed as a cycle. The cycle is driven once more and must come
out the same, files are compared in full at its end, and the probes then test whether elapsed time changes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.state.file_contents import Contents
from pytest_hookharness.judging.recurrence.cycle import (
    Lasso,
    build_state,
    environment_digest,
    follow_lasso,
    same_state,
)
from pytest_hookharness.judging.verdict.run_end import (
    RunEnd,
    describe_used_up,
    first_hooked_turn,
    needed_time,
)
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.moves import Observation
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import ProcessSpec
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.time_budget import BudgetEnded, format_duration, remaining
from pytest_hookharness.model.trace import State, StateEntry, Step, Trace
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.simulation.conclude import SessionEvidence, conclude_session
from pytest_hookharness.simulation.probing.probed_run import ProbedRun
from pytest_hookharness.simulation.probing.reentry_check import find_open_guards
from pytest_hookharness.simulation.probing.schedule import ProbeSchedule
from pytest_hookharness.simulation.probing.time_shift import TimeShift
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.session.history import History
from pytest_hookharness.simulation.testbed.testbed import Testbed

_GUARDS_UNTRIED = (
    "Not tried, because the time budget ended: whether guards are off in sessions that hooks start."
)
# How time passes for the hooks where no real time does: they see a clock that is ahead, or everything becomes
# older.
Passing: TypeAlias = Literal["clock", "aging"]
_REFRESH = ("git", "update-index", "-q", "--refresh")
OnTurn = Callable[[int, int], None]
OnProbe = Callable[[], None]


class Observer:
    """
    Observer that ignores every event; the base of all observers.

    An observer changes nothing, and hears nothing of runs that are only for comparison.
    """

    def begin(self, testbed: Testbed) -> None:
        """Called when the testbed is ready."""

    def step(self, step: Step) -> None:
        """Called after each step, when none of its processes runs any more."""

    def state(self, turn: int, state: State) -> None:
        """Called after each turn with the state that it left."""

    def note(self, record: Mapping[str, Json]) -> None:
        """Called before the end with what a campaign found out, as a record of a trace file."""

    def end(self, outcome: Outcome) -> None:
        """Called with the final outcome, which includes everything that was compared with the run."""


class Loop:
    """One session and what is known of its states."""

    def __init__(
        self,
        testbed: Testbed,
        agent: agents.Agent,
        on_turn: OnTurn | None,
        observer: Observer,
        on_probe: OnProbe = lambda: None,
        *,
        passing: Passing = "clock",
        later: float = 0.0,
    ) -> None:
        self._testbed = testbed
        self._began = testbed.slot.clock()
        if passing == "clock":
            self._begin_clock()
        self._driver = SessionDriver(testbed, agent)
        self._driver.on_step = observer.step
        self._on_turn = on_turn
        self._observer = observer
        self._reported = 0
        self._history = History(testbed.files, Contents(testbed.workspace.roots).read)
        self._initial = testbed.files
        self._lasso: Lasso | None = None
        self._files_in_full: Mapping[str, StateEntry] = {}
        self._flaky = False
        self._turn_limit = testbed.turn_limit
        self._environment = environment_digest(testbed.workspace.environment)
        run = ProbedRun(
            driver=self._driver,
            history=self._history,
            turn_limit=self._turn_limit,
            remaining=self._remaining,
            on_probe=on_probe,
            # Recorded now, and not when a repetition is observed: files that changed since may change again.
            began=system.file_clock(),
            started=testbed.workspace.clock.now,
        )
        self._probes = ProbeSchedule(run)
        self._time_shift = TimeShift(self._history, testbed)
        if passing == "aging":
            self._driver.pass_time = self._time_shift.let_pass
        self._driver.let_pass(later)

    def _begin_clock(self) -> None:
        testbed = self._testbed
        place = testbed.workspace
        place.clock.show_by_kernel(lambda specs: testbed.sandbox.run(specs, budget=self._remaining()))
        if ahead := testbed.settings.ahead(testbed.scenario):
            place.clock.begin_ahead(ahead)
            if (place.root / ".git").exists():
                # Git takes files for changed whose times are not those that it has noted.
                refresh = ProcessSpec(argv=_REFRESH, cwd=str(place.root), env=place.environment)
                testbed.run_processes([refresh], self._remaining())
                testbed.scan()
                testbed.scanner.settle()

    @property
    def turn(self) -> int:
        """The last turn that was begun."""
        return self._driver.turn

    def _remaining(self) -> float:
        """Return the seconds of real time that are left."""
        own = self._testbed.settings.wall - (self._testbed.slot.clock() - self._began)
        return max(0.0, min(own, remaining()))

    def run(self) -> RunEnd:
        """Drive the session until it ends, a limit is reached, or its states show how it goes on."""
        driver, events = self._driver, 0
        while True:
            try:
                request = driver.drive(self._remaining)
            except BudgetEnded:
                # As where it cuts a hook run: what is known of the turn is not all of it.
                driver.drop_turn()
                raise
            if request is None and driver.refused_session is not None:
                return RunEnd(how="recursed", turn=self.turn, why=driver.refused_session.refused)
            if driver.out_of_time:
                driver.drop_turn()
                return self.time_ended()
            if request is None:
                return RunEnd(how="turns", turn=self.turn)
            if isinstance(request, hosts.Ended):
                return driver.run_end(request)
            end = self._compare_states(request)
            if end is not None:
                return end
            act = driver.choose(request)
            if act is not None and not isinstance(act, hosts.EVENTS) and self.turn >= self._turn_limit:
                return RunEnd(how="turns", turn=self.turn)
            # Reactions can make the user write again and again, and no turn is counted meanwhile.
            events = events + 1 if isinstance(act, hosts.EVENTS) else 0
            if events > max(self._turn_limit, len(driver.agent.script.acts)):
                why = f"{counted(events, 'event')} of the script followed each other without a turn"
                return RunEnd(how="turns", turn=self.turn, why=why)
            driver.give(request, act)

    def time_ended(self) -> RunEnd:
        """Return the end of a run whose time budget is used up, with a budget that would be enough."""
        testbed, turns = self._testbed, self._turn_limit
        wall, used = testbed.settings.wall, testbed.slot.clock() - self._began
        seen, wanted = f"for {self.turn} of {counted(turns, 'turn')}", "all turns"
        # In a third of the time no more than turns are played, and experiments follow them.
        running = self._driver.running
        first = first_hooked_turn(self._driver.steps, self.turn + 1 if running else 1)
        needed = needed_time(used, turns, self._probes.played, first)
        if not self.turn:
            seen, wanted = "before the first turn was over", "hooks that use up their timeout in every turn"
            needed = turns * testbed.hook_timeout
        still = f", with {' and '.join(map(repr, running))} still running" if running else ""
        why = describe_used_up(f"{format_duration(wall)} {seen}{still}", wanted, wall, needed)
        return RunEnd(how="wall", turn=self.turn, why=why, running=running)

    def time_may_matter(self, *, ended: bool) -> bool:
        """Return whether the run, which its hooks ended or not, could go differently at a slower pace."""
        # A scenario with a pace of its own is about that pace alone.
        refused = any(hooked.decision.refused for _, hooked in self._trace().hooked())
        if self._testbed.scenario.pace or not refused:
            return False
        if ended:
            # Nothing was observed on the way, so nobody knows whether a hook read the clock.
            return True
        proposal = self._probes.proposal
        if proposal is not None and not proposal.influences.matters and not proposal.influences.clock:
            return False
        made = self._probes.made
        if any(one.threshold is not None and one.threshold.seconds is not None for one in made):
            return True
        # Experiments make files older, and not the commits in them.
        files = self._testbed.files
        if any("/.git/" in path and self._initial.get(path) != entry for path, entry in files.items()):
            return True
        newest = next(reversed(made), None)
        # The probes of an inert loop included the time.
        return not (newest is not None and newest.inert) and self._time_shift.has_timestamps

    @property
    def was_tried(self) -> bool:
        """Whether copies of its states were played, in which no hook was seen to read what chance decides."""
        proposal = self._probes.proposal
        return proposal is not None and not proposal.influences.chance

    def _compare_states(self, request: hosts.NextAct) -> RunEnd | None:
        """Record the state after a turn; return an end if it shows how the run goes on."""
        if self.turn == self._reported:
            return None
        self._reported = self.turn
        if self._on_turn is not None:
            self._on_turn(self.turn, self._driver.hook_run_count)
        # See the module's docstring: only a state in which the agent moves next is compared.
        if request.turn_over:
            return None
        self._remember(request.observation)
        return self._find_repetition() or self._find_progression()

    def _remember(self, seen: Observation) -> None:
        # The host has written to the transcript since the last hook run. That counts if hooks read it.
        self._testbed.scan()
        agent, copies = self._driver.agent, self._testbed.workspace.copied
        position = agent.position
        after = build_state(
            visible=self._driver.visible,
            agent=json.dumps([position.text, *agent.heard(seen), self._testbed.answers.position]),
            environment=self._environment,
            files=self._testbed.files,
            opaque=position.opaque or self._testbed.scanner.opaque,
            previous=next(reversed(self._history.states.values()), copies.state),
        )
        if not self._history.states:
            copies.state = after
        steps = self._driver.steps_after(self.turn - 1)
        self._history.remember(self.turn, after, self._driver.point, seen, steps)
        self._observer.state(self.turn, after)

    def _find_repetition(self) -> RunEnd | None:
        """Follow a cycle of equal states; return an end once it was driven a second time."""
        before = self._lasso
        self._lasso, sure = follow_lasso(before, self._history.states)
        if self._lasso is not None and self._lasso != before:
            # Read without any cache, to be compared with the same files at the end of the repetition.
            self._files_in_full = self._testbed.read_in_full()
        # Only the last turn of a repetition is at the same place of the cycle as the first one.
        if sure is None or self._lasso is None or (self.turn - self._lasso.stem) % self._lasso.period:
            return None
        if self.turn > self._lasso.last:
            return self._check_later(self._lasso)
        if not sure and self._probes.only_time_differs(self._lasso):
            self._lasso = None
            return None
        self._flaky = not sure or self._testbed.read_in_full() != self._files_in_full
        return self._check_repetition(self._lasso.period)

    def _check_later(self, lasso: Lasso) -> RunEnd | None:
        """Check another repetition of a cycle that was confirmed before, and goes on in real turns."""
        states = self._history.states
        same = same_state(states[self.turn - lasso.period], states[self.turn])
        if not same and self._probes.only_time_differs(Lasso(self.turn - 2 * lasso.period, lasso.period)):
            self._lasso = None
            return None
        self._flaky = not same
        return self._check_repetition(lasso.period)

    def _check_repetition(self, period: int) -> RunEnd | None:
        untried = self._flaky or not self._testbed.settings.probes
        if self._testbed.scenario.until == "guard":
            if not untried:
                self._probes.observe(period)
            return None
        return RunEnd(how="lasso", turn=self.turn) if untried else self._probes.check_repetition(period)

    def _find_progression(self) -> RunEnd | None:
        """Probe a run whose turns are alike although its state moves on."""
        # Until a proposed cycle was driven a second time, it is not known whether the state moves on at all.
        unconfirmed = self._lasso is not None and self.turn < self._lasso.last
        if unconfirmed or not self._testbed.settings.probes or self._testbed.scenario.until == "guard":
            return None
        return self._probes.check_progression()

    def _trace(self) -> Trace:
        return Trace(steps=tuple(self._driver.steps), states=dict(self._history.states))

    def conclude(self, end: RunEnd) -> Outcome:
        """Return the outcome of the session, given how it ended."""
        testbed, trace = self._testbed, self._trace()
        # Covered folders are the developer's own: nothing is tried on them.
        check = testbed.settings.probes and not testbed.scenario.cover
        findings: tuple[Finding, ...] = ()
        untried = ""
        if check and end.how not in ("interrupted", "wall"):
            try:
                findings = find_open_guards(self._driver, trace)
            except BudgetEnded:
                untried = _GUARDS_UNTRIED
        evidence = SessionEvidence(
            session=self._driver.progress.session,
            trace=trace,
            end=end,
            lasso=self._lasso,
            flaky=self._flaky,
            probes=tuple(self._probes.made),
            observed=self._probes.proposal,
            findings=findings,
            untried=untried,
        )
        wall = testbed.slot.clock() - self._began
        return conclude_session(testbed, evidence, initial=self._initial, wall=wall)
