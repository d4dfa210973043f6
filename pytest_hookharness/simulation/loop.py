"""
The loop: host, agent, real hooks and judge, round and round.

The host says what it wants next; the loop has it done on the stage,
writes down what took place, and ends when the judge has seen enough.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.state.file_contents import Contents
from pytest_hookharness.judging.expectations import check_expectations
from pytest_hookharness.judging.recurrence.cycle import Lasso, follow
from pytest_hookharness.judging.recurrence.fingerprint import environment_digest, state
from pytest_hookharness.judging.verdict import conclusion
from pytest_hookharness.judging.verdict.run_end import RunEnd, duration
from pytest_hookharness.judging.verdict.verdict import CLOCKS, CONTAINED, RECORDED, UNCONTAINED
from pytest_hookharness.model.moves import Observation
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.trace import Performed, StateEntry, Trace
from pytest_hookharness.model.verdicts import Finding, Terminated, Undecided, Verdict
from pytest_hookharness.simulation.probing.reentry_check import find_open_gates
from pytest_hookharness.simulation.probing.schedule import ProbeSchedule
from pytest_hookharness.simulation.probing.time_shift import TimeShift
from pytest_hookharness.simulation.session.checkpoint import CheckpointEditor
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.session.history import History
from pytest_hookharness.simulation.session.observers import Observer
from pytest_hookharness.simulation.testbed.testbed import Testbed

OnTurn = Callable[[int, int], None]
OnProbe = Callable[[], None]
_BLIND = (
    "the tier of process groups does not see an agent that a hook starts in a session of its own (`setsid`); "
    "play it in another tier"
)


class Loop:
    """
    One session being played, with the judge looking on.
    """

    def __init__(
        self,
        stage: Testbed,
        agent: agents.Agent,
        on_turn: OnTurn | None,
        witness: Observer,
        on_probe: OnProbe = lambda: None,
        *,
        ageing: bool = False,
    ) -> None:
        self.stage = stage
        self.player = SessionDriver(stage, agent)
        self.player.on_step = witness.step
        self.on_turn = on_turn
        self.witness = witness
        self.reported = 0
        self.history = History(stage.files, Contents(stage.workspace.roots).read)
        self.initial = stage.files
        self.lasso: Lasso | None = None
        self.files_in_full: Mapping[str, StateEntry] = {}
        self.flaky = False
        self.began = stage.slot.clock()
        scenario, settings = stage.scenario, stage.settings
        self.most_turns = scenario.turns if settings.turns is None else settings.turns
        self.environment = environment_digest(stage.workspace.environment)
        self.experiments = ProbeSchedule(
            self.player,
            self.history,
            most_turns=self.most_turns,
            remaining=self.remaining,
            on_probe=on_probe,
        )
        self.ageing = TimeShift(self.history, CheckpointEditor(stage))
        if ageing:
            self.player.pass_time = self.ageing.let_pass

    @property
    def turn(self) -> int:
        """
        The last turn that was begun.
        """
        return self.player.turn

    def remaining(self) -> float:
        """
        Seconds of real time that are left.
        """
        return max(0.0, self.stage.settings.wall - (self.stage.slot.clock() - self.began))

    def play(self) -> RunEnd:
        """
        Play until something ends it.
        """
        player = self.player
        while True:
            request = player.go_on(self.remaining)
            if request is None and player.refused is not None:
                return RunEnd(how="recursed", turn=self.turn, why=player.refused.refused)
            if request is None:
                return RunEnd(how="turns" if self.remaining() else "wall", turn=self.turn)
            if isinstance(request, hosts.Ended):
                return player.end_of(request)
            end = self._look(request)
            if end is not None:
                return end
            act = player.choose(request)
            if act is not None and not isinstance(act, hosts.EVENTS) and self.turn >= self.most_turns:
                return RunEnd(how="turns", turn=self.turn)
            player.take(request, act)

    @property
    def timely(self) -> bool:
        """
        Whether there is reason to ask how the run would go with more time between its turns.
        """
        # At a pace of its own there is one way in which it goes.
        refused = any(hooked.decision.refused for _, hooked in self._trace().hooked())
        if self.stage.scenario.pace or not refused:
            return False
        newest = next(reversed(self.experiments.made), None)
        if newest is not None and newest.threshold is not None and newest.threshold.seconds is not None:
            return True
        # Of a loop that is inert it was asked already.
        return not (newest is not None and newest.inert) and self.ageing.stamped

    def _look(self, request: hosts.NextAct) -> RunEnd | None:
        if self.turn == self.reported:
            return None
        self.reported = self.turn
        if self.on_turn is not None:
            self.on_turn(self.turn, self.player.fired)
        # After a turn that is over the agent is asked nothing; such a state is of another kind.
        if request.turn_over:
            return None
        self._remember(request.observation)
        return self._recurred() or self._moved()

    def _remember(self, saw: Observation) -> None:
        # The host has written to the transcript since the last fire, which counts if that is read.
        self.stage.scan()
        position = self.player.agent.position
        after = state(
            visible=self.player.visible,
            agent=json.dumps([position.text, *map(repr, saw.messages), self.stage.answers.position]),
            environment=self.environment,
            files=self.stage.files,
            opaque=position.opaque or self.stage.scanner.opaque,
            previous=next(reversed(self.history.states.values()), None),
        )
        steps = [step for step in self.player.steps if step.turn == self.turn]
        self.history.remember(self.turn, after, self.player.moment, saw, steps)
        self.witness.state(self.turn, after)

    def _recurred(self) -> RunEnd | None:
        before = self.lasso
        self.lasso, sure = follow(before, self.history.states)
        if self.lasso is not None and self.lasso != before:
            # Read in full and without any cache, to be compared with the same at the end of the lap.
            self.files_in_full = self.stage.read_in_full()
        # Once the lap is over; later turns are at other places of the cycle.
        if sure is None or self.lasso is None or self.turn != self.lasso.last:
            return None
        if not sure and self.experiments.ticked(self.lasso):
            self.lasso = None
            return None
        self.flaky = not sure or self.stage.read_in_full() != self.files_in_full
        if self.stage.scenario.until == "guard":
            return None
        if self.flaky or not self.stage.settings.probes:
            return RunEnd(how="lasso", turn=self.turn)
        return self.experiments.recurring(self.lasso.period)

    def _moved(self) -> RunEnd | None:
        # While a lasso is gone round once more, it is not yet known whether the state moves at all.
        pursued = self.lasso is not None and self.turn < self.lasso.last
        if pursued or not self.stage.settings.probes or self.stage.scenario.until == "guard":
            return None
        return self.experiments.moving()

    def _trace(self) -> Trace:
        return Trace(steps=tuple(self.player.steps), states=dict(self.history.states))

    def conclude(self, end: RunEnd) -> Outcome:
        """
        Judge what was seen, and compare it with what the scenario promised.
        """
        stage, trace = self.stage, self._trace()
        formed = conclusion.form(
            trace,
            end,
            cap=hosts.guard_for(self.player.progress.session, self._lap_used_tools()),
            limits=hosts.find_limits(self.player.progress.session, self.turn, self._period),
            lasso=self.lasso,
            flaky=self.flaky,
            masked=stage.scanner.masked,
            assumptions=self._assumptions(),
            problems=(
                *stage.configuration.problems,
                *hosts.find_ignored(stage.profile, stage.scenario.options),
            ),
            configured=tuple(hook.event for hook in stage.configuration.hooks),
            probing=next(reversed(self.experiments.made), None),
            expect=stage.scenario.expect,
        )
        gates: tuple[Finding, ...] = ()
        # Covered folders are the developer's own: nothing is tried on them.
        if stage.settings.probes and not stage.scenario.cover and end.how != "interrupted":
            gates = find_open_gates(self.player, trace)
        outcome = Outcome(
            scenario=stage.scenario,
            host=stage.profile.id,
            trace=trace,
            verdict=self._as_far_as_seen(formed.verdict),
            findings=(*formed.findings, *gates),
            assumptions=formed.assumptions,
            tier=stage.sandbox.tier,
            seed=stage.settings.seed,
            calls={name: stage.workspace.calls(name) for name in stage.scenario.commands},
            wall=stage.slot.clock() - self.began,
            probe_reports=tuple(self.experiments.made),
        )
        broken = check_expectations.violations(
            outcome, initial=self.initial, final=stage.files, final_text=stage.text
        )
        return replace(outcome, violations=broken)

    def _as_far_as_seen(self, verdict: Verdict) -> Verdict:
        if not self._blind or not isinstance(verdict, Terminated):
            return verdict
        return Undecided(turn=verdict.turn, why=f"the session ended, but {_BLIND}")

    @property
    def _blind(self) -> bool:
        # An agent that is started in a session of its own is in nobody's view there.
        return self.stage.sandbox.tier is Tier.GROUP and bool(self.stage.scenario.fake_agents)

    @property
    def _period(self) -> int:
        if self.lasso is not None:
            return self.lasso.period
        return self.experiments.made[-1].period if self.experiments.made else 0

    def _lap_used_tools(self) -> bool:
        if self.lasso is None:
            return False
        lap = (step.exchange for step in self.player.steps if step.turn > self.lasso.stem)
        return any(isinstance(exchange, Performed) and not exchange.refused for exchange in lap)

    def _assumptions(self) -> tuple[str, ...]:
        sandbox = self.stage.sandbox
        outside = CONTAINED if sandbox.contained else UNCONTAINED
        notes = [outside, *sandbox.notes, *self.stage.scanner.unapplied]
        if self._blind:
            notes.append(f"No agent was started in the background: {_BLIND}.")
        if any("/.git/" in path for path in self.stage.files):
            notes.append("What git keeps in its store of objects decides nothing.")
        notes += self.stage.workspace.loans.told(lent=sandbox.contained)
        if self.stage.workspace.clock.moved:
            notes += CLOCKS
        if self.stage.settings.coverage_store is not None:
            notes.append(RECORDED)
        if self.stage.scenario.pace:
            notes.append(
                f"Assumed by the scenario: {duration(self.stage.scenario.pace)} pass between its turns."
            )
        if not self.stage.transcript_counts:
            notes.append("No hook opened the transcript; its size and time were not watched.")
        if any(self._trace().children()):
            agents_played = {double.agent for double in self.stage.scenario.commands.values() if double.agent}
            notes += [note for agent in sorted(agents_played) for note in hosts.assumed_of_calls(agent)]
        profile, flags = self.stage.profile, self.stage.scenario.flags
        if flags:
            told = ", ".join(str(flag).lower() for flag in flags)
            notes.append(
                f"Assumed by the scenario: stops are told stop_hook_active {told}, over and over, "
                f"whatever {profile.id} would say."
            )
        if self.stage.scenario.terminal is not None:
            notes.append(
                f"Assumed by the scenario: hooks can open a terminal, as where {profile.id} "
                + (
                    "leads them into no session of their own."
                    if profile.process.own_session
                    else "was started in one."
                )
            )
        if self.lasso is not None or self.experiments.made:
            limits = (net for net in (profile.steps, profile.stuck) if net is not None)
            notes += [
                f"What ends any long run of {profile.id} is left aside: {net.rule.text}." for net in limits
            ]
        return tuple(notes)
