"""
How a host interprets each exit code and output of a hook, and how many facts are known about it.

The meanings come from no table: the functions of the simulation read invented hook runs, so an explanation
always agrees with a simulation.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from pytest_hookharness.hosts.hook_input.launch import launch
from pytest_hookharness.hosts.hook_input.stdin import find_event, matcher_target, payload_for
from pytest_hookharness.hosts.profiles.shared import Calibration, find_calibration
from pytest_hookharness.hosts.replies.decision import aggregate
from pytest_hookharness.hosts.replies.reply import read_reply
from pytest_hookharness.hosts.rules.profile import EventRule, Profile
from pytest_hookharness.hosts.rules.replies import Halting, VerdictPath
from pytest_hookharness.hosts.rules.settings import KeyPath
from pytest_hookharness.hosts.rules.turns import AskEffect, AtCap, Role
from pytest_hookharness.hosts.session.limits import describe_cap
from pytest_hookharness.hosts.session_state.facts import Facts, facts
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.host_facts import EventMeanings, HostSummary, Meaning
from pytest_hookharness.model.processes import Cut, Ending, Exited, Output, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Json, Reply, Rule, Ruling

# The text that an invented hook prints.
_TEXT = "TEXT"
_NESTED = "hookSpecificOutput"
# Longer than any default timeout of a host, so that it shortens none.
_HOOK_TIMEOUT = 3600.0


def known_facts(profile: Profile) -> tuple[Rule, ...]:
    """Return all facts of a profile, each once."""
    return tuple(dict.fromkeys(_rules_in(profile)))


def _rules_in(value: object) -> Iterator[Rule]:
    if isinstance(value, Rule):
        yield value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _rules_in(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _rules_in(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _rules_in(item)


def summarise(profile: Profile) -> HostSummary:
    """Return a host in one line: its events, its cap and how many facts are known."""
    counts = Counter(rule.basis for rule in known_facts(profile))
    named = [event for event in profile.events.values() if not event.second_name_of]
    reached = sum(1 for event in named if not event.unreachable)
    return HostSummary(
        id=profile.id,
        events=reached,
        unreached=len(named) - reached,
        cap=_describe_cap(profile),
        observed=counts[Basis.OBSERVED],
        documented=counts[Basis.DOCUMENTED],
        assumed=counts[Basis.ASSUMED],
        asked=_describe_answers(find_calibration(profile.id)),
    )


def _describe_answers(answers: Calibration | None) -> str:
    if answers is None:
        return ""
    number = len(answers.same) + len(answers.different) + len(answers.known)
    return f"{len(answers.same)} of {number} same on {answers.version}, {answers.date}"


def _describe_cap(profile: Profile) -> str:
    rules = profile.cap
    cap = describe_cap(rules, "", repetition_resets=False)
    if cap is None or cap.overrides is None:
        basis = rules.rules["no cap"].basis if "no cap" in rules.rules else Basis.ASSUMED
        return "none is known" if basis is Basis.ASSUMED else "none"
    match rules.at_cap:
        case AtCap.OVERRIDES:
            return f"overrides refusal {cap.overrides}"
        case AtCap.ERRS:
            return f"ends with an error at refusal {cap.overrides}"
        case AtCap.ASKS_NO_MORE:
            return f"runs no stop hooks after refusal {cap.overrides - 1}"
        case _:
            assert_never(rules.at_cap)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCase:
    """An invented end of a hook run."""

    name: str
    ending: Ending = Exited(0)
    stdout: str = ""
    stderr: str = ""


def explain(profile: Profile, event: str = "") -> tuple[EventMeanings, ...]:
    """
    Return the meanings of hook runs on one event, or on each event that occurs in a session.

    Raises:
        ValueError: The host has no such event; the message names the nearest one.
    """
    known = facts(profile, workspace="/project", home="/home/dev", tmp="/tmp")  # noqa: S108 - names alone
    if event:
        return (_explain(profile, find_event(profile, event), known),)
    reached = (rule for rule in profile.events.values() if not rule.unreachable)
    return tuple(_explain(profile, rule, known) for rule in reached)


def _explain(profile: Profile, rule: EventRule, known: Facts) -> EventMeanings:
    hook = Hook(event=rule.name, command="./hook")
    limit = launch(profile, hook, payload_for(profile, rule.name, known), known, {}, _HOOK_TIMEOUT).limit
    return EventMeanings(
        host=profile.id,
        event=rule.name,
        role=rule.role.value,
        limit=limit,
        unreachable=rule.unreachable,
        rule=rule.rule,
        rests_on=rule.rests_on,
        meanings=tuple(
            _meaning(profile, rule, hook, known, case) for case in explained_cases(profile, rule, limit)
        ),
    )


def _meaning(profile: Profile, rule: EventRule, hook: Hook, known: Facts, case: ExplainedCase) -> Meaning:
    out, err = case.stdout.encode(), case.stderr.encode()
    run = ProcessResult(ending=case.ending, stdout=Output(out, len(out)), stderr=Output(err, len(err)))
    reply = read_reply(profile, hook, rule.name, run)
    payload = payload_for(profile, rule.name, known)
    target = matcher_target(profile, rule.name, payload)
    decision = aggregate(profile, rule.name, (reply,), (0,), hooks=(hook,), target=target)
    unread = _call_made(profile, decision) or _waits_for_person(profile, rule, decision)
    return Meaning(
        case=case.name,
        printed=case.stdout,
        refuses=decision.refused and not _call_made(profile, decision),
        action=_describe_decision(profile, rule, decision, reply),
        to_agent=() if unread else decision.to_agent,
        fault=reply.fault or "",
        rule=_as_answered(profile, f"{rule.name}: {case.name}", decision.rule),
    )


def _as_answered(profile: Profile, question: str, rule: Rule) -> Rule:
    """Return the fact behind a meaning, observed if the real program did the same in this very case."""
    answers = find_calibration(profile.id)
    if answers is not None and question in answers.same:
        return Rule(rule.text, Basis.OBSERVED, answers.source(profile.name))
    if answers is not None and (question in answers.different or question in answers.known):
        return Rule(rule.text, rule.basis, f"{rule.source}; {answers.version} did something else here")
    return rule


def explained_cases(profile: Profile, rule: EventRule, limit: float) -> Iterator[ExplainedCase]:
    """Yield the invented ends of hook runs on an event whose meaning is explained."""
    yield ExplainedCase(name="exit 0, silent")
    yield ExplainedCase(name="exit 0, plain text", stdout=_TEXT)
    yield ExplainedCase(name="exit 2, text on stderr", ending=Exited(2), stderr=_TEXT)
    yield ExplainedCase(name="exit 2, silent", ending=Exited(2))
    for code in (1, 3):
        yield ExplainedCase(name=f"exit {code}, text on stderr", ending=Exited(code), stderr=_TEXT)
    asks = _own_answers(profile, rule, Ruling.ASK, "ask")
    answers: list[tuple[str, Json]] = [
        ("decision block", {"decision": "block", "reason": _TEXT}),
        *_own_answers(profile, rule, Ruling.DENY, "the host's own refusal"),
        *(asks or [("ask", _nested(rule, "permissionDecision", "ask"))]),
        ("continue false", {"continue": False, "stopReason": _TEXT}),
        ("a text for the agent", _context_answer(profile, rule)),
    ]
    seen: list[Json] = []
    for name, answer in answers:
        if answer not in seen:
            seen.append(answer)
            yield ExplainedCase(name=name, stdout=json.dumps(answer))
    yield ExplainedCase(name="broken JSON", stdout='{"decision": "block"')
    yield ExplainedCase(name="killed at its timeout", ending=TimedOut(limit, by=Cut.LIMIT))
    yield ExplainedCase(name="no such command", ending=Exited(127), stderr="sh: ./hook: not found")


def _nested(rule: EventRule, key: str, value: Json) -> dict[str, Json]:
    return {_NESTED: {"hookEventName": rule.name, key: value}}


def _own_answers(profile: Profile, rule: EventRule, ruling: Ruling, name: str) -> list[tuple[str, Json]]:
    rules = profile.answers(rule.name)
    answers: list[tuple[str, Json]] = []
    if rules.grant and rule.role is Role.PERMISSION and ruling is Ruling.DENY:
        denial = {"behavior": "deny", "message": _TEXT}
        answers.append((name, _put({}, rules.grant, denial, rule)))
    for verdict in rules.verdicts:
        if not verdict.command or (verdict.roles and rule.role not in verdict.roles):
            continue
        values: Iterable[Json] = [word for word, means in verdict.rulings.items() if means is ruling][:1]
        if verdict.any_text and ruling is Ruling.DENY:
            values = [_TEXT]
        answers += [(name, _answer(verdict, value, rule)) for value in values]
    return answers


def _answer(verdict: VerdictPath, value: Json, rule: EventRule) -> Json:
    answer = _put({}, verdict.path, value, rule)
    if verdict.any_text or not verdict.reason:
        return answer
    return _put(answer, verdict.reason, _TEXT, rule)


def _context_answer(profile: Profile, rule: EventRule) -> Json:
    paths = profile.answers(rule.name).context
    return _put({}, paths[0], _TEXT, rule) if paths else _nested(rule, "additionalContext", _TEXT)


def _put(answer: Mapping[str, Json], path: KeyPath, value: Json, rule: EventRule) -> dict[str, Json]:
    key, *rest = path
    if not rest:
        return {**answer, key: value}
    below = answer.get(key)
    named: Mapping[str, Json] = {"hookEventName": rule.name} if key == _NESTED else {}
    inner = below if isinstance(below, Mapping) else named
    return {**answer, key: _put(inner, tuple(rest), value, rule)}


def _call_made(profile: Profile, decision: Decision) -> bool:
    return decision.ruling is Ruling.ASK and profile.turns.ask_effect is AskEffect.CALL_MADE


def _waits_for_person(profile: Profile, rule: EventRule, decision: Decision) -> bool:
    asks = decision.ruling is Ruling.ASK and rule.role is Role.BEFORE_TOOL
    return asks and profile.turns.ask_effect is AskEffect.WAITS


_REFUSAL_EFFECTS = {
    Role.BEFORE_TOOL: "the call is not made",
    Role.PERMISSION: "the call is not made",
    Role.PROMPT: "the prompt does not reach the agent",
    Role.EXPANSION: "the prompt does not reach the agent",
    Role.STOP: "the agent continues",
    Role.SUBAGENT_STOP: "the subagent continues",
    Role.BEFORE_COMPACT: "the conversation is not compacted",
    Role.WORKTREE: "the session does not start",
    Role.TASK_CREATED: "the task is not created",
    Role.TASK_COMPLETED: "the task stays open",
}
_USUAL_EFFECTS = {
    Role.BEFORE_TOOL: "the call is made",
    Role.PROMPT: "the prompt reaches the agent",
    Role.STOP: "the agent stops",
    Role.SUBAGENT_STOP: "the subagent stops",
}


def _describe_halt(profile: Profile, rule: EventRule) -> str:
    if rule.role is Role.SUBAGENT_STOP:
        return _USUAL_EFFECTS[rule.role]
    if rule.role is Role.BEFORE_COMPACT and rule.role not in profile.turns.before_request:
        return _REFUSAL_EFFECTS[rule.role]
    return "the session ends" if rule.halts else "the turn ends"


def _describe_decision(profile: Profile, rule: EventRule, decision: Decision, reply: Reply) -> str:
    if _waits_for_person(profile, rule, decision):
        return "the host waits forever for a person"
    if decision.halt is not None:
        late = profile.answers(rule.name).halting is Halting.AFTER_CALL and rule.role is Role.BEFORE_TOOL
        return "the turn ends after the call is made" if late else _describe_halt(profile, rule)
    if decision.refused and not _call_made(profile, decision):
        return _REFUSAL_EFFECTS.get(rule.role, "the turn ends")
    if decision.updated_output is not None:
        return "the agent gets the text instead of the result"
    if decision.to_agent and not _call_made(profile, decision):
        return f"{_USUAL_EFFECTS.get(rule.role, 'the host continues')}, and the agent gets the text"
    if reply.folder:
        return "the session continues in the named folder"
    return _USUAL_EFFECTS.get(rule.role, "the host continues")
