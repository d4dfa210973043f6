"""
The session driver: host, agent and real hooks, act by act.

A driver does what the host asks for and records it. It judges nothing, so the loop, probes and campaigns
share it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import assert_never

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.clock.clock import Moment
from pytest_hookharness.execution.workspace.agent_tools import corrupt
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.model.agent_sessions import ChildSession
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.moves import Act, Corrupt, Performance, Read, Wait
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Decision, Hook, Json, Payload
from pytest_hookharness.model.trace import Change, Exchange, Happened, HookEvent, HookRun, Moved, Step
from pytest_hookharness.simulation.startup.start_check import explain_failures
from pytest_hookharness.simulation.testbed.hook_batch import attribute, check_ran, collect, delayed, started
from pytest_hookharness.simulation.testbed.host_actions import edit_or_read, perform_call, run_hooks
from pytest_hookharness.simulation.testbed.testbed import Testbed


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPoint:
    """
    Where host and agent stand in the last turn that was begun.

    With the files of the same time, it decides how the session goes on.
    """

    turn: int
    progress: hosts.Progress
    agent: agents.Agent
    answers: tuple[int, ...]
    configuration: hosts.Configuration
    transcript_counts: bool
    clock: Moment = Moment()


@dataclass(frozen=True, slots=True)
class _HookBatch:
    """Hook runs of one event that began together; some hosts run the hooks of an event in several batches."""

    hook_runs: tuple[HookRun, ...]
    changes: tuple[Change, ...]
    children: tuple[ChildSession, ...] = ()

    @property
    def duration(self) -> float:
        """Seconds until the last of them had ended."""
        return max((run.run.wall for run in self.hook_runs if run.run is not None), default=0.0)


class SessionDriver:
    """
    One session on a testbed.

    Attributes:
        progress: The host's session, and what it asks for.
        out_of_time: Whether the time budget ended; what it cut is no part of the run.
        running: Commands of the hooks that it cut.
        refused_session: The first session of a fake agent that a limit refused; ``None`` while there is none.
        pace: Seconds between two turns.
        on_step: Called with each step once it has taken place.
    """

    def __init__(
        self, testbed: Testbed, agent: agents.Agent, progress: hosts.Progress | None = None, turn: int = 0
    ) -> None:
        self.testbed = testbed
        self.agent = agent
        self.progress = progress or hosts.begin(testbed.profile, testbed.configuration, testbed.facts)
        testbed.use_facts(self.progress.session.facts)
        self.turn = turn
        self.hook_run_count = 0
        self.out_of_time = False
        self.running: tuple[str, ...] = ()
        self.refused_session: ChildSession | None = None
        self.steps: list[Step] = []
        self.pass_time: Callable[[float], None] = testbed.workspace.clock.advance
        self.pace = testbed.scenario.pace
        self.on_step: Callable[[Step], None] = lambda _: None
        self._batches: list[_HookBatch] = []

    @classmethod
    def resume(cls, testbed: Testbed, point: SessionPoint) -> SessionDriver:
        """Resume a session from an earlier point. The caller restores the files."""
        testbed.rewind(
            answers=point.answers,
            configuration=point.configuration,
            transcript_counts=point.transcript_counts,
            clock=point.clock,
        )
        return cls(testbed, point.agent, point.progress, point.turn)

    def run_end(self, request: hosts.Ended) -> RunEnd:
        """Return the end of the session as the judge takes it."""
        return RunEnd(
            how=request.how,
            turn=self.turn,
            why=request.why,
            rule=request.rule,
            status=request.status,
            finishing=tuple(self.testbed.profile.turns.finishing),
        )

    @property
    def point(self) -> SessionPoint:
        """Where host and agent stand now."""
        return SessionPoint(
            turn=self.turn,
            progress=self.progress,
            agent=self.agent,
            answers=self.testbed.answers.given,
            configuration=self.testbed.configuration,
            transcript_counts=self.testbed.transcript_counts,
            clock=self.testbed.workspace.clock.moment,
        )

    @property
    def visible(self) -> Mapping[str, Json]:
        """What a hook or the agent can see of the session."""
        session = self.progress.session
        changed = hosts.find_outdated(
            session, lambda file: edit_or_read(self.testbed, Read(file=file)).content
        )
        return {**session.visible, "files changed since the agent saw them": changed}

    def refusals(self, since: int = -1) -> int:
        """Return the number of refusals after a turn; all of them if none is given."""
        recent = self.steps_after(since)
        events = (step.exchange for step in recent if isinstance(step.exchange, HookEvent))
        return sum(event.decision.refused for event in events)

    def steps_after(self, turn: int) -> list[Step]:
        """Return the steps of the turns after one."""
        return [*takewhile(lambda step: step.turn > turn, reversed(self.steps))][::-1]

    def drive(self, remaining: Callable[[], float]) -> hosts.NextAct | hosts.Ended | None:
        """
        Do what the host asks for until it needs the agent's next act, or the session has ended.

        Returns the host's request; ``None`` if a limit of the harness, such as the ``remaining`` seconds,
        came first.
        """
        while True:
            request = self.progress.request
            for path, lines in self.progress.lines.items():
                self.testbed.write_transcript(path, lines)
            left = remaining()
            match request:
                case hosts.RunHooks() | hosts.PerformCall() if left <= 0:
                    self.out_of_time = True
                case hosts.RunHooks():
                    self._run_hooks(request, left)
                case hosts.PerformCall():
                    self._perform(request, left)
                case hosts.NextAct() | hosts.Ended():
                    return request
                case _:
                    assert_never(request)
            # Not before the last batch: a step with half of its hook runs could not be judged.
            refused = self.refused_session is not None and not self._batches
            if refused or self.out_of_time:
                return None

    def choose(self, request: hosts.NextAct) -> Act | None:
        """Return the next act of agent or script, after applying the events that the host has no part in."""
        if request.given is not None:
            return request.given
        while True:
            act, self.agent = self.agent.act(request.observation, turn_over=request.turn_over)
            if not self.apply_event(act):
                return act

    def apply_event(self, act: Act | None) -> bool:
        """Damage files or let time pass if an act is such an event; return whether it is."""
        match act:
            case Corrupt():
                self._note(Happened(event=act))
                corrupt(self.testbed.workspace.root, act)
                self.testbed.scan()
            case Wait():
                self._note(Happened(event=act))
                self.let_pass(act.seconds)
            case _:
                return False
        return True

    def give(self, request: hosts.NextAct, act: Act | None) -> None:
        """Give the host the act that it asked for."""
        if act is not None and isinstance(act, hosts.EVENTS):
            self._note(Happened(event=act))
        elif act is not None:
            if self.turn:
                self.let_pass(self.pace)
            self.turn += 1
            self._note(Moved(move=act, saw=request.observation))
        self.progress = hosts.advance(self.progress.session, act)
        # A copy of a session has an id of its own.
        self.testbed.use_facts(self.progress.session.facts)
        self._note_calls()

    def drop_turn(self) -> None:
        """Remove the steps of a turn that the time budget ended before it was over."""
        if self.turn:
            self.steps = [step for step in self.steps if step.turn < self.turn]
            self.turn -= 1

    def replace_session(self, session: hosts.Session) -> None:
        """Go on with another value of the host's session."""
        self.progress = replace(self.progress, session=session)

    def let_pass(self, seconds: float) -> None:
        """Let time pass for the hooks and in what the host tells them."""
        if not seconds:
            return
        self.pass_time(seconds)
        session = self.progress.session
        self.replace_session(replace(session, waited=session.waited + seconds))

    def _note(self, exchange: Exchange) -> None:
        self.steps.append(Step(number=len(self.steps) + 1, turn=self.turn, exchange=exchange))
        self.on_step(self.steps[-1])

    def _run_hooks(self, request: hosts.RunHooks, budget: float) -> None:
        testbed = self.testbed
        before = testbed.workspace.doubles.session_records.begin()
        given, specs = run_hooks(testbed, request.hooks, request.payload, budget)
        if self._was_cut(given, request.hooks):
            return
        children = attribute(self._read_children(before), request.event, request.hooks, given)
        opened = testbed.transcript_opened()
        changed = testbed.scan(started(request.hooks, given))
        given = explain_failures(testbed, request.hooks, specs, given)
        session = self.progress.session
        order = testbed.ends.find(request.hooks, given)
        self.progress = hosts.advance(session, hosts.HooksFinished(runs=given, finished=order))
        replies = self.progress.replies[len(self.progress.replies) - len(given) :]
        self.hook_run_count += len(given)
        after = sum(batch.duration for batch in self._batches)
        runs = collect(request.hooks, request.payload, specs, delayed(given, after), replies, opened)
        self._batches.append(_HookBatch(runs, changed, children))
        if self.progress.decision is not None:
            self._note_event(request, self.progress.decision)
        self._reload_settings(changed)

    def _was_cut(self, given: Sequence[ProcessResult | Payload | None], hooks: Sequence[Hook] = ()) -> bool:
        """Return whether the time budget cut a process, so that its effects show nothing."""
        cut = [isinstance(result, ProcessResult) and result.cut_by_budget for result in given]
        self.running = tuple(hook.command for hook, was in zip(hooks, cut, strict=False) if was)
        self.out_of_time = any(cut)
        return self.out_of_time

    def _note_event(self, request: hosts.RunHooks, decision: Decision) -> None:
        batches, self._batches = self._batches, []
        self._note(
            HookEvent(
                event=request.event,
                target=request.target,
                hook_runs=tuple(run for batch in batches for run in batch.hook_runs),
                decision=decision,
                changes=tuple(change for batch in batches for change in batch.changes),
                children=tuple(child for batch in batches for child in batch.children),
            )
        )
        self._note_calls()

    def _read_children(self, before: int) -> tuple[ChildSession, ...]:
        children = self.testbed.workspace.doubles.session_records.read(before)
        first = next((child for child in children if child.refused), None)
        self.refused_session = self.refused_session or first
        return children

    def _reload_settings(self, changed: tuple[Change, ...]) -> None:
        # The host reads settings again when they change, so a hook may have removed itself.
        if self.testbed.reload_settings(changed):
            self.replace_session(hosts.reconfigure(self.progress.session, self.testbed.configuration))

    def _perform(self, request: hosts.PerformCall, budget: float) -> None:
        before = self.testbed.workspace.doubles.session_records.begin()
        expected, result = request.call.expect, None
        if expected in ("deny", "ask"):
            # The hook under test has failed. The call that it should have refused may be harmful.
            error = f"not carried out: hooks were expected to {expected} this call"
            performance = Performance(error=error)
        else:
            performance, result = perform_call(self.testbed, request.call, request.operation, budget)
        if self._was_cut((result,)):
            return
        starter = f"a call of {request.call.name}"
        children = self._read_children(before)
        check_ran(children)
        children = tuple(child if child.parent else replace(child, starter=starter) for child in children)
        changed = self.testbed.scan()
        self.progress = hosts.advance(self.progress.session, performance)
        self._note_calls(result, changed, children)
        self._reload_settings(changed)

    def _note_calls(
        self,
        result: ProcessResult | None = None,
        changed: tuple[Change, ...] = (),
        children: tuple[ChildSession, ...] = (),
    ) -> None:
        for performed in self.progress.performed:
            self._note(replace(performed, run=result, changes=changed, children=children))
            # Only the first was carried out. Others of the same step were refused, or their result was given.
            result, changed, children = None, (), ()
