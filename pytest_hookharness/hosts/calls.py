"""
This module is concerned with tool calls: what a session does before and after each.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_hookharness.hosts.events import Role
from pytest_hookharness.hosts.folders import follow
from pytest_hookharness.hosts.identifiers import derive_digest
from pytest_hookharness.hosts.matching import covers, select
from pytest_hookharness.hosts.state import Ask, Call, CloseBatch, Listen, Perform, Session
from pytest_hookharness.hosts.transcripts import result_message
from pytest_hookharness.model.moves import Message, Performance, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Decision, Json, Payload, Ruling
from pytest_hookharness.model.trace import Performed

_UNASKED_MODES = ("bypassPermissions", "dontAsk")


def plan_calls(session: Session, made: Sequence[ToolCall], subagent: Subagent | None) -> Session:
    """
    The session with a move's calls on its agenda, one after the other.
    """
    tasks: list[Ask | CloseBatch | Listen] = []
    for one in made:
        launch = subagent
        if launch is None and one.name == session.profile.tools.subagent and one.given is None:
            kind, prompt = one.input.get("subagent_type"), one.input.get("prompt")
            launch = Subagent(kind=str(kind or Subagent().kind), prompt=str(prompt or ""))
        digest = derive_digest(session.facts.seed, "call", session.position)
        session = replace(session, position=session.position + 1)
        call = Call(made=one, use_id=f"toolu_01{digest[:22]}", launch=launch)
        if launch is not None:
            call = replace(call, agent_id=f"a{digest[22:38]}")
        tasks.append(Ask(role=Role.BEFORE_TOOL, values=_describe(call), call=call))
    session = replace(session, batch=(), halt=None)
    return session.first(*tasks, CloseBatch(), Listen())


def _describe(call: Call) -> dict[str, Json]:
    return {
        "tool_name": call.made.name,
        "tool_input": call.made.input,
        "tool_use_id": call.use_id,
    }


def settle_before(session: Session, call: Call, decision: Decision | None) -> Session:
    """
    What follows once the hooks before a call have spoken.
    """
    if decision is None:
        return session.first(*_permission(session, call, Ruling.NONE), Perform(call))
    if decision.halt is not None:
        session = replace(session, halt=(decision.halt, decision.rule))
    if decision.updated_input is not None:
        call = replace(call, made=replace(call.made, input=decision.updated_input))
    if decision.ruling is Ruling.DEFER:
        session = _refuse(session, call, "", (), event=decision.event, told=False)
        return session.finish("halted", "a hook put a call off, which ends the turn", decision.rule)
    if decision.ruling in (Ruling.DENY, Ruling.ASK):
        text, *others = decision.to_agent
        return _refuse(session, call, text, others, event=decision.event)
    notes = tuple(Message("context", text, decision.event) for text in decision.to_agent)
    call = replace(call, notes=notes)
    return session.first(*_permission(session, call, decision.ruling), Perform(call))


def _refuse(
    session: Session, call: Call, text: str, notes: Sequence[str], *, event: str, told: bool = True
) -> Session:
    result = ToolResult(text=text, failed=True)
    refused = Performed(call=call.made, result=result, refused=True)
    session = replace(session, performed=(*session.performed, refused), calls_refused=True)
    if not told:
        return session
    contexts = (Message("context", note, event) for note in notes)
    session = session.tell(Message("refusal", text, event), *contexts)
    message = result_message(call.use_id, text, failed=True)
    return session.write("user", message, toolUseResult=f"Error: {text}")


def _permission(session: Session, call: Call, ruling: Ruling) -> tuple[Ask, ...]:
    # With no hook to ask, the simulation lets every call through that no hook denied.
    rule = session.profile.by_role(Role.PERMISSION)
    made, mode = call.made, session.facts.permission_mode
    if rule is None or ruling is Ruling.ALLOW or mode in _UNASKED_MODES:
        return ()
    if made.name not in session.profile.tools.gated or (mode == "acceptEdits" and made.name != "Bash"):
        return ()
    if any(covers(allowed, made.name, made.input) for allowed in session.configuration.allowed):
        return ()
    if not select(session.profile, session.configuration.hooks, rule.name, made.name, tool_input=made.input):
        return ()
    edits = "file_path" in made.input
    suggestion: Payload = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    values: Payload = {
        "tool_name": made.name,
        "tool_input": made.input,
        "permission_suggestions": [suggestion] if edits else [],
    }
    return (Ask(role=Role.PERMISSION, values=values, call=call),)


def settle_permission(session: Session, call: Call, decision: Decision | None) -> Session:
    """
    What follows once the hooks were asked for a permission; the call itself is next on the agenda.
    """
    if decision is None:
        return session
    if decision.halt is not None:
        session = replace(session, halt=(decision.halt, decision.rule))
    rest = session.agenda[1:]
    if decision.ruling is Ruling.DENY:
        words = session.profile.wording.denied.format(tool=call.made.name)
        text = decision.to_agent[-1] if decision.to_agent else words
        return _refuse(replace(session, agenda=rest), call, text, (), event=decision.event)
    if decision.updated_input is not None:
        call = replace(call, made=replace(call.made, input=decision.updated_input))
        return replace(session, agenda=(Perform(call), *rest))
    return session


def conclude(session: Session, call: Call, done: Performance | ToolResult) -> Session:
    """
    What follows once a call was made, or its result was given.
    """
    tools = session.profile.tools
    asked: tuple[Ask, ...] = ()
    if isinstance(done, Performance):
        session, done, asked = follow(session, done)
        result = tools.result(call.made, done, session.cwd)
    else:
        result = tools.given(call.made, done)
    call, refused = replace(call, result=result), bool(call.refused_on)
    session = replace(
        session,
        performed=(*session.performed, Performed(call=call.made, result=result, refused=refused)),
        calls_refused=session.calls_refused or refused,
        batch=(*session.batch, {**_describe(call), "tool_response": result.text}),
        position=session.position + 1,
    )
    if session.profile.guard.reset_by_tools and not refused:
        session = replace(session, streak=0, calls_refused=False)
    return session.first(*asked, _after(session, call, result))


def _after(session: Session, call: Call, result: ToolResult) -> Ask:
    duration = 3 + int(derive_digest(session.facts.seed, "duration", session.position)[:2], 16) % 40
    values: dict[str, Json] = {**_describe(call), "duration_ms": duration}
    if result.failed:
        values |= {"error": result.text, "is_interrupt": False}
        return Ask(role=Role.TOOL_FAILED, values=values, call=call)
    values["tool_response"] = result.response
    return Ask(role=Role.AFTER_TOOL, values=values, call=call)


def settle_after(session: Session, call: Call, decision: Decision | None) -> Session:
    """
    What follows once the hooks after a call have spoken: the agent gets its result.
    """
    result = call.result or ToolResult()
    text = result.text
    if decision is not None and decision.updated_output is not None:
        changed = decision.updated_output
        text = changed if isinstance(changed, str) else str(changed)
    kind = "refusal" if call.refused_on else "result"
    session = session.tell(Message(kind, text, call.refused_on), *call.notes)
    message = result_message(call.use_id, text, failed=result.failed)
    structured = f"Error: {text}" if result.failed else result.response
    session = session.write("user", message, toolUseResult=structured)
    if decision is None:
        return session
    kind = "feedback" if decision.ruling is Ruling.DENY else "context"
    session = session.tell(*(Message(kind, told, decision.event) for told in decision.to_agent))
    if decision.halt is not None:
        session = replace(session, halt=(decision.halt, decision.rule))
    return session


def close_batch(session: Session) -> Session:
    """
    What follows once all calls of a move are made.
    """
    if not session.batch:
        return settle_batch(session, None)
    calls: list[Payload] = [
        {key: one[key] for key in ("tool_name", "tool_input", "tool_use_id", "tool_response")}
        for one in session.batch
    ]
    return session.first(Ask(role=Role.AFTER_BATCH, values={"tool_calls": calls}))


def settle_batch(session: Session, decision: Decision | None) -> Session:
    """
    What follows once the hooks after all calls have spoken.
    """
    if decision is not None:
        session = session.tell(*(Message("context", text, decision.event) for text in decision.to_agent))
        if decision.halt is not None or decision.refused:
            why = decision.halt or "; ".join(decision.reasons)
            return session.finish("halted", f"a hook ended the turn after its calls: {why}", decision.rule)
    if session.halt is not None:
        text, rule = session.halt
        return session.finish("halted", f"a hook ended the turn: {text}", rule)
    return session
