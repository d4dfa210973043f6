"""Symptoms of many sessions grouped by cause, and what the sessions did not show."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.arming.hook_roles import BEFORE_CALLS, hooks_at
from pytest_hookharness.campaigns.check.gates.local_checks import failing_stand_ins, words_for
from pytest_hookharness.campaigns.check.hook_statistics import (
    find_never_run,
    find_problems,
    name_problem,
)
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession
from pytest_hookharness.campaigns.check.session_errors import hindered_hooks
from pytest_hookharness.campaigns.check.static.correctable_hooks import original_commands
from pytest_hookharness.campaigns.check.tried_sessions import describe_tried, describe_varied
from pytest_hookharness.campaigns.stress.first_run import ReplayScript
from pytest_hookharness.campaigns.stress.plan import OUT_OF_TIME
from pytest_hookharness.judging.checkup.bad_ends import open_questions
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.judging.findings.codes import INERT_GUARD, MISSING_INPUT, STAGED
from pytest_hookharness.judging.findings.finding_catalogue import CONFIG_OFF, MANGLED, NEVER_FIRED, NOT_RUN
from pytest_hookharness.model.bad_ends import ENDLESS
from pytest_hookharness.model.checkup import (
    CheckReport,
    CheckSession,
    HookSet,
    Problem,
    Symptom,
    hook_name,
    is_named,
)
from pytest_hookharness.model.expectations import counted, first_few
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Undecided

# Verdicts on sessions whose end hooks refuse again and again.
_NO_GIT = "Git is not installed here, so no copy was a repository; what hooks do in one was not tested."
# The step at which the time ended says nothing about the hooks.
_WHILE = re.compile(r"(?<=the time budget ended) while .*", re.DOTALL)
# Why a host gets no refusal of a guard.
_DISABLED = frozenset(
    one.name for one in (CONFIG_OFF, INERT_GUARD, MANGLED, MISSING_INPUT, NEVER_FIRED, NOT_RUN)
)
# A script that commits on purpose, and one that takes all that lies in the tree.
COMMITS = re.compile(r"""\bgit\b["',\s][^\n;|&]{0,60}?(?<![\w-])commit(?![\w-])""")
TAKES_ALL = re.compile(r"""\badd["',\s]+(?:-A|--all|\.)(?![\w/])|\bcommit["',\s]+-\w*a""")
# How a loop says that it was proved, after the refusal.
_REPEATED = re.compile(r", \d+ times? until the session repeats itself(?: but for .+)?$")
# Parts of a text that vary for one cause, such as the number of refusals.
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SymptomEvidence:
    """One symptom, with the shortest session that showed it, the titles of all, and its other wordings."""

    id: str
    symptom: Symptom
    session: CheckSession
    trace: Trace
    shown_by: tuple[str, ...]
    others: tuple[tuple[CheckSession, Symptom, Trace], ...] = ()

    @property
    def problem(self) -> Problem:
        """The problem, with the whole session."""
        return Problem(
            id=self.id,
            symptom=as_far_as_seen(self.symptom, self.session),
            scenario=self.session.scenario,
            shown_by=(self.session.title, *(title for title in self.shown_by if title != self.session.title)),
            move=ReplayScript.of(self.trace).move(self.symptom.turn),
            active=self.session.active,
        )

    def shown_again(self, scenario: Scenario, symptom: Symptom) -> Problem:
        """Return the problem that a smaller scenario showed again."""
        whole = scenario == self.session.scenario
        return replace(
            self.problem,
            scenario=scenario,
            symptom=as_far_as_seen(symptom, self.session),
            move=self.problem.move if whole else None,
        )


@dataclass(frozen=True, slots=True)
class ProvedSymptom:
    """A symptom that one session proves, so no other session has to confirm it."""

    symptom: Symptom
    session: CheckSession
    trace: Trace

    def as_problem(self, taken: Collection[str]) -> Problem:
        """Return the symptom as a problem with a name that is not ``taken``."""
        return SymptomEvidence(
            id=name_problem(self.symptom, taken),
            symptom=self.symptom,
            session=self.session,
            trace=self.trace,
            shown_by=(self.session.title,),
        ).problem


def as_far_as_seen(symptom: Symptom, session: CheckSession) -> Symptom:
    """Return a symptom that does not call a loop endless which an agent that finished the work left."""
    if symptom.kind not in ENDLESS or not session.way_out:
        return symptom
    refused = symptom.text.replace(" is refused each time", " is refused again and again").removesuffix(".")
    refused = _REPEATED.sub("", refused)
    text = f"{refused}, if the agent does nothing more; it may stop if it {session.way_out}."
    failing = [name for name, double in session.scenario.commands.items() if double.exit]
    failing += map(words_for, failing_stand_ins(session.scenario.files))
    assumed = [f"{', '.join(failing)} fails: a test double stands for it."] if failing else []
    return replace(symptom, text=text, avoidable=True, assumes=(*symptom.assumes, *assumed))


def group(hook_set: HookSet, played: Sequence[PlayedSession], *, mark: str) -> tuple[SymptomEvidence, ...]:
    """
    Return the symptoms of some sessions, each cause once, without those of hooks checked with another host.

    ``mark`` is a file that appears only if a hook executes its input.
    """
    causes: dict[tuple[str, str, str], list[tuple[CheckSession, Outcome, Symptom]]] = {}
    for one in played:
        if one.outcome is None:
            continue
        for symptom in find_symptoms(one.outcome, mark=mark, harmless=one.session.harmless):
            if not _is_of_others(hook_set, symptom) and not _is_meant(hook_set, symptom):
                causes.setdefault(symptom.cause, []).append((one.session, one.outcome, symptom))
    found: dict[str, SymptomEvidence] = {}
    for seen in causes.values():
        evidence = _evidence(seen, found)
        found[evidence.id] = evidence
    return tuple(found.values())


def _is_of_others(hook_set: HookSet, symptom: Symptom) -> bool:
    """Return whether a symptom concerns only hooks that are checked with another host."""
    own = {hook.command for hook in hook_set.hooks}
    commands = {hook.command for hook in hook_set.shared} - own
    return bool(symptom.hook) and {*symptom.hook.split(", ")} <= commands


def _is_meant(hook_set: HookSet, symptom: Symptom) -> bool:
    """Return whether all that a symptom tells is that a hook which commits what is its own does so."""
    ran = [hook for hook in hook_set.hooks if hook.command in symptom.hook.split(", ")]
    text = "\n".join(text for hook in ran for text in (hook.command, *hook_set.scripts_of(hook)))
    return bool(symptom.kind == STAGED.name and COMMITS.search(text) and not TAKES_ALL.search(text))


def _evidence(
    seen: Sequence[tuple[CheckSession, Outcome, Symptom]], taken: Collection[str]
) -> SymptomEvidence:
    session, outcome, symptom = min(seen, key=_difficulty)
    worded = {_NUMBER.sub("", one.text): (other, one, shown.trace) for other, shown, one in seen}
    worded.pop(_NUMBER.sub("", symptom.text))
    return SymptomEvidence(
        id=name_problem(symptom, taken),
        symptom=symptom,
        session=session,
        trace=outcome.trace,
        shown_by=tuple(dict.fromkeys(session.title for session, _, _ in seen)),
        others=tuple(worded.values()),
    )


def _difficulty(one: tuple[CheckSession, Outcome, Symptom]) -> tuple[bool, bool, int, int]:
    """Return what is smallest for the session that shows a symptom most plainly."""
    session, outcome, _ = one
    scenario = session.scenario
    # If hooks run beside copies of themselves, it is hard to say which one did something.
    return bool(session.event), scenario.parallel is not None, len(scenario.vary), outcome.trace.turns


def summarise(
    hook_set: HookSet,
    played: Sequence[PlayedSession],
    stuck: Collection[str] = (),
    known: Sequence[Problem] = (),
) -> CheckReport:
    """Return what all sessions of a hook set show together, besides symptoms."""
    outcomes = [one.outcome for one in played if one.outcome is not None]
    before = original_commands(hook_set)
    # For a handler that is no command, only an answer was assumed.
    ran = [run.hook.command for one in outcomes for _, run in one.trace.hook_runs() if run.run]
    problems = tuple(find_problems(hook_set, outcomes))
    wrong = {problem.symptom.hook for problem in problems}
    hindered = hindered_hooks(outcomes, copied=hook_set.elsewhere, root=hook_set.root)
    ending = [one for one in played if one.outcome is not None and one.session.ends]
    active = [one.session.active for one in played if one.outcome is not None and one.session.active]
    open_ends: dict[str, str] = {}
    for outcome in (one.outcome for one in ending if one.outcome is not None and not is_cut(one.outcome)):
        for doubt in open_questions(outcome):
            # Later sessions cut the same hook after other times.
            open_ends.setdefault(_NUMBER.sub("", doubt), doubt)
    running = _running_at_the_end(outcomes)
    never_run = [hook for hook in find_never_run(hook_set, outcomes) if hook.command not in wrong]
    unshown = [_describe_never_run(hook_set, hook) for hook in never_run if hook.command not in running]
    unended = [_describe_running(hook_set, hook) for hook in never_run if hook.command in running]
    return CheckReport(
        place=hook_set,
        problems=problems,
        triggered=tuple(dict.fromkeys(before.get(command, command) for command in ran)),
        hindered=tuple(before.get(command, command) for command in hindered),
        tried=tuple(describe_tried(hook_set, outcomes, active, stuck)),
        open=(
            *unshown,
            *_find_never_refusing(hook_set, outcomes, known, stuck),
            *(() if hook_set.git else (_NO_GIT,)),
        ),
        undecided=(
            *unended,
            *_describe_unplayed(played),
            *_describe_cut(ending),
            *open_ends.values(),
            *_find_untried(outcomes),
        ),
    )


def is_cut(outcome: Outcome) -> bool:
    """Return whether the time budget ended a session."""
    return isinstance(outcome.verdict, Undecided) and outcome.verdict.is_out_of_time


def _describe_cut(played: Sequence[PlayedSession]) -> Iterator[str]:
    """Yield a sentence that names the sessions which the time budget cut before their ends were known."""
    cut = dict.fromkeys(
        f"{one.session.title} ({counted(one.outcome.iterations, 'turn')})"
        for one in played
        if one.outcome is not None and is_cut(one.outcome) and open_questions(one.outcome)
    )
    if cut:
        yield (
            f"Cut by the time budget, so it is unknown whether they end: {'; '.join(cut)}. A larger budget "
            "lets them go on."
        )


def _describe_unplayed(played: Sequence[PlayedSession]) -> Iterator[str]:
    """Yield why sessions were not played, equal reasons once."""
    titles: dict[str, dict[str, None]] = {}
    for one in played:
        if one.outcome is None:
            titles.setdefault(_WHILE.sub("", one.why), {})[one.session.title] = None
    yield from (f"Not played, because {why}: {'; '.join(named)}." for why, named in titles.items())


def _describe_never_run(hook_set: HookSet, hook: Hook) -> str:
    if hook.type != "command":
        return f"Not tested: a handler of type {hook.type} at {hook.event}; only commands are run."
    matcher = f" with the matcher `{hook.matcher}`" if hook.matcher else ""
    name = hook_name(hook_set.hooks, hook.command, [hook_set.hooks.index(hook) + 1])
    return f"No session triggered {name}{matcher}, so nothing is known about it."


def _running_at_the_end(outcomes: Sequence[Outcome]) -> set[str]:
    """Return the commands of hooks that were running when the time budget of a session ended."""
    ends = (outcome.verdict for outcome in outcomes)
    return {command for end in ends if isinstance(end, Undecided) for command in end.running}


def _describe_running(hook_set: HookSet, hook: Hook) -> str:
    return (
        f"{hook_name(hook_set.hooks, hook.command)} was still running when the time budget ended, and never "
        "ended before; allow more time with --budget and --hook-timeout."
    )


def _find_untried(outcomes: Sequence[Outcome]) -> Iterator[str]:
    begin = f"{OUT_OF_TIME} "
    late = (text for outcome in outcomes for text in outcome.varied if text.startswith(begin))
    yield from (describe_varied(text, begin, begin) for text in late)


def _find_never_refusing(
    hook_set: HookSet, outcomes: Sequence[Outcome], known: Sequence[Problem], stuck: Collection[str]
) -> Iterator[str]:
    """
    Yield a sentence about the hooks before tool calls that refused nothing: a broken one would look the same.

    Those of which the report says already why the host gets no refusal are left out.
    """
    disabled = [one.symptom.hook for one in known if one.symptom.kind in _DISABLED]
    refusing = {
        hook_run.hook.command
        for outcome in outcomes
        for _, hooked in outcome.trace.hooked()
        if hooked.decision.refused
        for hook_run in hooked.hook_runs
        if hook_run.reply.ruling is hooked.decision.ruling
    }
    names = [
        hook_name(hook_set.hooks, command)
        for command in dict.fromkeys(hook.command for hook in hooks_at(hook_set, BEFORE_CALLS))
        # A handler of another type has no command, and is not run.
        if command
        and command not in {*refusing, *stuck}
        and not any(is_named(command, hooks) for hooks in disabled)
    ]
    if names:
        it_works = "it works" if len(names) == 1 else "they work"
        yield f"{first_few(names)} refused nothing that was tried, so it is unknown whether {it_works}."
