"""
Requests of a session, their answers, and the tasks on its agenda.

A request is what the session needs from outside (``session.step`` explains the rule). A task is what it
still has to do; doing a task can lead to a request.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from pytest_hookharness.hosts.rules.tools_and_transcript import Operation
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model import moves
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Hook, Payload, Reply, Rule
from pytest_hookharness.model.verdicts import SessionEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHooks:
    """
    Run hooks of an event, all at once, whose matchers were compared with a target.

    A host that runs hooks one by one makes one request for each; only the last step has a decision.
    """

    event: str
    target: str
    hooks: tuple[Hook, ...]
    payload: Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformCall:
    """
    Make a tool call, with changes by hooks, in the workspace.

    Its operation is ``None`` if the harness cannot perform this tool.
    """

    call: moves.ToolCall
    operation: Operation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """
    The end of a turn or of the session.

    Attributes:
        how: ``stopped`` (the agent stopped and no hook refused), ``capped`` (the host's cap or another limit
            ended it), ``halted`` (a hook ended it), ``waiting`` (for an answer that never comes), or ``idle``
            (no turn started).
        why: The reason, in one sentence.
        status: The host's own word for this end; empty if it has none.
    """

    how: SessionEnd
    why: str
    rule: Rule
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAct:
    """
    Give the next act of the agent or its script.

    Attributes:
        observation: What the agent's model sees since its last move.
        turn_over: Whether no turn is running, so that only an event of the script fits.
        ending: How the last turn ended, if it is over.
        given: The only act that fits, because a subagent goes on; ``None`` for any act of the agent.
    """

    observation: moves.Observation = moves.Observation()
    turn_over: bool = False
    ending: Ended | None = None
    given: moves.SubagentText | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksFinished:
    """
    The answer to ``RunHooks``.

    Attributes:
        runs: One result for each hook, in the order requested: a process result, the reply of a handler that
            is not a command, or ``None`` for no reply.
        finished: Positions in ``runs`` in the order in which the hooks ended; empty for the order requested.
    """

    runs: tuple[ProcessResult | Payload | None, ...] = ()
    finished: tuple[int, ...] = ()


Request: TypeAlias = RunHooks | NextAct | PerformCall | Ended
Answer: TypeAlias = HooksFinished | moves.Performance | moves.Act | None


class Mismatch(TypeError):
    """An answer that does not fit the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """
    A tool call between its request by the agent and its result.

    Attributes:
        use_id: The host's name of the call.
        agent_id: The host's name of that subagent.
        notes: Messages that the agent gets after the result.
        refused_on: The event whose hooks made the call fail; empty if none did.
        changed: Keys of the input that hooks changed.
    """

    tool_call: moves.ToolCall
    use_id: str
    subagent: moves.Subagent | None = None
    agent_id: str = ""
    result: moves.ToolResult | None = None
    notes: tuple[moves.Message, ...] = ()
    refused_on: str = ""
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpandedPrompt:
    """The text and the notes that the model sees instead of a prompt that names a command."""

    text: str
    notes: tuple[moves.Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHooks:
    """
    Run the hooks of an event.

    Attributes:
        values: Values of the event beside those of the session.
        expanded: What the model will see of the prompt, if the prompt names a command.
        incidental: Whether the event only accompanies another: the agent gets the hooks' texts, and a refusal
            ends the turn.
        more_events: Other events with the same role, run after this one.
        event: The event; empty to take the first event with the role.
        remaining_hooks: Hooks still to be run, on hosts that run them one by one.
        asked_hooks: Hooks that were run before.
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
    """Make a tool call. ``checked``: the file that it edits is known to be as the agent last saw it."""

    call: PendingCall
    checked: bool = False


@dataclass(frozen=True, slots=True)
class CheckFile:
    """Find out whether the file that a call edits is as the agent last saw it."""

    call: PendingCall
    file: str


@dataclass(frozen=True, slots=True)
class EnterWorktree:
    """Enter the session's worktree by a command line, which first creates it where no hook did."""

    command: str


@dataclass(frozen=True, slots=True)
class CloseBatch:
    """End the calls of a move: run the hooks of the event after all of them."""


@dataclass(frozen=True, slots=True)
class AwaitAct:
    """Let the agent or its script act."""


@dataclass(frozen=True, slots=True)
class AwaitSubagent:
    """Let a subagent go on, whose stop was refused with these messages."""

    call: PendingCall
    messages: tuple[moves.Message, ...]


@dataclass(frozen=True, slots=True)
class CloseSession:
    """End the session."""


Task: TypeAlias = AskHooks | MakeCall | EnterWorktree | CloseBatch | AwaitAct | AwaitSubagent | CloseSession
