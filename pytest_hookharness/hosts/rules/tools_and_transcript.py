"""
The rules of a host's tools, task list, commands and worktrees, and of the transcript that it writes.

The form of a transcript's lines is what hooks that read transcripts rely on; it is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskItem:
    """
    One item of the task list that the agent keeps, with its state in the host's words.

    ``form`` is the subject as it is shown while the agent works on the task.
    """

    id: str
    subject: str
    description: str = ""
    form: str = ""
    status: str = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep:
    """What a call does with the task list if no hook refuses it: the list after it, and tasks it changes."""

    items: tuple[TaskItem, ...]
    result: ToolResult
    created: TaskItem | None = None
    completed: TaskItem | None = None


Operation: TypeAlias = RunCommand | Edit | Read


@dataclass(frozen=True, slots=True, kw_only=True)
class IdRules:
    """
    How the host names what it creates; ``str.format`` templates.

    Attributes:
        call: A tool call; over ``digest`` (22 hexadecimal digits), ``session``, ``turn`` (the number of the
            move), ``index`` (in the move) and ``number`` (of all calls). The last three count from 0.
        agent: A subagent; over ``digest`` (16 digits) and ``uuid``.
        message: A message of the model in the transcript; over ``prompt`` and ``position``.
        prompt: A prompt; over ``uuid``, ``session`` and ``number``, which counts from 0.
        skips_number: Whether a session that is resumed after its first prompt leaves out a number.
    """

    call: str = "call_{turn}_{index}"
    agent: str = "{uuid}"
    message: str = "msg_{prompt}{position:06d}"
    prompt: str = "{uuid}"
    skips_number: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """
    The host's tools.

    Attributes:
        subagent: The tool that starts a subagent; empty if there is none.
        launch: Returns the input of the call that starts a subagent.
        former: Names that tools had in older versions, with those that they have now.
        launched: Returns the host's response to that call, given its input and the facts' folders with
            ``agent`` (the subagent's name) and ``text`` (its last message).
        started: The result of that call for the agent, if the subagent works in the background; a template
            over the same folders with ``call``, ``description`` and ``text``.
        notice: What tells the agent that such a subagent has ended; the same kind of template. Empty if the
            agent waits for its subagents.
        stops_first: Whether a subagent for which the agent waits stops before the hooks after its call.
        gated: Tools that need a permission.
        asks: Returns the reason with which a call of such a tool asks for a permission, which may be empty;
            ``None`` if it asks for none.
        edits: Those of them that edit files.
        deletes: The tool that removes a file; empty if there is none.
        paths: Keys of inputs that contain a path, which the host makes absolute.
        call: Returns the host's tool call for an operation; the second argument is the workspace.
        operation: Returns the operation of a tool call; ``None`` for a tool that the harness cannot perform.
        result: Returns the host's result of a performed call; the last argument is the current folder.
        given: Returns the host's form of a result that a scenario supplies.
        seen_as: Returns the input of a call as hooks see it.
        internal: Returns the result of a call that the host performs itself; ``None`` for any other call.
        tasks: Returns what a call does with the host's task list; ``None`` for any other tool. ``None`` in
            place of the function for a host without such a list.
        keeps_folder: Whether a command starts in the folder in which the command before it ended.
        reset_notice: What the agent reads if that folder was outside of the project and the host went back;
            a template over ``folder``.
        stale_notice: What the agent reads if it edits a file that changed since it last read the file; empty
            if the host makes such a call.
    """

    subagent: str = ""
    former: Mapping[str, str] = field(default_factory=dict)
    launch: Callable[[Subagent], Payload] = lambda move: {"prompt": move.prompt}
    launched: Callable[[Payload, Mapping[str, str]], Json] = lambda _input, _folders: None
    started: str = ""
    notice: str = ""
    stops_first: bool = False
    gated: tuple[str, ...] = ()
    asks: Callable[[ToolCall], str | None] = lambda _made: ""
    edits: tuple[str, ...] = ()
    deletes: str = ""
    paths: tuple[str, ...] = ()
    ids: IdRules = IdRules()
    call: Callable[[Operation, str], ToolCall]
    operation: Callable[[ToolCall, str], Operation | None]
    result: Callable[[ToolCall, Performance, str], ToolResult]
    given: Callable[[ToolCall, ToolResult], ToolResult]
    seen_as: Callable[[ToolCall], Payload] = lambda made: made.input
    internal: Callable[[ToolCall], ToolResult | None] = lambda _made: None
    tasks: Callable[[ToolCall, tuple[TaskItem, ...]], TaskStep | None] | None = None
    keeps_folder: bool = False
    reset_notice: str = ""
    stale_notice: str = ""
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRules:
    """
    Commands that a user can give as a prompt.

    Attributes:
        folders: The folders of their files by state path, each with the host's name of that source; the
            first one with a command counts.
        arguments: The placeholder for arguments in a text.
        appended: What is added to a text without the placeholder; a template over ``arguments``.
    """

    folders: Mapping[str, str]
    suffix: str
    arguments: str
    appended: str
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeRules:
    """
    Sessions in a git worktree of their own.

    Attributes:
        folder: Where the host creates the worktree if no hook does, relative to the project; a template over
            ``name``.
        branch: The branch of the worktree; a template over ``name``.
        command: The command that creates it; a template over ``folder`` and ``branch``.
    """

    folder: str
    branch: str
    command: str
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLine:
    """
    What distinguishes one line of a transcript from another.

    The first line has no parent, and the lines of the main agent have no agent.
    """

    uuid: str
    parent: str
    session: str
    cwd: str
    version: str
    time: str
    agent: str = ""

    def put_message(self, kind: str, message: Payload, extra: Mapping[str, Json]) -> dict[str, Json]:
        """Return the line with a message in it."""
        side: dict[str, Json] = {"isSidechain": bool(self.agent)}
        if self.agent:
            side["agentId"] = self.agent
        return {
            "parentUuid": self.parent or None,
            **side,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": "",
            "type": kind,
            "message": message,
            **extra,
            "uuid": self.uuid,
            "timestamp": self.time,
        }


def user_message(text: str) -> dict[str, Json]:
    """Return a message of the user, or of the host in the user's place."""
    return {"role": "user", "content": text}


def result_message(use_id: str, text: str, *, failed: bool) -> dict[str, Json]:
    """Return the message with the result of a tool call."""
    block: dict[str, Json] = {"tool_use_id": use_id, "type": "tool_result", "content": text}
    return {"role": "user", "content": [{**block, "is_error": True} if failed else block]}


def assistant_message(name: str, model: str, block: Payload, reason: str) -> dict[str, Json]:
    """Return a message of the model with one block."""
    return {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRules:
    """
    Where the host writes the conversation.

    Attributes:
        path: A template over ``home``, ``slug``, ``session``, ``short`` (the first eight digits of the
            session), ``project`` (the name of the folder), ``year`` ``month`` ``day`` ``hour`` ``minute`` and
            ``second``. Empty if the host writes none.
        subagent_path: The same for a subagent, over ``agent`` as well; empty if the host writes none.
        put_message: Returns a line with a message in it, given the line, its type, the message and more keys.
    """

    path: str = ""
    subagent_path: str = ""
    put_message: Callable[[TranscriptLine, str, Payload, Mapping[str, Json]], dict[str, Json]] = (
        TranscriptLine.put_message
    )
    rule: Rule
