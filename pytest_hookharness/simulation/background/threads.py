"""
The threads of a run with background processes: the user's session, and one for each process hook that fires.

All run on one testbed, one after the other. Each is a session of its own with the same host, hooks and
permissions. Background processes run beside them, so a state is never complete and none is compared: a thread
that goes on is cut by the turn limit, and its verdict is `undecided`.
"""

from __future__ import annotations

import time

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.judging.verdict.conclusion import judge_threads
from pytest_hookharness.judging.verdict.judge_input import JudgeInput
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.judging.verdict.verdict import judge
from pytest_hookharness.model.background import USER, HookThread
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.moves import Act, Prompt, RunCommand, Script, Tools, Wait
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.time_budget import remaining
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Verdict, verdict_name
from pytest_hookharness.simulation.background.context import section
from pytest_hookharness.simulation.background.engine_state import SpawnThread
from pytest_hookharness.simulation.background.tracking import BackgroundTracking
from pytest_hookharness.simulation.conclude import conclude_threads
from pytest_hookharness.simulation.loop import Observer, OnTurn
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed


@dataclass(frozen=True, slots=True)
class _ThreadRun:
    """One thread that ran, or runs."""

    driver: SessionDriver
    end: RunEnd

    def judge(self) -> Verdict:
        steps = tuple(self.driver.steps)
        cap = hosts.cap_for(self.driver.progress.session, steps)
        return judge(JudgeInput(Trace(steps=steps), self.end, cap=cap))


class ThreadSessions:
    """All threads of one simulation; ``turn`` is the last turn that any of them began."""

    def __init__(
        self,
        testbed: Testbed,
        agent: agents.Agent,
        supervisor: Supervisor,
        on_turn: OnTurn | None,
        observer: Observer,
    ) -> None:
        scenario = testbed.scenario
        if scenario.pace or any(isinstance(act, Wait) for act in scenario.script.acts):
            raise SimulationError(
                "wait, pace: the clock of background processes cannot be moved; remove them or `processes`"
            )
        self.turn = 0
        self._testbed = testbed
        self._agent = agent
        self._on_turn = on_turn
        self._observer = observer
        self._initial = testbed.files
        self._began = time.monotonic()
        self._runs: list[_ThreadRun] = []
        self._hook_threads: dict[int, HookThread] = {}
        self._tracking = BackgroundTracking(testbed, supervisor, self._remaining)

    def _remaining(self) -> float:
        own = self._testbed.settings.wall - (time.monotonic() - self._began)
        return max(0.0, min(own, remaining()))

    def run(self) -> RunEnd:
        """Run the user's thread and all threads that process hooks spawn, until nothing more can happen."""
        try:
            end = self._run_thread(self._agent, USER)
            self._run_spawned()
        finally:
            self._tracking.close()
        return end

    def time_may_matter(self, *, ended: bool) -> bool:  # noqa: ARG002
        """Return false: real processes have a pace of their own."""
        return False

    @property
    def was_tried(self) -> bool:
        """Return false: no copies are played."""
        return False

    def time_ended(self) -> RunEnd:
        """Return the end of a run whose time budget is used up."""
        return RunEnd(how="wall", turn=self.turn)

    def _run_spawned(self) -> None:
        tracking = self._tracking
        while self._remaining():
            spawn = tracking.next_thread()
            if spawn is not None:
                self._spawn(spawn)
            elif self._limit_reached() or tracking.is_over():
                return
            else:
                tracking.watch(self._remaining())

    def _limit_reached(self) -> bool:
        # All threads that were due have run; watching longer would only show more refusals by the same limit.
        state, limit = self._tracking.state, self._testbed.scenario.threads.most
        full = limit in (len(state.threads), len(state.watched))
        return full and not state.waiting and any(denial.stops for denial in state.denials)

    def _spawn(self, spawn: SpawnThread) -> None:
        hook = self._testbed.scenario.processes[spawn.thread.name].hooks[spawn.hook]
        prompt = Prompt(text=section(spawn.context))
        script = Script(acts=(prompt, *hook.script.acts), then=hook.script.then)
        agent, first = agents.start(script, self._agent.behaviours), self.turn + 1
        number = spawn.thread.number
        self._hook_threads[number] = replace(spawn.thread, turns=(first, first), verdict="undecided")
        self._run_thread(agent, number)
        verdict = verdict_name(self._runs[-1].judge())
        self._hook_threads[number] = replace(spawn.thread, turns=(first, self.turn), verdict=verdict)

    def _run_thread(self, agent: agents.Agent, number: int) -> RunEnd:
        """Run one thread to its end. Processes go on meanwhile; their events wait until it is over."""
        self._testbed.begin_session(number)
        driver = SessionDriver(self._testbed, agent, turn=self.turn)
        earlier = sum(len(run.driver.steps) for run in self._runs)
        driver.on_step = lambda step: self._observer.step(replace(step, number=earlier + step.number))
        # Entered before it runs, so that Ctrl-C leaves a thread that can be judged.
        self._runs.append(_ThreadRun(driver, RunEnd(how="interrupted", turn=self.turn)))
        end = self._drive(driver, number)
        self._runs[-1] = _ThreadRun(driver, end)
        self._tracking.take_requests(number)
        self._tracking.end_thread()
        return end

    def _drive(self, driver: SessionDriver, number: int) -> RunEnd:
        act: Act | None = None
        while True:
            request = driver.drive(self._remaining)
            self.turn = driver.turn
            if request is None:
                return RunEnd(how="wall" if driver.out_of_time else "turns", turn=self.turn)
            if self._on_turn is not None:
                self._on_turn(self.turn, sum(run.driver.hook_run_count for run in self._runs))
            self._tracking.take_requests(number, called=isinstance(act, RunCommand | Tools))
            self._tracking.watch()
            if isinstance(request, hosts.Ended):
                return driver.run_end(request)
            act = driver.choose(request)
            over_limit = self.turn >= self._testbed.turn_limit
            if act is not None and not isinstance(act, hosts.EVENTS) and over_limit:
                return RunEnd(how="turns", turn=self.turn)
            if number == USER and isinstance(act, Prompt):
                self._tracking.begin_user_thread()
            driver.give(request, act)

    def conclude(self, end: RunEnd) -> Outcome:
        """Return the outcome of all threads, by the end of the user's own one or of an interrupted run."""
        verdicts = [run.judge() for run in self._runs]
        tracked = self._tracking.report(self._hook_threads)
        verdict = judge_threads(
            verdicts, tracked.denials, turn=self.turn, unfinished=self._tracking.unfinished
        )
        wall = time.monotonic() - self._began
        return conclude_threads(
            self._testbed, self._trace(), end, verdict, tracked, initial=self._initial, wall=wall
        )

    def _trace(self) -> Trace:
        steps = [step for run in self._runs for step in run.driver.steps]
        return Trace(steps=tuple(replace(step, number=number) for number, step in enumerate(steps, 1)))
