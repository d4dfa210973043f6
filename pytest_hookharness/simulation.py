"""
This module is concerned with the loop: host, agent, real hooks and judge, round and round.

Upper floor. The host says what it wants next; the loop has it done on the stage, writes down what
took place, and ends when the judge has seen enough.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.sandbox import Supervisor
from pytest_hookharness.firing import collect, finished
from pytest_hookharness.judging import opinion
from pytest_hookharness.judging.assumptions import CONTAINED, UNCONTAINED
from pytest_hookharness.judging.ends import End
from pytest_hookharness.judging.fingerprint import environment_digest, state
from pytest_hookharness.judging.lasso import Lasso, follow
from pytest_hookharness.judging.promises import violations
from pytest_hookharness.model.moves import Act, Corrupt, Observation, Performance, Wait
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Run
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import (
    Change,
    Entry,
    Exchange,
    Happened,
    Hooked,
    Moved,
    Performed,
    State,
    Step,
    Trace,
)
from pytest_hookharness.references import check_references
from pytest_hookharness.settings import Settings, SimulationError
from pytest_hookharness.stage import Stage

OnTurn = Callable[[int, int], None]


class Interrupted(KeyboardInterrupt):
    """
    The person stopped a simulation.

    Attributes:
        outcome: What was seen until then.
    """

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__("the simulation was interrupted")


def simulate(
    scenario: Scenario,
    *,
    settings: Settings,
    supervisor: Supervisor,
    base: Path,
    behaviours: Mapping[str, agents.BehaviourFunction] | None = None,
    on_turn: OnTurn | None = None,
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

    Raises:
        Interrupted: Ctrl-C; it carries what was seen.
        SimulationError: The scenario asks for what the harness does not know how to do.
        hosts.UnknownHost: The scenario names a host that nobody knows.
        agents.UnknownBehaviour: Its behaviour is not known.
        WorkspaceError: The workspace could not be made, read or removed.
        ExecutionError: The supervisor was lost, or the tier is not to be had.
    """
    agent = agents.start(scenario.script, behaviours)
    with Stage.open(scenario, settings, supervisor, base) as stage:
        check_references(scenario, stage.profile, stage.configuration)
        loop = _Loop(stage, agent, on_turn)
        try:
            end = loop.play()
        except KeyboardInterrupt:
            raise Interrupted(loop.conclude(End(how="interrupted", turn=loop.turn))) from None
        outcome = loop.conclude(end)
        if settings.keep and not outcome.passed:
            outcome = replace(outcome, kept=str(stage.workspace.keep()))
        return outcome


class _Loop:
    """
    One session being played.
    """

    def __init__(self, stage: Stage, agent: agents.Agent, on_turn: OnTurn | None) -> None:
        self.stage = stage
        self.agent = agent
        self.on_turn = on_turn
        self.turn = 0
        self.reported = 0
        self.fired = 0
        self.steps: list[Step] = []
        self.states: dict[int, State] = {}
        self.initial = stage.files
        self.lasso: Lasso | None = None
        self.files_in_full: Mapping[str, Entry] = {}
        self.flaky = False
        self.began = time.monotonic()
        scenario, settings = stage.scenario, stage.settings
        self.most_turns = scenario.turns if settings.turns is None else settings.turns
        self.environment = environment_digest(stage.workspace.environment)
        self.progress = hosts.begin(stage.profile, stage.configuration, stage.facts)

    @property
    def remaining(self) -> float:
        """
        Seconds of real time that are left.
        """
        return max(0.0, self.stage.settings.wall - (time.monotonic() - self.began))

    def play(self) -> End:
        """
        Do what the host asks for until something ends it.
        """
        while True:
            request = self.progress.request
            self._write(request)
            match request:
                case hosts.RunHooks():
                    self._fire(request)
                case hosts.PerformCall():
                    self._perform(request)
                case hosts.NextAct():
                    end = self._next(request)
                    if end is not None:
                        return end
                case hosts.Ended():
                    return End(how=request.how, turn=self.turn, why=request.why, rule=request.rule)
                case _:
                    assert_never(request)
            if self.remaining == 0.0:
                return End(how="wall", turn=self.turn)

    def _write(self, request: hosts.Request) -> None:
        stage = self.stage
        if request.records:
            stage.write_transcript(request.transcript_path, request.records)
        if isinstance(request, hosts.RunHooks):
            for lines in request.side_records:
                stage.write_transcript(lines.path, lines.records)

    def _note(self, exchange: Exchange) -> None:
        self.steps.append(Step(number=len(self.steps) + 1, turn=self.turn, exchange=exchange))

    def _fire(self, request: hosts.RunHooks) -> None:
        stage = self.stage
        given, stdins = stage.fire(request.hooks, request.payload, self.remaining)
        opened = stage.transcript_opened()
        changed = stage.scan()
        session = self.progress.session
        self.progress = hosts.advance(session, hosts.Fired(runs=given, finished=finished(given)))
        decision, replies = self.progress.decision, self.progress.replies
        if decision is None:
            raise SimulationError(f"the host {stage.profile.id} made nothing of its {request.event} hooks")
        self.fired += len(given)
        fires = collect(request.hooks, request.payload, stdins, given, replies, opened)
        self._note(
            Hooked(
                event=request.event,
                target=request.target,
                fires=fires,
                decision=decision,
                changes=changed,
            )
        )
        self._note_calls()
        self._reload(changed)

    def _reload(self, changed: tuple[Change, ...]) -> None:
        # The host reads settings anew when they change, so a hook may have switched itself off.
        if self.stage.reconfigured(changed):
            session = hosts.reconfigure(self.progress.session, self.stage.configuration)
            self.progress = replace(self.progress, session=session)

    def _perform(self, request: hosts.PerformCall) -> None:
        performance, run = self._carry_out(request)
        changed = self.stage.scan()
        self.progress = hosts.advance(self.progress.session, performance)
        self._note_calls(run, changed)
        self._reload(changed)

    def _carry_out(self, request: hosts.PerformCall) -> tuple[Performance, Run | None]:
        promised = request.call.expect
        if promised in ("deny", "ask"):
            # The guard under test has failed. What it should have stopped may be harmful, and is not done.
            error = f"not carried out: it was promised that hooks {promised} this call"
            return Performance(error=error), None
        return self.stage.perform(request.call, request.operation, self.remaining)

    def _note_calls(self, run: Run | None = None, changed: tuple[Change, ...] = ()) -> None:
        for performed in self.progress.performed:
            self._note(replace(performed, run=run, changes=changed))
            # What was carried out is the first; others of the same step were refused or given.
            run, changed = None, ()

    def _next(self, request: hosts.NextAct) -> End | None:
        if self.turn > self.reported:
            self.reported = self.turn
            if self.on_turn is not None:
                self.on_turn(self.turn, self.fired)
            # After a turn that is over the agent is asked nothing; such a state is of another kind.
            if not request.turn_over:
                self._remember(request.observation)
                end = self._recurred()
                if end is not None:
                    return end
        act = self._act(request)
        if act is not None and not isinstance(act, hosts.EVENTS):
            if self.turn >= self.most_turns:
                return End(how="turns", turn=self.turn)
            self.turn += 1
            self._note(Moved(move=act, saw=request.observation))
        self.progress = hosts.advance(self.progress.session, act)
        self._note_calls()
        return None

    def _act(self, request: hosts.NextAct) -> Act | None:
        while True:
            act, self.agent = self.agent.act(request.observation, turn_over=request.turn_over)
            match act:
                case Corrupt():
                    self._note(Happened(event=act))
                    self.stage.workspace.corrupt(act)
                    self.stage.scan()
                case Wait():
                    raise SimulationError(
                        f"wait: {act.seconds:g}s: the clock of the hooks cannot be moved yet; leave it out"
                    )
                case None:
                    return None
                case _:
                    if isinstance(act, hosts.EVENTS):
                        self._note(Happened(event=act))
                    return act

    def _remember(self, saw: Observation) -> None:
        # The host has written to the transcript since the last fire, which counts if that is read.
        self.stage.scan()
        position = self.agent.position
        self.states[self.turn] = state(
            visible=self.progress.session.visible,
            agent=json.dumps([position.text, *map(repr, saw.messages), self.stage.answers.position]),
            environment=self.environment,
            files=self.stage.files,
            opaque=position.opaque or self.stage.scanner.opaque,
            previous=next(reversed(self.states.values()), None),
        )

    def _recurred(self) -> End | None:
        before = self.lasso
        self.lasso, sure = follow(before, self.states)
        if self.lasso is not None and self.lasso != before:
            # Read in full and without any cache, to be compared with the same at the end of the lap.
            self.files_in_full = self.stage.read_in_full()
        # Once the lap is over; later turns are at other places of the cycle.
        if sure is None or self.lasso is None or self.turn != self.lasso.last:
            return None
        self.flaky = not sure or self.stage.read_in_full() != self.files_in_full
        if self.stage.scenario.until == "guard":
            return None
        return End(how="lasso", turn=self.turn)

    def _trace(self) -> Trace:
        return Trace(steps=tuple(self.steps), states=dict(self.states))

    def conclude(self, end: End) -> Outcome:
        """
        Judge what was seen, and compare it with what the scenario promised.
        """
        stage, trace = self.stage, self._trace()
        formed = opinion.form(
            trace,
            end,
            guard=hosts.guard_for(self.progress.session, self._lap_used_tools()),
            lasso=self.lasso,
            flaky=self.flaky,
            masked=stage.scanner.masked,
            assumptions=self._assumptions(),
            problems=stage.configuration.problems,
            configured=tuple(hook.event for hook in stage.configuration.hooks),
        )
        outcome = Outcome(
            scenario=stage.scenario,
            host=stage.profile.id,
            trace=trace,
            verdict=formed.verdict,
            findings=formed.findings,
            assumptions=formed.assumptions,
            tier=stage.sandbox.tier,
            seed=stage.settings.seed,
            calls={name: stage.workspace.calls(name) for name in stage.scenario.commands},
            wall=time.monotonic() - self.began,
        )
        broken = violations(outcome, initial=self.initial, final=stage.files, final_text=stage.text)
        return replace(outcome, violations=broken)

    def _lap_used_tools(self) -> bool:
        if self.lasso is None:
            return False
        lap = (step.exchange for step in self.steps if step.turn > self.lasso.stem)
        return any(isinstance(exchange, Performed) and not exchange.refused for exchange in lap)

    def _assumptions(self) -> tuple[str, ...]:
        sandbox = self.stage.sandbox
        outside = CONTAINED if sandbox.contained else UNCONTAINED
        notes = [outside, *sandbox.notes, *self.stage.scanner.unapplied]
        if any("/.git/" in path for path in self.stage.files):
            notes.append("What git keeps in its store of objects decides nothing.")
        if not self.stage.transcript_counts:
            notes.append("No hook opened the transcript; its size and time were not watched.")
        return tuple(notes)
