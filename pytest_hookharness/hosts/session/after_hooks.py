"""
Settling: what a session does with what its hooks decided, event by event.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.rules.roles import Role
from pytest_hookharness.hosts.session.moves_and_events import (
    settle_compaction,
    settle_expansion,
    settle_prompt,
)
from pytest_hookharness.hosts.session.subagents import settle_subagent_stop, settle_task
from pytest_hookharness.hosts.session.tool_calls import (
    settle_after,
    settle_batch,
    settle_before,
    settle_permission,
)
from pytest_hookharness.hosts.session.turn_ends import settle_stop
from pytest_hookharness.hosts.session.workspace_view import settle_worktree
from pytest_hookharness.hosts.session_state.requests import Ask, Expanded
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.model.moves import Message
from pytest_hookharness.model.protocol import Decision


def settle(session: Session, ask: Ask, decision: Decision | None) -> Session:
    """
    The session after an event: another one of the same role, or what the decision leads to.
    """
    if ask.later and not _is_final(decision):
        kept = ask.call is not None or _is_prompt(ask)
        return (session if kept else _tell(session, decision)).first(_pass_on(ask, decision))
    if ask.aside:
        return _settle_aside(session, ask, decision)
    return _settle_role(session, ask, decision)


def _is_final(decision: Decision | None) -> bool:
    return decision is not None and (decision.refused or decision.overridden or decision.halt is not None)


def _is_prompt(ask: Ask) -> bool:
    return ask.role is Role.PROMPT and not ask.aside


def _pass_on(ask: Ask, decision: Decision | None) -> Ask:
    """
    The question for the next event of the same role, with what came of this one.
    """
    call, values, expanded = ask.call, ask.values, ask.expanded
    told = decision.to_agent if decision is not None else ()
    event = decision.event if decision is not None else ""
    notes = tuple(Message("context", text, event) for text in told)
    if call is not None:
        call = replace(call, notes=(*call.notes, *notes))
        if decision is not None and decision.updated_input is not None:
            call = replace(call, made=replace(call.made, input=decision.updated_input))
            values = {**values, "tool_input": decision.updated_input}
        if decision is not None and decision.updated_output is not None and call.result is not None:
            call = replace(call, result=replace(call.result, text=str(decision.updated_output)))
    elif _is_prompt(ask):
        seen = expanded or Expanded(str(values["prompt"]))
        expanded = replace(seen, notes=(*seen.notes, *notes))
    return Ask(
        role=ask.role,
        values=values,
        call=call,
        expanded=expanded,
        aside=ask.aside,
        event=ask.later[0],
        later=ask.later[1:],
    )


def _settle_aside(session: Session, ask: Ask, decision: Decision | None) -> Session:
    """
    The session after something that was asked on the way: a refusal with power ends the turn.

    What is asked about a call ends nothing: the call itself has been settled, or will be.
    """
    ends = decision is not None and (decision.refused or decision.halt is not None)
    if decision is None or not ends or ask.call is not None or not session.in_turn:
        return _tell(session, decision)
    why = decision.halt or "; ".join(decision.reasons)
    return session.finish("halted", f"a hook of {decision.event} ended the turn: {why}", decision.rule)


def _tell(session: Session, decision: Decision | None) -> Session:
    texts = decision.to_agent if decision is not None else ()
    event = decision.event if decision is not None else ""
    return session.tell(*(Message("context", text, event) for text in texts))


def _settle_role(session: Session, ask: Ask, decision: Decision | None) -> Session:
    match ask.role, ask.call:
        case Role.WORKTREE, _:
            return settle_worktree(session, decision)
        case Role.EXPANSION, _:
            return settle_expansion(session, str(ask.values["prompt"]), decision)
        case Role.PROMPT, _:
            return settle_prompt(session, str(ask.values["prompt"]), decision, ask.expanded)
        case Role.STOP, _:
            return settle_stop(session, decision)
        case Role.BEFORE_COMPACT, _:
            return settle_compaction(session, str(ask.values["trigger"]), decision)
        case Role.AFTER_BATCH, _:
            return settle_batch(session, decision)
        case Role.SESSION_END, _:
            return replace(session, prompt_id="")
        case Role.BEFORE_TOOL, call if call is not None:
            return settle_before(session, call, decision)
        case Role.PERMISSION, call if call is not None:
            return settle_permission(session, call, decision)
        case Role.AFTER_TOOL | Role.TOOL_FAILED, call if call is not None:
            return settle_after(session, call, decision)
        case Role.TASK_CREATED | Role.TASK_COMPLETED, call if call is not None:
            return settle_task(session, call, decision)
        case Role.SUBAGENT_STOP, call if call is not None:
            return settle_subagent_stop(session, call, decision)
        case Role.SUBAGENT_START, _:
            return session
        case _:
            return _tell(session, decision)
