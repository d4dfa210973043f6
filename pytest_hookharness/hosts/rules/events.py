"""
Events: what each is for, and what a hook can do on it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from pytest_hookharness.hosts.rules.replies import AnswerRules, CodeRule, Merging
from pytest_hookharness.hosts.rules.settings import MatcherRules
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import EventFields, Rule

__all__ = ["EventRule", "Power", "Role"]


class Power(enum.Enum):
    """
    What a refusal does on an event.
    """

    REFUSES = "the host does not go on as it wanted to"
    TELLS = "the agent is told, and nothing is held up"
    REPLACES = "the agent gets the reason instead of the result"
    NOTHING = "the agent is not even told"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRule:
    """
    One event of a host.

    Attributes:
        fields: Its standard input, in order.
        role: What it is for.
        tools: Of several events with one role, for which tools this one is asked; empty for all.
        power: What a refusal does.
        merging: How several replies become one decision.
        codes: What exit codes mean on it; empty for what they mean elsewhere.
        answers: How answers are read on it; ``None`` for as elsewhere.
        foreign_codes: What exit codes of hooks mean that stand in settings of another host; likewise.
        foreign_answers: How answers of these are read; ``None`` for like those of others.
        target: The word of the session that matchers are compared with; empty if it has none.
        exact: Whether they are compared letter by letter.
        matchers: How they match on it; ``None`` for as elsewhere.
        plain: Whether plain text on standard output reaches the agent's model.
        plain_fails: Whether it is an error of the hook.
        context: Whether a text for the model is read.
        context_continues: Whether such a text keeps the turn going, like a refusal.
        timeout: The limit of a handler that sets none.
        most: What a longer limit is cut to; ``None`` for any.
        waits: Whether the host waits for its hooks; otherwise they have no say.
        shared: Whether all hooks of the event have one time budget together.
        env_file: Whether hooks get a file for variables of later commands.
        ignores: Keys of an answer that mean nothing on this event, although others know them.
        fails_closed: Whether a failure blocks on it if the handler is configured so.
        after_failures: Whether it is asked after failed calls too, where no other event is for these.
        also: The event that this one is a second name of, with an input of its own; it is asked after that.
        unreachable: Why a simulated session never comes to it; empty if it does.
        rule: What is known about it, and from where.
        rests_on: What is assumed about it.
    """

    fields: EventFields
    role: Role = Role.OTHER
    tools: tuple[str, ...] = ()
    power: Power = Power.NOTHING
    merging: Merging = Merging()
    codes: tuple[CodeRule, ...] = ()
    answers: AnswerRules | None = None
    foreign_codes: tuple[CodeRule, ...] = ()
    foreign_answers: AnswerRules | None = None
    target: str = ""
    exact: bool = False
    matchers: MatcherRules | None = None
    plain: bool = False
    plain_fails: bool = False
    context: bool = False
    context_continues: bool = False
    timeout: float = 60.0
    most: float | None = None
    waits: bool = True
    shared: bool = False
    env_file: bool = False
    ignores: tuple[str, ...] = ()
    fails_closed: bool = True
    after_failures: bool = True
    also: str = ""
    unreachable: str = ""
    rule: Rule
    rests_on: tuple[Rule, ...] = ()

    @property
    def name(self) -> str:
        """
        The host's name of the event.
        """
        return self.fields.event
