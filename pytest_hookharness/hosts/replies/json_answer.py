"""
Answers in JSON: parse one, and read it by the key paths of its host.

Refusals are known in the form of any host, so that one which this host does not understand is reported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import assert_never

from pytest_hookharness.hosts.replies import lost_refusals
from pytest_hookharness.hosts.replies.json_parser import dig, load
from pytest_hookharness.hosts.rules.profile import EventRule, Power, Profile
from pytest_hookharness.hosts.rules.replies import AnswerRules, EmptyAnswer, Halting, Stream, VerdictPath
from pytest_hookharness.hosts.rules.settings import KeyPath
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.protocol import Hook, Json, Payload, Reply, Rule, Ruling, Unheard

BYTE_ORDER_MARK = "\ufeff"

_EVENT_OUTPUT = "hookSpecificOutput"


@dataclass(frozen=True, slots=True)
class Unparsable:
    """Output that begins like an answer and cannot be parsed. ``why`` is the parser's message."""

    why: str


def trim(rules: AnswerRules, output: str) -> str:
    """Return output without white space around it, and without a byte order mark that the host ignores."""
    text = output.strip()
    return text.strip(BYTE_ORDER_MARK).strip() if rules.strips_mark else text


def parse(rules: AnswerRules, output: str) -> Payload | Unparsable | None:
    """Return the answer in an output; ``None`` if the output is plain text."""
    text = trim(rules, output)
    if not text or not text.startswith(rules.starts):
        return None
    try:
        value = load(text, rules.parser, accepts_nan=rules.accepts_nan)
        if rules.nested_json and isinstance(value, str):
            value = load(value, rules.parser, accepts_nan=rules.accepts_nan)
    except (ValueError, RecursionError) as error:
        return Unparsable(str(error)) if text.startswith("{") else None
    if isinstance(value, dict):
        return value
    return {} if rules.ignores_non_objects else None


def announces_background(rules: AnswerRules, output: str) -> bool:
    """
    Return whether output begins with the answer of a hook that continues in the background.

    The host reads that answer as soon as it is there; the text after it is not part of it.
    """
    # The first line alone first, since the rest may be anything; then the whole, for an indented answer.
    first = parse(rules, trim(rules, output).partition("\n")[0])
    answer = first if isinstance(first, dict) else parse(rules, output)
    return isinstance(answer, dict) and answer.get("async") is True


def answer_keys(rules: AnswerRules) -> frozenset[str]:
    """Return the top-level keys that the host reads in an answer."""
    if rules.known:
        return rules.known
    verdicts = (verdict.path for verdict in rules.verdicts)
    changes = (*rules.changed_input, *rules.changed_output)
    paths = (*verdicts, rules.grant, *rules.context, *changes, *rules.person)
    halting = () if rules.halting is Halting.IGNORED else ("continue",)
    return frozenset([*(path[0] for path in paths if path), *halting])


# Where a refusal makes the agent continue, which an end of the session prevents.
_CONTINUED_BY_REFUSAL = (
    Role.STOP, Role.SUBAGENT_STOP, Role.AFTER_TOOL, Role.TOOL_FAILED, Role.AFTER_BATCH
)  # fmt: skip
_CONTRADICTION = "ignored: continue: false ends the session, so the refusal beside it has no effect"
_NO_STREAMS: Mapping[Stream, str] = {}


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """The host, hook and event of an answer, and the rules for reading it."""

    profile: Profile
    hook: Hook
    event: EventRule
    answers: AnswerRules

    def rule(self, name: str) -> Rule:
        """Return a fact of the host about reading replies, by its name."""
        return self.profile.replies.rules[name]

    def no_opinion(self, rule: str, fault: str | None = None) -> Reply:
        """Return a reply without an opinion."""
        return Reply(rule=self.rule(rule), fault=fault)

    @property
    def blocks_on_failure(self) -> bool:
        """Whether a failure of the hook counts as a refusal."""
        return self.event.fails_closed and self.hook.on_failure == "block"

    @property
    def default_reason(self) -> str:
        """The host's words for a reason that the hook did not give."""
        return self.profile.replies.no_reason.format(event=self.event.name)

    def refuse(self, reason: str, rule: str, *, silent: bool = False) -> Reply:
        """Return a refusal, or the reply that stands for one on events without the power to refuse."""
        if self.event.power is Power.NOTHING:
            fault = f"ignored: a refusal has no effect on {self.event.name}"
            return Reply(user_text=reason, fault=fault, rule=self.rule("no power"))
        return self.cut_texts(Reply(ruling=Ruling.DENY, reason=reason, silent=silent, rule=self.rule(rule)))

    def cut_texts(self, reply: Reply) -> Reply:
        """Return the reply with its texts cut at the host's limit."""
        limit = self.profile.replies.text_limit
        if limit is None or (reply.fault or "").startswith("too-long"):
            return reply
        spared = not limit.reasons or self.event.role in limit.spared
        longest = max(limit.measure(text) for text in (reply.context, "" if spared else reply.reason))
        if longest <= limit.most:
            return reply
        unit = "bytes" if limit.in_bytes else "characters"
        fault = reply.fault or f"too-long: of {longest} {unit}, {limit.kept or limit.most} reach the model"
        reason = reply.reason if spared else limit.cut(reply.reason)
        return replace(reply, reason=reason, context=limit.cut(reply.context), fault=fault)

    def no_effect(self, key: str) -> str:
        """Return the fault of a key that has no effect on the event."""
        return f"ignored: {key!r} has no effect on {self.event.name}"


def read_answer(reader: AnswerReader, answer: Payload, streams: Mapping[Stream, str] = _NO_STREAMS) -> Reply:
    """Return the reply in an answer. The output streams give the reason if the answer has none."""
    rules = reader.answers
    if reader.profile.replies.announced and answer.get("async") is True:
        return reader.no_opinion("async")
    problem = rules.check and rules.check(reader.event.name, answer)
    if problem:
        return reader.no_opinion("invalid", f"ignored: {problem}")
    if reader.event.role is Role.WORKTREE:
        folder = str(dig(answer, ("hookSpecificOutput", "worktreePath")) or "")
        named = Reply(folder=folder, rule=reader.rule("folder"))
        return named if folder else reader.refuse("the answer names no folder", "no folder", silent=True)
    if not answer and rules.empty is not EmptyAnswer.NOTHING:
        return _read_empty(reader)
    # A halt may turn the ruling into a refusal, and texts may make a silent refusal a spoken one.
    reply = _read_ruling(reader, answer, streams)
    reply = _add_halt(reader, reply, answer, streams)
    reply = _add_texts(reader, reply, answer)
    return reader.cut_texts(replace(reply, fault=reply.fault or _useless_answer(reader, reply, answer)))


def _read_empty(reader: AnswerReader) -> Reply:
    if reader.answers.empty is EmptyAnswer.REFUSES or reader.blocks_on_failure:
        return replace(reader.refuse(reader.default_reason, "empty", silent=True), unmeant=True)
    return reader.no_opinion("empty", "mangled: the answer is empty, and the host expects a decision in it")


def _useless_answer(reader: AnswerReader, reply: Reply, answer: Payload) -> str | None:
    known = answer_keys(reader.answers)
    place = next((".".join(path) for path in reader.answers.context if path[-1] in {*answer} - known), "")
    if lost_refusals.is_permission(answer, known):
        return None
    if answer and not known & set(answer):
        hint = f"; it reads {place}" if place else ""
        return f"ignored: the host knows none of the keys {', '.join(answer)}{hint}"
    if reply.halt is not None or reply.ruling is Ruling.DENY:
        return None
    refusal = lost_refusals.find_refusal(answer) if reply.ruling is Ruling.NONE else ""
    if refusal:
        return f"ignored: {refusal} is not a refusal of {reader.event.name} on this host"
    if refusal := _refusal_of_another_type(reader, answer):
        return f"ignored: {refusal} is not an answer of a hook of type {reader.hook.type}"
    if place and reader.event.context and not reply.context:
        return f"ignored: the host does not read {place.rpartition('.')[2]} at the top; it reads {place}"
    nested = _EVENT_OUTPUT if reply.ruling is Ruling.NONE else ""
    unknown = lost_refusals.find_unknown(answer, known, nested)
    if unknown:
        return f"ignored: the host does not know {unknown}"
    alone = reply.ruling is Ruling.NONE and lost_refusals.is_reason_alone(answer)
    return "ignored: a reason without a decision has no effect" if alone else None


def _refusal_of_another_type(reader: AnswerReader, answer: Payload) -> str:
    """Return the entry by which an answer of another type of handler refuses; empty if there is none."""
    if reader.hook.type != "command":
        return ""
    others = (verdict for verdict in reader.answers.verdicts if not verdict.command)
    refusing = (one for one in others if _ruling_of(one, dig(answer, one.path)) is Ruling.DENY)
    return next((f"{'.'.join(one.path)}: {json.dumps(dig(answer, one.path))}" for one in refusing), "")


def _read_ruling(reader: AnswerReader, answer: Payload, streams: Mapping[Stream, str]) -> Reply:
    grant = dig(answer, reader.answers.grant) if reader.answers.grant else None
    if isinstance(grant, Mapping) and reader.event.role is Role.PERMISSION:
        return _grant(reader, grant)
    for verdict in reader.answers.verdicts:
        value = dig(answer, verdict.path)
        if value is None or not (verdict.command or reader.hook.type != "command"):
            continue
        key = verdict.path[-1]
        # The first key path with a value decides, even if its value has no effect on this event.
        if verdict.roles and reader.event.role not in verdict.roles:
            return reader.no_opinion("no power", reader.no_effect(key))
        if verdict.path[0] in reader.event.ignores:
            return reader.no_opinion("ignored", reader.no_effect(key))
        ruling = _ruling_of(verdict, value)
        if ruling is not None:
            given = dig(answer, verdict.reason) if verdict.reason else None
            reason = str(value) if verdict.any_text else str(given or "")
            return _ruled(reader, verdict, ruling, reason, streams)
    return reader.no_opinion("answer")


def _ruled(
    reader: AnswerReader, verdict: VerdictPath, ruling: Ruling, reason: str, streams: Mapping[Stream, str]
) -> Reply:
    reply = _reply_for(reader, ruling, reason or _stream_text(reader, streams))
    reply = replace(reply, own_field=len(verdict.path) > 1)
    return replace(reply, halt=reason) if _ends_turn(reader, verdict, ruling) else reply


def _ruling_of(verdict: VerdictPath, value: Json) -> Ruling | None:
    if verdict.any_text:
        return Ruling.DENY if isinstance(value, str) and value.strip() else None
    if not isinstance(value, str | bool):
        return None
    return verdict.rulings.get(value.lower() if verdict.ignores_case and isinstance(value, str) else value)


def _ends_turn(reader: AnswerReader, verdict: VerdictPath, ruling: Ruling) -> bool:
    """Return whether a verdict ends the turn too."""
    hook, event = reader.hook, reader.event
    known = "prompt halt" in reader.profile.replies.rules and not verdict.command
    if not known or hook.type != "prompt" or ruling is not Ruling.DENY:
        return False
    goes_on = event.role in (Role.STOP, Role.SUBAGENT_STOP) or "continue" in event.ignores
    return not goes_on and hook.options.get("continueOnBlock") is not True


def _stream_text(reader: AnswerReader, streams: Mapping[Stream, str]) -> str:
    texts = (streams.get(stream, "").strip() for stream in reader.answers.fallback_streams)
    return next((text for text in texts if text), "")


def _reply_for(reader: AnswerReader, ruling: Ruling, reason: str) -> Reply:
    no_reason = reader.default_reason
    match ruling:
        case Ruling.DENY:
            return reader.refuse(reason or no_reason, "answer", silent=not reason.strip())
        case Ruling.ALLOW:
            return Reply(
                ruling=ruling, user_text=reason, unheard=_unheard(reader, reason), rule=reader.rule("answer")
            )
        case Ruling.ASK:
            return Reply(ruling=ruling, reason=reason or no_reason, rule=reader.rule("ask"))
        case Ruling.DEFER:
            return Reply(ruling=ruling, reason=reason, rule=reader.rule("defer"))
        case Ruling.NONE:
            return reader.no_opinion("answer")
        case _:
            assert_never(ruling)


def _unheard(reader: AnswerReader, reason: str) -> Unheard | None:
    rule = reader.profile.replies.rules.get("allow reason")
    return Unheard(place="reason of an allow", text=reason, rule=rule) if reason and rule else None


def _grant(reader: AnswerReader, given: Payload) -> Reply:
    behaviour = given.get("behavior")
    if behaviour not in ("allow", "deny"):
        return reader.no_opinion("invalid", f"ignored: 'behavior' is {behaviour!r}; expected allow or deny")
    changed = given.get("updatedInput")
    message = str(given.get("message") or "")
    return Reply(
        ruling=Ruling(behaviour),
        behaviour=str(behaviour),
        reason=message if behaviour == "deny" else "",
        updated_input=changed if isinstance(changed, Mapping) else None,
        halt=message if given.get("interrupt") is True else None,
        silent=behaviour == "deny" and not message.strip(),
        rule=reader.rule("answer"),
    )


def _add_halt(reader: AnswerReader, reply: Reply, answer: Payload, streams: Mapping[Stream, str]) -> Reply:
    rules = reader.answers
    if answer.get("continue") is not False or rules.halting is Halting.IGNORED:
        return reply
    if "continue" in reader.event.ignores:
        return replace(reply, fault=reply.fault or reader.no_effect("continue"))
    text = str(dig(answer, rules.halting_reason) or "")
    if rules.halting is Halting.REPLACES:
        return replace(reply, updated_output=text or None, rule=reader.rule("halt replaces"))
    if rules.halting is not Halting.REFUSES:
        lost = reply.ruling is Ruling.DENY and reader.event.role in _CONTINUED_BY_REFUSAL
        return replace(reply, halt=text, fault=reply.fault or (_CONTRADICTION if lost else None))
    # The refusal beside the halt has its own reason already.
    if reply.ruling is Ruling.DENY and not text:
        return reply
    text = text or _stream_text(reader, streams)
    return reader.refuse(text or reader.default_reason, "halt", silent=not text.strip())


def _add_texts(reader: AnswerReader, reply: Reply, answer: Payload) -> Reply:
    rules, role, fault = reader.answers, reader.event.role, reply.fault
    context, key = _find_first(answer, rules.context)
    if context and not reader.event.context:
        fault, context = fault or reader.no_effect(key), ""
    changed, key = _find_first(answer, rules.changed_input)
    if changed is not None and role is not Role.BEFORE_TOOL:
        fault, changed = fault or reader.no_effect(key), None
    if rules.input_needs_allow and reply.ruling is not Ruling.ALLOW:
        changed = None
    output, _ = _find_first(answer, rules.changed_output)
    person, _ = _find_first(answer, rules.person)
    context = str(context or "")
    return replace(
        reply,
        context=context,
        notice=str(answer.get("reason") or ""),
        user_text=str(person or reply.user_text),
        updated_input=changed if isinstance(changed, Mapping) else reply.updated_input,
        updated_output=reply.updated_output if output is None or role is not Role.AFTER_TOOL else output,
        silent=reply.silent and not (context.strip() or (person and _only_tells_person(rules))),
        fault=fault,
    )


def _only_tells_person(rules: AnswerRules) -> bool:
    """Return whether no verdict has a key for a reason that the agent gets."""
    return not any(verdict.reason or verdict.any_text for verdict in rules.verdicts)


def _find_first(answer: Payload, paths: tuple[KeyPath, ...]) -> tuple[Json, str]:
    found = ((dig(answer, path), path[-1]) for path in paths)
    return next(((value, key) for value, key in found if value is not None), (None, ""))
