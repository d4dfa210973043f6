"""What follows the hooks of an event: the decision applied by role, and changes of the task list."""

from __future__ import annotations

from pytest_hookharness.hosts.rules.tools_and_transcript import TaskStep
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session import tool_calls
from pytest_hookharness.hosts.session.moves_and_events import (
    apply_compaction_decision,
    apply_expansion_decision,
    apply_prompt_decision,
)
from pytest_hookharness.hosts.session.starts_and_ends import (
    apply_start_decision,
    apply_stop_decision,
    apply_worktree_decision,
)
from pytest_hookharness.hosts.session.subagents import apply_subagent_stop_decision, end_background
from pytest_hookharness.hosts.session_state.requests import AskHooks, ExpandedPrompt, PendingCall
from pytest_hookharness.hosts.session_state.session_value import Session, context_notes
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import ToolResult
from pytest_hookharness.model.protocol import Decision


def apply_decision(session: Session, ask: AskHooks, decision: Decision | None) -> Session:
    """
    Return the session after an event: with another event of the same role next, or the decision applied.

    No decision means that no hook ran.
    """
    if ask.more_events and not _is_final(decision):
        # Texts about a call or a prompt wait until that is settled; all other texts go to the agent now.
        if ask.call is None and not _is_prompt(ask):
            session = session.add_messages(*context_notes(decision))
        return session.put_first(_next_event(ask, decision))
    if ask.incidental:
        return _apply_incidental(session, ask, decision)
    return _apply_by_role(session, ask, decision)


def _is_final(decision: Decision | None) -> bool:
    return decision is not None and (decision.refused or decision.overridden or decision.halt is not None)


def _is_prompt(ask: AskHooks) -> bool:
    return ask.role is Role.PROMPT and not ask.incidental


def _next_event(ask: AskHooks, decision: Decision | None) -> AskHooks:
    """Return the task for the next event of the same role, with the results of this one carried over."""
    call, values, expanded = ask.call, ask.values, ask.expanded
    notes = context_notes(decision)
    if call is not None:
        call = replace(call, notes=(*call.notes, *notes))
        if decision is not None and decision.updated_input is not None:
            call = replace(call, tool_call=replace(call.tool_call, input=decision.updated_input))
            values = {**values, "tool_input": decision.updated_input}
        if decision is not None and decision.updated_output is not None and call.result is not None:
            call = replace(call, result=replace(call.result, text=str(decision.updated_output)))
    elif _is_prompt(ask):
        seen = expanded or ExpandedPrompt(str(values["prompt"]))
        expanded = replace(seen, notes=(*seen.notes, *notes))
    return AskHooks(
        role=ask.role,
        values=values,
        call=call,
        expanded=expanded,
        incidental=ask.incidental,
        event=ask.more_events[0],
        more_events=ask.more_events[1:],
    )


def _apply_incidental(session: Session, ask: AskHooks, decision: Decision | None) -> Session:
    """
    Return the session after an incidental event: its texts are shown, and a refusal ends the turn.

    An incidental event about a call ends nothing, since the decision on the call itself is made elsewhere.
    """
    ends = decision is not None and (decision.refused or decision.halt is not None)
    if decision is None or not ends or ask.call is not None or not session.in_turn:
        return session.add_messages(*context_notes(decision))
    return session.halt(decision, f"of {decision.event} ended the turn")


def _apply_by_role(session: Session, ask: AskHooks, decision: Decision | None) -> Session:
    match ask.role, ask.call:
        case Role.WORKTREE, _:
            return apply_worktree_decision(session, decision)
        case Role.SESSION_START, _:
            return apply_start_decision(session, decision)
        case Role.EXPANSION, _:
            return apply_expansion_decision(session, str(ask.values["prompt"]), decision, ask.expanded)
        case Role.PROMPT, _:
            return apply_prompt_decision(session, str(ask.values["prompt"]), decision, ask.expanded)
        case Role.STOP, _:
            return end_background(apply_stop_decision(session, decision))
        case Role.BEFORE_COMPACT, _:
            return apply_compaction_decision(session, str(ask.values["trigger"]), decision)
        case Role.AFTER_BATCH, _:
            return tool_calls.apply_batch_decision(session, decision)
        case Role.SESSION_END, _:
            return replace(session, prompt_id="")
        case Role.BEFORE_TOOL, call if call is not None:
            return tool_calls.apply_call_decision(session, call, decision)
        case Role.PERMISSION, call if call is not None:
            return tool_calls.apply_permission_decision(session, call, decision)
        case Role.AFTER_TOOL | Role.TOOL_FAILED, call if call is not None:
            return tool_calls.apply_result_decision(session, call, decision)
        case Role.TASK_CREATED | Role.TASK_COMPLETED, call if call is not None:
            return apply_task_decision(session, call, decision)
        case Role.SUBAGENT_STOP, call if call is not None:
            return apply_subagent_stop_decision(session, call, decision)
        case Role.SUBAGENT_START, _:
            return session
        case _:
            return session.add_messages(*context_notes(decision))


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
    if decision is None:
        return _change_tasks(session, call, step)
    session = session.postpone_halt(decision)
    if not decision.refused:
        return _change_tasks(session, call, step)
    failed = ToolResult(text="\n".join(decision.to_agent), failed=True)
    return tool_calls.finish_call(session, replace(call, refused_on=decision.event), failed)


def _task_step(session: Session, call: PendingCall) -> TaskStep | None:
    plan = session.profile.tools.tasks
    return plan(call.tool_call, session.tasks) if plan is not None else None


def _change_tasks(session: Session, call: PendingCall, step: TaskStep) -> Session:
    return tool_calls.finish_call(replace(session, tasks=step.items), call, step.result)
