"""
This module is concerned with calls that only change the host's task list: the session makes them itself.

Middle floor: hosts.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.calls import conclude
from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.hosts.state import Ask, Call, Session
from pytest_hookharness.hosts.tasklist import TaskStep
from pytest_hookharness.model.moves import ToolResult
from pytest_hookharness.model.protocol import Decision


def keep_tasks(session: Session, call: Call) -> Session | None:
    """
    What follows once a call was let through; ``None`` if it has nothing to do with the task list.
    """
    step = _step(session, call)
    if step is None:
        return None
    task = step.created or step.completed
    if task is None:
        return _take(session, call, step)
    role = Role.TASK_CREATED if step.created is not None else Role.TASK_COMPLETED
    values = {"task_id": task.id, "task_subject": task.subject, "task_description": task.description}
    return session.first(Ask(role=role, values=values, call=call))


def settle_task(session: Session, call: Call, decision: Decision | None) -> Session:
    """
    What follows once the hooks have spoken about a task that is to be made or closed.
    """
    step = _step(session, call)
    if step is None:
        return session
    if decision is not None and decision.halt is not None:
        session = replace(session, halt=(decision.halt, decision.rule))
    if decision is None or not decision.refused:
        return _take(session, call, step)
    failed = ToolResult(text="\n".join(decision.to_agent), failed=True)
    return conclude(session, replace(call, refused_on=decision.event), failed)


def _step(session: Session, call: Call) -> TaskStep | None:
    plan = session.profile.tools.tasks
    return plan(call.made, session.tasks) if plan is not None else None


def _take(session: Session, call: Call, step: TaskStep) -> Session:
    return conclude(replace(session, tasks=step.items), call, step.result)
