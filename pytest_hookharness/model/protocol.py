"""
What a host and its hooks say to each other.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Payload: TypeAlias = Mapping[str, Json]


class Basis(enum.Enum):
    """
    How well a fact about a host is known.
    """

    DOCUMENTED = "documented"
    OBSERVED = "observed"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Rule:
    """
    One fact about a host, with where it is known from.

    Attributes:
        text: The fact as a sentence.
        basis: Whether it was documented, observed or only assumed.
        source: Host, version and document or recording.
    """

    text: str
    basis: Basis
    source: str


class Ruling(enum.Enum):
    """
    What a hook, or all hooks of an event together, want to happen.
    """

    NONE = "none"
    ALLOW = "allow"
    ASK = "ask"
    DEFER = "defer"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """
    One configured handler for one event.

    Attributes:
        event: The host's own name of the event.
        command: The shell command line; empty for a handler that is not a command.
        type: ``command``, or the kind of handler that a scenario must answer for.
        args: Argument vector, when the host starts the command without a shell.
        matcher: The matcher as configured, ``None`` if there was none.
        timeout: Limit in seconds as configured, ``None`` for the host's default.
        on_failure: ``allow`` or ``block``: what the host does if the hook fails.
        source: The file that configured it, relative to the workspace where possible.
        plugin: The folder of the plugin that configured it; empty for none.
        sequential: Whether it asks that all hooks of the event run one after the other.
        foreign: Whether it stands in settings of another host, which this one reads as well.
        env: Variables that the host adds for this hook alone.
        options: The remaining keys, as configured.
    """

    event: str
    command: str = ""
    type: str = "command"
    args: tuple[str, ...] | None = None
    matcher: str | None = None
    timeout: float | None = None
    on_failure: str = "allow"
    source: str = ""
    plugin: str = ""
    sequential: bool = False
    foreign: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unheard:
    """
    Words of a hook that its host keeps from the agent's model.

    Attributes:
        place: Where the hook said them.
        text: The words.
        rule: The host's rule that keeps them from it.
    """

    place: Literal["output on a prompt", "reason of an allow"]
    text: str
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """
    What one fire said, as its host reads it.

    Attributes:
        ruling: What the hook wants.
        reason: The text that goes with a refusal, as the agent will see it.
        context: Text that the hook adds for the agent.
        user_text: Text for the person only.
        updated_input: A replacement for the tool's input.
        updated_output: A replacement for the tool's result.
        halt: The hook asked to end everything (``continue: false``); the text that goes with it.
        behaviour: The answer to a permission request, ``allow`` or ``deny``.
        silent: The hook gave no words of its own with its refusal; what stands in ``reason``, or for it,
            is the host's filler.
        unmeant: The host takes for a refusal what the hook did not say as one.
        unheard: Words that the host keeps from the agent's model, although they look meant for it.
        folder: The folder that the hook has made for the session, on an event that asks for one.
        fault: Why the host could not use what the hook said or how it ended; ``None`` if it could.
        rule: The host's rule that was applied.
    """

    ruling: Ruling = Ruling.NONE
    reason: str = ""
    context: str = ""
    user_text: str = ""
    updated_input: Payload | None = None
    updated_output: Json = None
    halt: str | None = None
    behaviour: str | None = None
    silent: bool = False
    unmeant: bool = False
    unheard: Unheard | None = None
    folder: str = ""
    fault: str | None = None
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    What the host makes of all replies to one event.

    Attributes:
        event: The host's name of the event.
        ruling: The ruling that won.
        refused: The host honoured a refusal: the call was not made, or the turn goes on.
            This is what the word *block* counts.
        overridden: The host's guard set a refusal aside.
        reasons: The reasons of the replies that refused, in the order the agent gets them.
        to_agent: Texts that the agent's model will see because of this event.
        to_user: Texts for the person only.
        updated_input: The tool's input after the hooks, if they changed it.
        updated_output: The tool's result after the hooks, if they changed it.
        halt: The turn is over at once, with this text.
        folder: The folder that the hooks have made for the session, on an event that asks for one.
        rule: The host's rule that decided.
        rests_on: What else is assumed of the host on this event.
    """

    event: str
    ruling: Ruling = Ruling.NONE
    refused: bool = False
    overridden: bool = False
    reasons: tuple[str, ...] = ()
    to_agent: tuple[str, ...] = ()
    to_user: tuple[str, ...] = ()
    updated_input: Payload | None = None
    updated_output: Json = None
    halt: str | None = None
    folder: str = ""
    rule: Rule
    rests_on: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """
    One key of what a hook of an event reads on its standard input.

    Attributes:
        name: The key.
        kind: What stands there: ``uuid``, ``path``, ``folder``, ``word``, ``text``, ``flag``, ``count``,
            ``list``, ``object``, ``nothing``, ``event``, ``tool`` (a tool's name), ``input`` (its
            input) or ``response`` (its result).
        source: Under which word a session knows the value, where that is not the key.
        optional: Whether the key is left out where there is no value.
        null: Whether ``null`` stands there where there is no value.
        fixed: What always stands there, as the only item; empty if it depends.
        choices: The words that may stand there; empty for any.
    """

    name: str
    kind: str = "text"
    source: str = ""
    optional: bool = False
    null: bool = False
    fixed: tuple[Json, ...] = ()
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFields:
    """
    All keys of the standard input of one event, in the host's order.

    Attributes:
        event: The host's name of the event.
        fields: The keys.
        rule: Where they are known from.
    """

    event: str
    fields: tuple[Field, ...]
    rule: Rule
