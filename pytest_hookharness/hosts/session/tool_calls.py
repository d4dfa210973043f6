"""Tool calls: what the session does before and after each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_hookharness.hosts.hook_input.launch import select
from pytest_hookharness.hosts.hook_input.permission_rules import covers
from pytest_hookharness.hosts.rules.replies import Halting
from pytest_hookharness.hosts.rules.tools_and_transcript import result_message
from pytest_hookharness.hosts.rules.turns import AskEffect, FlagUse, ModeRefusal, Resets, Role
from pytest_hookharness.hosts.session.folders_and_files import remember_content, track_folder
from pytest_hookharness.hosts.session.limits import remember_move
from pytest_hookharness.hosts.session.starts_and_ends import attempt_stop
from pytest_hookharness.hosts.session_state.facts import derive_digest, derive_uuid
from pytest_hookharness.hosts.session_state.requests import (
    AskHooks,
    CloseBatch,
    CloseSession,
    MakeCall,
    PendingCall,
)
from pytest_hookharness.hosts.session_state.session_value import Session, context_notes
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import Message, Performance, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Decision, Json, Payload, Ruling
from pytest_hookharness.model.trace import Performed

_PLAIN_ARGUMENTS = re.compile(r"[\w ./,:@%+=-]*")
_PROMPT_KEYS = ("prompt", "message")


def plan_calls(session: Session, calls: Sequence[ToolCall], subagent: Subagent | None) -> Session:
    """Return the session with the calls of a move on its agenda."""
    tools, facts = session.profile.tools, session.facts
    tasks: list[AskHooks | MakeCall] = []
    for index, tool_call in enumerate(calls):
        starts = tool_call.name == tools.subagent != "" and tool_call.given is None
        started = subagent or (_read_subagent(tool_call) if starts else None)
        digest = derive_digest(facts.seed, "call", session.position)
        numbers = {"turn": max(session.moves - 1, 0), "index": index, "number": session.calls}
        name = tools.ids.call.format(digest=digest[:22], session=facts.session_id, **numbers)
        session = replace(session, position=session.position + 1, calls=session.calls + 1)
        call = PendingCall(tool_call=tool_call, use_id=name, subagent=started)
        if started is not None:
            uuid = derive_uuid(facts.seed, "agent", session.position)
            call = replace(call, agent_id=tools.ids.agent.format(digest=digest[22:38], uuid=uuid))
        refusal = _find_mode_refusal(session, tool_call)
        hooked = AskHooks(role=Role.BEFORE_TOOL, values=_call_values(session, call), call=call)
        tasks.append(hooked if refusal is None or refusal.after_hooks else MakeCall(call))
    session = replace(session, batch=(), pending_halt=None)
    cap = session.profile.cap
    if cap.resets is Resets.CALLS_TRIED:
        session = replace(session, refusals_in_row=0)
    if cap.flag is FlagUse.RESET_BY_CALLS:
        session = replace(session, stop_hook_active=False)
    # The agenda of a move: the hooks before each call; ``CloseBatch``, the event after all calls; the events
    # before the next request to the model; ``AwaitAct``. What a call needs beyond that (permission, the call
    # itself, the event after it) is added by ``Session.schedule`` once the hooks before it have replied.
    return session.ask_model().put_first(*tasks, CloseBatch())


def _read_subagent(tool_call: ToolCall) -> Subagent:
    kind = tool_call.input.get("subagent_type") or Subagent().kind
    prompt = next((tool_call.input[key] for key in _PROMPT_KEYS if key in tool_call.input), "")
    return Subagent(kind=str(kind), prompt=str(prompt))


def _call_values(session: Session, call: PendingCall) -> dict[str, Json]:
    return {
        "tool_name": call.tool_call.name,
        "tool_input": session.profile.tools.seen_as(call.tool_call),
        "tool_use_id": call.use_id,
    }


def apply_call_decision(session: Session, call: PendingCall, decision: Decision | None) -> Session:
    """Return the session after the decision on a call that is still to be made."""
    if decision is None:
        return session.schedule(*_permission_events(session, call, Ruling.NONE), MakeCall(call))
    rules = session.profile.answers(decision.event)
    if decision.halt is not None:
        # Some hosts end the turn here, some only after all calls of the move: then it stays pending.
        if rules.halting is Halting.AT_ONCE:
            session = _refuse(session, call, "", (), event=decision.event, shown=False)
            return session.finish("halted", f"a hook ended the turn: {decision.halt}", decision.rule)
        session = session.postpone_halt(decision)
    if decision.updated_input is not None:
        changed = decision.updated_input
        whole = {**call.tool_call.input, **changed} if rules.input_merges else changed
        call = replace(call, tool_call=replace(call.tool_call, input=whole), changed=tuple(changed))
    if decision.ruling is Ruling.DEFER:
        session = _refuse(session, call, "", (), event=decision.event, shown=False)
        return session.finish("halted", "a hook deferred a call, which ends the turn", decision.rule)
    asking = session.profile.turns.ask_effect
    if decision.ruling is Ruling.ASK and asking is AskEffect.WAITS:
        return _wait_for_user(session, call, decision)
    if decision.ruling is Ruling.DENY or (decision.ruling is Ruling.ASK and asking is AskEffect.REFUSED):
        text, *others = decision.to_agent
        return _refuse(session, call, text, others, event=decision.event)
    # The first text says that the question was refused; on this host it is answered with yes.
    notes = context_notes(decision)[1 if decision.ruling is Ruling.ASK else 0 :]
    call = replace(call, notes=(*call.notes, *notes))
    return session.schedule(*_permission_events(session, call, decision.ruling), MakeCall(call))


def _wait_for_user(session: Session, call: PendingCall, decision: Decision) -> Session:
    session = _refuse(session, call, "", (), event=decision.event, shown=False)
    why = "a hook asked for the user's approval, and the host waits for it without a limit"
    session = session.finish("waiting", why, decision.rule)
    notice = AskHooks(role=Role.NOTIFICATION, values=_call_values(session, call), incidental=True)
    return replace(session, agenda=(notice, CloseSession()))


def _refuse(
    session: Session, call: PendingCall, text: str, notes: Sequence[str], *, event: str, shown: bool = True
) -> Session:
    result = ToolResult(text=text, failed=True)
    refused = Performed(call=call.tool_call, result=result, refused=True)
    session = replace(session, performed=(*session.performed, refused), calls_refused=True)
    if not shown:
        return session
    session = _tell_refusal(session, call, Message("refusal", text, event))
    return session.add_messages(*(Message("context", note, event) for note in notes))


def _tell_refusal(session: Session, call: PendingCall, told: Message) -> Session:
    if session.profile.turns.batches_refused:
        tried = {**_call_values(session, call), "tool_response": told.text, "tool_failed": True}
        session = replace(session, batch=(*session.batch, {**tried, "tool_refused": True}))
    message = result_message(call.use_id, told.text, failed=True)
    return session.add_messages(told).write_line("user", message, toolUseResult=f"Error: {told.text}")


def _find_mode_refusal(session: Session, tool_call: ToolCall) -> ModeRefusal | None:
    mode, refusals = session.facts.permission_mode, session.profile.turns.refused_by_mode
    found = next((one for one in refusals if mode in one.modes and tool_call.name in one.texts), None)
    return None if found is not None and _is_allowed(session, tool_call) else found


def _is_allowed(session: Session, tool_call: ToolCall) -> bool:
    """Return whether a permission rule of the settings allows a call."""
    name, given, folder = tool_call.name, tool_call.input, session.facts.workspace
    return any(covers(rule, name, given, folder) for rule in session.configuration.allowed)


def refuse_by_mode(session: Session, call: PendingCall) -> Session | None:
    """Return the session after the permission mode refused a call; ``None`` if it does not."""
    refusal = _find_mode_refusal(session, call.tool_call)
    if refusal is None:
        return None
    # No hook refused it: for what a scenario expects of hooks it is a call that failed.
    text = refusal.texts[call.tool_call.name]
    done = Performed(call=call.tool_call, result=ToolResult(text=text, failed=True))
    session = replace(session, performed=(*session.performed, done))
    return _tell_refusal(session, call, Message("result", text))


def _permission_events(session: Session, call: PendingCall, ruling: Ruling) -> tuple[AskHooks, ...]:
    # Nobody answers a permission dialog here. Without a hook for it, a call that no hook denied is allowed.
    rule = session.profile.by_role(Role.PERMISSION)
    name, given, mode = call.tool_call.name, call.tool_call.input, session.facts.permission_mode
    turns, tools = session.profile.turns, session.profile.tools
    if rule is None or ruling is Ruling.ALLOW or mode in turns.unasked_modes or name not in tools.gated:
        return ()
    if mode == turns.edits_mode and (name in tools.edits or _only_edits(given, turns.edit_commands)):
        return ()
    hooks, folder = session.configuration.hooks, session.facts.workspace
    if _is_allowed(session, call.tool_call):
        return ()
    if not select(session.profile, hooks, rule.name, name, tool_input=given, folder=folder):
        return ()
    reason = tools.asks(call.tool_call)
    if reason is None:
        return ()
    values = _call_values(session, call)
    values |= {"permission_suggestions": _suggestions(session, name, given), "permission_reason": reason}
    return (AskHooks(role=Role.PERMISSION, values=values, call=call),)


def _suggestions(session: Session, name: str, given: Payload) -> list[Json]:
    turns, tools = session.profile.turns, session.profile.tools
    if not turns.edits_mode or not (name in tools.edits or _only_edits(given, turns.edit_commands)):
        return []
    mode: Payload = {"type": "setMode", "mode": turns.edits_mode, "destination": "session"}
    if name in tools.edits:
        return [mode]
    return [{"type": "addDirectories", "directories": [session.cwd], "destination": "session"}, mode]


def _only_edits(given: Payload, commands: Sequence[str]) -> bool:
    # One command with plain arguments: anything else could do more.
    name, _, arguments = str(given.get("command", "")).partition(" ")
    return name in commands and _PLAIN_ARGUMENTS.fullmatch(arguments) is not None


def apply_permission_decision(session: Session, call: PendingCall, decision: Decision | None) -> Session:
    """Return the session after the decision on a permission. The call itself is next on the agenda."""
    if decision is None:
        return session
    session = session.postpone_halt(decision)
    # ``apply_call_decision`` has put the call right after its permission; it is taken off or changed here.
    place = next(at for at, task in enumerate(session.agenda) if isinstance(task, MakeCall))
    before, rest = session.agenda[:place], session.agenda[place + 1 :]
    if decision.ruling is Ruling.DENY:
        default = f"Permission to use {call.tool_call.name} was denied."
        text = decision.to_agent[-1] if decision.to_agent else default
        return _refuse(replace(session, agenda=(*before, *rest)), call, text, (), event=decision.event)
    if decision.updated_input is not None:
        call = replace(call, tool_call=replace(call.tool_call, input=decision.updated_input))
        return replace(session, agenda=(*before, MakeCall(call), *rest))
    return session


def finish_call(session: Session, call: PendingCall, done: Performance | ToolResult) -> Session:
    """Return the session after a call was made, or its result was taken from the scenario."""
    tools = session.profile.tools
    events: tuple[AskHooks, ...] = ()
    if isinstance(done, Performance):
        session, done, events = track_folder(remember_content(session, call, done), done)
        result = tools.result(call.tool_call, done, session.cwd)
    else:
        result = tools.given(call.tool_call, done)
    call, refused = replace(call, result=result), bool(call.refused_on)
    made = {**_call_values(session, call), "tool_response": result.text, "tool_failed": result.failed}
    made["response"] = result.response
    session = replace(
        session,
        performed=(*session.performed, Performed(call=call.tool_call, result=result, refused=refused)),
        calls_refused=session.calls_refused or refused,
        batch=(*session.batch, made),
        position=session.position + 1,
    )
    if session.profile.cap.resets is Resets.CALLS_DONE and not refused:
        session = replace(session, refusals_in_row=0, calls_refused=False)
    # A call that failed with a response of its own counts as done for hosts that search for repetitions.
    kind = "failed" if result.failed and result.response is None else "call"
    stuck = session.profile.stuck
    if stuck is not None and not stuck.before_call:
        content = (call.tool_call.name, sorted(call.tool_call.input.items()), result.text)
        session = remember_move(session, kind, *content)
    return session.schedule(*events, _result_event(session, call, result))


def _result_event(session: Session, call: PendingCall, result: ToolResult) -> AskHooks:
    # Made up like all values of the host: 3 to 42 ms, always the same for a seed and position.
    duration = 3 + int(derive_digest(session.facts.seed, "duration", session.position)[:2], 16) % 40
    values: dict[str, Json] = {**_call_values(session, call), "duration_ms": duration}
    after, failed = (session.profile.by_role(role) for role in (Role.AFTER_TOOL, Role.TOOL_FAILED))
    # A host without an event for failures runs the event after a call for them too, or else no hook.
    if result.failed and (failed is not None or (after is not None and not after.after_failures)):
        values |= {"error": result.text, "is_interrupt": False}
        return AskHooks(role=Role.TOOL_FAILED, values=values, call=call)
    values |= {"tool_response": result.response, "tool_text": result.text, "tool_failed": result.failed}
    return AskHooks(role=Role.AFTER_TOOL, values=values, call=call)


def _result_text(session: Session, call: PendingCall, decision: Decision | None) -> str:
    text = call.result.text if call.result is not None else ""
    if decision is not None and decision.updated_output is not None:
        text = str(decision.updated_output)
    if call.changed:
        text += session.profile.wording.modified.format(changed=", ".join(call.changed))
    return text


def apply_result_decision(session: Session, call: PendingCall, decision: Decision | None) -> Session:
    """Return the session after the decision on the result of a call: the agent gets the result."""
    result = call.result or ToolResult()
    text = _result_text(session, call, decision)
    kind = "refusal" if call.refused_on else "result"
    session = session.add_messages(Message(kind, text, call.refused_on), *call.notes)
    message = result_message(call.use_id, text, failed=result.failed)
    structured = f"Error: {text}" if result.failed else result.response
    session = session.write_line("user", message, toolUseResult=structured)
    if decision is None:
        return session
    kind = "feedback" if decision.ruling is Ruling.DENY else "context"
    session = session.add_messages(*(Message(kind, text, decision.event) for text in decision.to_agent))
    if decision.halt is not None and session.profile.answers(decision.event).halting is Halting.AT_ONCE:
        return session.finish("halted", f"a hook ended the turn: {decision.halt}", decision.rule)
    return session.postpone_halt(decision)


def close_batch(session: Session) -> Session:
    """Return the session after all calls of a move."""
    if not session.batch:
        return apply_batch_decision(session, None)
    calls: list[Payload] = [
        {key: one[key] for key in ("tool_name", "tool_input", "tool_use_id", "tool_response")}
        for one in session.batch
    ]
    ended: list[Json] = [
        "refused" if one.get("tool_refused") else "failed" if one["tool_failed"] else "success"
        for one in session.batch
    ]
    responses = [one.get("response") for one in session.batch]
    values: Payload = {"tool_calls": calls, "tool_calls_ended": ended, "tool_responses": responses}
    return session.put_first(AskHooks(role=Role.AFTER_BATCH, values=values))


def apply_batch_decision(session: Session, decision: Decision | None) -> Session:
    """Return the session after the decision on all calls of a move."""
    if decision is not None:
        if decision.updated_output is not None:
            session = session.replace_result(str(decision.updated_output))
        session = session.add_messages(*context_notes(decision))
        if decision.halt is not None or decision.refused:
            return session.halt(decision, "ended the turn after its calls")
    if session.pending_halt is not None:
        text, rule = session.pending_halt
        return session.finish("halted", f"a hook ended the turn: {text}", rule)
    finishing = session.profile.turns.finishing
    last = next((one for one in session.batch if one["tool_name"] in finishing), None)
    if last is not None:
        key, given = finishing[str(last["tool_name"])], last["tool_input"]
        text = str(given.get(key, "")) if isinstance(given, Mapping) else ""
        # The call ends the turn, so the next request that ``plan_calls`` put on the agenda is dropped: the
        # events before it and ``AwaitAct``.
        planned = len(session.profile.turns.before_request) + 1
        return attempt_stop(replace(session, agenda=session.agenda[planned:]), text)
    if session.profile.turns.asks_after_calls:
        return session.put_first(AskHooks(role=Role.PROMPT, values={"prompt": ""}, incidental=True))
    return session
