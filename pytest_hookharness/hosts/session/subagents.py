"""
Subagents: their start, their stop, and the texts that they say after a refusal.

On some hosts the agent waits for a subagent. On others it goes on, and a notice tells it when the subagent
has ended: as a prompt if nothing runs by then, and otherwise with what the agent sees next. Such a subagent
is taken to end right after the next stop of the agent that started it.
"""

from __future__ import annotations

from pytest_hookharness.hosts.rules.tools_and_transcript import assistant_message, user_message
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session.limits import reported_flag
from pytest_hookharness.hosts.session.starts_and_ends import begin_turn, running_task
from pytest_hookharness.hosts.session.tool_calls import finish_call
from pytest_hookharness.hosts.session_state.requests import (
    AskHooks,
    AwaitSubagent,
    NextAct,
    PendingCall,
    Task,
)
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import Message, Observation, Subagent, SubagentText, ToolResult
from pytest_hookharness.model.protocol import Decision, Json, Payload


def launch_subagent(session: Session, call: PendingCall, move: Subagent) -> Session:
    """Return the session after the permitted call of a subagent."""
    tools, given = session.profile.tools, call.tool_call.input
    prompt = str(given.get("prompt", given.get("message", move.prompt)))
    text = move.texts[0]
    response = tools.launched(given, _template_values(session, call, text))
    # The subagent makes no tool calls: it gets a prompt, says its text and stops.
    session = _write_lines(replace(session, subagent_line="", subagent_texts=0), call, ("user", prompt))
    session = _write_lines(session, call, ("assistant", text))
    result = tools.started.format(**_template_values(session, call, text)) if tools.notice else text
    session = finish_call(session, call, ToolResult(text=result, response=response))
    start = AskHooks(role=Role.SUBAGENT_START, values=_agent_values(call, move), call=call)
    prompted = AskHooks(
        role=Role.PROMPT, values={**_agent_values(call, move), "prompt": prompt}, call=call, incidental=True
    )
    first = (start, prompted) if session.profile.turns.subagent_prompts else (start,)
    # ``finish_call`` has planned the event after the call. Around it go the subagent's own events: its start
    # before it, and its stop on either side, unless the subagent goes on in the background.
    place = next(at for at, task in enumerate(session.agenda) if _is_result(task, call))
    before, after, rest = session.agenda[:place], session.agenda[place], session.agenda[place + 1 :]
    if tools.notice:
        session = replace(session, background=(*session.background, call))
        return replace(session, agenda=(*before, *first, after, *rest))
    stop = _stop_event(session, call, move, text, active=False)
    ends = (stop, after) if tools.stops_first else (after, stop)
    return replace(session, agenda=(*before, *first, *ends, *rest))


def _is_result(task: Task, call: PendingCall) -> bool:
    if not isinstance(task, AskHooks) or task.call is None:
        return False
    return task.role in (Role.AFTER_TOOL, Role.TOOL_FAILED) and task.call.use_id == call.use_id


def _template_values(session: Session, call: PendingCall, text: str = "") -> dict[str, str]:
    description = str(call.tool_call.input.get("description", ""))
    own = {"agent": call.agent_id, "call": call.use_id, "text": text, "description": description}
    return {**session.facts.template_values, **own}


def end_background(session: Session) -> Session:
    """
    Return the session after a stop of its agent: the oldest subagent in the background wants to stop next.

    If the agent goes on, all others do so too.
    """
    calls = session.background if session.in_turn else session.background[:1]
    moves = [(call, call.subagent or Subagent()) for call in calls]
    stops = (_stop_event(session, call, move, move.texts[0], active=False) for call, move in moves)
    return session.put_first(*stops)


def _agent_values(call: PendingCall, move: Subagent) -> dict[str, Json]:
    return {
        "agent_id": call.agent_id,
        "agent_type": str(call.tool_call.input.get("subagent_type", move.kind)),
    }


def _transcript_path(session: Session, call: PendingCall) -> str:
    return session.profile.transcript.subagent_path.format(**_template_values(session, call))


def _stop_event(session: Session, call: PendingCall, move: Subagent, text: str, *, active: bool) -> AskHooks:
    named, before = _agent_values(call, move), session.subagent_texts
    values: dict[str, Json] = {
        **named,
        "stop_hook_active": reported_flag(session, before, refused=active),
        "stops_refused": before,
        "stops_asked": before + 1,
        "agent_transcript_path": _transcript_path(session, call),
        "last_assistant_message": text,
        "background_tasks": [running_task(one) for one in session.background or (call,)],
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
    return session.add_lines(_transcript_path(session, call), *records)


def apply_subagent_stop_decision(session: Session, call: PendingCall, decision: Decision | None) -> Session:
    """Return the session after the decision on a subagent's stop. A refused subagent says its next text."""
    move = call.subagent
    if move is None:
        return session
    if decision is None or not decision.refused:
        if session.profile.tools.notice:
            return _announce_end(session, call, move)
        return replace(_deliver(session, call, move), subagent_refusals=0, subagent_texts=0)
    session = _write_lines(session, call, *(("user", text) for text in decision.to_agent))
    messages = tuple(Message("feedback", text, decision.event) for text in decision.to_agent)
    session = replace(
        session,
        subagent_refusals=session.subagent_refusals + 1,
        subagent_texts=session.subagent_texts + 1,
    )
    return session.put_first(AwaitSubagent(call=call, messages=messages))


def _announce_end(session: Session, call: PendingCall, move: Subagent) -> Session:
    """Return the session whose agent is told that a subagent in the background has ended."""
    values = _template_values(session, call, _current_text(session, move))
    text = session.profile.tools.notice.format(**values)
    others = tuple(one for one in session.background if one.use_id != call.use_id)
    session = replace(session, background=others, subagent_refusals=0, subagent_texts=0)
    if session.in_turn:
        return session.add_messages(Message("context", text))
    # Nothing runs, so the notice is a prompt of its own.
    return replace(begin_turn(session, text), agenda=(AskHooks(role=Role.PROMPT, values={"prompt": text}),))


def _current_text(session: Session, move: Subagent) -> str:
    return move.texts[min(session.subagent_texts, len(move.texts) - 1)]


def _deliver(session: Session, call: PendingCall, move: Subagent) -> Session:
    """Return the session whose agent receives the subagent's last text instead of its first one."""
    first, last = move.texts[0], _current_text(session, move)
    if session.profile.tools.stops_first and first != last:
        agenda = (
            _with_text(session, task, last) if _is_result(task, call) else task for task in session.agenda
        )
        return replace(session, agenda=tuple(agenda))
    places = [
        place for place, one in enumerate(session.messages) if one.kind == "result" and first in one.text
    ]
    if first == last or not first or not places:
        return session
    received = session.messages[places[-1]]
    changed = replace(received, text=received.text.replace(first, last, 1))
    before, after = session.messages[: places[-1]], session.messages[places[-1] + 1 :]
    return replace(session, messages=(*before, changed, *after))


def _with_text(session: Session, task: Task, text: str) -> Task:
    if not isinstance(task, AskHooks) or task.call is None:
        return task
    known = _template_values(session, task.call, text)
    result = ToolResult(text=text, response=session.profile.tools.launched(task.call.tool_call.input, known))
    values = {**task.values, "tool_response": result.response, "tool_text": text}
    return replace(task, call=replace(task.call, result=result), values=values)


def ask_subagent(session: Session, task: AwaitSubagent) -> tuple[Session, NextAct]:
    """Return the request for the next text of a subagent whose stop was refused."""
    move = task.call.subagent or Subagent()
    text = SubagentText(kind=move.kind, text=_current_text(session, move))
    return replace(session, waiting=task), NextAct(observation=Observation(task.messages), given=text)


def continue_subagent(session: Session, call: PendingCall, text: str) -> Session:
    """Return the session after a refused subagent said another text: it wants to stop again."""
    session = _write_lines(session, call, ("assistant", text))
    return session.put_first(_stop_event(session, call, call.subagent or Subagent(), text, active=True))
