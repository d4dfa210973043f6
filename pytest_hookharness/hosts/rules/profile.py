"""
What a host profile is made of.

A host is a value of rules, one kind of them for each topic, because most hosts differ
from another in only a few.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pytest_hookharness.hosts.rules.events import EventRule
from pytest_hookharness.hosts.rules.process import CallRules, ProcessRules
from pytest_hookharness.hosts.rules.replies import AnswerRules, ReplyRules
from pytest_hookharness.hosts.rules.settings import ConfigRules, MatcherRules
from pytest_hookharness.hosts.rules.tools import CommandRules, Operation, ToolRules, WorktreeRules
from pytest_hookharness.hosts.rules.transcript_lines import TranscriptRules, Wording
from pytest_hookharness.hosts.rules.turns import (
    CapRules,
    OptionRule,
    Role,
    StepRules,
    StuckRules,
    TurnRules,
)
from pytest_hookharness.model.protocol import Json, Payload

__all__ = [
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

    Attributes:
        name: The host.
        version: Its version.
        events: Its events by name.
        matchers: How matchers match.
        config: How hooks are configured.
        replies: How replies are read.
        wording: How the agent is told.
        process: How hooks are run.
        cap: Its net against endless refusals.
        turns: How a session goes from event to event.
        tools: Its tools.
        transcript: Where the conversation is written.
        steps: How many moves a turn can have; ``None`` for any number.
        stuck: How it sees that an agent goes round in circles; ``None`` if it does not look.
        commands: Commands in prompts; ``None`` if it has none.
        worktrees: Sessions in a folder of their own; ``None`` if it has none.
        options: Options that it can be started with.
        calling: How it is called from a shell; ``None`` if that is not known here.
        model: What it calls the model.
        own_words: Words for standard input that only this host has, made of those of the session.
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
    own_words: Callable[[Payload], Mapping[str, Json]] = lambda _words: {}

    @property
    def id(self) -> str:
        """
        Name and version.
        """
        return f"{self.name}@{self.version}"

    @property
    def settings_paths(self) -> tuple[str, ...]:
        """
        Where the host looks for settings, by state path; ``*`` stands for any name.
        """
        return (*self.config.paths, *(path for one in self.config.imports for path in one.paths))

    def by_role(self, role: Role) -> EventRule | None:
        """
        The event that the host has for a role, if it has one.
        """
        return next((event for event in self.events.values() if event.role is role), None)

    def for_role(self, role: Role, tool: str = "") -> tuple[EventRule, ...]:
        """
        All events that the host has for a role, as far as they are asked for a tool.
        """
        events = (event for event in self.events.values() if event.role is role)
        return tuple(event for event in events if not event.tools or tool in event.tools)

    def answers(self, event: str, *, foreign: bool = False) -> AnswerRules:
        """
        How answers are read on an event, also those of hooks in settings of another host.
        """
        rule = self.events[event]
        return (rule.foreign_answers if foreign else None) or rule.answers or self.replies.answers

    def tells(self, word: str) -> bool:
        """
        Whether standard input of some event holds a word of the session.
        """
        fields = (field for event in self.events.values() for field in event.fields.fields)
        return any(word == (field.source or field.name) for field in fields)
