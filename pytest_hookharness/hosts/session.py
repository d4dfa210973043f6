"""
This module is concerned with the step of a session: an answer in, a request out.

Middle floor: hosts. The step is pure: the same session and answer give the same progress.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from pytest_hookharness.hosts import guards
from pytest_hookharness.hosts.calls import (
    close_batch,
    conclude,
    settle_after,
    settle_batch,
    settle_before,
    settle_permission,
)
from pytest_hookharness.hosts.configuration import Configuration
from pytest_hookharness.hosts.decisions import aggregate
from pytest_hookharness.hosts.events import EventRule, Role
from pytest_hookharness.hosts.facts import Facts
from pytest_hookharness.hosts.matching import select
from pytest_hookharness.hosts.profile import Profile
from pytest_hookharness.hosts.replies import read_reply
from pytest_hookharness.hosts.requests import (
    Answer,
    Ended,
    Fired,
    Mismatch,
    NextAct,
    PerformCall,
    Request,
    RunHooks,
)
from pytest_hookharness.hosts.state import (
    IDLE_WHY,
    Ask,
    Close,
    CloseBatch,
    Enter,
    Listen,
    Perform,
    Session,
)
from pytest_hookharness.hosts.stdin import compose
from pytest_hookharness.hosts.subagents import launch_subagent, settle_subagent_stop
from pytest_hookharness.hosts.tasks import keep_tasks, settle_task
from pytest_hookharness.hosts.turns import (
    open_session,
    settle_compaction,
    settle_expansion,
    settle_prompt,
    settle_stop,
    take,
)
from pytest_hookharness.hosts.worktrees import enter, request_entry, settle_worktree
from pytest_hookharness.model.moves import Message, Observation, Performance, Run, ToolResult
from pytest_hookharness.model.protocol import Decision, Json, Reply
from pytest_hookharness.model.trace import Performed
from pytest_hookharness.model.verdicts import Guard

_Step: TypeAlias = "Session | tuple[Session, Request]"
_STREAKS = {Role.STOP: "streak", Role.SUBAGENT_STOP: "subagent_streak"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """
    One step of a session.

    Attributes:
        session: The session after it.
        request: What it asks for now.
        decision: What the host made of the fires just answered.
        replies: How it read them, in the order asked.
        performed: All calls that were made, given or refused by this step, in order.
        result: What the call gave that was just answered for.
    """

    session: Session
    request: Request
    decision: Decision | None = None
    replies: tuple[Reply, ...] = ()
    performed: tuple[Performed, ...] = ()
    result: ToolResult | None = None


def begin(profile: Profile, configuration: Configuration, facts: Facts) -> Progress:
    """
    The first step of a session.
    """
    session = Session(
        profile=profile,
        configuration=configuration,
        facts=facts,
        root=facts.workspace,
        cwd=facts.workspace,
        agenda=(Listen(),),
    )
    return _go_on(open_session(session, "startup"))


def advance(session: Session, answer: Answer) -> Progress:
    """
    The next step of a session, given the answer to its request.

    Raises:
        Mismatch: The answer does not fit the request.
    """
    waiting = session.waiting
    session = replace(session, waiting=None)
    match waiting:
        case Ask():
            if not isinstance(answer, Fired) or len(answer.runs) != len(session.hooks):
                raise Mismatch(f"{len(session.hooks)} hooks were asked; answer with Fired and as many runs")
            return _hear(session, waiting, answer)
        case Perform():
            after = conclude(session, waiting.call, _performance(answer))
            return replace(_go_on(after), result=after.performed[-1].result)
        case Enter():
            return _go_on(enter(session, _performance(answer)))
        case Listen():
            if isinstance(answer, Fired | Performance):
                raise Mismatch(f"an act was asked for; answer with one or None, not {type(answer).__name__}")
            return _go_on(take(session, answer))
        case _:
            raise Mismatch("the session has ended; nothing can be answered any more")


def _performance(answer: Answer) -> Performance:
    if not isinstance(answer, Performance):
        raise Mismatch(f"a call was asked for; answer with Performance, not {type(answer).__name__}")
    return answer


def reconfigure(session: Session, configuration: Configuration) -> Session:
    """
    The session after its settings were changed: they hold from the next event on.

    Hooks that were asked and have not answered yet are still those that were asked.
    """
    return replace(session, configuration=configuration)


def _hear(session: Session, ask: Ask, fired: Fired) -> Progress:
    profile, rule = session.profile, _rule(session, ask)
    pairs = zip(session.hooks, fired.runs, strict=True)
    replies = tuple(read_reply(profile, hook, rule.name, run) for hook, run in pairs)
    decision = aggregate(
        profile, rule.name, replies, fired.finished, hooks=session.hooks, target=_target(rule, ask)
    )
    if ask.role in _STREAKS:
        streak = getattr(session, _STREAKS[ask.role])
        refused = session.calls_refused and ask.role is Role.STOP
        decision = guards.override(profile.guard, session.env, streak, decision, calls_refused=refused)
    after = _settle(replace(session, hooks=()), ask, decision)
    return _go_on(after, decision, replies)


def _go_on(session: Session, decision: Decision | None = None, replies: tuple[Reply, ...] = ()) -> Progress:
    while True:
        step = _step(session)
        if isinstance(step, Session):
            session = step
            continue
        session, request = step
        performed = session.performed
        session = replace(session, performed=(), records=(), side=())
        return Progress(
            session=session, request=request, decision=decision, replies=replies, performed=performed
        )


def _step(session: Session) -> _Step:
    task, *rest = session.agenda
    session = replace(session, agenda=tuple(rest))
    match task:
        case Ask():
            return _ask(session, task)
        case Perform():
            return _perform(session, task)
        case Enter():
            return replace(session, waiting=task), request_entry(session, task)
        case CloseBatch():
            return close_batch(session)
        case Listen():
            return _listen(replace(session, waiting=task))
        case Close():
            rule = session.profile.replies.rules["no hooks"]
            ending = session.ending or Ended(how="idle", why=IDLE_WHY, rule=rule)
            path = session.facts.transcript_path
            return session, replace(ending, records=session.records, transcript_path=path)
        case _:
            assert_never(task)


def _perform(session: Session, task: Perform) -> _Step:
    call, facts = task.call, session.facts
    if call.launch is not None:
        return launch_subagent(session, call, call.launch)
    if call.made.given is not None:
        return conclude(session, call, call.made.given)
    kept = keep_tasks(session, call)
    if kept is not None:
        return kept
    operation = session.profile.tools.operation(call.made, facts.workspace)
    if isinstance(operation, Run) and session.cwd != facts.workspace:
        operation = replace(operation, folder=session.cwd)
    request = PerformCall(
        call=call.made,
        operation=operation,
        records=session.records,
        transcript_path=facts.transcript_path,
    )
    return replace(session, waiting=task), request


def _listen(session: Session) -> tuple[Session, Request]:
    path = session.facts.transcript_path
    if not session.in_turn:
        request = NextAct(
            turn_over=True, records=session.records, transcript_path=path, ending=session.ending
        )
        return session, request
    request = NextAct(
        observation=Observation(session.messages), records=session.records, transcript_path=path
    )
    return replace(session, shown=session.messages, messages=()), request


def _ask(session: Session, ask: Ask) -> _Step:
    rule = session.profile.by_role(ask.role)
    if rule is None:
        return _settle(session, ask, None)
    target = _target(rule, ask)
    made = ask.call.made.input if ask.call is not None else None
    hooks = select(session.profile, session.configuration.hooks, rule.name, target, tool_input=made)
    if not hooks:
        return _settle(session, ask, None)
    request = RunHooks(
        event=rule.name,
        target=target,
        hooks=hooks,
        payload=compose(rule.fields, _values(session, rule, ask)),
        records=session.records,
        transcript_path=session.facts.transcript_path,
        side_records=session.side,
    )
    return replace(session, waiting=ask, hooks=hooks), request


def _rule(session: Session, ask: Ask) -> EventRule:
    rule = session.profile.by_role(ask.role)
    if rule is None:
        raise Mismatch(f"{session.profile.id} has no event for {ask.role.value}")
    return rule


def _target(rule: EventRule, ask: Ask) -> str:
    return str(ask.values.get(rule.target, "")) if rule.target else ""


def _values(session: Session, rule: EventRule, ask: Ask) -> Mapping[str, Json]:
    facts = session.facts
    prompt: dict[str, Json] = {"prompt_id": session.prompt_id} if session.prompt_id else {}
    return {
        "session_id": facts.session_id,
        "transcript_path": facts.transcript_path,
        "cwd": session.cwd,
        "permission_mode": facts.permission_mode,
        "hook_event_name": rule.name,
        **prompt,
        **ask.values,
    }


def _settle(session: Session, ask: Ask, decision: Decision | None) -> Session:
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
            texts = decision.to_agent if decision is not None else ()
            event = decision.event if decision is not None else ""
            return session.tell(*(Message("context", text, event) for text in texts))


def guard_for(session: Session, lap_used_tools: bool) -> Guard | None:
    """
    What the host's guard would do about an endless loop at this point.

    A lap used tools if a call was carried out in it; a refused one does not count.
    """
    return guards.describe(
        session.profile.guard,
        session.env,
        lap_used_tools=lap_used_tools,
        calls_refused=session.calls_refused,
        # A lap, which lies within a turn, has left each of its refusals in the count if no call reset it.
        stops_refused=session.streak > 0 or not session.in_turn,
    )
