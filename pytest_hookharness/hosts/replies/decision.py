"""Decisions: how the host combines all replies to one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from pytest_hookharness.hosts.rules.profile import EventRule, Power, Profile
from pytest_hookharness.hosts.rules.replies import Precedence, ReasonChoice
from pytest_hookharness.hosts.rules.turns import HALTING, Role
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Decision, Hook, Payload, Reply, Rule, Ruling

_RANK = (Ruling.NONE, Ruling.ALLOW, Ruling.ASK, Ruling.DEFER, Ruling.DENY)
_STOPS = (Role.STOP, Role.SUBAGENT_STOP)
_TASKS = (Role.TASK_CREATED, Role.TASK_COMPLETED)
_WITHOUT_REASONS = (Ruling.NONE, Ruling.ALLOW)
_SUBJECTS = ("command", "file_path", "path")


@dataclass(frozen=True, slots=True)
class _HookReply:
    """A reply with its hook and that hook's position, as the host counts it."""

    reply: Reply
    position: int
    command: str
    source: str


def aggregate(
    profile: Profile,
    event: str,
    replies: Sequence[Reply],
    finished: Sequence[int] = (),
    *,
    hooks: Sequence[Hook] = (),
    target: str = "",
    tool_input: Payload | None = None,
) -> Decision:
    """
    Return the host's decision from the replies to one event, one for each hook, as configured.

    ``finished`` has their positions in the order in which the hooks ended.
    """
    rule = profile.events[event]
    replied = _in_order(rule, replies, finished, hooks)
    ended = [one.reply for one in replied]
    ruling = _prevail(profile, rule, ended)
    halts = rule.halts or rule.role in HALTING
    halt = next((reply.halt for reply in ended if halts and reply.halt is not None), None)
    stopping = rule.role in _STOPS
    # At a stop, a text for the model keeps the turn going like a refusal, and a halt beats both.
    continues = stopping and halt is None and rule.context_continues and any(one.context for one in ended)
    if continues:
        ruling = Ruling.DENY
    if stopping and halt is not None:
        ruling = Ruling.NONE
    texts = _DecisionTexts(profile, rule, ruling, replied, target, tool_input or {})
    inputs = [reply.updated_input for reply in ended if reply.updated_input is not None]
    outputs = [reply.updated_output for reply in ended if reply.updated_output is not None]
    if rule.power is Power.REPLACES and ruling is Ruling.DENY:
        outputs = [profile.wording.between.join(texts.reasons())]
    return Decision(
        event=event,
        ruling=ruling,
        refused=_refused(rule, ruling),
        context_refuses=continues,
        reasons=texts.all_reasons(),
        to_agent=() if stopping and halt is not None else texts.to_agent(),
        to_user=(*texts.to_user(), *((halt,) if halt else ())),
        updated_input=inputs[-1] if inputs else None,
        updated_output=outputs[-1] if outputs else None,
        halt=halt,
        folder=next((reply.folder for reply in reversed(ended) if reply.folder), ""),
        rule=_deciding_rule(profile, rule, ruling, ended, halt),
        rests_on=rule.rests_on,
    )


def _in_order(
    rule: EventRule, replies: Sequence[Reply], finished: Sequence[int], hooks: Sequence[Hook]
) -> list[_HookReply]:
    # Hooks that never ended follow those that did, in the order of the configuration.
    first = finished if rule.merging.in_finish_order else ()
    order = [*first, *(position for position in range(len(replies)) if position not in first)]
    # The host may number all hooks of a settings file, and not those of an event.
    known = {
        place: (place if hook.number is None else hook.number, hook.command, hook.source)
        for place, hook in enumerate(hooks)
    }
    return [_HookReply(replies[place], *known.get(place, (place, "", ""))) for place in order]


def _prevail(profile: Profile, rule: EventRule, ended: Sequence[Reply]) -> Ruling:
    rulings = [reply.ruling for reply in ended]
    match rule.merging.precedence:
        case Precedence.STRONGEST | Precedence.FIRST_REFUSAL:
            ruling = max(rulings, key=_RANK.index, default=Ruling.NONE)
        case Precedence.LAST_SAID:
            given = (ruling for ruling in reversed(rulings) if ruling is not Ruling.NONE)
            ruling = next(given, Ruling.NONE)
        case Precedence.OWN_FIELD:
            own = [reply.ruling for reply in ended if reply.own_field]
            ruling = own[-1] if own else max(rulings, key=_RANK.index, default=Ruling.NONE)
            if ruling is Ruling.ALLOW and any(_halts(profile, reply) for reply in ended):
                ruling = Ruling.DENY
        case _:
            assert_never(rule.merging.precedence)
    undone = rule.merging.context_cancels_refusal and any(reply.context for reply in ended)
    return Ruling.NONE if undone and ruling is Ruling.DENY else ruling


def _halts(profile: Profile, reply: Reply) -> bool:
    return reply.ruling is Ruling.DENY and reply.rule == profile.replies.rules["halt"]


def _refused(rule: EventRule, ruling: Ruling) -> bool:
    # Nobody answers a question here, so ASK holds the call up like a refusal.
    if rule.role is Role.BEFORE_TOOL:
        return ruling in (Ruling.DENY, Ruling.DEFER, Ruling.ASK)
    if rule.role is Role.PERMISSION:
        return ruling is Ruling.DENY
    return ruling is Ruling.DENY and rule.power is Power.REFUSES


@dataclass(frozen=True, slots=True)
class _DecisionTexts:
    """The texts of a decision for the agent and the user, in the host's words."""

    profile: Profile
    rule: EventRule
    ruling: Ruling
    replied: list[_HookReply]
    target: str
    tool_input: Payload

    @property
    def refusals(self) -> list[_HookReply]:
        """The replies that gave the ruling, as many as the host passes on."""
        if self.ruling in _WITHOUT_REASONS:
            return []
        deciding = [one for one in self.replied if one.reply.ruling is self.ruling]
        match self.rule.merging.reasons:
            case ReasonChoice.EACH | ReasonChoice.JOINED | ReasonChoice.SAID:
                return deciding
            case ReasonChoice.FIRST:
                return deciding[:1]
            case ReasonChoice.LAST:
                return deciding[-1:]
            case _:
                assert_never(self.rule.merging.reasons)

    @property
    def contexts(self) -> list[str]:
        """Texts for the model, as the hooks gave them."""
        return [one.reply.context for one in self.replied if one.reply.context]

    def reasons(self) -> list[str]:
        """Return the reasons as the host passes them on."""
        if self.rule.merging.context_replaces_reason and self.contexts and self.refusals:
            return ["\n".join(self.contexts)]
        reasons = [one.reply.reason for one in self.refusals]
        if self.rule.merging.reasons is ReasonChoice.SAID and reasons and len(self.replied) > 1:
            return [self._said()]
        joins = self.rule.merging.reasons is ReasonChoice.JOINED and len(reasons) > 1
        return ["\n".join(reasons)] if joins else reasons

    def _said(self) -> str:
        replies = [one.reply for one in self.replied]
        own = [reply.reason for reply in replies if reply.own_field and reply.ruling is self.ruling]
        halts = [one.reason for one in replies if _halts(self.profile, one) and not one.silent]
        others = [one for one in replies if not _halts(self.profile, one)]
        refused = any(one.ruling is Ruling.DENY for one in others)
        texts = [one.notice if one.silent else one.reason or one.notice for one in others]
        joined = "\n".join(text for text in texts if text)
        # At a call, the reason of a halt is used only if no hook refuses.
        first = own or (halts if self.rule.role is not Role.BEFORE_TOOL or not refused else [])
        return first[-1] if first else joined or "".join(halts[-1:]) or self.profile.replies.no_reason

    def all_reasons(self) -> tuple[str, ...]:
        """Return the reasons, including texts that keep a turn going without a refusal."""
        going_on = self.contexts if self.rule.context_continues and self.ruling is Ruling.DENY else []
        return (*self.reasons(), *going_on)

    def to_user(self) -> tuple[str, ...]:
        """Return the texts for the user."""
        users = [one.reply.user_text for one in self.replied if one.reply.user_text]
        apart = self.rule.role in (Role.BEFORE_TOOL, Role.PERMISSION, *_TASKS, *_STOPS)
        if apart or self.rule.power in (Power.INFORMS, Power.REPLACES):
            return tuple(users)
        return (*(one.reply.reason for one in self.refusals), *users)

    def to_agent(self) -> tuple[str, ...]:
        """Return the texts for the model."""
        role = self.rule.role
        if self.rule.merging.refusal_drops_context and self.ruling is Ruling.DENY:
            return ()
        contexts = [self._context_text(one.reply) for one in self.replied if one.reply.context]
        if self.rule.merging.joins_contexts and contexts:
            words = self.profile.wording
            contexts = [words.fill(words.context, label=self._label, text="\n".join(self.contexts))]
        if role is Role.BEFORE_TOOL:
            return (*self._tool_texts(), *contexts)
        if role is Role.PERMISSION:
            return tuple(reason for reason in self.reasons() if reason)
        if role in _TASKS:
            return tuple(self._feedback_texts())
        if role in _STOPS:
            shown = [] if self.rule.merging.context_replaces_reason and self.refusals else contexts
            return (*self._blocked_texts(), *shown, *self._feedback_texts())
        if self.rule.power is Power.INFORMS:
            return (*(self._blocked_texts() or self.reasons()), *contexts)
        if self.ruling is Ruling.DENY and role is Role.PROMPT:
            return ()
        return tuple(contexts)

    def _context_text(self, reply: Reply) -> str:
        words = self.profile.wording
        if not words.shown or reply.rule != self.profile.replies.rules["shown"]:
            return words.fill(words.context, label=self._label, text=reply.context)
        starts = self.rule.role is Role.SESSION_START
        label = words.label.format(event=self.rule.name, target=self.target) if starts else self._label
        return words.fill(words.shown, label=label, text=reply.context)

    @property
    def _label(self) -> str:
        by_tool = self.rule.target == "tool_name" and self.target
        template = self.profile.wording.label
        return template.format(event=self.rule.name, target=self.target) if by_tool else self.rule.name

    def _tool_texts(self) -> tuple[str, ...]:
        reason = "\n".join(self.reasons())
        if self.ruling is not Ruling.DENY:
            return (reason,) if self.ruling is Ruling.ASK else ()
        subject = next((str(self.tool_input[key]) for key in _SUBJECTS if key in self.tool_input), "")
        named = {"event": self.rule.name, "tool": self.target, "subject": subject}
        return (self.profile.wording.refusal.format(label=self._label, reason=reason, **named),)

    def _blocked_texts(self) -> list[str]:
        template, by_code = self.profile.wording.blocked, self.profile.replies.rules.get("code refuses")
        if not template:
            return []
        return [
            self.profile.wording.fill(
                template,
                label=self._label,
                command=one.command,
                reason=f"{one.reply.reason}{one.reply.blank_end}",
            )
            for one in self.refusals
            if self.rule.power is Power.INFORMS or one.reply.rule != by_code
        ]

    def _feedback_texts(self) -> list[str]:
        template, event = self.profile.wording.feedback, self.rule.name
        reasons = self.reasons()
        sources = [(one.position, one.source) for one in self.refusals[: len(reasons)]]
        pairs = zip(reasons, sources, strict=True)
        return [
            self.profile.wording.fill(template, event=event, reason=reason, index=position, source=source)
            for reason, (position, source) in pairs
        ]


def _deciding_rule(
    profile: Profile, rule: EventRule, ruling: Ruling, ended: Sequence[Reply], halt: str | None
) -> Rule:
    rules = profile.replies.rules
    if halt is not None:
        return rules["halt"]
    deciding = [reply for reply in ended if reply.ruling is ruling]
    if not deciding and ruling is Ruling.DENY:
        return rules["continuation"]
    if ruling is Ruling.NONE and any(reply.ruling is Ruling.DENY for reply in ended):
        # The event's own rule says how a refusal is undone.
        return rule.rule
    if len({reply.ruling for reply in ended}) > 1 and ruling is not Ruling.NONE:
        return rules["precedence"]
    if len(deciding) > 1 and ruling is Ruling.DENY:
        return rules[rule.merging.several]
    return deciding[-1].rule if deciding else rules["no hooks"]
