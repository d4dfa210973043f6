"""
Threads: the person's session, and one for each process hook that fires.

All are played on one stage, one after the other, each by a session of its
own with the same host, hooks and permissions. Processes run beside them, so no state is ever said to have
come again: a thread that goes on for ever is cut by the turns, and is `undecided`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.judging.expectations.check_expectations import find_violations
from pytest_hookharness.judging.verdict import conclusion
from pytest_hookharness.judging.verdict.conclusion import judge_threads
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.judging.verdict.verdict import RECORDED, UNCONTAINED, JudgeInput, judge
from pytest_hookharness.model.background import USER, HookThread
from pytest_hookharness.model.moves import Act, Prompt, RunCommand, Script, Tools, Wait
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Performed, Trace
from pytest_hookharness.model.verdicts import Verdict, verdict_name
from pytest_hookharness.simulation import background
from pytest_hookharness.simulation.background.tracking import BackgroundTracking
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.session.observers import Observer
from pytest_hookharness.simulation.testbed.host_setup import find_facts
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

OnTurn = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Played:
    """
    One thread that was played.
    """

    player: SessionDriver
    end: RunEnd

    def judge(self) -> Verdict:
        trace = Trace(steps=tuple(self.player.steps))
        done = (step.exchange for step in trace.steps)
        used_tools = any(isinstance(item, Performed) and not item.refused for item in done)
        guard = hosts.guard_for(self.player.progress.session, used_tools)
        return judge(JudgeInput(trace, self.end, cap=guard))


class ThreadSessions:
    """
    All threads of one simulation.

    Attributes:
        turn: The last turn that was begun, of whichever thread.
        timely: Whether the run should be played again at another pace; real processes have their own.
    """

    timely = False

    def __init__(
        self,
        stage: Testbed,
        agent: agents.Agent,
        supervisor: Supervisor,
        on_turn: OnTurn | None,
        witness: Observer,
    ) -> None:
        scenario, settings = stage.scenario, stage.settings
        if scenario.pace or any(isinstance(act, Wait) for act in scenario.script.acts):
            raise SimulationError(
                "wait, pace: the clock of tracked processes cannot be moved; leave `processes` or these out"
            )
        self.turn = 0
        self._stage = stage
        self._agent = agent
        self._on_turn = on_turn
        self._witness = witness
        self._most_turns = scenario.turns if settings.turns is None else settings.turns
        self._initial = stage.files
        self._began = time.monotonic()
        self._played: list[_Played] = []
        self._hook_threads: dict[int, HookThread] = {}
        self._tracking = BackgroundTracking(stage, supervisor, self._remaining)

    def _remaining(self) -> float:
        return max(0.0, self._stage.settings.wall - (time.monotonic() - self._began))

    def play(self) -> RunEnd:
        """
        Play the person's thread and all that process hooks spawn, until nothing can happen any more.
        """
        try:
            end = self._play(self._agent, USER)
            self._watch()
        finally:
            self._tracking.close()
        return end

    def _watch(self) -> None:
        tracking = self._tracking
        while self._remaining():
            spawn = tracking.next_thread()
            if spawn is not None:
                self._spawn(spawn)
            elif self._flooded() or tracking.is_over():
                return
            else:
                tracking.watch(self._remaining())

    def _flooded(self) -> bool:
        # A bound of the harness itself was met. What was due is played; to watch on would show more of that.
        state, most = self._tracking.state, self._stage.scenario.threads.most
        full = most in (len(state.threads), len(state.watched))
        return full and not state.waiting and any(denial.stops for denial in state.denials)

    def _spawn(self, spawn: background.SpawnThread) -> None:
        hook = self._stage.scenario.processes[spawn.thread.name].hooks[spawn.hook]
        prompt = Prompt(text=background.section(spawn.context))
        script = Script(acts=(prompt, *hook.script.acts), then=hook.script.then)
        agent, first = agents.start(script, self._agent.behaviours), self.turn + 1
        number = spawn.thread.number
        self._hook_threads[number] = replace(spawn.thread, turns=(first, first), verdict="undecided")
        self._play(agent, number)
        verdict = verdict_name(self._played[-1].judge())
        self._hook_threads[number] = replace(spawn.thread, turns=(first, self.turn), verdict=verdict)

    def _play(self, agent: agents.Agent, number: int) -> RunEnd:
        """
        Play one thread to its end; while it runs, processes go on, and their events wait for their turn.
        """
        stage = self._stage
        # A session of its own: the same host and hooks, another id, nothing of the history.
        own = stage.scenario if number == USER else replace(stage.scenario, setup="", worktree="")
        stage.facts = find_facts(
            own,
            stage.profile,
            stage.configuration,
            stage.workspace,
            stage.settings.seed + number,
        )
        player = SessionDriver(stage, agent, turn=self.turn)
        earlier = sum(len(played.player.steps) for played in self._played)
        player.on_step = lambda step: self._witness.step(replace(step, number=earlier + step.number))
        self._played.append(_Played(player, RunEnd(how="interrupted", turn=self.turn)))
        end = self._go_on(player, number)
        self._played[-1] = _Played(player, end)
        self._tracking.take_requests(number)
        self._tracking.end_thread()
        return end

    def _go_on(self, player: SessionDriver, number: int) -> RunEnd:
        act: Act | None = None
        while True:
            request = player.go_on(self._remaining)
            self.turn = player.turn
            if request is None:
                return RunEnd(how="turns" if self._remaining() else "wall", turn=self.turn)
            if self._on_turn is not None:
                self._on_turn(self.turn, sum(played.player.fired for played in self._played))
            self._tracking.take_requests(number, called=isinstance(act, RunCommand | Tools))
            self._tracking.watch()
            if isinstance(request, hosts.Ended):
                return player.end_of(request)
            act = player.choose(request)
            if act is not None and not isinstance(act, hosts.EVENTS) and self.turn >= self._most_turns:
                return RunEnd(how="turns", turn=self.turn)
            if number == USER and isinstance(act, Prompt):
                self._tracking.begin_user_thread()
            player.take(request, act)

    def conclude(self, end: RunEnd) -> Outcome:
        """
        Judge what was seen, and compare it with what the scenario promised.

        Args:
            end: How the person's own thread ended, or the whole run if it was interrupted.
        """
        stage, trace = self._stage, self._trace()
        stage.scan()
        tracked = self._tracking.report(self._hook_threads)
        recorded = (RECORDED,) if stage.settings.coverage_store is not None else ()
        formed = conclusion.form_conclusion(
            JudgeInput(
                trace,
                end,
                assumptions=(UNCONTAINED, *recorded, *stage.sandbox.notes, *stage.scanner.unapplied),
                problems=(
                    *stage.configuration.problems,
                    *hosts.find_ignored(stage.profile, stage.scenario.options),
                ),
                # Where process hooks alone are tried, and fired, nothing is missing.
                configured=tuple(hook.event for hook in stage.configuration.hooks)
                or (None if tracked.threads or tracked.denials else ()),
            )
        )
        outcome = Outcome(
            scenario=stage.scenario,
            host=stage.profile.id,
            trace=trace,
            verdict=judge_threads(
                [played.judge() for played in self._played],
                tracked.denials,
                turn=self.turn,
                unfinished=self._tracking.unfinished,
            ),
            findings=formed.findings,
            assumptions=formed.assumptions,
            tier=stage.sandbox.tier,
            seed=stage.settings.seed,
            calls={name: stage.workspace.calls(name) for name in stage.scenario.commands},
            wall=time.monotonic() - self._began,
            background=tracked,
        )
        broken = find_violations(outcome, initial=self._initial, final=stage.files, final_text=stage.text)
        return replace(outcome, violations=broken)

    def _trace(self) -> Trace:
        every = [step for played in self._played for step in played.player.steps]
        return Trace(steps=tuple(replace(step, number=place) for place, step in enumerate(every, 1)))
