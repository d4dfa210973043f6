"""What follows the hooks of an event: the decision applied by role, task changes, and subagents."""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.rules.tools_and_transcript import TaskStep, assistant_message, user_message
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session.limits import reported_flag
from pytest_hookharness.hosts.session.moves_and_events import (
    apply_compaction_decision,
    apply_expansion_decision,
    apply_prompt_decision,
)
from pytest_hookharness.hosts.session.starts_and_ends import apply_stop_decision, apply_worktree_decision
from pytest_hookharness.hosts.session.tool_calls import (
    apply_batch_decision,
    apply_call_decision,
    apply_permission_decision,
    apply_result_decision,
    finish_call,
)
from pytest_hookharness.hosts.session_state.requests import (
    AskHooks,
    AwaitSubagent,
    ExpandedPrompt,
    Lines,
    NextAct,
    PendingCall,
)
from pytest_hookharness.hosts.session_state.session_value import Session, context_notes
from pytest_hookharness.model.moves import Message, Observation, Subagent, SubagentText, ToolResult
from pytest_hookharness.model.protocol import Decision, Json, Payload


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
    text = move.texts[0]
    response = session.profile.tools.launched(call.tool_call.input, {**values, "text": text})
    # The subagent makes no tool calls: it gets a prompt, says its text and stops.
    session = _write_lines(replace(session, subagent_line="", subagent_texts=0), call, ("user", prompt))
    session = _write_lines(session, call, ("assistant", text))
    session = finish_call(session, call, ToolResult(text=text, response=response))
    start = AskHooks(role=Role.SUBAGENT_START, values=_agent_values(call, move), call=call)
    stop = _stop_event(session, call, move, text, active=False)
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


def _stop_event(session: Session, call: PendingCall, move: Subagent, text: str, *, active: bool) -> AskHooks:
    named, before = _agent_values(call, move), session.subagent_texts
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
        "last_assistant_message": text,
        "background_tasks": [task],
        "session_crons": [],
    }
    return AskHooks(role=Role.SUBAGENT_STOP, values=values, call=call)


def _write_lines(session: Session, call: PendingCall, *lines: tuple[str, str]) -> Session:
    """Return the session with lines for the subagent's own transcript, chained by their ids."""
    if not session.profile.transcript.subagent_path:
        return session
    records: list[Payload] = []
    for kind, text in lines:
        line, session = session.make_id("line")
        message = user_message(text)
        if kind == "assistant":
            block = {"type": "text", "text": text}
            message = assistant_message(f"msg_{line[:8]}", session.facts.model, block, "end_turn")
        blank = session.blank_line(line, session.subagent_line, call.agent_id)
        records.append(session.profile.transcript.put_message(blank, kind, message, {}))
        session = replace(session, subagent_line=line)
    added = Lines(path=_transcript_path(session, call), records=tuple(records))
    return replace(session, subagent_lines=(*session.subagent_lines, added))


def apply_subagent_stop_decision(session: Session, call: PendingCall, decision: Decision | None) -> Session:
    """Return the session after the decision on a subagent's stop. A refused subagent says its next text."""
    move = call.subagent
    if decision is None or not decision.refused or move is None:
        if move is not None:
            session = _deliver(session, move)
        return replace(session, subagent_refusals=0, subagent_texts=0)
    session = _write_lines(session, call, *(("user", text) for text in decision.to_agent))
    messages = tuple(Message("feedback", text, decision.event) for text in decision.to_agent)
    session = replace(
        session,
        subagent_refusals=session.subagent_refusals + 1,
        subagent_texts=session.subagent_texts + 1,
    )
    return session.put_first(AwaitSubagent(call=call, messages=messages))


def _current_text(session: Session, move: Subagent) -> str:
    return move.texts[min(session.subagent_texts, len(move.texts) - 1)]


def _deliver(session: Session, move: Subagent) -> Session:
    """Return the session whose agent receives the subagent's last text instead of its first one."""
    first, last = move.texts[0], _current_text(session, move)
    places = [
        place for place, one in enumerate(session.messages) if one.kind == "result" and first in one.text
    ]
    if first == last or not first or not places:
        return session
    received = session.messages[places[-1]]
    changed = replace(received, text=received.text.replace(first, last, 1))
    before, after = session.messages[: places[-1]], session.messages[places[-1] + 1 :]
    return replace(session, messages=(*before, changed, *after))


def ask_subagent(session: Session, task: AwaitSubagent) -> tuple[Session, NextAct]:
    """Return the request for the next text of a subagent whose stop was refused."""
    move = task.call.subagent or Subagent()
    request = NextAct(
        observation=Observation(task.messages),
        records=session.records,
        transcript_path=session.facts.transcript_path,
        given=SubagentText(kind=move.kind, text=_current_text(session, move)),
        subagent_lines=session.subagent_lines,
    )
    return replace(session, waiting=task), request


def continue_subagent(session: Session, call: PendingCall, text: str) -> Session:
    """Return the session after a refused subagent said another text: it wants to stop again."""
    session = _write_lines(session, call, ("assistant", text))
    return session.put_first(_stop_event(session, call, call.subagent or Subagent(), text, active=True))
