"""
Probes: one cycle repetition driven from a changed state, to find out what affects the decisions.

`judging.probing` chooses the changes and draws the conclusion; the prober makes them on the testbed and
restores it.

Why a probe is sound. It runs the same hooks in the same sandbox from a state that differs from a real one
only by its perturbation, and is compared with a repetition that really took place. Before any other probe a
control run must reproduce that repetition from the state before it: if it does not, something outside the
state decides, and nothing is concluded. A perturbation moves the parts on by the progression that they were
seen to follow, so the state is one that the run itself would reach. Every probe ends by restoring the files,
which is checked; no probe is part of the trace.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence

from pytest_hookharness.execution.snapshots.snapshot import SnapshotError
from pytest_hookharness.execution.state.file_contents import is_statements
from pytest_hookharness.judging.probing.experiments import ExperimentResult, confirm, run_experiments
from pytest_hookharness.judging.probing.limits import KnownNumbers
from pytest_hookharness.judging.probing.reached import ProbedCycle
from pytest_hookharness.judging.probing.sizes import GrowingSize
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.judging.state_diff.file_series import Files
from pytest_hookharness.judging.state_diff.file_timestamps import equal_except_timestamps, find_timestamps
from pytest_hookharness.judging.state_diff.pattern import Pattern
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.probes import (
    Perturbation,
    PerturbationKind,
    Probe,
    ProbeEffect,
    ProbeReport,
    ProbeResult,
    StatePart,
    UnknownDecisionError,
)
from pytest_hookharness.model.time_budget import BudgetEnded
from pytest_hookharness.simulation.probing.limit_sources import describe_untried, most_candidates
from pytest_hookharness.simulation.probing.probed_run import ProbedRun
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionPoint
from pytest_hookharness.simulation.session.history import Repetition

# Seconds: a longer repetition is not driven several more times only to see whether time matters.
_SLOW_REPETITION = 1.5
_TRANSCRIPT_FACTOR = 10
# Repetitions by which the agent's script is advanced at most; no more files are made either.
_ADVANCE_LIMIT = 500


class Prober:
    """Probes of the state after one repetition."""

    def __init__(
        self,
        run: ProbedRun,
        repetition: Repetition,
        *,
        pattern: Pattern | None,
        sizes: Sequence[GrowingSize],
        limits: KnownNumbers,
        unread: Collection[str],
        chance: bool,
        played: int,
    ) -> None:
        """
        Prepare to probe the state after a repetition.

        Args:
            pattern: How the files changed from one repetition to the next; ``None`` if they did not.
            sizes: How large the growing things are.
            limits: Numbers that the hooks may compare with.
            unread: State paths of files that are not compared, because nothing reads them.
            chance: Whether hooks draw random numbers, or may do so.
            played: The last turn that was played, with or without the limits of the host.
        """
        self._testbed = testbed = run.testbed
        self._repetition = replace(repetition, point=repetition.uncapped)
        # Seconds that pass for the hooks in one repetition, with those that their runs took.
        paced = testbed.scenario.pace
        self._pace = repetition.point.clock.since(repetition.start.clock) if paced else 0.0
        self._clock = clock = run.clock
        self._pattern = pattern
        # By how much the counts in the input of hooks grew in the repetition.
        before, now = (each.progress.session.reported_counts for each in (repetition.start, repetition.point))
        self._counts = {
            name: GrowingSize(number, number - before[name])
            for name, number in now.items()
            if number > before[name]
        }
        self._sizes = sizes
        self._exact_limits = limits
        self._unread = frozenset(unread)
        self._chance = chance
        self._played = played
        self._remaining = run.remaining
        self._on_probe = run.on_probe
        # The files that the pattern describes, after the repetition.
        self._newest: Files = pattern.newest if pattern is not None else {}
        self._stamped = find_timestamps({**repetition.written, **self._newest}, clock)
        self._probes: list[Probe] = []
        self._left: Files = {}
        # The files of the farthest state that made no difference.
        self._farthest: Files = {}

    def probe(self) -> ProbeReport:
        """
        Make the probes, and restore the testbed.

        Raises:
            BudgetEnded: The time ended before the last of them.
            SimulationError: The testbed could not be restored.
            WorkspaceError: A file could not be read or changed.
        """
        slow = self._pattern is None and self._repetition.wall > _SLOW_REPETITION
        try:
            checkpoint = Checkpoint(self._testbed, self._repetition.point)
        except SnapshotError as error:
            unclear = f"the state cannot be saved and restored: {error}"
            return self._report(ExperimentResult(unclear=unclear), slow=slow)
        with checkpoint:
            try:
                conclusion = self._control(checkpoint) or self._experiment(checkpoint, slow=slow)
            except UnknownDecisionError as error:
                conclusion = ExperimentResult(unclear=str(error))
        return self._report(conclusion, slow=slow)

    def _experiment(self, checkpoint: Checkpoint, *, slow: bool) -> ExperimentResult:
        def probe(perturbation: Perturbation) -> ProbeResult:
            if self._remaining() == 0.0:
                raise BudgetEnded("experiments were made")
            return self._probe(perturbation, checkpoint)

        found = run_experiments(
            probe,
            self._parts,
            sizes=self._sizes,
            counts=[*self._counts.values()],
            limits=self._exact_limits,
            most=most_candidates(self._remaining(), self._repetition.wall, self._pattern),
            time=not slow,
            pace=self._pace,
            transcript=not slow and not self._testbed.transcript_counts,
        )
        return confirm(found, probe) if self._chance else found

    def _report(self, conclusion: ExperimentResult, *, slow: bool) -> ProbeReport:
        return ProbeReport(
            turn=self._repetition.point.turn,
            period=self._repetition.period,
            parts=self._parts,
            probes=tuple(self._probes),
            threshold=self._cycle.find_threshold(conclusion),
            unclear=conclusion.unclear,
            unpredictable=conclusion.unpredictable,
            limits=tuple(self._limits(conclusion, slow=slow)),
        )

    @property
    def _parts(self) -> tuple[StatePart, ...]:
        return self._pattern.parts if self._pattern is not None else ()

    def _limits(self, conclusion: ExperimentResult, *, slow: bool) -> Iterator[str]:
        for place in conclusion.alone:
            name = self._parts[place].place
            yield f"{name} would affect the decision if it changed alone, which was not seen to happen."
        turn, period = self._repetition.point.turn, self._repetition.period
        yield from describe_untried(conclusion.untried, turn, period, self._played)
        if conclusion.timeless:
            yield "The effect of elapsed time is unknown: the hooks use stored times as names."
        if slow and not self._pace:
            took = f"{self._repetition.wall:.1f} s"
            yield f"The effect of elapsed time was not tried: one repetition takes {took}."

    def _control(self, checkpoint: Checkpoint) -> ExperimentResult | None:
        """
        Drive the known repetition once more, from the state before it, which must give the same.

        Numbers that come out differently (process numbers, run times, the host's own) do not follow from the
        files. They are no longer taken for counters.

        Returns:
            Why nothing can be concluded; ``None`` if the repetition was reproduced.
        """
        if self._pattern is None:
            return None
        perturbation = Perturbation(parts=tuple(range(len(self._parts))), how=PerturbationKind.OLDER)
        before = self._pattern.perturbed(perturbation)
        # The host keeps its own counters as they are now: a part that follows those does not follow the
        # files.
        start, now = self._repetition.start, self._repetition.point.progress
        # Those that hooks see go back with the files, which may be copies of them.
        session = now.session.with_larger_counts(self._growth(-1))
        point = replace(
            self._repetition.point,
            agent=start.agent,
            clock=start.clock,
            progress=replace(now, session=session),
        )
        seen = self._probe(perturbation, checkpoint, point)
        if seen.reaction is ProbeEffect.EFFECT:
            self._pattern = self._pattern.without_refuted_steps(before, self._left)
            seen = self._probe(perturbation, checkpoint, point)
        if seen.reaction is not ProbeEffect.DECISION:
            names = [
                self._parts[place].place for place in self._pattern.find_unpredictable(before, self._left)
            ]
            if names:
                return ExperimentResult(
                    unclear=f"{', '.join(names)} changes by an unknown rule", unpredictable=True
                )
        if seen.reaction is ProbeEffect.SAME:
            return None
        return ExperimentResult(unclear=f"the same repetition, run once more, went another way: {seen.what}")

    def _probe(
        self, perturbation: Perturbation, checkpoint: Checkpoint, point: SessionPoint | None = None
    ) -> ProbeResult:
        before = self._perturb(perturbation, checkpoint)
        ahead = perturbation.how is PerturbationKind.AHEAD and not perturbation.pace
        if ahead and before and before == self._farthest and not self._counts:
            # Growth has limits: a perturbation further ahead that makes the same files shows nothing new.
            checkpoint.restore()
            return ProbeResult(reaction=ProbeEffect.SAME)
        point = point or self._point_ahead(perturbation)
        self._shift_file_times(point, checkpoint)
        try:
            seen = self._repetition.compare_decisions(checkpoint.resume(point), self._remaining)
        except UnknownDecisionError as error:
            raise UnknownDecisionError(f"{error} (tried: {self._cycle.describe(perturbation)})") from None
        if same := seen.reaction is ProbeEffect.SAME:
            seen = self._compare_effects(perturbation, before, checkpoint)
        self._probes.append(Probe(kind=perturbation.how, tried=self._cycle.describe(perturbation), seen=seen))
        if ahead and seen.reaction is ProbeEffect.SAME:
            self._farthest = before
        checkpoint.restore(scanned=same)
        self._on_probe()
        return seen

    def _point_ahead(self, perturbation: Perturbation) -> SessionPoint:
        """Return where host and agent stand after the repetitions by which all parts are pushed ahead."""
        point, repetitions = self._repetition.point, min(perturbation.repetitions, _ADVANCE_LIMIT)
        if perturbation.how is not PerturbationKind.AHEAD or len(perturbation.parts) < len(self._parts):
            return point
        agent = point.agent.further(self._repetition.start.agent, repetitions)
        session = point.progress.session.with_larger_counts(self._growth(perturbation.repetitions))
        return replace(
            point,
            agent=agent,
            progress=replace(point.progress, session=session),
            clock=point.clock.later(perturbation.repetitions * perturbation.pace),
        )

    def _growth(self, repetitions: int) -> dict[str, int]:
        """Return by how much the counts of the host grow in some repetitions."""
        return {name: repetitions * count.step for name, count in self._counts.items()}

    def _shift_file_times(self, point: SessionPoint, checkpoint: Checkpoint) -> None:
        """Give the files of the last repetition the times that they have at a point with another clock."""
        repetition = self._repetition
        if by := point.clock.since(repetition.point.clock):
            start = repetition.start.clock
            since = start.ahead + start.machine if start.machine else self._clock.now - repetition.wall
            checkpoint.editor.shift(by, since)

    def _perturb(self, perturbation: Perturbation, checkpoint: Checkpoint) -> Files:
        files: Files = {}
        match perturbation.how:
            case PerturbationKind.TRANSCRIPT:
                ranks = replace(self._exact_limits, read=frozenset()).ranks()
                sizes = {number for rank in ranks for number in rank}
                checkpoint.editor.lengthen_transcript(_TRANSCRIPT_FACTOR, sizes)
            case PerturbationKind.WAITED:
                checkpoint.editor.wait(perturbation.seconds)
            case PerturbationKind.AGED:
                # Real time has passed since the repetition too.
                seconds = max(0.0, perturbation.seconds - (time.time() - self._repetition.ended / 1e9))
                files = self._write(self._stamped.aged(seconds), checkpoint)
                checkpoint.editor.age(seconds)
            case _:
                wanted = self._pattern.perturbed(perturbation) if self._pattern is not None else {}
                files = self._write(wanted, checkpoint)
        return files

    def _write(self, files: Files, checkpoint: Checkpoint) -> Files:
        checkpoint.editor.write(files)
        # A database may store a number in another form than it was written in.
        kept = {path: checkpoint.editor.read(path) for path, data in files.items() if is_statements(data)}
        return {**files, **kept}

    def _compare_effects(
        self, perturbation: Perturbation, before: Files, checkpoint: Checkpoint
    ) -> ProbeResult:
        """
        Compare the files with those after the real repetition.

        The parts must have moved on in the same way, and all other files must be equal.
        """
        testbed, pattern = self._testbed, self._pattern
        testbed.scan()
        followed = {*before, *self._newest}
        differing = {change.path for change in changes(self._repetition.files, testbed.files)}
        # The entry of a folder differs if a file was made in it, and that file is compared by itself.
        parents = {
            path[:end] for path in followed | differing for end, sign in enumerate(path) if sign == "/"
        }
        rest = sorted(differing - followed - parents - self._unread)
        clock = replace(self._clock, now=testbed.workspace.clock.now)
        self._left = {path: checkpoint.editor.read(path) for path in {*followed, *rest}}
        for path in rest:
            # A time of few digits is the same in several repetitions, and then is not.
            if equal_except_timestamps(self._repetition.written.get(path), self._left[path], clock):
                del self._left[path]
        rest = [path for path in rest if path in self._left]
        what = ""
        if pattern is not None:
            what = pattern.find_deviation({**self._newest, **before}, self._left, clock)
            if pattern.truncated(perturbation):
                # Some parts could not grow as far as the others were pushed, so they no longer fit together.
                what = ""
        elif rest:
            what = f"{rest[0]} differs afterwards"
        return ProbeResult(reaction=ProbeEffect.EFFECT if what else ProbeEffect.SAME, what=what)

    @property
    def _cycle(self) -> ProbedCycle:
        period = self._repetition.period
        return ProbedCycle(
            turn=self._repetition.point.turn,
            period=period,
            pattern=self._pattern,
            counts=self._growth(1),
            pace=self._pace,
            least=self._testbed.scenario.pace * period,
        )
