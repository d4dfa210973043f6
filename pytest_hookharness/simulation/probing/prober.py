"""
Probing: laps played from changed states, to find out what decides.

The judging room says which changes are worth trying and what follows from
them; here they are made on the stage, in the same isolation, and put back. No probe is part of the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_hookharness import hosts
from pytest_hookharness.execution.snapshots.snapshot import SnapshotError
from pytest_hookharness.execution.state.file_contents import is_statements
from pytest_hookharness.judging.probing.experiments import ExperimentPlan, ExperimentResult, plan_experiments
from pytest_hookharness.judging.probing.sizes import GrowingSize
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.judging.recurrence.similar_turns import TextOutline, describe_difference
from pytest_hookharness.judging.state_diff import (
    Files,
    Pattern,
    SessionClock,
    equal_except_timestamps,
    find_timestamps,
)
from pytest_hookharness.judging.verdict.run_end import format_duration
from pytest_hookharness.model.probes import (
    Perturbation,
    PerturbationKind,
    Probe,
    ProbeEffect,
    ProbeReport,
    ProbeResult,
    StatePart,
    Threshold,
)
from pytest_hookharness.model.trace import StateEntry, Step
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver, SessionPoint
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Seconds: what takes longer is not played several times over just to see whether time matters.
_LONG_LAP = 1.5
_TIMES_AS_LONG = 10
# Laps that an agent is taken through; more files are not made either.
_MOST_LAPS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """
    A lap that really took place, with which experiments are compared.

    Attributes:
        before: Where host and agent stood at its beginning.
        moment: Where they stood at its end.
        period: Its length in turns.
        steps: What took place in it.
        files: The covered files at its end.
        written: The contents of those that were written since the session began.
        read: What its texts are without numbers, times and ids.
        wall: Seconds that it took.
    """

    before: SessionPoint
    moment: SessionPoint
    period: int
    steps: tuple[Step, ...]
    files: Mapping[str, StateEntry]
    written: Files
    read: TextOutline
    wall: float = 0.0

    @property
    def turns(self) -> list[list[Step]]:
        """
        Its steps, turn by turn.
        """
        numbers = sorted({step.turn for step in self.steps})
        return [[step for step in self.steps if step.turn == number] for number in numbers]


class Prober:
    """
    Experiments on the state after one lap.
    """

    def __init__(
        self,
        stage: Testbed,
        repetition: Repetition,
        *,
        clock: SessionClock,
        pattern: Pattern | None = None,
        sizes: Sequence[GrowingSize] = (),
        numbers: Sequence[int] = (),
        remaining: Callable[[], float],
        on_probe: Callable[[], None] = lambda: None,
    ) -> None:
        """
        Make ready to probe the state after a lap.

        Args:
            stage: Where the lap was played.
            repetition: The lap.
            clock: When the session began, and the present.
            pattern: How the files moved from lap to lap; ``None`` if they did not.
            sizes: How large is what grows.
            numbers: Whole numbers that stand in the hooks' own source.
            remaining: Tells how many seconds of real time are left.
            on_probe: Called after each experiment.
        """
        self._stage = stage
        # What a guard would do about the loop is said beside the verdict; it must not end an experiment.
        before, now = repetition.before.progress.session, repetition.moment.progress
        calm = replace(now, session=now.session.relieved(before))
        self._lap = replace(repetition, moment=replace(repetition.moment, progress=calm))
        # Seconds that the hooks' clock goes on in a lap, beside what that really takes.
        self._pace = stage.scenario.pace * repetition.period
        self._clock = clock
        self._pattern = pattern
        self._sizes = sizes
        self._numbers = numbers
        self._remaining = remaining
        self._on_probe = on_probe
        self._stamped = find_timestamps({**repetition.written, **(pattern.newest if pattern else {})}, clock)
        self._probes: list[Probe] = []
        self._left: Files = {}
        self._farthest: tuple[Files, ProbeResult] = ({}, ProbeResult(reaction=ProbeEffect.SAME))

    def probe(self) -> ProbeReport:
        """
        Make the experiments, and put everything back.

        Raises:
            SimulationError: It could not be put back.
            WorkspaceError: A file could not be read or changed.
        """
        slow = self._pattern is None and self._lap.wall > _LONG_LAP
        try:
            rehearsal = Checkpoint(self._stage, self._lap.moment)
        except SnapshotError as error:
            unclear = f"the state cannot be kept and put back: {error}"
            return self._probing(ExperimentResult(unclear=unclear), slow=slow)
        with rehearsal:
            conclusion = self._control(rehearsal) or self._follow(
                plan_experiments(
                    self._parts,
                    sizes=self._sizes,
                    numbers=self._numbers,
                    time=not slow,
                    pace=self._pace,
                    transcript=not slow and not self._stage.transcript_counts,
                ),
                rehearsal,
            )
        return self._probing(conclusion, slow=slow)

    def _probing(self, conclusion: ExperimentResult, *, slow: bool) -> ProbeReport:
        return ProbeReport(
            turn=self._lap.moment.turn,
            period=self._lap.period,
            parts=self._parts,
            probes=tuple(self._probes),
            threshold=self._valve(conclusion),
            unclear=conclusion.unclear,
            unpredictable=conclusion.unpredictable,
            limits=(*self._limits(conclusion, slow=slow),),
        )

    @property
    def _parts(self) -> tuple[StatePart, ...]:
        return self._pattern.parts if self._pattern is not None else ()

    def _limits(self, conclusion: ExperimentResult, *, slow: bool) -> Iterator[str]:
        for place in conclusion.alone:
            yield f"{self._parts[place].place} would decide if it moved alone, which it was not seen to do."
        if conclusion.timeless:
            yield "What happens once time has passed is not known: to the hooks stored times are names."
        if slow and not self._pace:
            yield f"What happens once time has passed was not tried: one lap takes {self._lap.wall:.1f} s."

    def _control(self, rehearsal: Checkpoint) -> ExperimentResult | None:
        """
        Play the lap that is known once more, from the state of one lap ago.

        It must come out the same. Numbers that do not (process numbers, run times, the host's own) do not
        follow from the files, and are not taken for counters any longer.
        """
        if self._pattern is None:
            return None
        push = Perturbation(parts=tuple(range(len(self._parts))), how=PerturbationKind.OLDER)
        before = self._pattern.perturbed(push)
        # The host goes on numbering as it did: what follows that does not follow the files.
        moment = replace(self._lap.moment, agent=self._lap.before.agent, clock=self._lap.before.clock)
        seen = self._experiment(push, rehearsal, moment)
        if seen.reaction is ProbeEffect.EFFECT:
            self._pattern = self._pattern.without_refuted_steps(before, self._left)
            seen = self._experiment(push, rehearsal, moment)
        if seen.reaction is not ProbeEffect.DECISION:
            names = [
                self._parts[place].place for place in self._pattern.find_unpredictable(before, self._left)
            ]
            if names:
                return ExperimentResult(
                    unclear=f"{', '.join(names)} goes on by a rule that is not seen", unpredictable=True
                )
        if seen.reaction is ProbeEffect.SAME:
            return None
        return ExperimentResult(unclear=f"the same lap, played once more, went another way: {seen.what}")

    def _follow(self, experiment: ExperimentPlan, rehearsal: Checkpoint) -> ExperimentResult:
        push = next(experiment, None)
        while push is not None:
            if self._remaining() == 0.0:
                return ExperimentResult(unclear="the time given was used up before all was tried")
            try:
                push = experiment.send(self._experiment(push, rehearsal))
            except StopIteration as ended:
                conclusion: ExperimentResult = ended.value
                return conclusion
        return ExperimentResult()

    def _experiment(
        self, push: Perturbation, rehearsal: Checkpoint, moment: SessionPoint | None = None
    ) -> ProbeResult:
        before = self._change(push, rehearsal)
        if push.how is PerturbationKind.AHEAD and not push.pace and before and before == self._farthest[0]:
            # Growth is bounded: beyond that there is nothing new to see.
            rehearsal.put_back()
            return self._farthest[1]
        moment = moment or self._ahead(push)
        self._shift(moment, rehearsal)
        player = rehearsal.player(moment)
        seen = self._play(player)
        if seen.reaction is ProbeEffect.SAME:
            seen = self._effect(push, before, rehearsal)
        self._probes.append(Probe(kind=push.how, tried=self._told(push), seen=seen, hook_runs=player.fired))
        self._farthest = (before, seen) if push.how is PerturbationKind.AHEAD else self._farthest
        rehearsal.put_back()
        self._on_probe()
        return seen

    def _ahead(self, push: Perturbation) -> SessionPoint:
        """
        Where host and agent stand after the laps that everything together is pushed ahead.
        """
        moment, laps = self._lap.moment, min(push.repetitions, _MOST_LAPS)
        if push.how is not PerturbationKind.AHEAD or len(push.parts) < len(self._parts):
            return moment
        agent = moment.agent.further(self._lap.before.agent, laps)
        return replace(moment, agent=agent, clock=moment.clock + push.repetitions * push.pace)

    def _shift(self, moment: SessionPoint, rehearsal: Checkpoint) -> None:
        """
        Give what was written in the last lap the times that it would have in the lap of a moment.
        """
        now = self._lap.moment.clock
        if moment.clock != now:
            since = self._clock.now - self._pace - self._lap.wall
            rehearsal.backstage.shift(moment.clock - now, since)

    def _change(self, push: Perturbation, rehearsal: Checkpoint) -> Files:
        files: Files = {}
        match push.how:
            case PerturbationKind.TRANSCRIPT:
                rehearsal.backstage.lengthen_transcript(_TIMES_AS_LONG)
            case PerturbationKind.WAITED:
                rehearsal.backstage.wait(push.seconds)
            case PerturbationKind.AGED:
                files = self._stamped.aged(push.seconds)
                files = self._write(files, rehearsal)
                rehearsal.backstage.age(push.seconds)
            case _ if self._pattern is not None:
                files = self._write(self._pattern.perturbed(push), rehearsal)
            case _:
                pass
        return files

    def _write(self, files: Files, rehearsal: Checkpoint) -> Files:
        rehearsal.backstage.write(files)
        # A database keeps numbers as it can, which may not be as they were written.
        kept = {path: rehearsal.backstage.read(path) for path, data in files.items() if is_statements(data)}
        return {**files, **kept}

    def _play(self, player: SessionDriver) -> ProbeResult:
        request: hosts.Request | None = player.progress.request
        for number, expected in enumerate(self._lap.turns, 1):
            if isinstance(request, hosts.NextAct):
                player.take(request, player.choose(request))
                request = player.go_on(self._remaining)
            if request is None:
                return ProbeResult(reaction=ProbeEffect.DECISION, what="it took too long", turn=number)
            seen = [step for step in player.steps if step.turn == player.turn]
            what = describe_difference(expected, seen, self._lap.read)
            over = isinstance(request, hosts.Ended) or (
                isinstance(request, hosts.NextAct) and request.turn_over
            )
            if what or over:
                return ProbeResult(
                    reaction=ProbeEffect.DECISION,
                    what=what or "the turn was over",
                    turn=number,
                    allows_stop=over,
                )
        return ProbeResult(reaction=ProbeEffect.SAME)

    def _effect(self, push: Perturbation, before: Files, rehearsal: Checkpoint) -> ProbeResult:
        """
        Whether the lap left the rest as the real one did, and moved the parts in the same way.
        """
        stage, pattern = self._stage, self._pattern
        stage.scan()
        followed = {*before, *(pattern.paths if pattern is not None else ())}
        differing = {change.path for change in changes(self._lap.files, stage.files)}
        rest = sorted(path for path in differing - followed if not _holds(path, followed | differing))
        clock = replace(self._clock, now=stage.workspace.clock.now)
        self._left = {path: rehearsal.backstage.read(path) for path in {*followed, *rest}}
        for path in rest:
            # A time of few digits is the same in some laps, and then is not.
            if equal_except_timestamps(self._lap.written.get(path), self._left[path], clock):
                del self._left[path]
        rest = [path for path in rest if path in self._left]
        what = ""
        if pattern is not None:
            what = pattern.find_deviation({**pattern.newest, **before}, self._left, clock)
            if pattern.truncated(push):
                # What could not be grown as far as the rest was pushed no longer fits it.
                what = ""
        elif rest:
            what = f"{rest[0]} differs afterwards"
        return ProbeResult(reaction=ProbeEffect.EFFECT if what else ProbeEffect.SAME, what=what)

    def _told(self, push: Perturbation) -> str:
        if push.how is PerturbationKind.AGED:
            return f"{format_duration(push.seconds)} passed"
        if push.how is PerturbationKind.WAITED:
            return f"{format_duration(push.seconds)} really waited"
        if push.how is PerturbationKind.AHEAD and not push.repetitions:
            return "one more lap"
        reached = self._pattern.describe_all(push) if self._pattern is not None else ""
        if push.how is PerturbationKind.AHEAD and push.pace:
            return ", ".join(
                filter(None, [reached, f"{format_duration(push.repetitions * push.pace)} later"])
            )
        if self._pattern is None or push.how is PerturbationKind.TRANSCRIPT:
            return str(push.how.value)
        return reached or "one more lap"

    def _valve(self, conclusion: ExperimentResult) -> Threshold | None:
        push, seen = conclusion.perturbation, conclusion.seen
        if push is None or seen is None:
            return None
        if push.how in (PerturbationKind.AGED, PerturbationKind.WAITED):
            at = f"{format_duration(push.seconds)} without a turn"
            return Threshold(at=at, what=seen.what, seconds=push.seconds, allows_stop=seen.allows_stop)
        turn = self._lap.moment.turn + push.repetitions * self._lap.period + max(1, seen.turn)
        return Threshold(
            at=self._told(push),
            what=seen.what,
            reaction=seen.reaction,
            turn=turn,
            allows_stop=seen.allows_stop,
        )


def _holds(path: str, others: Collection[str]) -> bool:
    # A folder's own entry differs if anything was made in it, which is looked at by itself.
    return any(other.startswith(f"{path}/") for other in others)
