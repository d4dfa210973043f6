"""The protocol between a host and its hooks: hooks, replies, decisions, and the keys of standard input."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Payload: TypeAlias = Mapping[str, Json]
# A variable in a command line: its name is in one of the two groups.
VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


def fill_variables(text: str, values: Mapping[str, str], *, keep_unknown: bool = False) -> str:
    """Replace ``$NAME`` and ``${NAME}`` by their values; unknown ones by nothing, as a shell does, or not."""
    return VARIABLE.sub(
        lambda found: values.get(found[1] or found[2], found[0] if keep_unknown else ""), text
    )


def map_texts(value: Json, change: Callable[[str], str]) -> Json:
    """Return JSON with each text in it changed, except the keys."""
    match value:
        case str():
            return change(value)
        case Mapping():
            return {key: map_texts(item, change) for key, item in value.items()}
        case Sequence():
            return [map_texts(item, change) for item in value]
        case _:
            return value


class Basis(enum.Enum):
    """How a fact about a host is known."""

    DOCUMENTED = "documented"
    OBSERVED = "observed"
    ASSUMED = "assumed"


# The source of a rule that the scenario sets in place of the host's own.
THE_SCENARIO = "the scenario"


@dataclass(frozen=True, slots=True)
class Rule:
    """One fact about a host, and its source: host, version, and document or recording."""

    text: str
    basis: Basis
    source: str


# The fault of a reply that its host never reads.
IN_BACKGROUND = "it refuses in the background, and its host does not wait for it"
# How a reply's fault begins if the harness kept only a part of an answer that the host would read.
HARNESS_KEEPS = "too-long: the harness keeps"


class Ruling(enum.Enum):
    """The decision of one hook, or of all hooks of an event together."""

    NONE = "none"
    ALLOW = "allow"
    ASK = "ask"
    DEFER = "defer"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """
    One configured hook of one event.

    Attributes:
        command: The shell command line; with ``args``, the same words quoted for a shell. Empty for a hook
            that is not a command.
        type: ``command``, or another type, whose answers the scenario must supply.
        args: The program and its arguments, if the host starts them without a shell; else ``None``.
        matcher: The matcher as configured; ``None`` if there is none.
        timeout: Time limit in seconds as configured; ``None`` for the host's default.
        on_failure: ``allow`` or ``block``: what the host does if the hook fails.
        source: The settings file, relative to the workspace where possible.
        plugin: Folder of the plugin that configures it; empty if none does.
        plugin_name: The name of this plugin; empty for the name of its folder.
        sequential: Whether it makes all hooks of the event run one after the other.
        foreign: Whether it comes from settings of another host, which this host reads too.
        number: Its position among all hooks of its settings file; ``None`` if the host does not count them.
        env: Environment variables that the host adds for this hook alone.
        folder: Where the host starts it, from the project's folder or absolute; empty for its usual place.
        options: The remaining keys, as configured.
        group: Keys of the group around it that are neither its handlers nor the matcher, as configured.
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
    plugin_name: str = ""
    sequential: bool = False
    foreign: bool = False
    number: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    options: Mapping[str, Json] = field(default_factory=dict)
    group: Mapping[str, Json] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """The command of a handler: a program and its arguments, or one command line."""
        return (self.command,) if self.args is None else self.args

    @property
    def is_one_word(self) -> bool:
        """Whether the command is one word without a path, which names an installed program and no script."""
        return not any(sign.isspace() or sign in "/." for sign in self.command)


@dataclass(frozen=True, slots=True)
class SettingsProblem:
    """
    A problem of the settings.

    Attributes:
        kind: ``malformed``, ``unreadable``, ``unknown-event``, ``unreachable-event``, ``misplaced``,
            ``disabled``, ``ignored-option`` or ``never-matches``.
        text: The place, the value found, the value expected and the effect, in one sentence.
    """

    kind: str
    source: str
    path: str
    text: str
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Unheard:
    """Text of a hook that its host does not pass to the agent's model."""

    place: Literal["output on a prompt", "reason of an allow"]
    text: str
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """
    The reply of one hook run, as its host interprets it.

    Attributes:
        reason: Text of a refusal, as the agent will see it.
        context: Text that the hook adds for the agent.
        user_text: Text for the user only.
        updated_input: A replacement for the tool's input; ``None`` for none.
        updated_output: A replacement for the tool's result; ``None`` for none.
        halt: Text of a request to end everything (``continue: false``); ``None`` if there was none.
        behaviour: The answer to a permission request, ``allow`` or ``deny``; ``None`` if there was none.
        own_field: Whether the ruling stands in the answer's part for its event, not at the top.
        notice: What some hosts put among the reasons of other hooks although this one does not refuse.
        blank_end: White space that ended the reason, where the host passes it on with its own text.
        silent: Whether the hook gave no reason for its refusal; ``reason`` is then the host's own text.
        unmeant: Whether the host interprets as a refusal what the hook did not mean as one.
        unheard: Text that the host does not pass to the agent's model although it looks meant for it.
        echo: Whether the hook printed its unchanged input, which the host ignores.
        folder: The folder that the hook created for the session, on an event that asks for one.
        fault: Why the host could not use the output or the ending; ``None`` if it could.
    """

    ruling: Ruling = Ruling.NONE
    reason: str = ""
    context: str = ""
    user_text: str = ""
    updated_input: Payload | None = None
    updated_output: Json = None
    halt: str | None = None
    behaviour: str | None = None
    own_field: bool = False
    notice: str = ""
    blank_end: str = ""
    silent: bool = False
    unmeant: bool = False
    unheard: Unheard | None = None
    echo: bool = False
    folder: str = ""
    fault: str | None = None
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    The host's decision from all replies to one event.

    Attributes:
        refused: Whether the host honoured a refusal: the call was not made, or the turn goes on. A *block*
            is such a decision.
        overridden: Whether the host's cap overrode a refusal.
        context_refuses: Whether a text for the agent keeps the turn going, as a refusal does.
        reasons: Reasons of the refusals, in the order in which the agent receives them.
        to_agent: Texts that the agent's model sees because of this event.
        to_user: Texts for the user only.
        updated_input: The tool's input after the hooks; ``None`` if they did not change it.
        updated_output: The tool's result after the hooks; ``None`` if they did not change it.
        halt: Text with which the turn ends at once; ``None`` if it does not.
        folder: The folder that the hooks created for the session, on an event that asks for one.
        rests_on: Other facts about the host that the decision depends on.
    """

    event: str
    ruling: Ruling = Ruling.NONE
    refused: bool = False
    overridden: bool = False
    context_refuses: bool = False
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
    One key of the JSON on the standard input of an event's hooks.

    Attributes:
        kind: Kind of the value: ``uuid``, ``path``, ``folder``, ``word``, ``text``, ``flag``, ``count``,
            ``list``, ``object``, ``nothing``, ``event``, ``tool`` (a tool's name), ``input`` (its
            input), ``input text`` (the same as a JSON text) or ``response`` (its result).
        source: The session's name for the value, if it is not the key.
        optional: Whether the key is left out if there is no value.
        null: Whether the value is ``null`` if there is none.
        fixed: The constant value, as the only item; empty if the value varies.
        choices: The allowed words; empty for any.
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
    """All keys of the standard input of one event, in the host's order."""

    event: str
    fields: tuple[Field, ...]
    rule: Rule


_STOPS = frozenset({"stop", "subagentstop", "agentstop", "afteragent", "onstop"})


def is_stop(event: str) -> bool:
    """Return whether an event, in any spelling, asks whether an agent or a subagent may stop."""
    return event.replace("_", "").casefold() in _STOPS


# Events after a stop about which no hook decides.
_AFTERWARDS = frozenset({"sessionend", "notification"})


def is_afterwards(event: str) -> bool:
    """Return whether an event, in any spelling, comes after a stop and lets no hook decide about it."""
    return event.replace("_", "").casefold() in _AFTERWARDS
