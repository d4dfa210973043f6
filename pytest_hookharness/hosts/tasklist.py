"""
This module is concerned with the task list that a host keeps for its agent, as values.

Middle floor: hosts.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_hookharness.model.moves import ToolResult


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
