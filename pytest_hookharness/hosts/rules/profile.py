"""A host's profile: its events, and one value of rules for each other topic."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import field

from pytest_hookharness.hosts.rules.process import CallRules, ProcessRules
from pytest_hookharness.hosts.rules.replies import AnswerRules, CodeRule, Merging, ReplyRules
from pytest_hookharness.hosts.rules.settings import ConfigRules, MatcherRules
from pytest_hookharness.hosts.rules.tools import CommandRules, Operation, ToolRules, WorktreeRules
from pytest_hookharness.hosts.rules.transcript_lines import TranscriptRules, Wording
from pytest_hookharness.hosts.rules.turns import CapRules, OptionRule, Role, StepRules, StuckRules, TurnRules
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import EventFields, Json, Payload, Rule

__all__ = [
    "CapRules",
    "CommandRules",
    "ConfigRules",
    "EventRule",
    "MatcherRules",
    "Operation",
    "OptionRule",
    "Power",
    "ProcessRules",
    "Profile",
    "ReplyRules",
    "Role",
    "StepRules",
    "StuckRules",
    "ToolRules",
    "TranscriptRules",
    "TurnRules",
    "Wording",
    "WorktreeRules",
]


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
        """The host's name of the event."""
        return self.fields.event


__all___of_profile = [
    "CapRules",
    "CommandRules",
    "ConfigRules",
    "MatcherRules",
    "Operation",
    "OptionRule",
    "ProcessRules",
    "Profile",
    "ReplyRules",
    "StepRules",
    "StuckRules",
    "ToolRules",
    "TranscriptRules",
    "TurnRules",
    "Wording",
    "WorktreeRules",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    A host at one version.

    A profile states only where a host differs from the defaults, because most hosts differ in few rules.

    Attributes:
        name: The host.
        version: Its version.
        events: Its events by name.
        matchers: How matchers match.
        config: How hooks are configured.
        replies: How replies are read.
        wording: The texts that the agent reads.
        process: How hooks are run.
        cap: Its limit on refusals of a stop.
        turns: Which events occur in a turn.
        tools: Its tools.
        transcript: Where it writes the conversation.
        steps: Its limit on the moves of a turn; ``None`` for none.
        stuck: How it detects an agent that repeats itself; ``None`` if it does not.
        commands: Commands in prompts; ``None`` if it has none.
        worktrees: Sessions in a git worktree of their own; ``None`` if it has none.
        options: Options of its command line.
        calling: How it is called from a shell; ``None`` if that is not known.
        model: Its name of the model.
        own_values: Returns input values that only this host has, given those of the session.
    """

    name: str
    version: str
    events: Mapping[str, EventRule]
    matchers: MatcherRules
    config: ConfigRules
    replies: ReplyRules
    wording: Wording
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

    def uses_value(self, name: str) -> bool:
        """Return whether an event has this value of the session in its standard input."""
        fields = (field for event in self.events.values() for field in event.fields.fields)
        return any(name == (field.source or field.name) for field in fields)
