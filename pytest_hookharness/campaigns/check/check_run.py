"""
A check run: play the sessions of a check, and confirm the problems they show.

Sessions run in parallel. A symptom becomes a problem only if a second, smaller session shows it too. What was
seen before Ctrl-C, or before the time budget ended, is reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import field, replace
from functools import partial
from itertools import zip_longest
from typing import TypeAlias, TypeVar

from pytest_hookharness.campaigns.arming.activation import Activation
from pytest_hookharness.campaigns.arming.guard_switches import GuardRules, guard_rules
from pytest_hookharness.campaigns.check import causes, corpora, grouping, session_errors
from pytest_hookharness.campaigns.check import guard_sessions as guards
from pytest_hookharness.campaigns.check import sessions as checkups
from pytest_hookharness.campaigns.check.armed_states import arm_states
from pytest_hookharness.campaigns.check.confirmation import Confirmation
from pytest_hookharness.campaigns.check.further_proofs import prove_further
from pytest_hookharness.campaigns.check.grouping import SymptomEvidence
from pytest_hookharness.campaigns.check.held_loops import meet_held_loops
from pytest_hookharness.campaigns.check.hindering_hooks import hindering_hooks, unending_hooks
from pytest_hookharness.campaigns.check.home_search import look_in_project
from pytest_hookharness.campaigns.check.hook_statistics import is_kind, is_same, is_wanted
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_scenario import NOTHING, with_commands, with_corrections
from pytest_hookharness.campaigns.check.static.correctable_hooks import as_found
from pytest_hookharness.campaigns.check.static_checks import StaticResult, check_statically, in_words_of
from pytest_hookharness.campaigns.check.tried_sessions import describe_corrections
from pytest_hookharness.campaigns.check.untried_hooks import untried_hooks
from pytest_hookharness.campaigns.guards import rewording
from pytest_hookharness.execution.processes.slots import NoFreeSlot
from pytest_hookharness.judging.checkup.bad_ends import cut_by_us
from pytest_hookharness.judging.checkup.one_place import at_one_place
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.judging.findings.finding_catalogue import HUNG_HOOK
from pytest_hookharness.model.checkup import CheckReport, CheckSession, HookSet, Problem, Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import is_cache
from pytest_hookharness.simulation.parallel_jobs import TrialRunner
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings

T = TypeVar("T")
# Called with what is being done, how many steps of it are done, and how many there are.
OnStep: TypeAlias = Callable[[str, int, int], None]
_Job: TypeAlias = Callable[[TrialRunner], T]
# The share of the budget until whose end sessions may start: the first one; others if a symptom still has to
# be confirmed; others if none has.
_FIRST, _LATER, _LAST = 0.4, 0.75, 0.9
# The share for one session after the first, as a loop shows long before it is proved; a short budget, and the
# shortest session, in seconds; and how many times longer the proof of a loop takes than another session.
_MOST, _SHORT, _LEAST, _PROOF_FACTOR = 0.4, 30.0, 1.0, 4
_NO_RUN = "No hook run came to its end, so nothing is known about any hook."
_NO_TIME = "The time budget ended before all sessions were planned."


@dataclass(slots=True)
class CheckRun:
    """
    The check of one hook set.

    Attributes:
        settings: The settings; the whole check may take ``wall`` seconds.
        only: The problem, or the kind of problems, that is looked for; empty for all.
        given: Ways to make hooks active, besides those that the hook set itself shows.
        executor: Plays the sessions in other processes or on other machines; ``None`` for this process.
    """

    place: HookSet
    settings: Settings
    resources: Resources
    only: str = ""
    on_step: OnStep = lambda _words, _done, _all: None
    given: Sequence[Activation] = ()
    executor: Executor | None = None
    _static: StaticResult = StaticResult()
    _began: float = field(default_factory=time.monotonic)
    _played: list[PlayedSession] = field(default_factory=list[PlayedSession])
    _problems: list[Problem] = field(default_factory=list[Problem])
    _open: list[str] = field(default_factory=list[str])
    _undecided: list[str] = field(default_factory=list[str])
    # Seconds of the shortest session so far that came to its end: no other is likely to take less.
    _least: float = _LEAST

    def run(self) -> CheckReport:
        """Play everything, and return the report; after Ctrl-C, of what was seen so far."""
        self._static = check_statically(self.place)
        interrupted, failed = False, bool(self._static.errors)
        self._undecided += self._static.errors
        try:
            self._search()
        except KeyboardInterrupt:
            interrupted = True
            self._undecided.append("The check was interrupted.")
            once = [one for one in self._wanted() if one.id not in {known.id for known in self._problems}]
            self._problems += [one.problem for one in once]
            self._undecided += [f"Listed above, but seen only once: {one.symptom.text}" for one in once]
        except Exception as error:  # noqa: BLE001 -- what was seen so far must not be lost
            failed = True
            self._undecided.append(f"The check ended early: {session_errors.describe_error(error)}.")
        known = [*causes.certain(self.place, self._static, self._outcomes(), self._problems), *self._problems]
        summary = grouping.summarise(self.place, self._played, self._static.stuck, known)
        problems = as_found(self.place, at_one_place((*known, *summary.problems)))
        checkup = replace(
            summary,
            place=self.place.found or self.place,
            problems=tuple(one for one in problems if is_wanted(self.only, one.id, one.symptom.kind)),
            only=self.only,
            triggered=tuple(one for one in summary.triggered if one not in self._static.stuck),
            tried=(*summary.tried, *describe_corrections(self.place, self._outcomes())),
            open=tuple(dict.fromkeys((*summary.open, *self._open))),
            untried=tuple(untried_hooks(self.place, self._static, self._outcomes())),
            undecided=tuple(dict.fromkeys((*self._undecided, *summary.undecided))),
            interrupted=interrupted,
            failed=failed or any(played.failed for played in self._played),
            seconds=time.monotonic() - self._began,
        )
        if not self._outcomes():
            return replace(checkup, tried=(), open=())
        # Once the wanted problem is found, the rest was not tried, so it says nothing.
        if self._is_found():
            return replace(checkup, open=(), undecided=())
        nothing = () if summary.triggered or checkup.problems else (_NO_RUN,)
        return replace(checkup, undecided=(*nothing, *checkup.undecided))

    def _outcomes(self) -> list[Outcome]:
        return [one.outcome for one in self._played if one.outcome is not None]

    @property
    def _seeks_one(self) -> bool:
        return bool(self.only) and not is_kind(self.only)

    def _is_found(self) -> bool:
        certain = causes.settled(self.place, self._static, self._outcomes())
        return self._seeks_one and any(is_same(self.only, one.id) for one in (*self._problems, *certain))

    def _search(self) -> None:
        """Play all sessions and confirm what they show, or stop when the wanted problem is confirmed."""
        if self._is_found() or all(hook.command in self._static.stuck for hook in self.place.hooks):
            return
        for _ in self._play_all():
            if self._seeks_one:
                self._confirm(self._wanted())
            if self._is_found():
                return
            if self._elapsed() > _LAST * self.settings.wall:
                self._undecided.append(_NO_TIME)
                break
        if not self._seeks_one:
            self._confirm(self._wanted())
        if self.seconds_left():
            self._find_further()

    def _play_all(self) -> Iterator[None]:
        """Play one kind of session after the other; the first ones decide what the later ones try."""
        first = self._play_first(checkups.plan_each_event(self.place))
        yield
        if first.outcome is None:
            return
        seen = self._leave_out(first.outcome)
        ran = {(run.hook.event, run.hook.command) for _, run in seen.trace.hook_runs()}
        self._play("single events", [*checkups.plan_single_events(self.place, ran)])
        yield
        if any(symptom.kind == HUNG_HOOK.name for symptom in find_symptoms(seen)):
            self._undecided.append("A hook run did not end, so nothing else was tried; fix that first.")
            return
        if any(cut_by_us(seen)):
            # It would be cut in every session, and the other hooks need the time.
            limit = session_errors.patience(seen, self.settings.hook_timeout)
            self.settings = replace(self.settings, hook_timeout=limit)
        endless = is_same("livelock", seen.verdict_name)
        # Stops are refused whatever the agent does, so further behaviours would only cost time.
        behaviours = [] if endless else [*checkups.plan_behaviours(self.place)]
        activated = [*checkups.plan_activated(self.place, self.given), *checkups.plan_host_files(self.place)]
        rules = guard_rules(self.place, activated)
        self._play("other sessions", [*behaviours[:1], *rules.among(guards.plan_refusals(self.place))])
        yield
        refused = rewording.refused_by_hook(self._outcomes())
        reworded = rules.among(guards.plan_rewordings(self.place, self._outcomes()))
        # Hooks that are made active, and guards: neither waits until all sessions of the others are played.
        others = zip_longest([*activated, *checkups.plan_modes(self.place)], reworded)
        self._play("other wordings", [one for both in others for one in both if one])
        yield
        moves = rewording.refused_calls(self._outcomes())
        self._prove(refused, rules)
        yield
        left = replace(self.settings, wall=self.seconds_left())
        look = partial(look_in_project, settings=left, resources=self.resources)
        armed = arm_states(self.place, self._played, partial(self._play, "state files", share=_LATER), look)
        self._open += armed.unmet
        self._play("active loops", armed.sessions)
        loops = meet_held_loops(self.place, self._played, partial(self._play, "held loops", share=_LATER))
        named = list[Problem]()
        for one in loops.problems:
            named.append(one.as_problem([other.id for other in named]))
        self._problems += [one for one in named if is_wanted(self.only, one.id, one.symptom.kind)]
        self._play("held loops", loops.sessions)
        yield
        written = rewording.writes_before_calls(self.place.host, self._outcomes())
        world = replace(rules, files={}).among(checkups.plan_world(self.place, moves, written=written))
        changes = (change for _, hooked in seen.trace.hooked() for change in hooked.changes)
        writes = any(change.hooks and not is_cache(change.path) for change in changes)
        raced = checkups.plan_races(self.place, {event for event, _ in ran}) if writes else ()
        usual = checkups.plan_usual(self.place, self.settings.seed)
        self._play("usual work, and a world that differs", [*world, *raced, usual])
        yield
        hostile = checkups.plan_hostile(self.place, self.settings.seed, endless=endless)
        same = checkups.plan_invariance(self.place, moves, endless=endless, raced=writes)
        self._play("hostile text, and what must not matter", [same, hostile, *behaviours[1:]])
        yield

    def _find_further(self) -> None:
        """Add hooks that decide by chance, guards that need one program, faulty gates, and false advice."""
        found = [*prove_further(self.place, self.try_out, tuple(self._problems), self._played)]
        self._problems += [one for one in found if is_wanted(self.only, one.id, one.symptom.kind)]

    def _leave_out(self, first: Outcome) -> Outcome:
        """Leave out hooks that keep others from being tried; return the outcome of the first session then."""
        hindering = hindering_hooks(self.place, self._static, first)
        if (place := with_corrections(self.place, hindering)) == self.place:
            return first
        self.place, self._static = place, in_words_of(place, self._static)
        (again,) = self._play("each event once, the others", [checkups.plan_each_event(place)])
        # A hook that can start now may not end.
        more = dict.fromkeys(unending_hooks(again.outcome or first) - hindering, NOTHING)
        self.place = with_commands(place, more) or place
        return again.outcome or first

    def _play_first(self, session: CheckSession) -> PlayedSession:
        """Play the first session; if it is undecided, once more with hooks in a fixed order."""
        (first,) = self._play("each event once", [session])
        calm = checkups.in_order(self.place, session)
        # In no order would a session need less time that the budget cut.
        undecided = first.outcome is not None and first.outcome.verdict_name == "undecided"
        if first.outcome is None or not undecided or calm == session or grouping.is_cut(first.outcome):
            return first
        (again,) = self._play("each event once, hook by hook", [calm])
        if again.outcome is None or again.outcome.verdict_name == "undecided":
            return first
        self._played.remove(first)
        return again

    def _prove(self, refusals: Sequence[rewording.Refusals], rules: GuardRules) -> None:
        """Play the sessions that prove what looked wrong when refused commands were reworded."""
        suspects, passed = guards.misjudged(self.place, self._outcomes(), refusals)
        self._open += passed
        self._play("wordings", rules.among(guards.plan_proofs(self.place, self._outcomes(), suspects)))

    def _play(self, words: str, sessions: Sequence[CheckSession], share: float = 0.0) -> list[PlayedSession]:
        found, before = dict[int, PlayedSession](), len(self._played)
        self.on_step(words, 0, len(sessions))
        for place, played in self._in_parallel([self._job(session, share) for session in sessions]):
            found[place] = played
            self._played[before:] = [] if share else [found[one] for one in sorted(found)]
            self.on_step(words, len(found), len(sessions))
        return [found[place] for place in sorted(found)]

    def _job(self, session: CheckSession, share: float) -> _Job[PlayedSession]:
        """Return what plays a session, until a share of the budget is used; 0 for the share of a search."""

        def play(runner: TrialRunner) -> PlayedSession:
            wall = (share or self._share(session)) * self.settings.wall - self._elapsed()
            # A single event runs the hooks of one event once.
            if wall < (_LEAST if session.event else self._least):
                return PlayedSession(session, why="the time budget ended")
            # What a long session has shown when it is cut, shorter ones can look into.
            wall = min(wall, _MOST * self.settings.wall) if self._played else wall
            try:
                return PlayedSession(session, self._simulate(session, wall, runner))
            except NoFreeSlot:
                # Not an error: the session is played once more, alone.
                raise
            except Exception as error:  # noqa: BLE001 -- what the other sessions show must not be lost
                return PlayedSession(
                    session, why=session_errors.describe_error(error), failed=session_errors.is_defect(error)
                )

        return play

    def _share(self, session: CheckSession) -> float:
        """Return the share of the budget that a session may use; the rest is to confirm what others show."""
        if not self._played:
            # With little time, the session that tries each hook once is worth more than all others.
            return _FIRST if self.settings.wall >= _SHORT else _LAST
        return _LAST if session.proof or not self._seen() else _LATER

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _simulate(self, session: CheckSession, wall: float, runner: TrialRunner) -> Outcome:
        until = time.monotonic() + max(wall, self.seconds_left())
        settings = replace(self.settings, base=None, wall=wall)
        outcome, took = runner.do(partial(session_errors.play_timed, session, settings), until)
        if not grouping.is_cut(outcome):
            # A session that was cut used all its time, and others may need less. To prove a loop takes long.
            took /= _PROOF_FACTOR if is_same("livelock", outcome.verdict_name) else 1
            self._least = took if self._least == _LEAST else min(self._least, took)
        return outcome

    def _in_parallel(self, jobs: Sequence[_Job[T]]) -> Iterator[tuple[int, T]]:
        runner = TrialRunner(Scenario(name="check", host=self.place.host), self.resources, self.executor)
        yield from runner.side_by_side(jobs, self.settings)

    def _wanted(self) -> list[SymptomEvidence]:
        return [one for one in self._seen() if is_wanted(self.only, one.id, one.symptom.kind)]

    def _seen(self) -> list[SymptomEvidence]:
        found = grouping.group(self.place, self._played, mark=corpora.MARKER)
        return causes.independent(found, self._static, self._outcomes(), self.place)

    def _confirm(self, wanted: Sequence[SymptomEvidence]) -> None:
        """Look for a small session that confirms each symptom; what no session confirms is not a problem."""
        given = self.place, self.seconds_left, self._simulate
        jobs = [Confirmation(*given, one, self.settings.tier).run for one in wanted]
        found, problems, undecided = dict[int, Problem | str](), len(self._problems), len(self._undecided)
        for place, (evidence, small) in self._in_parallel(jobs):
            seen = f"Seen once, but not confirmed: {evidence.symptom.text}"
            found[place] = evidence.shown_again(*small) if small else seen
            self._problems[problems:] = [one for _, one in sorted(found.items()) if isinstance(one, Problem)]
            self._undecided[undecided:] = [one for _, one in sorted(found.items()) if isinstance(one, str)]
            self.on_step("evidence", len(found), len(wanted))

    def symptoms(self) -> list[Symptom]:
        """Return every symptom that was seen, confirmed or not, and those that are certain without a run."""
        found = [*self._static.symptoms]
        for one in self._played:
            if one.outcome is not None:
                found += find_symptoms(one.outcome, mark=corpora.MARKER, harmless=one.session.harmless)
        return found

    def allow(self, seconds: float) -> None:
        """Give what follows so much time."""
        self.settings = replace(self.settings, wall=self._elapsed() + seconds)

    def seconds_left(self) -> float:
        """Return the seconds of the budget that are left; zero if they are too few for a session."""
        return left if (left := self.settings.wall - self._elapsed()) >= self._least else 0.0

    def try_out(self, sessions: Sequence[CheckSession], words: str = "a fix") -> list[PlayedSession]:
        """Play sessions in what is left of the budget; they are no part of the report."""
        return self._play(words, sessions, 1.0)
