"""The rules of settings files and of matchers."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json, Rule


class Syntax(enum.Enum):
    """
    The syntax in which a host reads regular expressions.

    ``RUST`` is that of the crate regex, without look-around and references; it is matched by the Python
    engine, so intersections and differences of classes are not known.
    """

    PYTHON = "Python"
    JAVASCRIPT = "JavaScript"
    RUST = "Rust"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatcherRules:
    """
    How a matcher is compared with its target, such as the name of a tool.

    Attributes:
        everything: Matchers that match every target. A handler without a matcher matches every target too.
        trims: Whether white space around the whole matcher is removed first.
        plain: A regular expression. A matcher that it matches as a whole is a list of exact names; any
            other matcher is a regular expression itself. ``None`` if the host has no such lists.
        separators: A regular expression for what separates the names of a list; empty if a list is
            always one name.
        trims_names: Whether white space around each name is removed.
        skips_empty_names: Whether a list with an empty name is compared by its other names only.
        lists_only: Whether a list of names is compared by its names only; otherwise a list in which no
            name matches is tried as a regular expression too.
        wrapper: Text that may stand before and after a regular expression; empty for none.
        anchored: Whether a regular expression must match the whole target.
        literal_if_malformed: Whether a malformed regular expression is compared as literal text;
            otherwise it matches nothing.
        aliases: Other names that a matcher can use for a target.
        searches_aliases: Whether a regular expression also matches if it matches an alias.
        untargeted: Whether a hook with a matcher runs on an event that has no target.
        condition: The key of a handler's own condition, which is a permission rule; empty for none.
    """

    everything: tuple[str, ...] = ("", "*")
    trims: bool = False
    plain: str | None = None
    separators: str = r"\|"
    trims_names: bool = False
    skips_empty_names: bool = False
    lists_only: bool = True
    syntax: Syntax = Syntax.PYTHON
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
    """What can be wrong in a settings file."""

    NOT_OBJECT = "a value must be an object"
    NOT_LIST = "a value must be a list"
    FLAT = "a handler stands in the place of a group"
    BAD_MATCHER = "a matcher is not a string"
    NO_TYPE = "a handler has no type"
    BAD_TYPE = "a handler has an unknown type"
    NO_COMMAND = "a handler does not say what it runs"
    BAD_COMMAND = "what a handler runs is not a string"
    BAD_ARGS = "arguments are not a list of strings"
    LIMIT_TEXT = "a timeout is not a number"
    LIMIT_NEGATIVE = "a timeout is below zero"
    LIMIT_ZERO = "a timeout is zero"
    LIMIT_FRACTION = "a timeout is not a whole number"
    UNKNOWN_EVENT = "an event is unknown"
    UNKNOWN_KEY = "a key at the top is unknown"


# Most hosts accept these.
_HARMLESS = (Flaw.LIMIT_FRACTION, Flaw.UNKNOWN_KEY)


class Effect(enum.Enum):
    """What a host does about a flaw."""

    VOIDS = "every hook of the file is off"
    DROPS = "the value is left out"
    TAKES = "the value is used as far as possible: a single item as a list, a timeout as a number"
    DEFAULTS = "the default timeout of the host applies"
    FAILS = "the session does not start"


class MalformedSettings(Exception):
    """A value in a settings file that a host does not expect: key path, flaw, and a text about the flaw."""

    def __init__(self, path: str, flaw: Flaw, text: str) -> None:
        super().__init__(path, flaw, text)
        self.path = path
        self.flaw = flaw
        self.text = text


@dataclass(frozen=True, slots=True, kw_only=True)
class RawHandler:
    """
    One handler as a settings file has it, with the first flaw found on the way to it.

    Attributes:
        handler: The value at that path.
        matcher: The matcher as it is written.
        group: The object that holds the list of handlers.
        bad: What is wrong; ``None`` for nothing. A host may use the handler nevertheless.
    """

    path: str
    handler: Json = None
    matcher: Json = None
    group: Mapping[str, Json] = field(default_factory=dict)
    bad: MalformedSettings | None = None


@dataclass(frozen=True, slots=True)
class SettingsForm:
    """
    The structure of a settings file.

    Attributes:
        events: Reads the content of a file. Returns name, key path and value of each event, in order.
            Raises ``MalformedSettings``.
        handlers: Reads the value of an event, given after its key path. Returns its handlers.
        build: The reverse of both, for short forms in scenarios: makes the content of a file from lists by
            event. An item is a handler, with ``matcher`` among its keys, or has the host's own form already.
    """

    events: Callable[[Mapping[str, Json]], Iterable[tuple[str, str, Json]]]
    handlers: Callable[[str, Json], Iterable[RawHandler]]
    build: Callable[[Mapping[str, Json]], Mapping[str, Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerKeys:
    """
    The names of a handler's keys.

    Attributes:
        args: The key of its argument vector; empty if there is none.
        env: The key of variables for this hook; empty if there is none.
        folder: The key of the folder in which it starts; empty if there is none.
        on_failure: Keys, each with the value that makes a failure block.
        aliases: Other names of keys. An alias counts where the key that it stands for is missing.
        known: All keys that a handler can have, besides the event's in a flat form; empty for any.
    """

    type: str = "type"
    timeout: str = "timeout"
    args: str = ""
    env: str = ""
    folder: str = ""
    on_failure: Mapping[str, Json] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRules:
    """
    What the number of a configured timeout means.

    Attributes:
        unit: The length of one unit in seconds.
        least: The smallest timeout in seconds; a smaller one is raised to it.
        milliseconds_from: A number from this one on counts milliseconds; ``None`` for never.
    """

    unit: float = 1.0
    least: float = 0.0
    milliseconds_from: float | None = None


@dataclass(frozen=True, slots=True)
class Switch:
    """
    A setting that turns all hooks off.

    Attributes:
        off: The value that turns them off; every other value of the same type leaves them on. Of several
            files with this setting, the one with the highest precedence decides.
    """

    path: KeyPath
    off: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustRule:
    """An option with which, at a value, the host leaves out settings that nobody has approved."""

    option: str
    value: bool | str
    project_only: bool = False
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """
    Settings files of another host that this host reads after its own.

    Attributes:
        paths: The files, by state path.
        events: The other host's names of events, with the names that they have here. Others are left out.
        options: Keys that are set for each of their handlers.
    """

    paths: tuple[str, ...]
    form: SettingsForm
    keys: HandlerKeys = HandlerKeys()
    events: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigRules:
    """
    How hooks are configured.

    Attributes:
        paths: Settings files by state path, in ascending precedence; ``*`` stands for any name in a folder.
        reads_above: Whether settings of the project are also read in the folders above that of the session,
            up to the top of the repository.
        top_paths: Those that are also read at the top of the repository, and not between.
        first_only: Whether only the first existing file is read.
        parse: Returns the JSON values of a file's text; raises ``ValueError``.
        types: The types of handlers, each with the key that says what it runs.
        untyped: The type of a handler that names none; empty if every handler must name its type.
        events: Other spellings of event names.
        flaws: What the host does about certain flaws.
        default_effect: What it does about other flaws; it accepts fractions and unknown keys.
        known_keys: Keys that may stand at the top; empty for any.
        switches: Settings that turn all hooks off.
        trust: Options with which settings are left out.
        turned_off: Where commands of hooks stand that are turned off one by one; empty for nowhere. It is
            read only to leave these hooks alone.
        sequential: The key of a group whose hooks run one after the other; empty for none.
        numbered: The events in the order in which the host numbers all hooks of a file; empty if it does not.
        identity: What two handlers must have in common to be the same hook, which then runs once:
            ``command``, ``type``, ``args``, ``plugin`` or keys of a handler. Empty if each handler runs.
        allowed: Where permission rules stand for calls that need no permission; empty for nowhere.
        env: Where variables stand for the session and its hooks; empty for nowhere.
        imports: Settings of other hosts that are read too.
        components: Folders with commands, skills and subagents, by state path; their files may have hooks.
        plugin_path: The settings file of a plugin, relative to its folder; empty if there are no plugins.
        plugin_manifest: The file that makes a folder a plugin, relative to it; it may name further settings
            files under ``hooks``, or contain hooks. Empty if there is none.
        plugin_replaces: Whether what the manifest names is read in the place of ``plugin_path``.
        plugin_root: The variable with the folder of a plugin.
        instructions: Files that the host loads for the model at the start, relative to the project.
        rules: The facts about settings: ``malformed``, ``unreadable``, ``unknown event``, ``unpassable``,
            ``unreachable``, and ``misplaced``, ``disabled``, ``refused`` where they can occur.
    """

    paths: tuple[str, ...]
    reads_above: bool = False
    top_paths: tuple[str, ...] = ()
    first_only: bool = False
    parse: Callable[[str], Json]
    form: SettingsForm
    keys: HandlerKeys = HandlerKeys()
    types: Mapping[str, str] = field(default_factory=lambda: {"command": "command"})
    untyped: str = ""
    events: Mapping[str, str] = field(default_factory=dict)
    flaws: Mapping[Flaw, Effect] = field(default_factory=dict)
    default_effect: Effect = Effect.DROPS
    known_keys: tuple[str, ...] = ()
    limits: LimitRules = LimitRules()
    switches: tuple[Switch, ...] = ()
    trust: tuple[TrustRule, ...] = ()
    turned_off: tuple[str, ...] = ()
    sequential: str = ""
    numbered: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    allowed: KeyPath = ()
    env: KeyPath = ()
    imports: tuple[Import, ...] = ()
    components: tuple[str, ...] = ()
    plugin_path: str = ""
    plugin_manifest: str = ""
    plugin_replaces: bool = False
    plugin_root: str = ""
    instructions: tuple[str, ...] = ()
    rules: Mapping[str, Rule]

    def effect(self, flaw: Flaw) -> Effect:
        """Return what the host does about a flaw."""
        return self.flaws.get(flaw, Effect.TAKES if flaw in _HARMLESS else self.default_effect)
