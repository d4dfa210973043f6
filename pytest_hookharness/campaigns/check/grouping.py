"""
Causes: complaints of many sessions as one problem each, and what was not shown.

Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.hook_statistics import (
    find_problems,
    find_silent,
    name_problem,
    percentile,
)
from pytest_hookharness.campaigns.stress.replay import ReplayScript
from pytest_hookharness.judging.checkup.symptoms import find_symptoms, open_questions
from pytest_hookharness.model.checkup import CheckSession, HookSet, Problem, Symptom
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace

_NO_GIT = "Git is not installed here, so no copy was a repository: what hooks do with one was not seen."
_OTHERWISE = frozenset({hosts.Role.BEFORE_TOOL, hosts.Role.PERMISSION})


@dataclass(frozen=True, slots=True)
class PlayedSession:
    """
    A session with what it showed, or why it could not be played.
    """

    session: CheckSession
    outcome: Outcome | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """
    One cause, with the shortest of the sessions that showed it.

    Attributes:
        id: A name for it.
        symptom: What was seen.
        session: The session.
        trace: What took place in it.
        shown_by: The titles of all sessions that showed it.
    """

    id: str
    symptom: Symptom
    session: CheckSession
    trace: Trace
    shown_by: tuple[str, ...]

    @property
    def problem(self) -> Problem:
        """
        The same as a problem, with the session as it was.
        """
        return Problem(
            id=self.id,
            symptom=self.symptom,
            scenario=self.session.scenario,
            shown_by=(self.session.title, *(title for title in self.shown_by if title != self.session.title)),
            move=ReplayScript.of(self.trace).move(self.symptom.turn),
        )

    def shown_again(self, scenario: Scenario, symptom: Symptom) -> Problem:
        """
        The same as a problem that a scenario showed again.
        """
        whole = scenario == self.session.scenario
        return replace(
            self.problem,
            scenario=scenario,
            symptom=symptom,
            move=self.problem.move if whole else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """
    What sessions come to beside the problems that they showed.

    Attributes:
        problems: What is wrong by all that hooks did together.
        triggered: The commands of the hooks that were fired.
        tried: What was tried, in sentences.
        open: What was not shown, in sentences.
        undecided: Why this is no proof that all is well, in sentences.
    """

    problems: tuple[Problem, ...]
    triggered: tuple[str, ...]
    tried: tuple[str, ...]
    open: tuple[str, ...]
    undecided: tuple[str, ...]


def group(played: Sequence[PlayedSession], *, mark: str) -> tuple[Evidence, ...]:
    """
    What sessions complained of, each cause once.

    Args:
        played: The sessions.
        mark: Name of a file that appears only if input is carried out.
    """
    causes: dict[tuple[str, str], list[tuple[CheckSession, Outcome, Symptom]]] = {}
    for one in played:
        if one.outcome is None:
            continue
        for complaint in find_symptoms(one.outcome, mark=mark, harmless=one.session.harmless):
            causes.setdefault(complaint.cause, []).append((one.session, one.outcome, complaint))
    found: dict[str, Evidence] = {}
    for seen in causes.values():
        evidence = _evidence(seen, found)
        found[evidence.id] = evidence
    return tuple(found.values())


def _evidence(seen: Sequence[tuple[CheckSession, Outcome, Symptom]], taken: Collection[str]) -> Evidence:
    session, outcome, complaint = min(
        seen, key=lambda one: (bool(one[0].event), len(one[0].scenario.vary), one[1].trace.turns)
    )
    return Evidence(
        id=name_problem(complaint, taken),
        symptom=complaint,
        session=session,
        trace=outcome.trace,
        shown_by=tuple(dict.fromkeys(session.title for session, _, _ in seen)),
    )


def summarise(place: HookSet, played: Sequence[PlayedSession]) -> Summary:
    """
    What the sessions of a place come to beside their complaints.
    """
    outcomes = [one.outcome for one in played if one.outcome is not None]
    problems = tuple(find_problems(place, outcomes))
    wrong = {problem.symptom.hook for problem in problems}
    unplayed = [f"{one.session.title.capitalize()}: {one.why}." for one in played if one.outcome is None]
    ending = [one.outcome for one in played if one.outcome is not None and one.session.ends]
    open_ends = dict.fromkeys(doubt for outcome in ending for doubt in open_questions(outcome))
    unshown = [_unwoken(hook) for hook in find_silent(place, outcomes) if hook.command not in wrong]
    return Summary(
        problems=problems,
        triggered=tuple(
            dict.fromkeys(fire.hook.command for one in outcomes for _, fire in one.trace.hook_runs())
        ),
        tried=tuple(_tried(place, outcomes)),
        open=(*unshown, *_unguarded(place, outcomes), *(() if place.git else (_NO_GIT,))),
        undecided=(*unplayed, *open_ends, *_late(outcomes)),
    )


def _unwoken(hook: Hook) -> str:
    if hook.type != "command":
        return f"Not tried: a handler of type {hook.type} at {hook.event}, for only commands are run."
    matcher = f" with the matcher `{hook.matcher}`" if hook.matcher else ""
    return f"No session woke `{hook.command}` at {hook.event}{matcher}, so nothing is known about it."


def _late(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield from (
        told for outcome in outcomes for told in outcome.varied if told.startswith("There was no time")
    )


def _tried(place: HookSet, outcomes: Sequence[Outcome]) -> Iterator[str]:
    fires = [fire for outcome in outcomes for _, fire in outcome.trace.hook_runs()]
    yield (
        f"{counted(len(outcomes), 'session')} with {counted(len(fires), 'fire')} of "
        f"{counted(len(place.hooks), 'hook')}."
    )
    yield from (told for outcome in outcomes for told in outcome.varied if told.startswith("Tried:"))
    for command in dict.fromkeys(hook.command for hook in place.hooks):
        times = [fire.run.wall for fire in fires if fire.run is not None and fire.hook.command == command]
        if times:
            within = 1000 * percentile(times)
            yield f"`{command}`: {counted(len(times), 'fire')}, 95 of 100 within {within:.0f} ms."


def _unguarded(place: HookSet, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """
    Hooks asked before calls that refused nothing, so that one that is off looks like one that is on.
    """
    events = hosts.find(place.host).events
    refusing = {
        fire.hook.command
        for outcome in outcomes
        for _, hooked in outcome.trace.hooked()
        if hooked.decision.refused
        for fire in hooked.hook_runs
        if fire.reply.ruling is hooked.decision.ruling
    }
    for command in dict.fromkeys(
        hook.command for hook in place.hooks if hook.event in events and events[hook.event].role in _OTHERWISE
    ):
        if command not in refusing:
            yield f"`{command}` refused nothing that was tried, so nothing shows whether it guards."
