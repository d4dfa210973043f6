"""
What the agent does, what happens to it, and what it sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from pytest_hookharness.model.protocol import Json, Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """
    What a tool call gave.

    Attributes:
        text: What the agent reads.
        failed: Whether the tool reported an error.
        response: The host's structured form of the result, for the payload of the events after it.
    """

    text: str = ""
    failed: bool = False
    response: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """
    What really became of a tool call in the workspace, before a host puts it into its own words.

    Attributes:
        exit: Exit code of a shell command; ``None`` for everything else, or if there was none.
        stdout: What a shell command printed.
        stderr: What it printed on standard error.
        error: Why the call could not be carried out; empty if it could.
        original: The file's text before; ``None`` if there was no such file.
        content: The file's text after, or what was read; ``None`` if there is none.
        folder: The folder in which a shell command ended, absolute; empty if that is not known.
    """

    exit: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str = ""
    original: str | None = None
    content: str | None = None
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """
    One tool call in the host's own terms.

    Attributes:
        name: The host's name of the tool.
        input: The tool's input as the host passes it.
        given: A result that the scenario supplies; ``None`` lets the call happen in the workspace.
        expect: What must become of this very call: ``allow``, ``deny`` or ``ask``.
        label: Where the scenario wrote it, for messages; empty if it did not.
    """

    name: str
    input: Payload
    given: ToolResult | None = None
    expect: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """
    A turn in which the agent calls tools, several at once if there are several.
    """

    calls: tuple[ToolCall, ...]
    say: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommand:
    """
    A shell command, by whatever tool the host has for that.

    Attributes:
        command: The command line.
        folder: Where the host lets it start, absolute; empty for the workspace.
    """

    command: str
    say: str = ""
    given: ToolResult | None = None
    expect: str | None = None
    label: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """
    A change of a file in the workspace: all of its text, or one passage of it.

    Attributes:
        file: Path relative to the workspace.
        text: The whole new text; or the new passage, if ``old`` is given.
        old: The passage to replace.
    """

    file: str
    text: str
    old: str | None = None
    say: str = ""
    given: ToolResult | None = None
    expect: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """
    A look at a file of the workspace.
    """

    file: str
    say: str = ""
    given: ToolResult | None = None
    expect: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """
    A message without a tool call: the agent wants to end its turn.
    """

    text: str = "Done."
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subagent:
    """
    A piece of work handed to a subagent, which says ``text`` and wants to stop.
    """

    kind: str = "general-purpose"
    prompt: str = ""
    text: str = "Done."
    say: str = ""
    label: str = ""


Move: TypeAlias = Tools | RunCommand | Edit | Read | Stop | Subagent


def unlabelled(move: Move) -> Move:
    """
    The same move without the place where it was written.
    """
    match move:
        case Tools(calls=calls):
            return replace(move, calls=tuple(replace(call, label="") for call in calls))
        case RunCommand() | Edit() | Read() | Stop() | Subagent():
            return replace(move, label="")
        case _:
            assert_never(move)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """
    The person writes to the agent.
    """

    text: str


# What a person would say who only wants the agent to run into its hooks.
FIRST_PROMPT = Prompt(text="Please do the work.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """
    Time passes for the agent, not for the machine.
    """

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """
    The host shortens the conversation.
    """

    trigger: str = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """
    The session is ended and taken up again.

    Attributes:
        fork: What is taken up is a copy of it, under a name of its own.
    """

    fork: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """
    The session ends.
    """

    reason: str = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrupt:
    """
    A file is harmed between turns.

    Attributes:
        file: Path relative to the workspace.
        how: ``delete``, ``empty``, ``truncate``, ``garbage``, ``crlf``, ``bom``, ``chmod``, or
            ``replace`` with ``text``.
        text: The new text for ``replace``, the octal mode for ``chmod``.
    """

    file: str
    how: str = "delete"
    text: str = ""


Event: TypeAlias = Prompt | Wait | Compact | Resume | End | Corrupt
Act: TypeAlias = Move | Event


@dataclass(frozen=True, slots=True)
class Message:
    """
    One thing that the agent's model sees.

    Attributes:
        kind: ``prompt``, ``result``, ``refusal``, ``feedback`` or ``context``.
        text: The words.
        event: The hook event that brought it, if one did.
    """

    kind: str
    text: str
    event: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """
    All that the agent's model sees since its last move.
    """

    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """
    How the agent goes on when its script is at its end.

    Attributes:
        name: A registered behaviour (``idle``, ``obedient``, ``editing`` ...).
        options: Its parameters.
    """

    name: str = "idle"
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """
    What the agent does instead of its next move when it is shown something.

    Attributes:
        event: The hook event that must have brought it; empty for any.
        reason: A regular expression searched in what was shown; empty for any.
        moves: What it then does, in order.
        times: How often at most; ``None`` for always.
    """

    event: str = ""
    reason: str = ""
    moves: tuple[Move, ...] = ()
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """
    The whole of a scripted agent.
    """

    acts: tuple[Act, ...] = ()
    then: Behaviour = Behaviour()
    reactions: tuple[Reaction, ...] = ()
