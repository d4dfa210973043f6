"""
This module is concerned with the task tools of Claude Code 2.1.329.

Middle floor: hosts. What their hooks are given was recorded; their results and the numbering are assumed, as
the profile says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_hookharness.hosts.tasklist import TaskItem, TaskStep
from pytest_hookharness.model.moves import ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload

_STATES = ("pending", "in_progress", "completed", "deleted")
_GONE = "deleted"
_DONE = "completed"


def plan(made: ToolCall, items: tuple[TaskItem, ...]) -> TaskStep | None:
    """
    What a call would do with the task list; ``None`` for any other tool.
    """
    match made.name:
        case "TaskCreate":
            return _create(made, items)
        case "TaskUpdate":
            return _update(made, items)
        case "TaskList":
            return _show_all(items)
        case "TaskGet":
            return _show(made, items)
        case _:
            return None


def _create(made: ToolCall, items: tuple[TaskItem, ...]) -> TaskStep:
    subject, description = made.input.get("subject"), made.input.get("description")
    if not isinstance(subject, str) or not isinstance(description, str):
        return _fail(items, "TaskCreate needs the texts 'subject' and 'description'")
    form = str(made.input.get("activeForm", ""))
    task = TaskItem(id=str(len(items) + 1), subject=subject, description=description, form=form)
    response: Payload = {"task": {"id": task.id, "subject": task.subject}}
    result = ToolResult(text=f"Task #{task.id} created successfully: {task.subject}", response=response)
    return TaskStep(items=(*items, task), result=result, created=task)


def _update(made: ToolCall, items: tuple[TaskItem, ...]) -> TaskStep:
    before = _find(made, items)
    if before is None:
        return _fail(items, "Task not found")
    status = made.input.get("status", before.status)
    if status not in _STATES:
        return _fail(items, f"'status' is {status!r}; allowed are {', '.join(_STATES)}")
    texts = {key: str(made.input[key]) for key in ("subject", "description") if key in made.input}
    after = replace(before, status=str(status), form=str(made.input.get("activeForm", before.form)), **texts)
    names = {"subject": "subject", "description": "description", "form": "activeForm", "status": "status"}
    fields = [name for key, name in names.items() if getattr(after, key) != getattr(before, key)]
    response: dict[str, Json] = {"success": True, "taskId": after.id, "updatedFields": fields}
    if after.status != before.status:
        response["statusChange"] = {"from": before.status, "to": after.status}
    result = ToolResult(text=f"Updated task #{after.id} {', '.join(fields)}".rstrip(), response=response)
    return TaskStep(
        items=tuple(after if item.id == after.id else item for item in items),
        result=result,
        completed=after if after.status == _DONE != before.status else None,
    )


def _show_all(items: tuple[TaskItem, ...]) -> TaskStep:
    shown = _present(items)
    tasks: list[Payload] = [
        {"id": item.id, "subject": item.subject, "status": item.status, "blockedBy": []} for item in shown
    ]
    lines = [f"#{item.id} [{item.status}] {item.subject}" for item in shown]
    result = ToolResult(text="\n".join(lines) or "No tasks found", response={"tasks": tasks})
    return TaskStep(items=items, result=result)


def _show(made: ToolCall, items: tuple[TaskItem, ...]) -> TaskStep:
    task = _find(made, items)
    if task is None:
        return TaskStep(items=items, result=ToolResult(text="Task not found", response={"task": None}))
    shown: Payload = {
        "id": task.id,
        "subject": task.subject,
        "description": task.description,
        "status": task.status,
        "blocks": [],
        "blockedBy": [],
    }
    lines = (f"Task #{task.id}: {task.subject}", f"Status: {task.status}", f"Description: {task.description}")
    return TaskStep(items=items, result=ToolResult(text="\n".join(lines), response={"task": shown}))


def _find(made: ToolCall, items: Sequence[TaskItem]) -> TaskItem | None:
    wanted = made.input.get("taskId")
    return next((item for item in _present(items) if item.id == wanted), None)


def _present(items: Sequence[TaskItem]) -> tuple[TaskItem, ...]:
    # A task that was deleted stays in the list, so that its number is not given to another.
    return tuple(item for item in items if item.status != _GONE)


def _fail(items: tuple[TaskItem, ...], why: str) -> TaskStep:
    return TaskStep(items=items, result=ToolResult(text=why, failed=True))
