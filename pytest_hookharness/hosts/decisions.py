"""
This module is concerned with decisions: what the host makes of all replies to one event.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness.hosts.events import EventRule, Power, Role
from pytest_hookharness.hosts.profile import Profile
from pytest_hookharness.model.protocol import Decision, Hook, Reply, Rule, Ruling

_RANK = (Ruling.NONE, Ruling.ALLOW, Ruling.ASK, Ruling.DEFER, Ruling.DENY)
_STOPS = (Role.STOP, Role.SUBAGENT_STOP)
_TASKS = (Role.TASK_CREATED, Role.TASK_COMPLETED)


def aggregate(
    profile: Profile,
    event: str,
    replies: Sequence[Reply],
    finished: Sequence[int] = (),
    *,
    hooks: Sequence[Hook] = (),
    target: str = "",
) -> Decision:
    """
    What the host makes of the replies to one event.

    Args:
        profile: The host.
        event: Its name of the event.
        replies: One for each hook, in the order of configuration.
        finished: Places in ``replies`` in the order in which the hooks ended.
        hooks: The hooks themselves; the host names some of them to the agent.
        target: What matchers were compared with.
    """
    rule = profile.events[event]
    order = [*finished, *(place for place in range(len(replies)) if place not in finished)]
    ended = [replies[place] for place in order]
    commands = [hooks[place].command if place < len(hooks) else "" for place in order]
    ruling = max((reply.ruling for reply in ended), key=_RANK.index, default=Ruling.NONE)
    halt = next((reply.halt for reply in ended if reply.halt is not None), None)
    stopping = rule.role in _STOPS
    if stopping and rule.context_continues and any(reply.context for reply in ended):
        ruling = Ruling.DENY
    if stopping and halt is not None:
        ruling = Ruling.NONE
    reasons = _reasons(rule, ruling, ended)
    inputs = [reply.updated_input for reply in ended if reply.updated_input is not None]
    outputs = [reply.updated_output for reply in ended if reply.updated_output is not None]
    to_agent, to_user = _texts(profile, rule, ruling, ended, commands=commands, target=target)
    return Decision(
        event=event,
        ruling=ruling,
        refused=_refused(rule, ruling),
        reasons=reasons,
        to_agent=() if stopping and halt is not None else to_agent,
        to_user=(*to_user, *((halt,) if halt else ())),
        updated_input=inputs[-1] if inputs else None,
        updated_output=outputs[-1] if outputs else None,
        halt=halt,
        folder=next((reply.folder for reply in reversed(ended) if reply.folder), ""),
        rule=_because(profile, rule, ruling, ended, halt),
        rests_on=rule.rests_on,
    )


def _refused(rule: EventRule, ruling: Ruling) -> bool:
    if rule.role is Role.BEFORE_TOOL:
        return ruling in (Ruling.DENY, Ruling.DEFER, Ruling.ASK)
    if rule.role is Role.PERMISSION:
        return ruling is Ruling.DENY
    return ruling is Ruling.DENY and rule.power is Power.REFUSES


def _reasons(rule: EventRule, ruling: Ruling, ended: Sequence[Reply]) -> tuple[str, ...]:
    if ruling in (Ruling.NONE, Ruling.ALLOW):
        return ()
    reasons = tuple(reply.reason for reply in ended if reply.ruling is ruling)
    if rule.role is Role.BEFORE_TOOL:
        return reasons[-1:]
    if rule.role in _STOPS:
        return (*reasons, *(reply.context for reply in ended if reply.context))
    return reasons


def _texts(
    profile: Profile,
    rule: EventRule,
    ruling: Ruling,
    ended: Sequence[Reply],
    *,
    commands: Sequence[str],
    target: str,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words = profile.wording
    by_tool = rule.target == "tool_name" and target
    label = words.label.format(event=rule.name, target=target) if by_tool else rule.name
    contexts = [words.context.format(label=label, text=reply.context) for reply in ended if reply.context]
    users = [reply.user_text for reply in ended if reply.user_text]
    refusals = [
        (reply, command)
        for reply, command in zip(ended, commands, strict=True)
        if reply.ruling is ruling and ruling not in (Ruling.NONE, Ruling.ALLOW)
    ]
    reasons = [reply.reason for reply, _ in refusals]
    if rule.role is Role.BEFORE_TOOL:
        return (*_tool_words(profile, ruling, label, reasons), *contexts), tuple(users)
    if rule.role is Role.PERMISSION:
        return tuple(reason for reason in reasons if reason), tuple(users)
    by_code = profile.replies.rules["code refuses"]
    notices = [
        words.blocked.format(label=label, command=command, reason=reply.reason)
        for reply, command in refusals
        if rule.power is Power.TELLS or reply.rule != by_code
    ]
    fed = [words.feedback.format(event=rule.name, reason=reason) for reason in reasons]
    if rule.role in _TASKS:
        return tuple(fed), tuple(users)
    if rule.role in _STOPS:
        return (*notices, *contexts, *fed), tuple(users)
    if rule.power is Power.TELLS:
        return (*notices, *contexts), tuple(users)
    if ruling is Ruling.DENY and rule.role is Role.PROMPT:
        return (), (*reasons, *users)
    return tuple(contexts), (*reasons, *users)


def _tool_words(profile: Profile, ruling: Ruling, label: str, reasons: Sequence[str]) -> tuple[str, ...]:
    if ruling is Ruling.DENY:
        return (profile.wording.refusal.format(label=label, reason=reasons[-1]),)
    return (reasons[-1],) if ruling is Ruling.ASK else ()


def _because(
    profile: Profile, rule: EventRule, ruling: Ruling, ended: Sequence[Reply], halt: str | None
) -> Rule:
    rules = profile.replies.rules
    if halt is not None:
        return rules["halt"]
    deciding = [reply for reply in ended if reply.ruling is ruling]
    if not deciding and ruling is Ruling.DENY:
        return rules["continuation"]
    if len({reply.ruling for reply in ended}) > 1 and ruling is not Ruling.NONE:
        return rules["precedence"]
    if len(deciding) > 1 and ruling is Ruling.DENY:
        return rules["last finished"] if rule.role is Role.BEFORE_TOOL else rules["all told"]
    return deciding[-1].rule if deciding else rules["no hooks"]
