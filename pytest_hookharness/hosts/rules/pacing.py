"""
This module is concerned with the rules of turns: what is asked when, and what ends one.

Middle floor: hosts.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.model.protocol import Rule


class Asking(enum.Enum):
    """
    What an *ask* before a tool does without a person to ask.
    """

    REFUSED = "the call is refused"
    LETS = "the call is made"
    WAITS = "the host waits for ever"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRules:
    """
    How a session goes from event to event.

    Attributes:
        starts_with_prompt: Whether the session starts, for its hooks, with the first prompt; without one
            there is no end for them either.
        refused_prompt_stops: Whether a refused prompt goes straight to the stop, whose refusal sends it.
        refusal_prompts: Whether the words of a refused stop are asked about like a prompt.
        asks_after_calls: Whether the hooks of a prompt are asked after each tool result, with an empty one.
        subagent_prompts: Whether they are asked about the prompt of a subagent.
        after_start: Roles that are asked once the session has started.
        before_request: Roles that are asked each time before the model is.
        after_request: Roles that are asked each time after the model has answered.
        together: Whether all calls of a move are asked about before the first is made.
        finishing: Tools whose call is a stop, with the key of its text.
        asking: What *ask* does.
        unasked_modes: Permission modes in which no hook is asked for a permission.
        edits_mode: The mode in which edits need no permission; empty for none.
        mode: The permission mode of a session; an option ``permission_mode`` can set another.
        end_reason: The reason of an end that the script does not name.
        rules: Where this is known from, as far as it is not said with an event.
    """

    starts_with_prompt: bool = False
    refused_prompt_stops: bool = False
    refusal_prompts: bool = False
    asks_after_calls: bool = False
    subagent_prompts: bool = False
    after_start: tuple[Role, ...] = ()
    before_request: tuple[Role, ...] = ()
    after_request: tuple[Role, ...] = ()
    together: bool = False
    finishing: Mapping[str, str] = field(default_factory=dict)
    asking: Asking = Asking.REFUSED
    unasked_modes: tuple[str, ...] = ()
    edits_mode: str = ""
    mode: str = "default"
    end_reason: str = "other"
    rules: Mapping[str, Rule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionRule:
    """
    An option with which the host can be started.

    Attributes:
        default: Its value if it is not given; a given one must be of the same kind.
        ignored: Why it has no effect although the host takes it; empty if it has one.
        rule: Where this is known from.
    """

    default: bool | int | float | str
    ignored: str = ""
    rule: Rule
