"""
A host's profile: one value of rules for each topic.
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
from pytest_hookharness.hosts.rules.turns import CapRules, OptionRule, Role, StepRules, StuckRules, TurnRules
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
        """
        Name and version, such as ``codex@0.169.0``.
        """
        return f"{self.name}@{self.version}"

    @property
    def settings_paths(self) -> tuple[str, ...]:
        """
        The settings files that the host looks for, by state path; ``*`` stands for any name.
        """
        return (*self.config.paths, *(path for one in self.config.imports for path in one.paths))

    def by_role(self, role: Role) -> EventRule | None:
        """
        Return the first event with a role; ``None`` if the host has none.
        """
        return next((event for event in self.events.values() if event.role is role), None)

    def for_role(self, role: Role, tool: str = "") -> tuple[EventRule, ...]:
        """
        Return all events with a role that occur for a tool.
        """
        events = (event for event in self.events.values() if event.role is role)
        return tuple(event for event in events if not event.tools or tool in event.tools)

    def answers(self, event: str, *, foreign: bool = False) -> AnswerRules:
        """
        Return how answers are read on an event; ``foreign`` for hooks in another host's settings.
        """
        rule = self.events[event]
        return (rule.foreign_answers if foreign else None) or rule.answers or self.replies.answers

    def uses_value(self, name: str) -> bool:
        """
        Return whether an event has this value of the session in its standard input.
        """
        fields = (field for event in self.events.values() for field in event.fields.fields)
        return any(name == (field.source or field.name) for field in fields)
