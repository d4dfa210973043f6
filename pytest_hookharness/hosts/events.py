"""
This module is concerned with events: what each is for, and what a hook can do on it.

Middle floor: hosts.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from pytest_hookharness.model.protocol import EventFields, Rule


class Role(enum.Enum):
    """
    What an event is for, whatever the host calls it. A session knows events only by this.
    """

    WORKTREE = "worktree"
    SETUP = "setup"
    SESSION_START = "session start"
    INSTRUCTIONS = "instructions"
    EXPANSION = "expansion of a prompt"
    PROMPT = "prompt"
    MESSAGE = "message"
    BEFORE_TOOL = "before a tool"
    PERMISSION = "permission"
    AFTER_TOOL = "after a tool"
    TOOL_FAILED = "after a failed tool"
    AFTER_BATCH = "after all tools"
    TASK_CREATED = "task made"
    TASK_COMPLETED = "task done"
    FOLDER_CHANGED = "current folder changed"
    SUBAGENT_START = "subagent start"
    SUBAGENT_STOP = "subagent stop"
    STOP = "stop"
    BEFORE_COMPACT = "before compaction"
    AFTER_COMPACT = "after compaction"
    SESSION_END = "session end"
    OTHER = "other"


class Power(enum.Enum):
    """
    What a refusal does on an event.
    """

    REFUSES = "the host does not go on as it wanted to"
    TELLS = "the agent is told, and nothing is held up"
    NOTHING = "the agent is not even told"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRule:
    """
    One event of a host.

    Attributes:
        fields: Its standard input, in order.
        role: What it is for.
        power: What a refusal does.
        target: The key that matchers are compared with; empty if matchers are ignored.
        plain: Whether plain text on standard output reaches the agent's model.
        context: Whether ``additionalContext`` is read.
        context_continues: Whether such a text keeps the turn going, like a refusal.
        timeout: The limit of a handler that sets none.
        shared: Whether all hooks of the event have one time budget together.
        env_file: Whether hooks get a file for variables of later commands.
        ignores: Keys of an answer that mean nothing on this event, although others know them.
        unreachable: Why a simulated session never comes to it; empty if it does.
        rule: What is known about it, and from where.
        rests_on: What is assumed about it.
    """

    fields: EventFields
    role: Role = Role.OTHER
    power: Power = Power.NOTHING
    target: str = ""
    plain: bool = False
    context: bool = False
    context_continues: bool = False
    timeout: float = 600.0
    shared: bool = False
    env_file: bool = False
    ignores: tuple[str, ...] = ()
    unreachable: str = ""
    rule: Rule
    rests_on: tuple[Rule, ...] = ()

    @property
    def name(self) -> str:
        """
        The host's name of the event.
        """
        return self.fields.event
