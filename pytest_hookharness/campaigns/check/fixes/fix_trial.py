"""
Fixes that were played: a change is offered only if the same sessions show neither the problem nor a new one.

A limiter is played with every behaviour of an agent, and on every host that reads the same settings. Fixes
are tried one on top of the other, so that all of them together are what was played last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.check import corpora
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.fixes.draft_files import DraftFiles
from pytest_hookharness.campaigns.check.fixes.fix_candidates import Candidate, find_candidates
from pytest_hookharness.campaigns.check.fixes.fix_sessions import (
    changed_project,
    plan_elsewhere,
    plan_with,
    with_change,
    with_checks_of,
)
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.static.correctable_hooks import original_commands, rename_hooks
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.judging.findings.finding_catalogue import NOT_RUN
from pytest_hookharness.model.bad_ends import ENDLESS
from pytest_hookharness.model.checkup import (
    CheckReport,
    CheckSession,
    Fix,
    HookSet,
    Problem,
    Symptom,
    is_named,
)
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited

_Cause = tuple[str, str]
_NO_TIME = (
    "The time budget is too short to try a fix of {name}; `--only {name} --budget {budget}s` gives it more."
)
_NOT_TRIED = (
    "No fix of {name} was tried: the limiter fits only hooks that run at stops alone, with commands in JSON "
    "settings."
)
_COPIED = (
    "No fix of {name} was tried: these settings are copied to another place, and the limiter would have to "
    "be copied with them."
)
_OPENS_A_GATE = (
    "No fix of {name} was tried: an agent can satisfy this gate, and the limiter would open it; "
    "`--only {name} --fix` tries it."
)
_NOT_KEPT = "The limiter was tried for {name}; it is not offered: {seen}."
_INTERRUPTED = "The search for fixes was interrupted."
# Sessions that are played at the same time, at least on most machines.
_AT_ONCE = 2


def find_fixes(
    run: CheckRun, report: CheckReport, is_fixable: Callable[[HookSet, Problem], bool] | None = None
) -> CheckReport:
    """
    Return the report with each fix that worked when it was played, and the files of all fixes.

    With ``is_fixable``, only the problems for which it returns true get a fix.
    """
    known = _known(run, report)
    # A fix begins with the settings as they are.
    run.place = report.place if original_commands(run.place) else run.place
    files = DraftFiles(run.place.root, {})
    problems = [*report.problems]
    undecided: list[str] = []
    renamed: dict[str, str] = {}
    try:
        # A hook must run before it can be limited; then, sessions without an end cost their owner most.
        order = sorted(enumerate(report.problems), key=lambda item: _urgency(item[1].symptom.kind))
        for number, problem in order:
            if is_fixable is not None and not is_fixable(report.place, problem):
                continue
            candidate, evidence, why = _find_fix(run, known, problem, files, renamed)
            if candidate is not None:
                changed = candidate.files.changed_since(files)
                fix = Fix(text=candidate.text, evidence=evidence, files=changed)
                problems[number] = replace(problem, fix=fix)
                files, renamed = candidate.files, dict(candidate.renamed)
            elif why:
                undecided.append(why)
    except KeyboardInterrupt:
        return replace(
            report,
            problems=tuple(problems),
            changes=tuple(files.changes.values()),
            undecided=(*report.undecided, _INTERRUPTED),
            interrupted=True,
        )
    # That a fix was not tried says nothing about the hooks, so it is no reason to doubt the report.
    return replace(
        report,
        problems=tuple(problems),
        changes=tuple(files.changes.values()),
        open=(*report.open, *undecided),
    )


def _urgency(kind: str) -> int:
    return 0 if kind == NOT_RUN.name else 1 if kind in ENDLESS else 2


def _known(run: CheckRun, report: CheckReport) -> set[_Cause]:
    """Return the causes that are known, with hooks by the commands that the settings have."""
    before = original_commands(run.place)
    seen = (rename_hooks(one, before) for one in run.symptoms())
    return _causes([*seen, *(one.symptom for one in report.problems)])


def _find_fix(
    run: CheckRun,
    known: set[_Cause],
    problem: Problem,
    files: DraftFiles,
    renamed: Mapping[str, str],
) -> tuple[Candidate | None, str, str]:
    """Return the first change that works, with what was seen; else why a loop has none."""
    no_time = _NO_TIME.format(name=problem.id, budget=_longer(run.settings.wall))
    # In the words of the hook as it is, which are also right if only this fix is written.
    alone = find_candidates(problem, run.place, DraftFiles(run.place.root, {}))
    why = _COPIED if run.place.elsewhere else _NOT_TRIED
    for found in find_candidates(*_after(renamed, problem, run.place), files):
        text = next(alone, found).text
        candidate = replace(found, text=text, renamed=_composed(renamed, found.renamed))
        if candidate.limits and not problem.symptom.must_fix and not run.only:
            return None, "", _OPENS_A_GATE.format(name=problem.id)
        if not run.seconds_left():
            return None, "", no_time
        try:
            evidence, seen = _play(run, known, problem, candidate)
        except _TooLongError as error:
            return (
                None,
                "",
                _NO_TIME.format(name=problem.id, budget=_longer(run.settings.wall, error.seconds)),
            )
        if evidence:
            return candidate, evidence, ""
        why = _NOT_KEPT.format(name="{name}", seen=seen) if run.seconds_left() else no_time
    return None, "", why.replace("{name}", problem.id) if problem.symptom.kind in ENDLESS else ""


def _after(renamed: Mapping[str, str], problem: Problem, place: HookSet) -> tuple[Problem, HookSet]:
    """Return a problem and its hook set with the commands that earlier fixes gave to hooks."""
    commands = [hook.command for hook in place.hooks if is_named(hook.command, problem.symptom.hook)]
    hooks = tuple(replace(hook, command=renamed.get(hook.command, hook.command)) for hook in place.hooks)
    named = ", ".join(dict.fromkeys(renamed.get(command, command) for command in commands))
    return replace(problem, symptom=replace(problem.symptom, hook=named)), replace(place, hooks=hooks)


def _composed(renamed: Mapping[str, str], then: Mapping[str, str]) -> dict[str, str]:
    """Return both renamings as one: from each original command to its last form."""
    twice = {old: then.get(new, new) for old, new in renamed.items()}
    return {**{old: new for old, new in then.items() if old not in renamed.values()}, **twice}


class _TooLongError(Exception):
    """The sessions that prove a fix take more time than is left."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.0f} s")
        self.seconds = seconds


def _longer(wall: float, more: float = 0.0) -> int:
    """Return a budget in which a fix can be found, in seconds: twice the present one, or for what is left."""
    return -(-int(max(2 * wall, wall + 1.5 * more)) // 30) * 30


def _play(run: CheckRun, known: set[_Cause], problem: Problem, candidate: Candidate) -> tuple[str, str]:
    """Play a change; return the evidence that it works and why it does not: one of the two is empty."""
    fixed = _causes([problem.symptom])
    if candidate.limits:
        fixed |= {(kind, hook) for kind in ENDLESS for _, hook in fixed}
    sessions = [*plan_with(run, problem, candidate)]
    elsewhere = plan_elsewhere(run.place, candidate) if candidate.limits else ()
    others = [with_checks_of(problem, session) for session in elsewhere]
    with changed_project(run.place, candidate.files) as change:
        played: list[PlayedSession] = []
        # The first one alone, because it shows most changes that fix nothing, and how long the others take.
        for some in (sessions[:1], sessions[1:]):
            began = time.monotonic()
            played += _try_out(run, [with_change(session, change, candidate.place) for session in some])
            against = _why_unclean(played, candidate, known - fixed)
            if against and run.only:
                # `--only` skipped other defects; they are not new.
                known = known | {one for each in _try_out(run, some) for one in _causes(_symptoms(each))}
                against = _why_unclean(played, candidate, known - fixed)
            if against:
                return "", against
            left = len(sessions) + len(others) - len(played)
            seconds = (time.monotonic() - began) * left / _AT_ONCE if some == sessions[:1] else 0.0
            if seconds > run.seconds_left():
                raise _TooLongError(seconds)
        if against := _why_unproved(played, candidate, problem):
            return "", against
        there = _try_out(run, [with_change(session, change) for session in others])
    if against := next(filter(None, map(_why_endless, there)), ""):
        return "", against
    return _describe(candidate, problem, [*played, *there]), ""


def _causes(symptoms: Iterable[Symptom]) -> set[_Cause]:
    """Return the causes of symptoms; one of several hooks may also show alone."""
    return {(one.kind, hook) for one in symptoms for hook in (one.hook, *one.hook.split(", "))}


def _try_out(run: CheckRun, sessions: Sequence[CheckSession]) -> list[PlayedSession]:
    """Play sessions; one that could not be played, for example on a busy machine, is played once more."""
    played = run.try_out(sessions)
    again = [one.session for one in played if one.outcome is None]
    return [*(one for one in played if one.outcome is not None), *(run.try_out(again) if again else [])]


def _why_unclean(played: Sequence[PlayedSession], candidate: Candidate, allowed: set[_Cause]) -> str:
    """Return what is wrong in a session with the change; empty if nothing is."""
    before = {new: old for old, new in candidate.renamed.items()}
    for one in played:
        title = one.session.title
        if one.outcome is None:
            return f"a session could not be played ({title})"
        if candidate.limits and one.outcome.verdict_name != "terminated":
            return f"the verdict of a session was {one.outcome.verdict_name} ({title})"
        for symptom in _symptoms(one):
            if (symptom.kind, rename_hooks(symptom, before).hook) not in allowed:
                return f"a session showed {symptom.kind} ({title}): {symptom.text.rstrip('.')}"
    return ""


def _symptoms(played: PlayedSession) -> list[Symptom]:
    if played.outcome is None:
        return []
    return [*find_symptoms(played.outcome, mark=corpora.MARKER, harmless=played.session.harmless)]


def _why_unproved(played: Sequence[PlayedSession], candidate: Candidate, problem: Problem) -> str:
    """Return why the sessions do not prove that the change works; empty if they do."""
    outcomes = [one.outcome for one in played if one.outcome is not None]
    commands = _commands(candidate, problem)
    ran = [
        run.run
        for outcome in outcomes
        for _, run in outcome.trace.hook_runs()
        if run.hook.command in commands and run.run is not None
    ]
    most = candidate.timeout
    if most is not None and not all(isinstance(run.ending, Exited) and run.wall <= most / 2 for run in ran):
        return "a run of the hook took too long"
    if not ran:
        return "the hook did not run in these sessions"
    refuses = any(_refusals(outcome, commands) for outcome in outcomes)
    needs = candidate.limits or candidate.honoured
    return "the hook refused nothing in these sessions" if needs and not refuses else ""


def _commands(candidate: Candidate, problem: Problem) -> set[str]:
    """Return the commands that the hooks of a problem have with a change."""
    return {candidate.renamed.get(hook, hook) for hook in problem.symptom.hook.split(", ")}


def _refusals(outcome: Outcome, commands: set[str]) -> int:
    return sum(
        hooked.decision.refused and any(run.hook.command in commands for run in hooked.deciding)
        for _, hooked in outcome.trace.hooked()
    )


def _why_endless(played: PlayedSession) -> str:
    """Return how a session on another host ended; empty if it terminated or that host's cap ended it."""
    verdict = "not played" if played.outcome is None else played.outcome.verdict_name
    host = played.session.scenario.host
    return "" if verdict in ("terminated", "capped") else f"the verdict of a session on {host} was {verdict}"


def _describe(candidate: Candidate, problem: Problem, played: Sequence[PlayedSession]) -> str:
    outcomes = [one.outcome for one in played if one.outcome is not None]
    if not candidate.limits:
        seen = ", and the refusal is honoured" if candidate.honoured else ""
        if candidate.timeout is not None:
            seen = f", and no run of the hook takes half of {candidate.timeout:g} s"
        where = f" in a folder called `{candidate.place}`" if candidate.place else ""
        sessions = f"{counted(len(outcomes), 'session')} with it{where}"
        return f"{sessions}: the problem is not seen, nor a new one{seen}."
    commands = _commands(candidate, problem)
    # A host on which the hook never refuses says nothing about the limiter.
    refusals = [(outcome.host, _refusals(outcome, commands)) for outcome in outcomes]
    refusals = [(host, number) for host, number in refusals if number]
    named = dict.fromkeys(host for host, _ in refusals)
    # A version of a host with another fact, such as one that only users report, has the version's name.
    names = ", ".join(host for host in named if not any(host.startswith(f"{other}-") for other in named))
    most = max(number for _, number in refusals)
    return (
        f"{counted(len(refusals), 'session')} with it on {names}, with agents that are idle, obedient, "
        f"editing, repeating, oscillating and quoting: each ends, after at most {most} refusals."
    )
