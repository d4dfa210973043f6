"""
Explaining a host: what each way in which a hook can end means to it.

Nothing here is a table of meanings: made-up fires are read by the functions that a
simulation uses, so what is told is what is done.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from pytest_hookharness.hosts.hook_input.launch import launch
from pytest_hookharness.hosts.hook_input.stdin import find_event, payload_for, target_of
from pytest_hookharness.hosts.replies.decision import aggregate
from pytest_hookharness.hosts.replies.reply import read_reply
from pytest_hookharness.hosts.rules.caps import Asking, AtCap
from pytest_hookharness.hosts.rules.events import EventRule, Power
from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.replies import Halting, VerdictPath
from pytest_hookharness.hosts.rules.roles import Role
from pytest_hookharness.hosts.rules.settings import KeyPath
from pytest_hookharness.hosts.session import guards
from pytest_hookharness.hosts.session_state.facts import Facts, facts
from pytest_hookharness.model.host_facts import EventMeanings, HostSummary, Meaning
from pytest_hookharness.model.processes import Cut, Ending, Exited, Output, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Json, Reply, Rule, Ruling

_WORDS = "WORDS"
_NESTED = "hookSpecificOutput"
_PATIENCE = 3600.0


def known_facts(profile: Profile) -> tuple[Rule, ...]:
    """
    All facts that a profile names, each once.
    """
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
    """
    A host in one line.
    """
    counts = Counter(rule.basis for rule in known_facts(profile))
    named = [event for event in profile.events.values() if not event.also]
    reached = sum(1 for event in named if not event.unreachable)
    return HostSummary(
        id=profile.id,
        events=reached,
        unreached=len(named) - reached,
        cap=_guard(profile),
        observed=counts[Basis.OBSERVED],
        documented=counts[Basis.DOCUMENTED],
        assumed=counts[Basis.ASSUMED],
    )


def _guard(profile: Profile) -> str:
    rules = profile.cap
    setting = guards.Setting(env={}, options={})
    guard = guards.describe(rules, setting, lap_used_tools=False)
    if guard is None or guard.overrides is None:
        basis = rules.rules["no cap"].basis if "no cap" in rules.rules else Basis.ASSUMED
        return "none is known" if basis is Basis.ASSUMED else "none"
    match rules.then:
        case AtCap.OVERRIDES:
            return f"sets refusal {guard.overrides} aside"
        case AtCap.ERRS:
            return f"ends with an error at refusal {guard.overrides}"
        case AtCap.ASKS_NO_MORE:
            return f"asks no more after refusal {guard.overrides - 1}"
        case _:
            assert_never(rules.then)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExplainedCase:
    """
    A way in which a hook can end.
    """

    name: str
    ending: Ending = Exited(0)
    stdout: str = ""
    stderr: str = ""


def explain(profile: Profile, event: str = "") -> tuple[EventMeanings, ...]:
    """
    What hooks can mean on one event, or on all that a session comes to.

    Raises:
        ValueError: The host has no such event; the message names the nearest.
    """
    known = facts(profile, workspace="/project", home="/home/dev", tmp="/tmp")  # noqa: S108 - names alone
    if event:
        return (_explain(profile, find_event(profile, event), known),)
    reached = (rule for rule in profile.events.values() if not rule.unreachable)
    return tuple(_explain(profile, rule, known) for rule in reached)


def _explain(profile: Profile, rule: EventRule, known: Facts) -> EventMeanings:
    hook = Hook(event=rule.name, command="./hook")
    limit = launch(profile, hook, payload_for(profile, rule.name, known), known, {}, _PATIENCE).limit
    return EventMeanings(
        host=profile.id,
        event=rule.name,
        role=rule.role.value,
        limit=limit,
        unreachable=rule.unreachable,
        rule=rule.rule,
        rests_on=rule.rests_on,
        meanings=tuple(_meaning(profile, rule, hook, known, case) for case in _cases(profile, rule, limit)),
    )


def _meaning(profile: Profile, rule: EventRule, hook: Hook, known: Facts, case: _ExplainedCase) -> Meaning:
    out, err = case.stdout.encode(), case.stderr.encode()
    run = ProcessResult(ending=case.ending, stdout=Output(out, len(out)), stderr=Output(err, len(err)))
    reply = read_reply(profile, hook, rule.name, run)
    payload = payload_for(profile, rule.name, known)
    target = target_of(profile, rule.name, payload)
    decision = aggregate(profile, rule.name, (reply,), (0,), hooks=(hook,), target=target)
    return Meaning(
        case=case.name,
        printed=case.stdout,
        refuses=decision.refused and not _let(profile, decision),
        action=_deed(profile, rule, decision, reply),
        to_agent=() if _let(profile, decision) or _waits(profile, rule, decision) else decision.to_agent,
        fault=reply.fault or "",
        rule=decision.rule,
    )


def _cases(profile: Profile, rule: EventRule, limit: float) -> Iterator[_ExplainedCase]:
    yield _ExplainedCase(name="exit 0, silent")
    yield _ExplainedCase(name="exit 0, plain text", stdout=_WORDS)
    yield _ExplainedCase(name="exit 2, words on stderr", ending=Exited(2), stderr=_WORDS)
    yield _ExplainedCase(name="exit 2, silent", ending=Exited(2))
    yield _ExplainedCase(name="exit 1, words on stderr", ending=Exited(1), stderr=_WORDS)
    yield _ExplainedCase(name="exit 3, words on stderr", ending=Exited(3), stderr=_WORDS)
    answers: list[tuple[str, Json]] = [
        ("decision block", {"decision": "block", "reason": _WORDS}),
        *_own_forms(profile, rule, Ruling.DENY, "the host's own refusal"),
        *(
            _own_forms(profile, rule, Ruling.ASK, "ask")
            or [("ask", _nested(rule, "permissionDecision", "ask"))]
        ),
        ("continue false", {"continue": False, "stopReason": _WORDS}),
        ("a text for the agent", _text(profile, rule)),
    ]
    seen: list[Json] = []
    for name, answer in answers:
        if answer not in seen:
            seen.append(answer)
            yield _ExplainedCase(name=name, stdout=json.dumps(answer))
    yield _ExplainedCase(name="broken JSON", stdout='{"decision": "block"')
    yield _ExplainedCase(name="cut at its limit", ending=TimedOut(limit, by=Cut.LIMIT))
    yield _ExplainedCase(name="no such command", ending=Exited(127), stderr="sh: ./hook: not found")


def _nested(rule: EventRule, key: str, value: Json) -> dict[str, Json]:
    return {_NESTED: {"hookEventName": rule.name, key: value}}


def _own_forms(profile: Profile, rule: EventRule, ruling: Ruling, name: str) -> list[tuple[str, Json]]:
    rules = profile.answers(rule.name)
    forms: list[tuple[str, Json]] = []
    if rules.grant and rule.role is Role.PERMISSION and ruling is Ruling.DENY:
        answer = {"behavior": "deny", "message": _WORDS}
        forms.append((name, _put({}, rules.grant, answer, rule)))
    for verdict in rules.verdicts:
        if not verdict.command or (verdict.roles and rule.role not in verdict.roles):
            continue
        values: Iterable[Json] = [word for word, means in verdict.words.items() if means is ruling][:1]
        if verdict.any_text and ruling is Ruling.DENY:
            values = [_WORDS]
        forms += [(name, _answer(verdict, value, rule)) for value in values]
    return forms


def _answer(verdict: VerdictPath, value: Json, rule: EventRule) -> Json:
    answer = _put({}, verdict.path, value, rule)
    return answer if verdict.any_text else _put(answer, verdict.reason, _WORDS, rule)


def _text(profile: Profile, rule: EventRule) -> Json:
    paths = profile.answers(rule.name).context
    return _put({}, paths[0], _WORDS, rule) if paths else _nested(rule, "additionalContext", _WORDS)


def _put(answer: Mapping[str, Json], path: KeyPath, value: Json, rule: EventRule) -> dict[str, Json]:
    key, *rest = path
    if not rest:
        return {**answer, key: value}
    below = answer.get(key)
    named: Mapping[str, Json] = {"hookEventName": rule.name} if key == _NESTED else {}
    inner = below if isinstance(below, Mapping) else named
    return {**answer, key: _put(inner, tuple(rest), value, rule)}


def _let(profile: Profile, decision: Decision) -> bool:
    return decision.ruling is Ruling.ASK and profile.turns.asking is Asking.LETS


def _waits(profile: Profile, rule: EventRule, decision: Decision) -> bool:
    asks = decision.ruling is Ruling.ASK and rule.role is Role.BEFORE_TOOL
    return asks and profile.turns.asking is Asking.WAITS


_REFUSED = {
    Role.BEFORE_TOOL: "the call is not made",
    Role.PERMISSION: "the call is not made",
    Role.PROMPT: "the prompt does not reach the agent",
    Role.EXPANSION: "the prompt does not reach the agent",
    Role.STOP: "the agent goes on",
    Role.SUBAGENT_STOP: "the subagent goes on",
    Role.BEFORE_COMPACT: "the conversation is not shortened",
    Role.WORKTREE: "the session does not begin",
    Role.TASK_CREATED: "the task is not made",
    Role.TASK_COMPLETED: "the task stays open",
}


_LET = {
    Role.BEFORE_TOOL: "the call is made",
    Role.PROMPT: "the prompt reaches the agent",
    Role.STOP: "the agent stops",
    Role.SUBAGENT_STOP: "the subagent stops",
}


def _deed(profile: Profile, rule: EventRule, decision: Decision, reply: Reply) -> str:
    if _waits(profile, rule, decision):
        return "the host waits for a person, for ever"
    if decision.halt is not None:
        late = profile.answers(rule.name).halting is Halting.AFTER_CALL and rule.role is Role.BEFORE_TOOL
        return "the turn ends once the call is made" if late else "the turn ends"
    if decision.refused and not _let(profile, decision):
        return _REFUSED.get(rule.role, "the turn ends")
    if decision.ruling is Ruling.DENY and rule.power is Power.REPLACES:
        return "the agent gets the words instead of the result"
    if decision.to_agent and not _let(profile, decision):
        return f"{_LET.get(rule.role, 'it goes on')}, and the agent is told"
    if reply.folder:
        return "the session goes on in the folder that was named"
    return _LET.get(rule.role, "it goes on")
