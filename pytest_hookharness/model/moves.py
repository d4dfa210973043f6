"""Moves of the agent, events that happen to it, messages that it sees, and scripts of all these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TypeAlias, assert_never

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json, Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """
    The result of a tool call.

    Attributes:
        text: Text that the agent reads.
        failed: Whether the tool reports an error.
        response: The host's structured form of the result, for the input of later hooks.
    """

    text: str = ""
    failed: bool = False
    response: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """
    What a tool call did in the workspace, before the host turns it into its own format.

    Attributes:
        exit: Exit code of a shell command; ``None`` for other calls, or if there was none.
        error: Why the call could not be carried out; empty if it was.
        original: Text of the file before; ``None`` if the file did not exist.
        content: Text of the file after, or the text read; ``None`` if there is none.
        folder: Absolute folder in which a shell command ended; empty if unknown.
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
        input: Input of the tool, as the host passes it.
        given: A result that is used instead of a real call. ``None``: the call is carried out in the
            workspace.
        expect: The expected decision on this call. ``None``: not checked.
        label: Key path in the scenario, for messages; empty if it is not from a scenario.
    """

    name: str
    input: Payload = field(default_factory=dict)
    given: ToolResult | None = None
    expect: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """
    A turn in which the agent calls one tool, or several at once.

    Attributes:
        calls: The calls, at least one.
        say: Text of the agent before them; likewise in the other moves.
    """

    calls: tuple[ToolCall, ...]
    say: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommand:
    """
    A shell command, run by the host's own shell tool.

    Attributes:
        command: The command line.
        say: Text of the agent before the call.
        given: As in ``ToolCall``, likewise ``expect`` and ``label``.
        folder: Absolute folder in which the host starts it; empty for the workspace.
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
    A change of a file in the workspace: its whole text, or one passage.

    Attributes:
        file: Path of the file, relative to the workspace.
        text: The new text of the file, or of the passage if `old` is given.
        old: The passage to replace. ``None``: the whole text.
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
    A read of a file in the workspace.

    Attributes:
        file: Path of the file, relative to the workspace.
    """

    file: str
    say: str = ""
    given: ToolResult | None = None
    expect: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A message without a tool call: the agent wants to stop."""

    text: str = "Done."
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subagent:
    """
    A task for a subagent, which makes no tool call and then wants to stop.

    Attributes:
        kind: Type of the subagent.
        prompt: Text of the task.
        texts: Last message of the subagent, or a list: the next one follows when its stop was refused, and
            the last one repeats.
        received: A regular expression that matches what the agent receives from the subagent. Empty: not
            checked.
    """

    kind: str = "general-purpose"
    prompt: str = ""
    texts: tuple[str, ...] = ("Done.",)
    received: str = ""
    say: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentText:
    """
    A further message of a subagent whose stop was refused, with which it wants to stop again.

    It is a turn of its own, and no scenario writes it: it follows from the texts of ``Subagent``.
    """

    kind: str
    text: str


OwnMove: TypeAlias = Tools | RunCommand | Edit | Read | Stop | Subagent
Move: TypeAlias = OwnMove | SubagentText


def unlabelled(move: Move) -> Move:
    """Return the same move without its label, to compare moves."""
    match move:
        case Tools(calls=calls):
            return replace(move, calls=tuple(replace(call, label="") for call in calls))
        case RunCommand() | Edit() | Read() | Stop() | Subagent():
            return replace(move, label="")
        case SubagentText():
            return move
        case _:
            assert_never(move)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """
    The user writes to the agent.

    Attributes:
        text: Text of the prompt.
    """

    text: str


# In calls of a script, the absolute path of the folder where the session starts; in variables of the host,
# that of the project.
WORKSPACE = "{{workspace}}"
# The prompt of scripts that have none.
FIRST_PROMPT = Prompt(text="Please do the work.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Time passes for the agent and its hooks, but no real time."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """The host shortens the conversation."""

    trigger: str = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """
    The session ends and is resumed.

    Attributes:
        fork: Whether a copy with its own session id is resumed instead.
    """

    fork: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The session ends."""

    reason: str = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrupt:
    """
    A file is damaged between two turns.

    Attributes:
        file: Path of the file, relative to the workspace.
        how: Kind of damage: `delete`, `empty`, `truncate` (keep the first half), `garbage` (binary data),
            `crlf` (line ends), `bom` (byte order mark), `grow` (blank lines at its end), `chmod` or
            `replace`.
        text: New text for `replace`, octal mode for `chmod`, size in bytes for `grow`.
    """

    file: str
    how: str = "delete"
    text: str = ""


Event: TypeAlias = Prompt | Wait | Compact | Resume | End | Corrupt
Act: TypeAlias = Move | Event


@dataclass(frozen=True, slots=True)
class Message:
    """
    One message that the agent's model sees, and the hook event that caused it, if any.

    Its kind is ``prompt``, ``result``, ``refusal``, ``feedback`` or ``context``.
    """

    kind: str
    text: str
    event: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """All messages to the agent's model since its last move."""

    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """
    What the agent does when its script has ended.

    Attributes:
        name: A registered behaviour (``idle``, ``obedient``, ``editing`` ...).
        options: Arguments of the behaviour.
    """

    name: str = "idle"
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """
    Moves that replace the agent's next move after certain messages.

    Attributes:
        event: The hook event that caused the message. Empty: any.
        reason: A regular expression that matches the message. Empty: any.
        moves: Moves of the agent instead of its next one, in order; a prompt among them is the user's.
        times: Maximum number of times. ``None``: no limit.
    """

    event: str = ""
    reason: str = ""
    moves: tuple[Move | Prompt, ...] = ()
    times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """
    A scripted agent.

    Attributes:
        then: What the agent does after the last act.
        reactions: Moves in answer to certain messages; the first that matches is used.
    """

    acts: tuple[Act, ...] = ()
    then: Behaviour = Behaviour()
    reactions: tuple[Reaction, ...] = ()
