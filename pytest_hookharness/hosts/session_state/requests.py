"""
What a session asks for, and what it is answered.

A session never acts; it asks and goes on with the answer.

Prompts that name a command: a text from a file that the model sees instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_hookharness.hosts.rules.profile import Operation
from pytest_hookharness.hosts.rules.roles import Role
from pytest_hookharness.model.moves import (
    Act,
    Message,
    Observation,
    Performance,
    Subagent,
    ToolCall,
    ToolResult,
)
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Hook, Payload, Reply, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """
    Lines that must be appended to a transcript before the request is met.

    Attributes:
        path: The transcript.
        records: The lines, as JSON.
    """

    path: str
    records: tuple[Payload, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHooks:
    """
    Fire hooks of an event, all at once.

    A host that runs them one by one asks several times; until the last of them the step has no decision.

    Attributes:
        event: The host's name of the event.
        target: What matchers were compared with.
        hooks: The hooks, in the order of configuration.
        payload: Their standard input, keys in the host's order.
        records: Lines to append to the transcript first.
        transcript_path: Where that is.
        subagent_lines: Lines for the transcripts of subagents.
    """

    event: str
    target: str
    hooks: tuple[Hook, ...]
    payload: Payload
    records: tuple[Payload, ...] = ()
    transcript_path: str = ""
    subagent_lines: tuple[Lines, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformCall:
    """
    Make a tool call in the workspace.

    Attributes:
        call: The call, as the hooks left it.
        operation: What it does; ``None`` if the harness cannot perform this tool.
        records: Lines to append to the transcript first.
        transcript_path: Where that is.
    """

    call: ToolCall
    operation: Operation | None
    records: tuple[Payload, ...] = ()
    transcript_path: str = ""


EndedHow: TypeAlias = Literal["stopped", "capped", "halted", "waiting", "idle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """
    A turn, or the session, is over.

    Attributes:
        how: ``stopped`` (the agent wanted to and was let), ``capped`` (a guard of the host ended it),
            ``halted`` (a hook ended it), ``waiting`` (for an answer that never comes), or ``idle``
            (no turn was begun).
        why: One sentence.
        rule: The host's rule behind it.
        status: The host's own word for it, if it has one.
        records: Lines to append to the transcript.
        transcript_path: Where that is.
    """

    how: EndedHow
    why: str
    rule: Rule
    status: str = ""
    records: tuple[Payload, ...] = ()
    transcript_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAct:
    """
    Say what happens next.

    Attributes:
        observation: What the agent's model sees since its last move.
        turn_over: Whether no turn is going on: only events of the script can happen.
        records: Lines to append to the transcript first.
        transcript_path: Where that is.
        ending: How the last turn ended, if it is over.
    """

    observation: Observation = Observation()
    turn_over: bool = False
    records: tuple[Payload, ...] = ()
    transcript_path: str = ""
    ending: Ended | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksFinished:
    """
    What became of the hooks.

    Attributes:
        runs: One for each hook, in the order asked: a run, the reply of a handler that is not a
            command, or ``None`` if it gave none.
        finished: Places in ``runs`` in the order in which they ended; empty for the order asked.
    """

    runs: tuple[ProcessResult | Payload | None, ...] = ()
    finished: tuple[int, ...] = ()


Request: TypeAlias = RunHooks | NextAct | PerformCall | Ended
Answer: TypeAlias = HooksFinished | Performance | Act | None


class Mismatch(TypeError):
    """
    An answer that does not fit the request.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """
    A tool call on its way.

    Attributes:
        tool_call: The call, as the hooks left it.
        use_id: The host's name of it.
        subagent: The subagent that it starts, if it does.
        agent_id: The host's name of that.
        result: What it gave, once it was made.
        notes: What the agent is told after the result.
        refused_on: The event whose hooks made it fail, if some did.
        changed: Keys of its input that hooks changed.
    """

    tool_call: ToolCall
    use_id: str
    subagent: Subagent | None = None
    agent_id: str = ""
    result: ToolResult | None = None
    notes: tuple[Message, ...] = ()
    refused_on: str = ""
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpandedPrompt:
    """
    What the model sees instead of a prompt that names a command, and what it is told beside it.
    """

    text: str
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHooks:
    """
    Ask the hooks of an event.

    Attributes:
        role: Which event.
        values: What its hooks are told beside the session's own values.
        call: The tool call that it is about.
        expanded: What becomes of the prompt that it is about, if that names a command.
        incidental: Whether it is asked on the way: the agent gets the texts of the hooks, and a refusal can end
            the turn.
        more_events: Events for the same role that are asked after this one; the first if none is named yet.
        event: Which event; empty if that is not settled.
        remaining_hooks: Hooks that are still to be asked, where they are asked one by one.
        asked_hooks: Hooks that were asked before.
        replies: What they said.
    """

    role: Role
    values: Payload = field(default_factory=dict)
    call: PendingCall | None = None
    expanded: ExpandedPrompt | None = None
    incidental: bool = False
    more_events: tuple[str, ...] = ()
    event: str = ""
    remaining_hooks: tuple[Hook, ...] = ()
    asked_hooks: tuple[Hook, ...] = ()
    replies: tuple[Reply, ...] = ()


@dataclass(frozen=True, slots=True)
class MakeCall:
    """
    Make a tool call; ``looked`` says whether the file that it edits is known to be as the agent saw it.
    """

    call: PendingCall
    checked: bool = False


@dataclass(frozen=True, slots=True)
class CheckFile:
    """
    See whether the file that a call edits is as the agent saw it.
    """

    call: PendingCall
    file: str


@dataclass(frozen=True, slots=True)
class EnterWorktree:
    """
    Go to the session's worktree by a command line, which makes it first where that is left to do.
    """

    command: str


@dataclass(frozen=True, slots=True)
class CloseBatch:
    """
    All calls of a move are made.
    """


@dataclass(frozen=True, slots=True)
class AwaitAct:
    """
    Let the agent or its script act.
    """


@dataclass(frozen=True, slots=True)
class CloseSession:
    """
    End the session.
    """


Task: TypeAlias = AskHooks | MakeCall | EnterWorktree | CloseBatch | AwaitAct | CloseSession
