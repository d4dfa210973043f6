"""
What is one cause: defects that follow from another one are not reported beside it.

A hook that cannot run has no other defect, one that its own wrong timeout ends does not hang, and what is
certain without a run needs no session.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import STOPS
from pytest_hookharness.campaigns.check.grouping import SymptomEvidence
from pytest_hookharness.campaigns.check.hindering_hooks import commands_of, refused_for_want
from pytest_hookharness.campaigns.check.hook_statistics import name_problem
from pytest_hookharness.campaigns.check.session_errors import NO_EXECUTABLE_BIT, hindered_hooks
from pytest_hookharness.campaigns.check.static.correctable_hooks import NOT_EXECUTABLE
from pytest_hookharness.campaigns.check.static.device_inputs import DEVICE
from pytest_hookharness.campaigns.check.static_checks import OF_SETTINGS, StaticResult
from pytest_hookharness.campaigns.check.untried_hooks import network_program
from pytest_hookharness.judging.checkup.evidence import with_evidence
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.judging.findings.finding_catalogue import (
    CONFIG_OFF,
    CRASHED,
    EVENT_UNKNOWN,
    HUNG_HOOK,
    MANGLED,
    NOT_RUN,
    PINGPONG,
    SILENT_REFUSAL,
)
from pytest_hookharness.judging.findings.uncaught_errors import FAILURE_REFUSES
from pytest_hookharness.model.bad_ends import ENDLESS
from pytest_hookharness.model.checkup import HookSet, Problem, Symptom
from pytest_hookharness.model.moves import RunCommand
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario

# How a symptom names the tool that was missing, and the turn.
_MISSING = re.compile(r" in turn (\d+): .*with no `([\w.+-]+)` on the PATH")
# How a symptom says that the shell, or `env`, did not find what starts the hook itself.
_OWN_PROGRAM = re.compile(
    r"with no `([\w.+-]+)` on the PATH.*exit 127: "
    r'"(?:/bin/\w+: (?:line )?\d+: \1: (?:command )?not found|(?:/usr/bin/)?env: \W\1\W: No such file)'
)
# A refusal with a status of failure, as scripts and sessions show it.
_OF_A_REFUSAL = re.compile(r"is not a refusal on|(?:the refusal|its answer) ends with \d")
# How answers in scripts are described, the first of them in words of their own.
_ITS_ANSWER, _NO_JSON, _NO_KEYS = "its answer", "JSON", "the host knows none of the keys"
_NO_ANSWER = "what it printed is no answer"
# How a source and a session show that a program took a text for an option.
_DASH, _NO_OPTION = "for an option because of its dash", re.compile(r"(?:unrecognized|invalid) option")
# How a shell says that a text is no number.
_NO_NUMBER = re.compile(
    r"integer expression expected|Illegal number|operand expected|value too great for base"
)
# Errors that follow if Git, and so the repository, is missing.
_WITHOUT_GIT = frozenset({codes.UNGUARDED_TOOL.name, codes.STATUS_LEAK.name})
# What the agent should read: the source of a hook and its sessions show the same.
_UNSEEN = frozenset({SILENT_REFUSAL.name, codes.UNSEEN_REASON.name})
# Defects that a source and a session may both show.
_NO_TOOL = re.compile(r"with no `[\w.+-]+` on the PATH")
_SAME_KIND = frozenset(
    {
        codes.BYPASS.name,
        codes.CARRIED_OUT.name,
        codes.LOST_UPDATES.name,
        codes.OVERBLOCK.name,
        codes.TEXT_MATCH.name,
    }
)
# The keys of answers.
_ANSWERS = re.compile(
    r"permission|followup_message|(?i:additional_?context)|decision|continue[\"']?\s*:|hookSpecificOutput|_message\b"
)
_NO_SESSION, _OF_ANOTHER = "knows no session", "did not start the loop"
# Sessions report these too; the static checks find all of them.
_STATIC = frozenset({CONFIG_OFF.name, EVENT_UNKNOWN.name})


def static_problems(
    hook_set: HookSet, static: StaticResult, outcomes: Sequence[Outcome]
) -> Iterator[Problem]:
    """Yield the problems that are certain without a run, with what the sessions show about them."""
    names: dict[str, Symptom] = {}
    for symptom in static.symptoms:
        names[name_problem(symptom, names)] = symptom
    names = {name: left for name, one in names.items() if (left := _unrefuted(one, outcomes))}
    scenario = Scenario(name="check", host=hook_set.host)
    refused = refused_for_want(static, outcomes)
    # Symptoms that keep the agent from its work come first.
    for name in sorted(names, key=lambda name: not _is_of(names[name], refused)):
        yield Problem(id=name, symptom=with_evidence(names[name], outcomes), scenario=scenario)


def _unrefuted(symptom: Symptom, outcomes: Sequence[Outcome]) -> Symptom | None:
    """Return a symptom for those of its hooks of which no session shows the opposite; ``None`` for none."""
    if symptom.kind == codes.MISSING_INPUT.name and DEVICE in symptom.text:
        runs = [run for outcome in outcomes for _, run in outcome.trace.hook_runs()]
        read = {run.hook.command for run in runs if run.run is not None and run.run.stdin_read}
        left = [command for command in symptom.hook.split(", ") if command not in read]
        return replace(symptom, hook=", ".join(left)) if left else None
    return None if _goes_on(symptom, outcomes) else symptom


def _goes_on(symptom: Symptom, outcomes: Sequence[Outcome]) -> bool:
    """Return whether a session shows that a loop goes on after one round."""
    return symptom.kind == codes.EARLY_EXIT.name and any(
        hooked.decision.refused and run.payload.get("stop_hook_active") is True
        for outcome in outcomes
        for _, hooked in outcome.trace.hooked()
        for run in hooked.deciding
        if run.hook.command in symptom.hook.split(", ")
    )


def settled(hook_set: HookSet, static: StaticResult, outcomes: Sequence[Outcome]) -> Iterator[Problem]:
    """Yield the problems that are certain without a run, and that no session shows better."""
    known = static_problems(hook_set, static, outcomes)
    return (one for one in known if not _may_be_shown(one.symptom))


def certain(
    hook_set: HookSet, static: StaticResult, outcomes: Sequence[Outcome], shown: Sequence[Problem]
) -> Iterator[Problem]:
    """Yield the problems that are certain without a run, but for those that a session has shown too."""
    for one in static_problems(hook_set, static, outcomes):
        if left := _not_shown(one.symptom, [other.symptom for other in shown]):
            yield replace(one, symptom=left)


def _may_be_shown(symptom: Symptom) -> bool:
    """Return whether a session may show better what is certain about a hook."""
    said = re.search(f"{_NO_TOOL.pattern}|{_NO_SESSION}", symptom.text)
    return DEVICE in symptom.text or symptom.kind in _SAME_KIND or said is not None


def _not_shown(symptom: Symptom, shown: Sequence[Symptom]) -> Symptom | None:
    """Return what is certain, for those of its hooks of which no session shows it, by the words of both."""
    if not _may_be_shown(symptom):
        return symptom
    tool = _NO_TOOL.search(symptom.text)
    words = DEVICE if DEVICE in symptom.text else tool[0] if tool else _OF_ANOTHER
    by_kind = symptom.kind in _SAME_KIND
    same = [one for one in shown if (_is_same_kind(one, symptom) if by_kind else words in one.text)]
    shown_hooks = {*commands_of(iter(same))}
    left = [command for command in symptom.hook.split(", ") if command not in shown_hooks]
    return replace(symptom, hook=", ".join(left)) if left else None


def _is_same_kind(shown: Symptom, symptom: Symptom) -> bool:
    """Return whether both are about commands, or about files such as an example of one with secrets."""
    about = shown.topic == symptom.topic or all(".env.example" in one.text for one in (shown, symptom))
    return shown.kind == symptom.kind and about


def independent(
    found: Sequence[SymptomEvidence],
    static: StaticResult,
    outcomes: Sequence[Outcome] = (),
    place: HookSet | None = None,
) -> list[SymptomEvidence]:
    """
    Return the symptoms not caused by a static defect, by a hook that did not run, or by the harness.

    Symptoms that name a lent folder of the user (``reach`` of the place) are left out: hooks may write there.
    """
    reach, copied = (place.reach, place.elsewhere) if place is not None else ((), False)
    unlike = OF_SETTINGS if place is not None and place.unnamed else frozenset[str]()
    found = [one for one in found if not any(f"{folder}/" in one.symptom.text for folder in reach)]
    broken = {*static.stuck, *commands_of(one for one in static.symptoms if one.kind == NOT_RUN.name)}
    executable = {*_executable(static, outcomes)}
    hindered = {*hindered_hooks(outcomes, copied=copied, root=place.root if place is not None else None)}
    symptoms = [
        one
        for one in found
        if one.symptom.kind not in _STATIC | unlike
        and not _is_of(one.symptom, hindered)
        and not _is_of(one.symptom, broken - executable if _ran(one, executable) else broken)
        and not (network_program(one.symptom) or is_moot(one) or _is_misarmed(one) or _is_log(one, place))
    ]
    not_run = {*commands_of(one.symptom for one in symptoms if one.symptom.kind == NOT_RUN.name)}
    hasty = {*commands_of(one for one in static.symptoms if one.kind == codes.TIMEOUT_UNIT.name)}
    of_refusals = [one for one in static.symptoms if _OF_A_REFUSAL.search(one.text)]
    unread = [one for one in static.symptoms if one.kind == MANGLED.name and one not in of_refusals]
    unseen = {*commands_of(one for one in static.symptoms if one.kind in _UNSEEN)}
    failed = {*commands_of(iter(of_refusals))}
    dashed = {*commands_of(one for one in static.symptoms if _DASH in one.text)}
    strict = {*commands_of(one for one in static.symptoms if one.kind == codes.STRICT_SHELL.name)}
    # One of several hooks that ran together may be known to remove what the agent wrote.
    removing = {*commands_of(one for one in static.symptoms if one.kind == PINGPONG.name)}
    # A hook that ends with a status of failure to advise does that with all of its advice.
    lost = [one.symptom for one in symptoms if _OF_A_REFUSAL.search(one.symptom.text)]
    advising = {*commands_of(one for one in lost if one.kind == codes.UNSEEN_REASON.name)}
    # An agent whose every act is refused cannot do what would end such a state either.
    closed = {
        *commands_of(one.symptom for one in symptoms if one.symptom.kind == codes.BLOCKS_EVERYTHING.name)
    }
    # Where a failure is a refusal, a hook that fails each time refuses everything.
    failing = {*commands_of(one.symptom for one in symptoms if FAILURE_REFUSES in one.symptom.text)}
    return [
        one
        for one in symptoms
        if (one.symptom.kind == NOT_RUN.name or not _is_of(one.symptom, not_run))
        and not (one.symptom.kind == codes.STUCK_PHASE.name and _is_of(one.symptom, closed))
        and not (one.symptom.kind == codes.BLOCKS_EVERYTHING.name and _is_of(one.symptom, failing))
        and not (one.symptom.kind == HUNG_HOOK.name and _is_of(one.symptom, hasty))
        and not (_OF_A_REFUSAL.search(one.symptom.text) and _is_of(one.symptom, failed))
        and not (one.symptom in lost and one.symptom.kind == CRASHED.name and _is_of(one.symptom, advising))
        and not (_NO_OPTION.search(one.symptom.text) and _is_of(one.symptom, dashed))
        and not ("[[: not found" in one.symptom.text and _is_of(one.symptom, strict))
        and not (one.symptom.kind in _UNSEEN and _is_of(one.symptom, unseen))
        and not (one.symptom.kind == PINGPONG.name and removing & {*one.symptom.hook.split(", ")})
        and not (one.symptom.kind == MANGLED.name and any(_same_answer(one.symptom, it) for it in unread))
    ]


def _executable(static: StaticResult, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the commands of hooks that ran in sessions in which their scripts are executable."""
    bare = {*commands_of(one for one in static.symptoms if NOT_EXECUTABLE in one.text)}
    runs = (run for outcome in outcomes for _, run in outcome.trace.hook_runs())
    yield from (
        one.hook.command for one in runs if one.hook.command in bare and one.ending != NO_EXECUTABLE_BIT
    )


def _ran(evidence: SymptomEvidence, executable: Collection[str]) -> bool:
    """Return whether the scripts were executable in the symptom's session, and the symptom is not NOT-RUN."""
    runs = (run for _, run in evidence.trace.hook_runs() if run.hook.command in executable)
    return evidence.symptom.kind != NOT_RUN.name and all(run.ending != NO_EXECUTABLE_BIT for run in runs)


def _same_answer(symptom: Symptom, static: Symptom) -> bool:
    """Return whether a session and the source report the same lost answer, judged by their words."""
    same = (_ITS_ANSWER, _NO_JSON, _NO_KEYS, symptom.text.partition(": ")[2].rstrip("."))
    said = any(words in static.text and (words == _ITS_ANSWER or words in symptom.text) for words in same)
    return said and _is_of(symptom, [*commands_of(iter([static]))])


def is_moot(evidence: SymptomEvidence) -> bool:
    """
    Return whether a guard only allows a call that cannot work, as the missing tool is what it starts.

    Without Git, there is no repository to guard either, and no hook can guard without its own interpreter.
    """
    missing = _MISSING.search(evidence.symptom.text)
    if missing is not None and missing[2] == "git" and evidence.symptom.kind in _WITHOUT_GIT:
        return True
    if missing is None or evidence.symptom.kind != codes.UNGUARDED_TOOL.name:
        return False
    if _OWN_PROGRAM.search(evidence.symptom.text):
        return True
    starts = re.compile(rf"[\"';&|] *{re.escape(missing[2])} ")
    return any(
        starts.search(json.dumps(hook_run.payload))
        for step, hook_run in evidence.trace.hook_runs()
        if step.turn == int(missing[1])
    )


def _is_misarmed(evidence: SymptomEvidence) -> bool:
    """Return whether a loop is only endless as a hook cannot count with a state that the check made up."""
    session = evidence.session
    # Files that a command of the project makes are its own.
    by_us = session.active and not any(isinstance(act, RunCommand) for act in session.scenario.script.acts)
    runs = [run.run for _, run in evidence.trace.hook_runs() if run.run is not None]
    failed = any(_NO_NUMBER.search(run.stderr.text) for run in runs)
    return bool(by_us) and evidence.symptom.kind in ENDLESS and failed


def _is_log(evidence: SymptomEvidence, place: HookSet | None) -> bool:
    """
    Return whether what a hook printed is no answer, where its host reads none, or where the hook means none.

    At a stop a hook may print what it does, for the log of the host.
    """
    event, _, words = evidence.symptom.text.partition(": ")
    rule = hosts.find(evidence.session.scenario.host).events.get(event)
    if rule is None or evidence.symptom.kind != MANGLED.name or not words.startswith(_NO_ANSWER):
        return False
    if rule.role in STOPS and place is not None and not rule.plain_fails:
        ran = [hook for hook in place.hooks if hook.command in evidence.symptom.hook.split(", ")]
        if ran and not any(_ANSWERS.search(text) for hook in ran for text in place.code_of(hook)):
            return True
    return rule.power is hosts.Power.NOTHING and not (rule.context or rule.halts or rule.plain_fails)


def _is_of(symptom: Symptom, commands: Collection[str]) -> bool:
    return bool(symptom.hook) and {*symptom.hook.split(", ")} <= {*commands}
