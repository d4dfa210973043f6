"""Calls that the session makes itself: subagents, and changes of the host's task list."""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.rules.tools import TaskStep
from pytest_hookharness.hosts.rules.transcript_lines import assistant_message, user_message
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session.cap_counting import reported_flag
from pytest_hookharness.hosts.session.tool_calls import finish_call
from pytest_hookharness.hosts.session_state.requests import AskHooks, Lines, PendingCall
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.model.moves import Subagent, ToolResult
from pytest_hookharness.model.protocol import Decision, Json


def plan_task_change(session: Session, call: PendingCall) -> Session | None:
    """Return the session after a permitted call for the task list; ``None`` for any other call."""
    step = _task_step(session, call)
    if step is None:
        return None
    task = step.created or step.completed
    if task is None:
        return _change_tasks(session, call, step)
    role = Role.TASK_CREATED if step.created is not None else Role.TASK_COMPLETED
    values = {"task_id": task.id, "task_subject": task.subject, "task_description": task.description}
    return session.put_first(AskHooks(role=role, values=values, call=call))


def apply_task_decision(session: Session, call: PendingCall, decision: Decision | None) -> Session:
    """Return the session after the decision on a task that is to be created or completed."""
    step = _task_step(session, call)
    if step is None:
        return session
    if decision is not None and decision.halt is not None:
        session = replace(session, pending_halt=(decision.halt, decision.rule))
    if decision is None or not decision.refused:
        return _change_tasks(session, call, step)
    failed = ToolResult(text="\n".join(decision.to_agent), failed=True)
    return finish_call(session, replace(call, refused_on=decision.event), failed)


def _task_step(session: Session, call: PendingCall) -> TaskStep | None:
    plan = session.profile.tools.tasks
    return plan(call.tool_call, session.tasks) if plan is not None else None


def _change_tasks(session: Session, call: PendingCall, step: TaskStep) -> Session:
    return finish_call(replace(session, tasks=step.items), call, step.result)


def launch_subagent(session: Session, call: PendingCall, move: Subagent) -> Session:
    """Return the session after the permitted call of a subagent."""
    values = {**session.facts.template_values, "agent": call.agent_id}
    given = call.tool_call.input
    prompt = str(given.get("prompt", given.get("message", move.prompt)))
    response = session.profile.tools.launched(call.tool_call.input, {**values, "text": move.text})
    # The subagent makes no moves of its own: it gets a prompt, says its text and stops.
    session = _write_transcript(session, call, prompt, move.text)
    session = finish_call(session, call, ToolResult(text=move.text, response=response))
    start = AskHooks(role=Role.SUBAGENT_START, values=_agent_values(call, move), call=call)
    stop = _stop_event(session, call, move, active=False)
    # ``finish_call`` has just put the event after the call first. Around it go the subagent's own events:
    # prompt and start before it, the stop after it.
    after, *rest = session.agenda
    prompted = AskHooks(
        role=Role.PROMPT, values={**_agent_values(call, move), "prompt": prompt}, call=call, incidental=True
    )
    first = (prompted, start) if session.profile.turns.subagent_prompts else (start,)
    return replace(session, agenda=(*first, after, stop, *rest))


def _agent_values(call: PendingCall, move: Subagent) -> dict[str, Json]:
    return {
        "agent_id": call.agent_id,
        "agent_type": str(call.tool_call.input.get("subagent_type", move.kind)),
    }


def _transcript_path(session: Session, call: PendingCall) -> str:
    values = {**session.facts.template_values, "agent": call.agent_id}
    return session.profile.transcript.subagent_path.format(**values)


def _stop_event(session: Session, call: PendingCall, move: Subagent, *, active: bool) -> AskHooks:
    named, before = _agent_values(call, move), session.subagent_refusals
    task = {
        "id": call.agent_id,
        "type": "subagent",
        "status": "running",
        "description": call.tool_call.input.get("description", ""),
        "agent_type": named["agent_type"],
    }
    values: dict[str, Json] = {
        **named,
        "stop_hook_active": reported_flag(session, before, refused=active),
        "stops_refused": before,
        "stops_asked": before + 1,
        "agent_transcript_path": _transcript_path(session, call),
        "last_assistant_message": move.text,
        "background_tasks": [task],
        "session_crons": [],
    }
    return AskHooks(role=Role.SUBAGENT_STOP, values=values, call=call)


def _write_transcript(session: Session, call: PendingCall, prompt: str, text: str) -> Session:
    if not session.profile.transcript.subagent_path:
        return session
    first, session = session.make_id("line")
    hold = session.profile.transcript.put_message
    # Like the main transcript, the subagent's own has its prompt and its last words, chained by their ids.
    asked = hold(session.blank_line(first, "", call.agent_id), "user", user_message(prompt), {})
    second, session = session.make_id("line")
    block = {"type": "text", "text": text}
    message = assistant_message(f"msg_{second[:8]}", session.facts.model, block, "end_turn")
    said = hold(session.blank_line(second, first, call.agent_id), "assistant", message, {})
    lines = Lines(path=_transcript_path(session, call), records=(asked, said))
    return replace(session, subagent_lines=(*session.subagent_lines, lines))


def apply_subagent_stop_decision(session: Session, call: PendingCall, decision: Decision | None) -> Session:
    """Return the session after the decision on a subagent's stop. A refused subagent repeats its words."""
    if decision is None or not decision.refused or call.subagent is None:
        return replace(session, subagent_refusals=0)
    session = replace(session, subagent_refusals=session.subagent_refusals + 1)
    return session.put_first(_stop_event(session, call, call.subagent, active=True))
