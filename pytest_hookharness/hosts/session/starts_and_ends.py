"""
The start and the end of sessions and turns: worktrees, prompts and resumes, stops, and hooks that never end.

The session creates no worktree itself. It runs hooks for one, or else requests a command, and enters the
folder by a second command so that a missing folder is noticed.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pytest_hookharness.hosts.rules.profile import EventRule
from pytest_hookharness.hosts.rules.tools_and_transcript import user_message
from pytest_hookharness.hosts.rules.turns import AtCap, Role
from pytest_hookharness.hosts.session.limits import end_if_out_of_steps, reported_flag
from pytest_hookharness.hosts.session_state.facts import derive_uuid
from pytest_hookharness.hosts.session_state.requests import (
    AskHooks,
    AwaitAct,
    CloseSession,
    EnterWorktree,
    PendingCall,
    PerformCall,
    Task,
)
from pytest_hookharness.hosts.session_state.session_value import Session, context_notes
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import Message, Performance, RunCommand, ToolCall
from pytest_hookharness.model.processes import Cut, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Decision, Hook, Payload


def open_session(session: Session, source: str) -> Session:
    """Return the session at its start, or after it was resumed. ``source`` is the host's word for which."""
    # The agenda of a start: worktree, setup, then the events of the start. A host that starts with the first
    # prompt has the latter wait for that (``Prompt`` in ``apply_act``).
    tasks: list[Task] = [*plan_worktree(session)] if source == "startup" else []
    if source == "startup" and session.facts.setup:
        tasks.append(AskHooks(role=Role.SETUP, values={"trigger": session.facts.setup}))
    if session.profile.turns.starts_with_prompt:
        return replace(session.put_first(*tasks), started=False)
    return replace(session.put_first(*tasks, *plan_start(session, source)), started=True)


def plan_start(session: Session, source: str) -> tuple[AskHooks, ...]:
    """Return the events of the start of a session. ``source`` is the host's word for how it starts."""
    values: Payload = {"source": source}
    if source == "resume":
        idle = {"seconds_since_last_response": session.waited, "prompt_cache_likely_expired": False}
        values = {**values, **idle, "context_tokens": 0, "estimated_cache_write_usd": 0.0}
    starts, own = [AskHooks(role=Role.SESSION_START, values=values)], session.profile.turns.own_instructions
    loaded: Payload = {"memory_type": "Project", "load_reason": "session_start"}
    names = (*session.facts.instructions, *([own.format(home=session.facts.home)] if own else []))
    files = [AskHooks(role=Role.INSTRUCTIONS, values={"file_path": name, **loaded}) for name in names]
    tasks = [*files, *starts] if own else [*starts, *files]
    tasks += [AskHooks(role=role, incidental=True) for role in session.profile.turns.after_start]
    return tuple(tasks)


def apply_start_decision(session: Session, decision: Decision | None) -> Session:
    """Return the session after the hooks of its start, one of which may end it."""
    if decision is None or decision.halt is None:
        return session.add_messages(*context_notes(decision))
    session = session.halt(decision, f"of {decision.event} ended the session")
    return end_session(session, session.profile.turns.end_reason)


def begin_turn(session: Session, prompt: str) -> Session:
    """Return the session in a new turn, with all counts of a turn reset."""
    uuid, session = session.make_id("prompt")
    parts = {"uuid": uuid, "session": session.facts.session_id, "number": session.prompts}
    prompt_id = session.profile.tools.ids.prompt.format(**parts)
    return replace(
        session,
        prompt=prompt,
        prompts=session.prompts + 1,
        spoken=(),
        moves=0,
        stops_refused=0,
        recent=(),
        warned=False,
        prompt_id=prompt_id,
        in_turn=True,
        ending=None,
        refusals_in_row=0,
        calls_refused=False,
        stop_hook_active=False,
        pending_halt=None,
    )


def end_session(session: Session, reason: str) -> Session:
    """Return the session that runs the hooks of its end and closes; a turn that is running ends."""
    session = _end_running_turn(session, "ended")
    last = (AskHooks(role=Role.SESSION_END, values={"reason": reason}),) if session.started else ()
    return replace(session, agenda=(*last, CloseSession()))


def _end_running_turn(session: Session, how: str) -> Session:
    rule = session.profile.replies.rules["no hooks"]
    why = f"the session was {how} in the middle of a turn"
    return session.finish("idle", why, rule) if session.in_turn else session


def resume_session(session: Session, *, fork: bool) -> Session:
    """Return the session after it was ended and resumed, or forked; a turn that is running ends."""
    session = _end_running_turn(session, "resumed")
    resumed = open_session(replace(session, agenda=(AwaitAct(),)), "resume")
    skipped = session.profile.tools.ids.skips_number and session.prompts == 1
    resumed = replace(
        resumed,
        prompts=session.prompts + skipped,
        refusals_in_row=0,
        calls_refused=False,
        stop_hook_active=False,
        cwd=session.root,
    )
    if fork:
        # A fork is a copy under another name; the original session continues and has no end event.
        name = derive_uuid(session.facts.seed, "fork of", session.facts.session_id)
        return replace(resumed, facts=replace(session.facts, session_id=name))
    ending = AskHooks(role=Role.SESSION_END, values={"reason": session.profile.turns.end_reason})
    return resumed.put_first(ending) if session.started else resumed


def plan_worktree(session: Session) -> tuple[AskHooks, ...]:
    """Return the event that comes first in a session which works in a worktree."""
    name = session.facts.worktree
    if not name or session.profile.worktrees is None:
        return ()
    return (AskHooks(role=Role.WORKTREE, values={"name": name}),)


def apply_worktree_decision(session: Session, decision: Decision | None) -> Session:
    """Return the session after the hooks that create a worktree. Without hooks the host creates it itself."""
    rules, name = session.profile.worktrees, session.facts.worktree
    if rules is None:
        return session
    if decision is None:
        folder = rules.folder.format(name=name)
        quoted = {"folder": shlex.quote(folder), "branch": shlex.quote(rules.branch.format(name=name))}
        return session.put_first(
            EnterWorktree(f"{rules.command.format(**quoted)} && cd -- {quoted['folder']}")
        )
    if decision.refused or not decision.folder:
        why = "; ".join(decision.reasons) or "no hook named a folder"
        session = session.finish("halted", f"worktree {name!r} was not created: {why}", decision.rule)
        return replace(session, agenda=(CloseSession(),))
    return session.put_first(EnterWorktree(f"cd -- {shlex.quote(decision.folder)}"))


def request_entry(task: EnterWorktree) -> PerformCall:
    """Return the request that enters the worktree, after creating it where no hook did."""
    call = ToolCall(name=Role.WORKTREE.value, input={})
    return PerformCall(call=call, operation=RunCommand(command=task.command))


def enter_worktree(session: Session, done: Performance) -> Session:
    """Return the session in its worktree; closed if the folder cannot be entered."""
    if done.exit == 0 and done.folder:
        return replace(session, root=done.folder, cwd=done.folder)
    reason = (done.error or done.stderr).strip() or f"exit code {done.exit}"
    why = f"worktree {session.facts.worktree!r} cannot be entered: {reason}"
    rules = session.profile.worktrees
    rule = rules.rules["entered"] if rules is not None else session.profile.replies.rules["no hooks"]
    return replace(session.finish("idle", why, rule), agenda=(CloseSession(),))


def end_without_stop_hooks(session: Session) -> Session:
    """Return the session after a stop for which the host runs no hooks, because they refused too often."""
    cap = session.profile.cap
    why = f"the host runs no hooks of a stop after {counted(session.refusals_in_row, 'refusal')}"
    return session.finish("capped", why, cap.rules["cap"], cap.status)


def find_unending_hook(
    session: Session, rule: EventRule, runs: Sequence[ProcessResult | Payload | None]
) -> Hook | None:
    """
    Return the first hook that the host would wait for without end; ``None`` if there is none.

    Such a hook was cut only by the harness's hook timeout: the host sends its signals at its own limit and
    then waits, however long that takes.
    """
    if session.profile.process.kill.close_wait is not None or not rule.waits:
        return None
    for hook, run in zip(session.hooks, runs, strict=True):
        ending = run.ending if isinstance(run, ProcessResult) else None
        if not isinstance(ending, TimedOut) or ending.by is not Cut.HOOK_TIMEOUT:
            continue
        limit = hook.timeout if hook.timeout is not None else rule.timeout
        # A hook cut before its limit would still have got the host's signal, unless it had already ended and
        # only its output was open: no signal reaches it then.
        if ending.ended is not None or limit < ending.after:
            return hook
    return None


def wait_for_hook(session: Session, hook: Hook) -> Session:
    """Return the closed session of a host that waits for a hook without end."""
    why = f"the host waits without a limit for {hook.command!r} to end or to close its output"
    session = session.finish("waiting", why, session.profile.process.rules["kill"])
    return replace(session, agenda=(CloseSession(),))


def attempt_stop(session: Session, text: str) -> Session:
    """Return the session that runs the hooks of a stop next, or ends a turn that used up its moves."""
    ended = end_if_out_of_steps(session, stopped=True)
    return ended or session.put_first(_stop_event(session, text))


def _stop_event(session: Session, text: str) -> AskHooks:
    active = reported_flag(session, session.stops_refused, refused=session.stop_hook_active)
    values: Payload = {
        "stop_hook_active": active,
        "last_assistant_message": text,
        "background_tasks": [running_task(call) for call in session.background],
        "session_crons": [],
    }
    return AskHooks(role=Role.STOP, values=values)


def running_task(call: PendingCall) -> Payload:
    """Return what the input of a stop hook says about a subagent that has not ended."""
    given = call.tool_call.input
    kind = call.subagent.kind if call.subagent is not None else ""
    return {
        "id": call.agent_id,
        "type": "subagent",
        "status": "running",
        "description": given.get("description", ""),
        "agent_type": str(given.get("subagent_type", kind)),
    }


def hold_prompt(session: Session, text: str) -> Session:
    """Return the session after a refused prompt, on a host that continues with the stop."""
    session = replace(session, held_prompts=(*session.held_prompts, text))
    return session.put_first(_stop_event(session, ""))


def release_prompts(session: Session) -> Session:
    """Return the session with refused and held prompts shown to the agent."""
    for text in session.held_prompts:
        session = session.write_line("user", user_message(text)).add_messages(Message("prompt", text))
    return replace(session, held_prompts=())


def apply_stop_decision(session: Session, decision: Decision | None) -> Session:
    """Return the session after the decision on a stop. No decision: no hook ran."""
    no_hooks = session.profile.replies.rules["no hooks"]
    if session.held_prompts and not session.moves and (decision is None or not decision.refused):
        rule = decision.rule if decision is not None else no_hooks
        return session.finish("halted", "a hook refused the prompt, and no hook refused the stop", rule)
    if decision is None:
        return session.finish("stopped", "the agent stopped and no hook ran", no_hooks)
    if decision.halt is not None:
        return session.finish("halted", f"a hook ended the turn: {decision.halt}", decision.rule)
    if decision.overridden:
        return _end_at_cap(session, decision)
    if not decision.refused:
        return session.finish("stopped", "the agent stopped and no hook refused", decision.rule)
    return _continue_turn(session, decision)


def _end_at_cap(session: Session, decision: Decision) -> Session:
    cap, count = session.profile.cap, session.refusals_in_row + 1
    did = "overrode" if cap.at_cap is AtCap.OVERRIDES else "ended the run at"
    why = f"the host's cap {did} refusal {count} in a row"
    if cap.message:
        limit = count if cap.overrides_at_cap else count - 1
        reason = "\n".join(decision.reasons)
        why += f": {cap.message.format(count=count, limit=limit, reason=reason)}"
    return session.finish("capped", why, decision.rule, cap.status)


def _add_feedback(session: Session, decision: Decision) -> Session:
    for text in decision.to_agent:
        session = session.add_messages(Message("feedback", text, decision.event))
        session = session.write_line("user", user_message(text), isMeta=True)
    return session


def _continue_turn(session: Session, decision: Decision) -> Session:
    # Calls refused before the first refusal of a stop do not lie between two refusals.
    between = session.calls_refused and session.refusals_in_row > 0
    session = replace(
        release_prompts(session),
        refusals_in_row=session.refusals_in_row + 1,
        stops_refused=session.stops_refused + 1,
        calls_refused=between,
        stop_hook_active=True,
    )
    prompts = session.profile.turns.refusal_prompts
    session = _add_feedback(replace(session, spoken=()) if prompts else session, decision).ask_model()
    if not prompts:
        return session
    return session.put_first(
        AskHooks(role=Role.PROMPT, values={"prompt": "\n".join(decision.reasons)}, incidental=True)
    )
