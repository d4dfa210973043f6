"""
Playing: host, agent and real hooks, act by act.

A player does what the host asks for and writes down what took place; it
judges nothing, so it serves the loop and its experiments alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from pytest_hookharness import agents, hosts
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.model.agent_sessions import ChildSession
from pytest_hookharness.model.moves import Act, Corrupt, Performance, Read, Wait
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Json, Payload
from pytest_hookharness.model.trace import Change, Exchange, Happened, HookEvent, HookRun, Moved, Step
from pytest_hookharness.simulation.testbed.hook_batch import (
    attribute,
    check_played,
    collect,
    finished,
)
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Stops of a subagent that are refused in a row lie within one turn of the agent, so that no budget of turns
# ends them; caps of hosts that have one are far below.
_MOST_SPINS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPoint:
    """
    Where host and agent stand; with the files of the same moment, all that decides how it goes on.

    Attributes:
        turn: The last turn that was played.
        progress: The host's session, and what it asks for.
        agent: The agent.
        answers: How often each answer of the scenario was given.
        configuration: The hooks, as the host last read them.
        transcript_counts: Whether the transcript is part of the state.
        clock: Seconds that the hooks' clock is ahead.
    """

    turn: int
    progress: hosts.Progress
    agent: agents.Agent
    answers: tuple[int, ...]
    configuration: hosts.Configuration
    transcript_counts: bool
    clock: float = 0.0


@dataclass(frozen=True, slots=True)
class _HookBatch:
    """
    Fires of one event that began together, where its hooks do not all do so.
    """

    hook_runs: tuple[HookRun, ...]
    changes: tuple[Change, ...]
    children: tuple[ChildSession, ...] = ()

    @property
    def lasted(self) -> float:
        """
        Seconds until the last of them had ended.
        """
        return max((fire.run.wall for fire in self.hook_runs if fire.run is not None), default=0.0)


def _later(given: Sequence[ProcessResult | Payload], after: float) -> list[ProcessResult | Payload]:
    if not after:
        return [*given]
    return [
        replace(run, started=run.started + after) if isinstance(run, ProcessResult) else run for run in given
    ]


class SessionDriver:
    """
    One session being played on a stage.

    Attributes:
        stage: Where it is played.
        progress: The host's session, and what it asks for.
        agent: The agent.
        turn: The last turn that was begun.
        fired: How many fires there were.
        refused: The first session of a stand-in that a limit refused; ``None`` while there is none.
        steps: What took place.
        pass_time: Lets seconds pass for the hooks.
        on_step: Is given each step once it has taken place.
    """

    def __init__(
        self, stage: Testbed, agent: agents.Agent, progress: hosts.Progress | None = None, turn: int = 0
    ) -> None:
        self.stage = stage
        self.agent = agent
        self.progress = progress or hosts.begin(stage.profile, stage.configuration, stage.facts)
        stage.facts = self.progress.session.facts
        self.turn = turn
        self.fired = 0
        self.refused: ChildSession | None = None
        self.steps: list[Step] = []
        self.pass_time: Callable[[float], None] = stage.workspace.clock.advance
        self.on_step: Callable[[Step], None] = lambda _: None
        self._waves: list[_HookBatch] = []

    @classmethod
    def at(cls, stage: Testbed, moment: SessionPoint) -> SessionDriver:
        """
        A player that goes on from an earlier moment; the files are whoever calls this one's care.
        """
        stage.answers.put_back(moment.answers)
        stage.configuration = moment.configuration
        stage.transcript_counts = moment.transcript_counts
        stage.workspace.clock.turn_to(moment.clock)
        return cls(stage, moment.agent, moment.progress, moment.turn)

    def end_of(self, request: hosts.Ended) -> RunEnd:
        """
        The end of a session, for the judge.
        """
        return RunEnd(
            how=request.how,
            turn=self.turn,
            why=request.why,
            rule=request.rule,
            status=request.status,
            finishing=tuple(self.stage.profile.turns.finishing),
        )

    @property
    def moment(self) -> SessionPoint:
        """
        Where host and agent stand now.
        """
        return SessionPoint(
            turn=self.turn,
            progress=self.progress,
            agent=self.agent,
            answers=self.stage.answers.given,
            configuration=self.stage.configuration,
            transcript_counts=self.stage.transcript_counts,
            clock=self.stage.workspace.clock.seconds,
        )

    @property
    def visible(self) -> Mapping[str, Json]:
        """
        What hook or agent can see of the session.
        """
        session = self.progress.session
        changed = hosts.find_outdated(session, lambda file: self.stage.handle(Read(file=file)).content)
        return {**session.visible, "files changed since the agent saw them": changed}

    def go_on(self, remaining: Callable[[], float]) -> hosts.NextAct | hosts.Ended | None:
        """
        Do what the host asks for until it wants an act, or is done; ``None`` if it came to a bound before.
        """
        while True:
            request = self.progress.request
            self._write(request)
            match request:
                case hosts.RunHooks():
                    self._fire(request, remaining())
                case hosts.PerformCall():
                    self._perform(request, remaining())
                case hosts.NextAct() | hosts.Ended():
                    return request
                case _:
                    assert_never(request)
            spins = self.progress.session.subagent_refusals >= _MOST_SPINS
            refused = self.refused is not None and not self._waves
            if spins or refused or remaining() == 0.0:
                return None

    def choose(self, request: hosts.NextAct) -> Act | None:
        """
        What agent or script do next; harm done to files is done on the way.
        """
        while True:
            act, self.agent = self.agent.act(request.observation, turn_over=request.turn_over)
            if not self.undergo(act):
                return act

    def undergo(self, act: Act | None) -> bool:
        """
        Let happen what the host has no part in: files are harmed, time passes. Tells whether it was that.
        """
        match act:
            case Corrupt():
                self._note(Happened(event=act))
                self.stage.workspace.corrupt(act)
                self.stage.scan()
            case Wait():
                self._note(Happened(event=act))
                self._let_pass(act.seconds)
            case _:
                return False
        return True

    def take(self, request: hosts.NextAct, act: Act | None) -> None:
        """
        Give the host the act that it asked for.
        """
        if act is not None and isinstance(act, hosts.EVENTS):
            self._note(Happened(event=act))
        elif act is not None:
            if self.turn:
                self._let_pass(self.stage.scenario.pace)
            self.turn += 1
            self._note(Moved(move=act, saw=request.observation))
        self.progress = hosts.advance(self.progress.session, act)
        # A copy of a session has another name.
        self.stage.facts = self.progress.session.facts
        self._note_calls()

    def _let_pass(self, seconds: float) -> None:
        if not seconds:
            return
        self.pass_time(seconds)
        session = self.progress.session
        self.progress = replace(self.progress, session=replace(session, waited=session.waited + seconds))

    def _write(self, request: hosts.Request) -> None:
        stage = self.stage
        if request.records:
            stage.write_transcript(request.transcript_path, request.records)
        if isinstance(request, hosts.RunHooks):
            for lines in request.subagent_lines:
                stage.write_transcript(lines.path, lines.records)

    def _note(self, exchange: Exchange) -> None:
        self.steps.append(Step(number=len(self.steps) + 1, turn=self.turn, exchange=exchange))
        self.on_step(self.steps[-1])

    def _fire(self, request: hosts.RunHooks, budget: float) -> None:
        stage = self.stage
        before = stage.workspace.lineage.begin()
        given, stdins = stage.fire(request.hooks, request.payload, budget)
        children = attribute(self._children(before), request.event, request.hooks, given)
        opened = stage.transcript_opened()
        changed = stage.scan()
        session = self.progress.session
        self.progress = hosts.advance(session, hosts.HooksFinished(runs=given, finished=finished(given)))
        replies = self.progress.replies[len(self.progress.replies) - len(given) :]
        self.fired += len(given)
        after = sum(wave.lasted for wave in self._waves)
        fires = collect(request.hooks, request.payload, stdins, _later(given, after), replies, opened)
        self._waves.append(_HookBatch(fires, changed, children))
        decision = self.progress.decision
        if decision is not None:
            fires = tuple(fire for wave in self._waves for fire in wave.hook_runs)
            changes = tuple(change for wave in self._waves for change in wave.changes)
            children = tuple(child for wave in self._waves for child in wave.children)
            self._waves = []
            self._note(
                HookEvent(
                    event=request.event,
                    target=request.target,
                    hook_runs=fires,
                    decision=decision,
                    changes=changes,
                    children=children,
                )
            )
            self._note_calls()
        self._reload(changed)

    def _children(self, before: int) -> tuple[ChildSession, ...]:
        children = self.stage.workspace.lineage.read(before)
        self.refused = self.refused or next((child for child in children if child.refused), None)
        return children

    def _reload(self, changed: tuple[Change, ...]) -> None:
        # The host reads settings anew when they change, so a hook may have switched itself off.
        if self.stage.reconfigured(changed):
            session = hosts.reconfigure(self.progress.session, self.stage.configuration)
            self.progress = replace(self.progress, session=session)

    def _perform(self, request: hosts.PerformCall, budget: float) -> None:
        before = self.stage.workspace.lineage.begin()
        performance, run = self._carry_out(request, budget)
        starter = f"a call of {request.call.name}"
        children = self._children(before)
        check_played(children)
        children = tuple(child if child.parent else replace(child, starter=starter) for child in children)
        changed = self.stage.scan()
        self.progress = hosts.advance(self.progress.session, performance)
        self._note_calls(run, changed, children)
        self._reload(changed)

    def _carry_out(
        self, request: hosts.PerformCall, budget: float
    ) -> tuple[Performance, ProcessResult | None]:
        promised = request.call.expect
        if promised in ("deny", "ask"):
            # The guard under test has failed. What it should have stopped may be harmful, and is not done.
            error = f"not carried out: it was promised that hooks {promised} this call"
            return Performance(error=error), None
        return self.stage.perform(request.call, request.operation, budget)

    def _note_calls(
        self,
        run: ProcessResult | None = None,
        changed: tuple[Change, ...] = (),
        children: tuple[ChildSession, ...] = (),
    ) -> None:
        for performed in self.progress.performed:
            self._note(replace(performed, run=run, changes=changed, children=children))
            # What was carried out is the first; others of the same step were refused or given.
            run, changed, children = None, (), ()
