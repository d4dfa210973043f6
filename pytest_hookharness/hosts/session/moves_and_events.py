"""What the session does with an act: a move of the agent, or an event of the script."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import assert_never

from pytest_hookharness.hosts.rules.tools_and_transcript import assistant_message, user_message
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session import starts_and_ends
from pytest_hookharness.hosts.session.limits import end_if_stuck, remember_move
from pytest_hookharness.hosts.session.tool_calls import plan_calls
from pytest_hookharness.hosts.session_state.facts import derive_uuid, expand_command, find_command
from pytest_hookharness.hosts.session_state.requests import AskHooks, AwaitAct, ExpandedPrompt, Mismatch
from pytest_hookharness.hosts.session_state.session_value import Session, context_notes
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import (
    WORKSPACE,
    Act,
    Compact,
    Corrupt,
    Edit,
    End,
    Message,
    OwnMove,
    Prompt,
    Read,
    Resume,
    RunCommand,
    Stop,
    Subagent,
    SubagentText,
    ToolCall,
    Tools,
    Wait,
)
from pytest_hookharness.model.protocol import Decision, Payload, map_texts

EVENTS = (Prompt, Wait, Compact, Resume, End, Corrupt)
_PATH = re.compile(rf"{re.escape(WORKSPACE)}(?P<rest>(?:/[\w.@+~-]*)*)")
SUMMARY = "The conversation so far was summarised."


def apply_act(session: Session, act: Act | None) -> Session:
    """
    Return the session after an act of the agent or its script; ``None`` ends the session.

    Raises:
        Mismatch: The act is a move of the agent and no turn is running.
    """
    match act:
        case Tools() | RunCommand() | Edit() | Read() | Stop() | Subagent():
            if not session.in_turn:
                name = type(act).__name__
                raise Mismatch(f"no turn is running, so the agent cannot make the move {name}; give an event")
            return _apply_move(replace(session, shown=()), act)
        case SubagentText():
            raise Mismatch("no subagent goes on, so none can say a text; give a move of the agent")
        case _:
            pass
    # The model has not answered yet, so the messages that it was shown are shown once more.
    session = replace(session, messages=(*session.shown, *session.messages), shown=())
    match act:
        case None:
            return starts_and_ends.end_session(session, session.profile.turns.end_reason)
        case End():
            return starts_and_ends.end_session(session, act.reason)
        case Prompt():
            # A prompt drops what is left of the agenda: a turn that was running is over.
            start = () if session.started else starts_and_ends.plan_start(session, "startup")
            session = replace(starts_and_ends.begin_turn(session, act.text), started=True)
            return replace(session, agenda=(*start, _prompt_event(session, act.text)))
        case Wait():
            return replace(session, waited=session.waited + act.seconds, agenda=(AwaitAct(),))
        case Corrupt():
            # The driver damages the file; the session only has to continue.
            return replace(session, agenda=(AwaitAct(),))
        case Compact():
            values = {"trigger": act.trigger, "custom_instructions": None}
            return replace(session, agenda=(AskHooks(role=Role.BEFORE_COMPACT, values=values), AwaitAct()))
        case Resume():
            return starts_and_ends.resume_session(session, fork=act.fork)
        case _:
            assert_never(act)


def _prompt_event(session: Session, text: str) -> AskHooks:
    expansion = None if session.profile.turns.expands_accepted else _expansion_event(session, text)
    return expansion or AskHooks(role=Role.PROMPT, values={"prompt": text})


def _expansion_event(session: Session, text: str) -> AskHooks | None:
    found = find_command(session.facts.commands, text)
    if found is None:
        return None
    command, arguments = found
    values: Payload = {
        "expansion_type": "slash_command",
        "command_name": command.name,
        "command_args": arguments,
        "command_source": command.source,
        "prompt": text,
        "expanded": expand_command(session.profile, command, arguments),
    }
    return AskHooks(role=Role.EXPANSION, values=values)


def _apply_move(session: Session, move: OwnMove) -> Session:
    session = replace(session, moves=session.moves + 1)
    session = _plan_move(session, move)
    # The events about an answer of the model come before everything that the answer leads to.
    said: Payload = {"said": move.text if isinstance(move, Stop) else move.say}
    events = [
        AskHooks(role=role, values=said, incidental=True) for role in session.profile.turns.after_request
    ]
    return session.put_first(*events)


def _plan_move(session: Session, move: OwnMove) -> Session:
    tools = session.profile.tools
    match move:
        case Stop():
            session = remember_move(_say(session, move.text, "end_turn"), "stop", move.text)
            return starts_and_ends.attempt_stop(session, move.text).put_first(
                *_message_events(session, move.text)
            )
        case Tools():
            return _plan_tools(
                session, move.say, tuple(_with_absolute_paths(session, call) for call in move.calls)
            )
        case RunCommand() | Edit() | Read():
            return _plan_tools(session, move.say, (tools.call(move, session.root),))
        case Subagent():
            call = ToolCall(name=tools.subagent, input=tools.launch(move), label=move.label)
            return _plan_tools(session, move.say, (call,), move)
        case _:
            assert_never(move)


def _with_absolute_paths(session: Session, call: ToolCall) -> ToolCall:
    written = {key: call.input.get(key) for key in session.profile.tools.paths}
    relative = {
        key: posixpath.join(session.cwd, path)
        for key, path in written.items()
        if isinstance(path, str) and not posixpath.isabs(path)
    }
    return replace(call, input={**call.input, **relative}) if relative else call


def _with_workspace(session: Session, call: ToolCall) -> ToolCall:
    def here(found: re.Match[str]) -> str:
        rest = found["rest"]
        return posixpath.normpath(session.facts.workspace + rest) + "/" * rest.endswith("/")

    given = {key: map_texts(value, lambda text: _PATH.sub(here, text)) for key, value in call.input.items()}
    return call if given == call.input else replace(call, input=given)


def _plan_tools(
    session: Session, say: str, calls: tuple[ToolCall, ...], subagent: Subagent | None = None
) -> Session:
    calls = tuple(_with_workspace(session, call) for call in calls)
    shown = _message_events(session, say)
    session = _say(session, say, "tool_use")
    stuck = session.profile.stuck
    if stuck is not None and stuck.before_call:
        for one in calls:
            session = remember_move(session, "call", one.name, sorted(one.input.items()))
            ended = end_if_stuck(session, one)
            if ended is not None:
                return ended.put_first(*shown)
    return _write_calls(plan_calls(session, calls, subagent)).put_first(*shown)


def _write_calls(planned: Session) -> Session:
    # The transcript names all calls before any of them is made, as the model's answer does.
    for task in planned.agenda:
        if isinstance(task, AskHooks) and task.call is not None:
            call = task.call
            block: Payload = {
                "type": "tool_use",
                "id": call.use_id,
                "name": call.tool_call.name,
                "input": call.tool_call.input,
            }
            planned = _write_block(planned, block, "tool_use")
    return planned


def _say(session: Session, text: str, reason: str) -> Session:
    if not text:
        return session
    session = replace(session, spoken=(*session.spoken, text))
    return _write_block(session, {"type": "text", "text": text}, reason)


def _write_block(session: Session, block: Payload, reason: str) -> Session:
    template = session.profile.tools.ids.message
    name = template.format(prompt=session.prompt_id[:8], position=session.position)
    return session.write_line("assistant", assistant_message(name, session.facts.model, block, reason))


def _message_events(session: Session, text: str) -> tuple[AskHooks, ...]:
    if not text or session.profile.by_role(Role.MESSAGE) is None:
        return ()
    message, _ = session.make_id("message")
    turn = derive_uuid(session.facts.seed, "turn", session.prompt_id)
    values: Payload = {"turn_id": turn, "message_id": message, "index": 0, "delta": text}
    finals = (False, True) if session.profile.turns.pieces else (True,)
    return tuple(AskHooks(role=Role.MESSAGE, values={**values, "final": final}) for final in finals)


def apply_expansion_decision(
    session: Session, typed: str, decision: Decision | None, accepted: ExpandedPrompt | None = None
) -> Session:
    """Return the session after the decision on a prompt that names a command, perhaps an accepted one."""
    found = find_command(session.facts.commands, typed)
    if decision is not None and (decision.refused or decision.halt is not None):
        return session.halt(decision, "refused the expansion of the prompt")
    text = expand_command(session.profile, *found) if found is not None else typed
    if accepted is not None:
        return _send_prompt(session, text, (*context_notes(decision), *accepted.notes))
    if session.profile.turns.expanded_prompt:
        text = "\n\n".join((text, *(note.text for note in context_notes(decision))))
        values: Payload = {"prompt": text, "typed": typed}
        return session.put_first(AskHooks(role=Role.PROMPT, values=values, expanded=ExpandedPrompt(text)))
    expanded = ExpandedPrompt(text, context_notes(decision))
    return session.put_first(AskHooks(role=Role.PROMPT, values={"prompt": typed}, expanded=expanded))


def apply_prompt_decision(
    session: Session, typed: str, decision: Decision | None, expanded: ExpandedPrompt | None = None
) -> Session:
    """Return the session after the decision on a prompt."""
    text, notes = (expanded.text, expanded.notes) if expanded is not None else (typed, ())
    if decision is not None and (decision.refused or decision.halt is not None):
        if session.profile.turns.refused_prompt_stops and decision.halt is None:
            return starts_and_ends.hold_prompt(session, text)
        return session.halt(decision, "refused the prompt")
    notes = (*notes, *context_notes(decision))
    expansion = _expansion_event(session, typed) if session.profile.turns.expands_accepted else None
    if expansion is not None:
        return session.put_first(replace(expansion, expanded=ExpandedPrompt(typed, notes)))
    return _send_prompt(session, text, notes)


def _send_prompt(session: Session, text: str, notes: Sequence[Message]) -> Session:
    session = starts_and_ends.release_prompts(session).write_line("user", user_message(text))
    return session.add_messages(Message("prompt", text), *notes).ask_model()


def apply_compaction_decision(session: Session, trigger: str, decision: Decision | None) -> Session:
    """Return the session after the decision on a compaction."""
    if decision is not None and (decision.refused or decision.halt is not None):
        return session
    session = session.write_line("user", user_message(SUMMARY), isCompactSummary=True)
    return session.put_first(
        AskHooks(role=Role.SESSION_START, values={"source": "compact"}),
        AskHooks(role=Role.AFTER_COMPACT, values={"trigger": trigger, "compact_summary": SUMMARY}),
    )
