"""Apply the decision on an event to the session, by the role of the event."""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session.moves_and_events import (
    apply_compaction_decision,
    apply_expansion_decision,
    apply_prompt_decision,
)
from pytest_hookharness.hosts.session.subagents import apply_subagent_stop_decision, apply_task_decision
from pytest_hookharness.hosts.session.tool_calls import (
    apply_batch_decision,
    apply_call_decision,
    apply_permission_decision,
    apply_result_decision,
)
from pytest_hookharness.hosts.session.turn_ends import apply_stop_decision
from pytest_hookharness.hosts.session.workspace_view import apply_worktree_decision
from pytest_hookharness.hosts.session_state.requests import AskHooks, ExpandedPrompt
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.model.moves import Message
from pytest_hookharness.model.protocol import Decision


def apply_decision(session: Session, ask: AskHooks, decision: Decision | None) -> Session:
    """
    Return the session after an event: with another event of the same role next, or the decision applied.

    No decision means that no hook ran.
    """
    if ask.more_events and not _is_final(decision):
        # Texts about a call or a prompt wait until that is settled; all others go to the agent now.
        kept = ask.call is not None or _is_prompt(ask)
        return (session if kept else _show_context(session, decision)).put_first(_next_event(ask, decision))
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
    texts = decision.to_agent if decision is not None else ()
    event = decision.event if decision is not None else ""
    notes = tuple(Message("context", text, event) for text in texts)
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
        return _show_context(session, decision)
    why = decision.halt or "; ".join(decision.reasons)
    return session.finish("halted", f"a hook of {decision.event} ended the turn: {why}", decision.rule)


def _show_context(session: Session, decision: Decision | None) -> Session:
    texts = decision.to_agent if decision is not None else ()
    event = decision.event if decision is not None else ""
    return session.add_messages(*(Message("context", text, event) for text in texts))


def _apply_by_role(session: Session, ask: AskHooks, decision: Decision | None) -> Session:
    match ask.role, ask.call:
        case Role.WORKTREE, _:
            return apply_worktree_decision(session, decision)
        case Role.EXPANSION, _:
            return apply_expansion_decision(session, str(ask.values["prompt"]), decision)
        case Role.PROMPT, _:
            return apply_prompt_decision(session, str(ask.values["prompt"]), decision, ask.expanded)
        case Role.STOP, _:
            return apply_stop_decision(session, decision)
        case Role.BEFORE_COMPACT, _:
            return apply_compaction_decision(session, str(ask.values["trigger"]), decision)
        case Role.AFTER_BATCH, _:
            return apply_batch_decision(session, decision)
        case Role.SESSION_END, _:
            return replace(session, prompt_id="")
        case Role.BEFORE_TOOL, call if call is not None:
            return apply_call_decision(session, call, decision)
        case Role.PERMISSION, call if call is not None:
            return apply_permission_decision(session, call, decision)
        case Role.AFTER_TOOL | Role.TOOL_FAILED, call if call is not None:
            return apply_result_decision(session, call, decision)
        case Role.TASK_CREATED | Role.TASK_COMPLETED, call if call is not None:
            return apply_task_decision(session, call, decision)
        case Role.SUBAGENT_STOP, call if call is not None:
            return apply_subagent_stop_decision(session, call, decision)
        case Role.SUBAGENT_START, _:
            return session
        case _:
            return _show_context(session, decision)
