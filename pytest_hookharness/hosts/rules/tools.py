"""
The rules of a host's tools, and of folders and texts that it knows.

The task list that a host keeps for its agent, as values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pytest_hookharness.model.moves import (
    Edit,
    Performance,
    Read,
    RunCommand,
    Subagent,
    ToolCall,
    ToolResult,
)
from pytest_hookharness.model.protocol import Json, Payload, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskItem:
    """
    One task that the agent has set itself.

    Attributes:
        id: The host's name of it.
        subject: What is to be done, in few words.
        description: The same in full.
        form: The subject as it is shown while the task is worked at.
        status: How far it is, in the host's words.
    """

    id: str
    subject: str
    description: str = ""
    form: str = ""
    status: str = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep:
    """
    What a call would do with the task list, if no hook has anything against it.

    Attributes:
        items: The list after it.
        result: What the call gives.
        created: The task that it makes.
        completed: The task that it closes.
    """

    items: tuple[TaskItem, ...]
    result: ToolResult
    created: TaskItem | None = None
    completed: TaskItem | None = None


Operation: TypeAlias = RunCommand | Edit | Read


@dataclass(frozen=True, slots=True, kw_only=True)
class IdRules:
    """
    How the host names what it makes up; ``str.format`` templates.

    Attributes:
        call: A tool call; over ``digest`` (22 hexadecimal digits), ``session``, ``turn`` (number of the
            move), ``index`` (in the move) and ``number`` (of all calls), the last three from 0.
        agent: A subagent; over ``digest`` (16 digits) and ``uuid``.
        message: A message of the model in the transcript; over ``prompt`` and ``position``.
        prompt: A prompt; over ``uuid``, ``session`` and ``number``, which counts from 0.
    """

    call: str = "call_{turn}_{index}"
    agent: str = "{uuid}"
    message: str = "msg_{prompt}{position:06d}"
    prompt: str = "{uuid}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """
    The host's tools.

    Attributes:
        subagent: Name of the tool that starts a subagent; empty if there is none.
        launch: The call that starts one.
        launched: What the host says of one: input, and the facts' folders with ``agent``, its name, and
            ``text``, what it says.
        gated: Tools that need a permission.
        edits: Those of them that edit files.
        paths: Keys of inputs that hold a path, which the host makes absolute; none if it does not.
        ids: How calls and subagents are named.
        call: An operation in the host's own terms; the second argument is the workspace.
        operation: The reverse, ``None`` for a tool that the harness cannot perform.
        result: What the host makes of a performance; the last argument is the current folder.
        given: What the host makes of a result that a scenario supplies.
        seen_as: The input of a call as hooks see it.
        internal: What a call gives that the host makes itself, ``None`` for any other.
        tasks: What a call does with the host's task list, ``None`` for any other tool; ``None`` for a
            host without such a list.
        keeps_folder: Whether the next command starts where the one before ended.
        put_back: What the agent is told if that was outside of the project; a template over ``folder``.
        stale: What the agent is told that edits a file which has changed since it saw it; empty if such a
            call is made.
        rules: Where this is known from.
    """

    subagent: str = ""
    launch: Callable[[Subagent], Payload] = lambda move: {"prompt": move.prompt}
    launched: Callable[[Payload, Mapping[str, str]], Json] = lambda _input, _folders: None
    gated: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
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
    put_back: str = ""
    stale: str = ""
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRules:
    """
    Commands that a person can give as a prompt.

    Attributes:
        folders: Where their files are, by state path, with what the host calls that source; nearest first.
        suffix: What the name of a file ends with.
        kind: What the host calls such an expansion.
        arguments: The place for arguments in a text.
        appended: What is added where a text has no place for arguments; a template over ``arguments``.
        rules: Where this is known from.
    """

    folders: Mapping[str, str]
    suffix: str
    kind: str
    arguments: str
    appended: str
    rules: Mapping[str, Rule]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeRules:
    """
    Sessions that work in a folder of their own.

    Attributes:
        folder: Where the host makes it if no hook does, relative to the project; a template over ``name``.
        branch: The branch of that; a template over ``name``.
        command: How it is made; a template over ``folder`` and ``branch``.
        rules: Where this is known from.
    """

    folder: str
    branch: str
    command: str
    rules: Mapping[str, Rule]
