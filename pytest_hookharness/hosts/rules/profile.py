"""A host's profile: its events, how it runs hooks and is called, and one value of rules per other topic."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import field

from pytest_hookharness.hosts.rules.replies import AnswerRules, CodeRule, Merging, ReplyRules, Wording
from pytest_hookharness.hosts.rules.settings import ConfigRules, MatcherRules
from pytest_hookharness.hosts.rules.tools_and_transcript import (
    CommandRules,
    ToolRules,
    TranscriptRules,
    WorktreeRules,
)
from pytest_hookharness.hosts.rules.turns import CapRules, OptionRule, Role, StepRules, StuckRules, TurnRules
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import Detach, KillPolicy, Stdio
from pytest_hookharness.model.protocol import EventFields, Hook, Json, Payload, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalAnswer:
    """What the host prints at the end of a session that a shell command started; the agent's last text."""

    text: str
    session: str
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRules:
    """
    The command line with which the host works on one prompt and ends.

    Attributes:
        verb: The word that must come first; empty for none.
        flags: Options without a value, each with its effect: ``version``, ``hookless``, ``json`` or none.
        valued: Options with one value, each with what that sets: ``prompt``, ``folder``, ``settings``,
            ``sources`` (separated by commas), ``form`` (of the output) or nothing.
        listed: Options that take all words up to the next option.
        source_paths: The settings file of each word of ``sources``, by state path.
        joined: The prompt if standard input has text too; a template over ``prompt`` and ``stdin``.
        answer: What is printed in each output format; the empty name is the default format.
    """

    verb: str = ""
    flags: Mapping[str, str]
    valued: Mapping[str, str]
    listed: frozenset[str] = frozenset()
    source_paths: Mapping[str, str] = field(default_factory=dict)
    joined: str = "{prompt}\n{stdin}"
    answer: Mapping[str, Callable[[FinalAnswer], tuple[Json, ...]]]
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRules:
    """
    How the host runs a hook.

    Attributes:
        login_shells: Names of shells. If ``SHELL`` names one of them, it is used instead, as a login shell.
        newline: Whether a newline follows the JSON on standard input.
        own_session: Whether a hook leads a session of its own. If not, the fact ``group`` says how the
            simulation differs.
        pipe_wait: How many seconds the host waits for more output after the process has ended. ``None``:
            until the timeout, which then ends the hook like one that is still running.
        output_limit: How many bytes of each stream are read; ``None`` for all.
        one_by_one: Whether the hooks of an event run one after the other. A group can ask for that too.
        env: Variables that the host adds; ``str.format`` templates over the facts, ``cwd``, ``event`` in
            lower case, ``event_name`` as it is, ``tool``, the host's ``version``, and ``prompt`` and
            ``agent``, which are identifiers. A variable without a value is left out.
        keeps_empty: Whether it is set to an empty text instead.
        kept_workspace: Variables among these that keep the value of the environment if they have one.
        quotes_paths: Whether the host itself puts a quoted path where a command has ``$NAME``.
        removed: Variables that hooks do not get; ``*`` in a name stands for any characters.
        substituted: Prefix and suffix of variables whose value replaces ``${NAME}`` only in a command that is
            started without a shell.
        env_file: The variable with the path of the file for later commands' variables, and this path; a
            template over the same values.
        plugin_env: Additional variables for the hooks of a plugin; templates over the same values, its name
            (``plugin``) and its folder (``plugin_folder``).
        plugin_start: Whether the hooks of a plugin start in its folder, and not in that of the session.
        shared_limit: The variable that sets a shared time budget in milliseconds.
        rules: The facts about processes. Always: ``output``; more where another field needs them.
    """

    shell: tuple[str, ...] = ("/bin/sh", "-c")
    login_shells: tuple[str, ...] = ()
    stdio: Stdio = Stdio.PIPE
    newline: bool = False
    own_session: bool = False
    pipe_wait: float | None = 0.5
    kill: KillPolicy = KillPolicy()
    output_limit: int | None = None
    one_by_one: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    keeps_empty: bool = False
    kept_workspace: tuple[str, ...] = ()
    quotes_paths: bool = False
    removed: tuple[str, ...] = ()
    substituted: tuple[tuple[str, str], ...] = ()
    env_file: tuple[str, str] = ("", "")
    plugin_env: Mapping[str, str] = field(default_factory=dict)
    plugin_start: bool = False
    shared_limit: str = ""
    rules: Mapping[str, Rule]

    @property
    def project_variables(self) -> tuple[str, ...]:
        """The variables that name the folder of the project."""
        return tuple(name for name, value in self.env.items() if value == "{workspace}")


class Power(enum.Enum):
    """What a refusal does on an event."""

    REFUSES = "the host does not do what it was about to do"
    INFORMS = "the agent gets the reason, and the host continues"
    REPLACES = "the agent gets the reason instead of the result"
    NOTHING = "nothing; the agent does not get the reason either"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRule:
    """
    One event of a host.

    Attributes:
        tools: The tools for which it occurs, where several events have one role; empty for all tools.
        codes: What exit codes mean on this event; empty for the host's usual meaning.
        answers: How JSON answers are read on this event; ``None`` for the host's usual rules.
        foreign_codes: What exit codes mean for hooks in another host's settings; empty for no difference.
        foreign_answers: How answers of these hooks are read; ``None`` for no difference.
        target: The input value that matchers are compared with; empty for none.
        exact: Whether a matcher is compared with it as literal text.
        matchers: How matchers work on this event; ``None`` for the host's usual rules.
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
        halts: Whether an end that a hook asks for ends the session, on an event outside of a turn.
        fails_closed: Whether a failure blocks if the handler is configured so.
        after_failures: Whether it occurs after failed calls too if the host has no event of their own.
        second_name_of: The event of which this one is a second name, with an input of its own. It occurs
            after that event.
        unreachable: Why the event never occurs in a simulated session; empty if it can.
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
    halts: bool = False
    fails_closed: bool = True
    after_failures: bool = True
    second_name_of: str = ""
    unreachable: str = ""
    rule: Rule
    rests_on: tuple[Rule, ...] = ()

    @property
    def name(self) -> str:
        """The host's name of the event."""
        return self.fields.event


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    A host at one version.

    A profile states only where a host differs from the defaults, because most hosts differ in few rules.

    Attributes:
        steps: Its limit on the moves of a turn; ``None`` for none.
        stuck: How it detects an agent that repeats itself; ``None`` if it does not.
        calling: How it is called from a shell; ``None`` if that is not known.
        own_values: Returns input values that only this host has, given those of the session.
    """

    name: str
    version: str
    events: Mapping[str, EventRule]
    matchers: MatcherRules
    config: ConfigRules
    replies: ReplyRules
    wording: Wording = Wording()
    process: ProcessRules
    cap: CapRules
    turns: TurnRules = TurnRules()
    tools: ToolRules
    transcript: TranscriptRules
    steps: StepRules | None = None
    stuck: StuckRules | None = None
    commands: CommandRules | None = None
    worktrees: WorktreeRules | None = None
    options: Mapping[str, OptionRule] = field(default_factory=dict)
    calling: CallRules | None = None
    model: str = "model"
    own_values: Callable[[Payload], Mapping[str, Json]] = lambda _values: {}

    @property
    def id(self) -> str:
        """Name and version, such as ``codex@0.169.0``."""
        return f"{self.name}@{self.version}"

    @property
    def settings_paths(self) -> tuple[str, ...]:
        """The settings files that the host looks for, by state path; ``*`` stands for any name."""
        return (*self.config.paths, *(path for one in self.config.imports for path in one.paths))

    def by_role(self, role: Role) -> EventRule | None:
        """Return the first event with a role; ``None`` if the host has none."""
        return next((event for event in self.events.values() if event.role is role), None)

    def for_role(self, role: Role, tool: str = "") -> tuple[EventRule, ...]:
        """Return all events with a role that occur for a tool."""
        events = (event for event in self.events.values() if event.role is role)
        return tuple(event for event in events if not event.tools or tool in event.tools)

    def answers(self, event: str, *, foreign: bool = False) -> AnswerRules:
        """Return how answers are read on an event; ``foreign`` for hooks in another host's settings."""
        rule = self.events[event]
        return (rule.foreign_answers if foreign else None) or rule.answers or self.replies.answers

    def detachment(self, hook: Hook) -> Detach:
        """Return when the host goes on without waiting for a run of a hook to end."""
        in_background = self.replies.background and hook.options.get("async") is True
        if in_background or not self.events[hook.event].waits:
            return Detach.AT_ONCE
        return Detach.ON_REQUEST if self.replies.announced else Detach.NEVER

    def uses_value(self, name: str) -> bool:
        """Return whether an event has this value of the session in its standard input."""
        known = _VALUES.get(id(self))
        if known is None or known[0] is not self:
            fields = (field for event in self.events.values() for field in event.fields.fields)
            known = _VALUES[id(self)] = self, frozenset(field.source or field.name for field in fields)
        return name in known[1]


# What the events of profiles have in their standard input, by identity: a profile has mappings, so no hash.
_VALUES: dict[int, tuple[Profile, frozenset[str]]] = {}
