"""
This module is concerned with settling: what a session does with what its hooks decided, event by event.

Middle floor: hosts.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.calls import settle_after, settle_batch, settle_before, settle_permission
from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.hosts.state import Ask, Session
from pytest_hookharness.hosts.stops import settle_stop
from pytest_hookharness.hosts.subagents import settle_subagent_stop
from pytest_hookharness.hosts.tasks import settle_task
from pytest_hookharness.hosts.turns import settle_compaction, settle_expansion, settle_prompt
from pytest_hookharness.hosts.worktrees import settle_worktree
from pytest_hookharness.model.moves import Message
from pytest_hookharness.model.protocol import Decision


def settle(session: Session, ask: Ask, decision: Decision | None) -> Session:
    """
    The session after an event: another one of the same role, or what the decision leads to.
    """
    if ask.later and (decision is None or not (decision.refused or decision.halt is not None)):
        return session.first(_pass_on(ask, decision))
    if ask.aside:
        return _tell(session, decision)
    return _settle_role(session, ask, decision)


def _pass_on(ask: Ask, decision: Decision | None) -> Ask:
    """
    The question for the next event of the same role, with what came of this one.
    """
    call, values = ask.call, ask.values
    if decision is not None and call is not None:
        notes = tuple(Message("context", text, decision.event) for text in decision.to_agent)
        call = replace(call, notes=(*call.notes, *notes))
        if decision.updated_input is not None:
            call = replace(call, made=replace(call.made, input=decision.updated_input))
            values = {**values, "tool_input": decision.updated_input}
    return Ask(
        role=ask.role,
        values=values,
        call=call,
        expanded=ask.expanded,
        aside=ask.aside,
        event=ask.later[0],
        later=ask.later[1:],
    )


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
