"""
Examinations: the sessions of a check-up, played, and the problems they show.

Sessions are played side by side. What one showed counts only if a small session shows it again;
what was seen until Ctrl-C, or until the time was over, is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from pytest_hookharness.campaigns.check import corpora
from pytest_hookharness.campaigns.check import sessions as checkups
from pytest_hookharness.campaigns.check.grouping import Evidence, PlayedSession, group, summarise
from pytest_hookharness.campaigns.check.rewording import phrase, taken_for_code, told_of_code
from pytest_hookharness.campaigns.check.shrinking import shrink
from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.model.checkup import CheckReport, CheckSession, HookSet, Problem, Symptom
from pytest_hookharness.model.moves import Act, Edit, RunCommand
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.conclude import conclude_event
from pytest_hookharness.simulation.parallel_jobs import can_run_concurrently, run_jobs
from pytest_hookharness.simulation.testbed.host_actions import run_event
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError, TrialSelection
from pytest_hookharness.simulation.testbed.testbed import Testbed

T = TypeVar("T")
# Called with what is being done, how much of it is done, and how much there is of it.
OnStep: TypeAlias = Callable[[str, int, int], None]
_Job: TypeAlias = Callable[[CpuSlot | None, Path], T]
# For the first session, for others where something is to be shown again, and where nothing is.
_FIRST, _LATER, _LAST = 0.4, 0.65, 0.9
_LEAST = 1.0
# Of so many hooks one refused call is asked about in other ways.
_MOST_REFUSED = 4
_NO_TIME = "there was no time left"
_INTERRUPTED = "It was interrupted; this was seen until then, and not yet a second time."
_HUNG = "A hook did not end, so nothing else was tried; mend that first."


@dataclass(slots=True)
class CheckRun:
    """
    The check-up of one place.

    Attributes:
        place: The place.
        settings: The settings; all of it together may take ``wall`` seconds.
        supervisor: Who keeps the processes.
        base: Folder below which everything is written.
        only: The problem that is looked for, until it is shown; empty for all.
        on_step: Called as it goes on.
    """

    place: HookSet
    settings: Settings
    supervisor: Supervisor
    base: Path
    only: str = ""
    on_step: OnStep = lambda _words, _done, _all: None
    _began: float = field(default_factory=time.monotonic)
    _played: list[PlayedSession] = field(default_factory=list[PlayedSession])
    _problems: list[Problem] = field(default_factory=list[Problem])
    _open: list[str] = field(default_factory=list[str])
    _undecided: list[str] = field(default_factory=list[str])

    def examine(self) -> CheckReport:
        """
        Play everything, and tell what is wrong; Ctrl-C only makes it end earlier.
        """
        interrupted = False
        try:
            self._search()
        except KeyboardInterrupt:
            interrupted = True
            self._undecided.append(_INTERRUPTED)
            shown = {problem.id for problem in self._problems}
            self._problems += [one.problem for one in self._wanted() if one.id not in shown]
        summary = summarise(self.place, self._played)
        problems = [*self._problems, *summary.problems]
        checkup = CheckReport(
            place=self.place,
            problems=tuple(problem for problem in problems if self.only in ("", problem.id)),
            only=self.only,
            triggered=summary.triggered,
            tried=summary.tried,
            open=tuple(dict.fromkeys((*summary.open, *self._open))),
            undecided=(*self._undecided, *summary.undecided),
            interrupted=interrupted,
            seconds=time.monotonic() - self._began,
        )
        # What else there is was not looked for once the one was found.
        return replace(checkup, open=(), undecided=()) if self._is_found() else checkup

    def _is_found(self) -> bool:
        return bool(self.only and self._problems)

    def _search(self) -> None:
        """
        Play everything and show it again, or until the one problem that is looked for was shown again.
        """
        for _ in self._play_all():
            if self.only:
                self._show_again(self._wanted())
            if self._is_found():
                return
        if not self.only:
            self._show_again(self._wanted())

    def _play_all(self) -> Iterator[None]:
        """
        Play one kind of sessions after the other; what the first show decides what the later ones try.
        """
        seed = self.settings.seed
        first = self._play_usual(checkups.plan_usual(self.place, seed))
        yield
        if first.outcome is None:
            return
        woken = {step.event for _, step in first.outcome.trace.hooked() if step.hook_runs}
        self._play("single events", [*checkups.plan_asks(self.place, woken)])
        yield
        if any(complaint.kind == "HUNG-FIRE" for complaint in find_symptoms(first.outcome)):
            self._undecided.append(_HUNG)
            return
        endless = first.outcome.verdict_name in ("livelock", "capped")
        # Whatever the agent does at a stop that is refused for ever, it would only cost time.
        further = checkups.plan_further(self.place, seed, endless=endless)
        behaviours = [] if endless else [*checkups.plan_behaviours(self.place)]
        self._play("other sessions", [*behaviours[:1], *further])
        yield
        moves = [*dict.fromkeys(self._refused().values())][:_MOST_REFUSED]
        commands = [move.command for move in moves if isinstance(move, RunCommand)]
        files = [move.file for move in moves if isinstance(move, Edit)]
        self._play(
            "what must not matter",
            [
                *([checkups.plan_phrasings(self.place, commands, files)] if commands or files else []),
                checkups.plan_invariance(self.place, moves, endless=endless),
                *checkups.plan_world(self.place, moves, written=self._is_written_before_calls()),
                *behaviours[1:],
            ],
        )
        yield
        self._prove(commands, files)
        yield

    def _play_usual(self, session: CheckSession) -> PlayedSession:
        """
        Play the first session; where it stays undecided, hooks that end in another order may be why.
        """
        (first,) = self._play("a usual session", [session])
        calm = checkups.in_order(self.place, session)
        if first.outcome is None or first.outcome.verdict_name != "undecided" or calm == session:
            return first
        (again,) = self._play("a usual session, hook by hook", [calm])
        if again.outcome is None or again.outcome.verdict_name == "undecided":
            return first
        self._played.remove(first)
        return again

    def _prove(self, commands: Sequence[str], files: Sequence[str]) -> None:
        """
        Prove what looked odd when refused commands were asked about in other forms.
        """
        odd: list[str] = []
        for outcome in (played.outcome for played in self._played if played.outcome is not None):
            if outcome.scenario.script.acts == phrase(self.place.host, commands, files):
                odd += taken_for_code(outcome, commands)
                self._open += told_of_code(outcome, commands)
        self._play("wordings", [*checkups.plan_proofs(self.place, odd)])

    def _refused(self) -> dict[str, Act]:
        """
        For each hook that refused a call one such call, a shell command before all others.
        """
        found: dict[str, Act] = {}
        for outcome in (played.outcome for played in self._played if played.outcome is not None):
            for hook, move in checkups.refused_moves(outcome):
                if hook not in found or (
                    isinstance(move, RunCommand) and not isinstance(found[hook], RunCommand)
                ):
                    found[hook] = move
        return found

    def _is_written_before_calls(self) -> bool:
        """
        Whether hooks that are asked before calls write files of the project.
        """
        return any(
            checkups.is_asked_before(self.place.host, hooked.event)
            and any(change.path.startswith("workspace/") for change in hooked.changes)
            for played in self._played
            if played.outcome is not None
            for _, hooked in played.outcome.trace.hooked()
        )

    def _play(self, words: str, sessions: Sequence[CheckSession]) -> list[PlayedSession]:
        found: list[PlayedSession] = []
        for played in self._side_by_side([self._job(session) for session in sessions]):
            found.append(played)
            self._played.append(played)
            self.on_step(words, len(found), len(sessions))
        return found

    def _job(self, session: CheckSession) -> _Job[PlayedSession]:
        def play(slot: CpuSlot | None, base: Path) -> PlayedSession:
            wall = self._share() * self.settings.wall - self._elapsed()
            if wall < _LEAST:
                return PlayedSession(session, why=_NO_TIME)
            try:
                return PlayedSession(session, self._simulate(session, wall, slot, base))
            except (SimulationError, WorkspaceError) as error:
                return PlayedSession(session, why=str(error))

        return play

    def _share(self) -> float:
        """
        The share of the time until whose end sessions may go on, so that what they show can be shown again.
        """
        if not self._played:
            return _FIRST
        return _LATER if group(self._played, mark=corpora.MARK) else _LAST

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _simulate(self, session: CheckSession, wall: float, slot: CpuSlot | None, base: Path) -> Outcome:
        choice = TrialSelection(only=session.only) if session.only else None
        settings = replace(self.settings, wall=wall, keep=False, choice=choice)
        if session.event:
            return self._ask(session, settings, slot, base)
        return simulate(session.scenario, settings=settings, supervisor=self.supervisor, base=base, slot=slot)

    def _ask(self, session: CheckSession, settings: Settings, slot: CpuSlot | None, base: Path) -> Outcome:
        """
        Ask the hooks of one event, outside of any session.
        """
        with Testbed.open(session.scenario, settings, self.supervisor, base, slot) as stage:
            return conclude_event(stage, run_event(stage, session.event, session.fields).hooked)

    def _side_by_side(self, jobs: Sequence[_Job[T]]) -> Iterator[T]:
        example = Scenario(name="check", host=self.place.host)
        if can_run_concurrently(example, self.settings.tier, self.supervisor):
            yield from (result for _, result in run_jobs(jobs, self.base))
        else:
            yield from (job(None, self.base) for job in jobs)

    def _wanted(self) -> list[Evidence]:
        return [one for one in group(self._played, mark=corpora.MARK) if self.only in ("", one.id)]

    def _show_again(self, wanted: Sequence[Evidence]) -> None:
        """
        Look for a small session of each problem; what nothing shows again is no problem.
        """
        for done, (evidence, small) in enumerate(self._side_by_side([*map(self._shrink, wanted)]), 1):
            self.on_step("evidence", done, len(wanted))
            if small is None:
                self._undecided.append(f"Seen once and not again: {evidence.symptom.text}")
                continue
            self._problems.append(evidence.shown_again(*small))

    def _shrink(self, evidence: Evidence) -> _Job[tuple[Evidence, tuple[Scenario, Symptom] | None]]:
        def job(slot: CpuSlot | None, base: Path) -> tuple[Evidence, tuple[Scenario, Symptom] | None]:
            def look(scenario: Scenario) -> Symptom | None:
                wall = self.settings.wall - self._elapsed()
                if wall < _LEAST:
                    # It was seen, and there is no time left to see it in a smaller session.
                    return evidence.symptom if scenario == evidence.session.scenario else None
                session = replace(evidence.session, scenario=scenario)
                return self._look(session, evidence.symptom, wall, slot, base)

            scenario = evidence.session.scenario
            if evidence.session.event:
                again = look(scenario)
                return evidence, None if again is None else (scenario, again)
            small = shrink(scenario, evidence.symptom, evidence.trace, look)
            return evidence, small and (small[0], self._attribute(*small, slot, base))

        return job

    def _attribute(self, scenario: Scenario, symptom: Symptom, slot: CpuSlot | None, base: Path) -> Symptom:
        """
        The complaint with the one hook that shows it alone, where several ran side by side.
        """
        if not symptom.shared:
            return symptom
        for hook in (hook for hook in self.place.hooks if hook.command in symptom.hook.split(", ")):
            wall = self.settings.wall - self._elapsed()
            session = CheckSession(title="one hook", scenario=checkups.alone(scenario, hook))
            found = replace(symptom, hook=hook.command, shared=False)
            if wall > _LEAST and self._look(session, found, wall, slot, base) is not None:
                return found
        return symptom

    def _look(
        self, session: CheckSession, wanted: Symptom, wall: float, slot: CpuSlot | None, base: Path
    ) -> Symptom | None:
        try:
            outcome = self._simulate(session, wall, slot, base)
        except (SimulationError, WorkspaceError):
            return None
        found = find_symptoms(outcome, mark=corpora.MARK, harmless=session.harmless)
        return next((one for one in found if one.cause == wanted.cause), None)

    def shows(self, scenario: Scenario, wanted: Symptom) -> bool:
        """
        Whether a scenario breaks its promise and shows a given problem.
        """
        session = CheckSession(title="the scenario that was written", scenario=scenario)
        try:
            outcome = self._simulate(session, self.settings.wall, None, self.base)
        except (SimulationError, WorkspaceError):
            return False
        return not outcome.passed and any(one.cause == wanted.cause for one in find_symptoms(outcome))
