"""
The rules of settings files.

The rules of matchers.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_hookharness.model.protocol import Json, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class MatcherRules:
    """
    How a matcher is compared with its target.

    Attributes:
        everything: Matchers that match all, beside none.
        trims: Whether white space around the whole matcher is dropped first.
        plain: A matcher made only of these characters (a regular expression for all of it) is a
            list of exact names; any other is a regular expression. ``None`` if there are no lists.
        separators: What separates the names of such a list; empty if it is always one name.
        trims_names: Whether white space around each name is dropped.
        lists_only: Whether a list that holds no such name is done with; otherwise it is read as a
            regular expression too.
        wrapper: What a regular expression may stand between; empty for nothing.
        anchored: Whether a regular expression must match the whole target.
        literal_if_malformed: Whether a malformed regular expression is compared as it is written;
            otherwise it matches nothing.
        aliases: Other names that matchers may use for a target.
        searches_aliases: Whether a regular expression is compared with those names too, and one is enough.
        untargeted: Whether a hook with a matcher fires on an event that has no target.
        condition: The key of a handler's own condition, a permission rule; empty for none.
        rule: Where this is known from.
    """

    everything: tuple[str, ...] = ("", "*")
    trims: bool = False
    plain: str | None = None
    separators: str = r"\|"
    trims_names: bool = False
    lists_only: bool = True
    wrapper: str = ""
    anchored: bool = False
    literal_if_malformed: bool = False
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    searches_aliases: bool = False
    untargeted: bool = True
    condition: str = ""
    rule: Rule


KeyPath: TypeAlias = tuple[str, ...]


class Flaw(enum.Enum):
    """
    What can be wrong with a settings file.
    """

    NOT_OBJECT = "something that must be an object is none"
    NOT_LIST = "something that must be a list is none"
    FLAT = "a handler stands where a group must"
    BAD_MATCHER = "a matcher is no text"
    NO_TYPE = "a handler has no kind"
    BAD_TYPE = "a handler has an unknown kind"
    NO_COMMAND = "a handler does not say what it runs"
    BAD_ARGS = "arguments are no list of texts"
    LIMIT_TEXT = "a limit is no number"
    LIMIT_NEGATIVE = "a limit is below zero"
    LIMIT_ZERO = "a limit is zero"
    LIMIT_FRACTION = "a limit is no whole number"
    UNKNOWN_EVENT = "there is no such event"
    UNKNOWN_KEY = "there is no such key at the top"


# What most hosts do not take for a flaw at all.
_HARMLESS = (Flaw.LIMIT_FRACTION, Flaw.UNKNOWN_KEY)


class Effect(enum.Enum):
    """
    What a flaw does.
    """

    VOIDS = "every hook of the file is off"
    DROPS = "it is left out"
    TAKES = "it is read as far as that goes: a single thing as a list of it, a limit as a number"
    DEFAULTS = "the host's own limit holds"
    FAILS = "the session does not begin"


class Misshapen(Exception):
    """
    Something in a settings file that is not of the form that a host expects, so that nothing in it is read.
    """

    def __init__(self, path: str, flaw: Flaw, text: str) -> None:
        super().__init__(path, flaw, text)
        self.path = path
        self.flaw = flaw
        self.text = text


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEntry:
    """
    One handler as it stands in a file, with what was seen to be wrong on the way to it.

    Attributes:
        path: Its key path.
        handler: What stands there.
        matcher: The matcher as it is written.
        group: What stands around handlers that belong together.
        flaw: What is wrong, if something is; a host may take the handler all the same.
        place: Key path of that.
        text: That in words; ``place`` goes before it.
    """

    path: str
    handler: Json = None
    matcher: Json = None
    group: Mapping[str, Json] = field(default_factory=dict)
    flaw: Flaw | None = None
    place: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """
    The form of a settings file.

    Attributes:
        events: What stands for each event, in order: its name, key path and value; the argument is the
            file's content. Raises ``Misshapen``.
        handlers: The handlers in such a value, given with its key path.
        dress: The reverse, for short forms: content for lists by event. An item is a handler, with
            ``matcher`` among its keys, or has the host's own shape already.
    """

    events: Callable[[Mapping[str, Json]], Iterable[tuple[str, str, Json]]]
    handlers: Callable[[str, Json], Iterable[RawEntry]]
    dress: Callable[[Mapping[str, Json]], Mapping[str, Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerKeys:
    """
    What the keys of a handler are called.

    Attributes:
        type: Its kind.
        timeout: Its limit.
        args: An argument vector; empty if there is none.
        env: Variables for the hook alone; empty if there are none.
        on_failure: Keys with the value that makes a failure block.
        aliases: Other keys for the same, with the one that each stands for where that is missing.
        known: All keys that may stand there, besides that of a flat form's event; empty for any.
    """

    type: str = "type"
    timeout: str = "timeout"
    args: str = ""
    env: str = ""
    on_failure: Mapping[str, Json] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRules:
    """
    What a written limit means.

    Attributes:
        unit: Seconds that one is worth.
        least: What a smaller limit is raised to, in seconds.
        milliseconds_from: A number from which on it counts milliseconds; ``None`` for never.
    """

    unit: float = 1.0
    least: float = 0.0
    milliseconds_from: float | None = None


@dataclass(frozen=True, slots=True)
class Switch:
    """
    A setting that turns all hooks off.

    Attributes:
        path: Where it stands.
        off: The value that does so; any other of its kind does not. The nearest file that has one decides.
    """

    path: KeyPath
    off: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """
    Settings of another host that this one reads as well, after its own.

    Attributes:
        paths: Where they are, by state path.
        form: Their form.
        keys: What the keys of their handlers are called.
        events: Their names of events, with this host's; others are left out.
        options: What is set for each of their handlers.
    """

    paths: tuple[str, ...]
    form: Form
    keys: HandlerKeys = HandlerKeys()
    events: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigRules:
    """
    How hooks are configured.

    Attributes:
        paths: Settings files by state path, in ascending precedence; ``*`` stands for any name in a folder.
        first_only: Whether only the first file that is there is read.
        parse: A file's text as JSON values; raises ``ValueError`` if it is none.
        form: The form of the files.
        keys: What the keys of a handler are called.
        types: Kinds of handlers, with the key that says what each runs.
        untyped: The kind of a handler that names none; empty if it must.
        events: Other spellings of events.
        flaws: What flaws do.
        otherwise: What all others do but fractions and unknown keys, which are taken.
        known_keys: Keys that may stand at the top; empty for any.
        limits: What a written limit means.
        switches: Settings that turn all hooks off.
        sequential: The key of a group that makes the hooks of its events run one by one; empty for none.
        identity: What makes two handlers the same, which runs once: ``command``, ``type``, ``args``,
            ``plugin`` or keys of a handler. Empty if each runs.
        allowed: Where permission rules stand for calls that need no asking; empty for nowhere.
        env: Where variables stand for the session and its hooks; empty for nowhere.
        imports: Settings of other hosts that are read too.
        plugin_path: The file of a plugin, relative to its folder; empty if there are no plugins.
        plugin_root: The variable that holds a plugin's folder.
        instructions: Files that the host loads for the model at the start, relative to the project.
        rules: Where this is known from: ``malformed``, ``unreadable``, ``unknown event``, ``unpassable``,
            ``unreachable``, and ``misplaced``, ``disabled``, ``refused`` where that can be.
    """

    paths: tuple[str, ...]
    first_only: bool = False
    parse: Callable[[str], Json]
    form: Form
    keys: HandlerKeys = HandlerKeys()
    types: Mapping[str, str] = field(default_factory=lambda: {"command": "command"})
    untyped: str = ""
    events: Mapping[str, str] = field(default_factory=dict)
    flaws: Mapping[Flaw, Effect] = field(default_factory=dict)
    otherwise: Effect = Effect.DROPS
    known_keys: tuple[str, ...] = ()
    limits: LimitRules = LimitRules()
    switches: tuple[Switch, ...] = ()
    sequential: str = ""
    identity: tuple[str, ...] = ()
    allowed: KeyPath = ()
    env: KeyPath = ()
    imports: tuple[Import, ...] = ()
    plugin_path: str = ""
    plugin_root: str = ""
    instructions: tuple[str, ...] = ()
    rules: Mapping[str, Rule]

    def effect(self, flaw: Flaw) -> Effect:
        """
        What a flaw does.
        """
        return self.flaws.get(flaw, Effect.TAKES if flaw in _HARMLESS else self.otherwise)
