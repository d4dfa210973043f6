"""
Events: what hooks receive on each, and what they can do.
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

    REFUSES = "the host does not do what it was about to do"
    INFORMS = "the agent gets the reason, and the host continues"
    REPLACES = "the agent gets the reason instead of the result"
    NOTHING = "nothing; the agent does not get the reason either"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRule:
    """
    One event of a host.

    Attributes:
        fields: Its standard input, in order.
        role: When it occurs.
        tools: The tools for which it occurs, where several events have one role; empty for all tools.
        power: What a refusal does.
        merging: How several replies become one decision.
        codes: What exit codes mean on this event; empty for the host's usual meaning.
        answers: How JSON answers are read on this event; ``None`` for the usual way.
        foreign_codes: What exit codes mean for hooks in another host's settings; empty for no difference.
        foreign_answers: How answers of these hooks are read; ``None`` for no difference.
        target: The input value that matchers are compared with; empty for none.
        exact: Whether a matcher is compared with it as literal text.
        matchers: How matchers work on this event; ``None`` for the usual way.
        plain: Whether plain text on standard output reaches the model.
        plain_fails: Whether plain text on standard output is an error of the hook.
        context: Whether a text for the model is read.
        context_continues: Whether such a text makes the agent continue, like a refusal.
        timeout: The timeout in seconds of a handler that sets none.
        most: The longest timeout in seconds; ``None`` for no maximum.
        waits: Whether the host waits for the hooks; otherwise their output has no effect.
        shared: Whether all hooks of the event share one time budget.
        env_file: Whether hooks get a file in which they can set variables for later commands.
        ignores: Keys of an answer that have no effect on this event, although they have one elsewhere.
        fails_closed: Whether a failure blocks if the handler is configured so.
        after_failures: Whether it occurs after failed calls too if the host has no event of their own.
        second_name_of: The event of which this one is a second name, with an input of its own. It occurs
            after that event.
        unreachable: Why the event never occurs in a simulated session; empty if it can.
        rule: The main fact about the event.
        rests_on: The assumptions about it.
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
    second_name_of: str = ""
    unreachable: str = ""
    rule: Rule
    rests_on: tuple[Rule, ...] = ()

    @property
    def name(self) -> str:
        """
        The host's name of the event.
        """
        return self.fields.event
