"""
The step of a session: an answer in, a request out.

The step is pure: the same session and answer give the same progress.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from pytest_hookharness.hosts.hook_input.payload_values import session_values
from pytest_hookharness.hosts.hook_input.stdin import compose
from pytest_hookharness.hosts.replies.decision import aggregate
from pytest_hookharness.hosts.replies.reply import read_reply, refuses_at_once
from pytest_hookharness.hosts.rules.events import EventRule
from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.roles import Role
from pytest_hookharness.hosts.session import cap_counting, workspace_view
from pytest_hookharness.hosts.session.after_hooks import apply_decision
from pytest_hookharness.hosts.session.moves_and_events import open_session, apply_act
from pytest_hookharness.hosts.session.subagents import plan_task_change, launch_subagent
from pytest_hookharness.hosts.session.tool_calls import close_batch, finish_call
from pytest_hookharness.hosts.session.turn_ends import (
    end_without_stop_hooks,
    find_end,
    find_unending_hook,
    wait_for_hook,
)
from pytest_hookharness.hosts.session.workspace_view import enter_worktree, request_entry
from pytest_hookharness.hosts.session_state.facts import Facts
from pytest_hookharness.hosts.session_state.requests import (
    Answer,
    AskHooks,
    CloseSession,
    CloseBatch,
    Ended,
    EnterWorktree,
    HooksFinished,
    AwaitAct,
    CheckFile,
    Mismatch,
    NextAct,
    MakeCall,
    PerformCall,
    Request,
    RunHooks,
)
from pytest_hookharness.hosts.session_state.session_value import IDLE_WHY, Session
from pytest_hookharness.hosts.settings.configuration import Configuration, locate
from pytest_hookharness.hosts.settings.matchers_and_timeouts import select, start_groups
from pytest_hookharness.model.moves import Observation, Performance, RunCommand, ToolResult
from pytest_hookharness.model.protocol import Decision, Hook, Reply
from pytest_hookharness.model.trace import Performed
from pytest_hookharness.model.verdicts import Cap

_TaskResult: TypeAlias = "Session | tuple[Session, Request]"
_REFUSAL_COUNTS = {Role.STOP: "refusals_in_row", Role.SUBAGENT_STOP: "subagent_refusals"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """
    One step of a session.

    Attributes:
        session: The session after it.
        request: What it asks for now.
        decision: What the host made of the fires just answered; ``None`` while others of the same event
            are still to be asked.
        replies: How it read them, in the order asked, with those of earlier requests for the event.
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
        agenda=(AwaitAct(),),
    )
    if configuration.refused:
        rule = profile.config.rules["refused"]
        return _run_agenda(
            replace(session.finish("halted", configuration.refused, rule), agenda=(CloseSession(),))
        )
    return _run_agenda(open_session(session, "startup"))


def advance(session: Session, answer: Answer) -> Progress:
    """
    The next step of a session, given the answer to its request.

    Raises:
        Mismatch: The answer does not fit the request.
    """
    waiting = session.waiting
    session = replace(session, waiting=None)
    match waiting:
        case AskHooks():
            if not isinstance(answer, HooksFinished) or len(answer.runs) != len(session.hooks):
                raise Mismatch(f"{len(session.hooks)} hooks were asked; answer with Fired and as many runs")
            return _take_results(session, waiting, answer)
        case MakeCall():
            after = finish_call(session, waiting.call, _expect_performance(answer))
            return replace(_run_agenda(after), result=after.performed[-1].result)
        case CheckFile():
            found = workspace_view.compare_content(session, waiting, _expect_performance(answer))
            if isinstance(found, Session):
                return _run_agenda(found)
            after = finish_call(session, waiting.call, found)
            return replace(_run_agenda(after), result=after.performed[-1].result)
        case EnterWorktree():
            return _run_agenda(enter_worktree(session, _expect_performance(answer)))
        case AwaitAct():
            if isinstance(answer, HooksFinished | Performance):
                raise Mismatch(f"an act was asked for; answer with one or None, not {type(answer).__name__}")
            return _run_agenda(apply_act(session, answer))
        case _:
            raise Mismatch("the session has ended; nothing can be answered any more")


def _expect_performance(answer: Answer) -> Performance:
    if not isinstance(answer, Performance):
        raise Mismatch(f"a call was asked for; answer with Performance, not {type(answer).__name__}")
    return answer


def reconfigure(session: Session, configuration: Configuration) -> Session:
    """
    The session after its settings were changed: they hold from the next event on.

    Hooks that were asked and have not answered yet are still those that were asked.
    """
    return replace(session, configuration=configuration)


def _take_results(session: Session, ask: AskHooks, fired: HooksFinished) -> Progress:
    profile, rule = session.profile, session.profile.events[ask.event]
    pairs = zip(session.hooks, fired.runs, strict=True)
    new = tuple(read_reply(profile, hook, rule.name, run) for hook, run in pairs)
    replies, hooks = (*ask.replies, *new), (*ask.asked_hooks, *session.hooks)
    endless = find_unending_hook(session, rule, fired.runs)
    if ask.remaining_hooks and endless is None and not refuses_at_once(rule, new):
        again = replace(
            _with_changed_input(session, ask, new),
            asked_hooks=hooks,
            replies=replies,
            remaining_hooks=ask.remaining_hooks[1:],
        )
        session, request = _request_hooks(session, again, ask.remaining_hooks[:1])
        return Progress(session=session, request=request, replies=replies)
    before = len(ask.replies)
    finished = (*range(before), *(before + place for place in fired.finished)) if fired.finished else ()
    made = ask.call.tool_call.input if ask.call is not None else None
    target = _matcher_target(session, rule, ask)
    placed = [replace(hook, source=_locate(session, hook)) for hook in hooks]
    decision = aggregate(profile, rule.name, replies, finished, hooks=placed, target=target, tool_input=made)
    if ask.role in _REFUSAL_COUNTS:
        decision = cap_counting.apply_cap(
            profile.cap,
            _cap_setting(session),
            getattr(session, _REFUSAL_COUNTS[ask.role]),
            decision,
            calls_refused=session.calls_refused and ask.role is Role.STOP,
            refusing=cap_counting.find_refusing(hooks, replies),
        )
    session = replace(session, hooks=())
    after = apply_decision(session, ask, decision) if endless is None else wait_for_hook(session, endless)
    return _run_agenda(after, decision, replies)


def _locate(session: Session, hook: Hook) -> str:
    return locate(hook.source, session.facts.workspace, session.facts.home)


def _with_changed_input(session: Session, ask: AskHooks, replies: tuple[Reply, ...]) -> AskHooks:
    # Where hooks go one by one, the next one sees the input as the one before has left it.
    changed = next((reply.updated_input for reply in replies if reply.updated_input is not None), None)
    given = ask.values.get("tool_input")
    if changed is None or not isinstance(given, Mapping):
        return ask
    if session.profile.answers(ask.event).input_merges:
        changed = {**given, **changed}
    return replace(ask, values={**ask.values, "tool_input": changed})


def _cap_setting(session: Session) -> cap_counting.CapSetting:
    rules = session.profile.cap
    given = session.facts.options
    configured = session.configuration.setting(rules.setting)
    return cap_counting.CapSetting(env=session.env, options=given, configured=configured)


def _run_agenda(
    session: Session, decision: Decision | None = None, replies: tuple[Reply, ...] = ()
) -> Progress:
    while True:
        step = _do_task(session)
        if isinstance(step, Session):
            session = step
            continue
        session, request = step
        performed = session.performed
        session = replace(session, performed=(), records=(), subagent_lines=())
        return Progress(
            session=session, request=request, decision=decision, replies=replies, performed=performed
        )


def _do_task(session: Session) -> _TaskResult:
    task, *rest = session.agenda
    session = replace(session, agenda=tuple(rest))
    match task:
        case AskHooks():
            return _ask_hooks(session, task)
        case MakeCall():
            return _make_call(session, task)
        case EnterWorktree():
            return replace(session, waiting=task), request_entry(session, task)
        case CloseBatch():
            return close_batch(session)
        case AwaitAct():
            return find_end(session) or _await_act(replace(session, waiting=task))
        case CloseSession():
            rule = session.profile.replies.rules["no hooks"]
            ending = session.ending or Ended(how="idle", why=IDLE_WHY, rule=rule)
            path = session.facts.transcript_path
            return session, replace(ending, records=session.records, transcript_path=path)
        case _:
            assert_never(task)


def _make_call(session: Session, task: MakeCall) -> _TaskResult:
    call, facts = task.call, session.facts
    if call.subagent is not None:
        return launch_subagent(session, call, call.subagent)
    if call.tool_call.given is not None:
        return finish_call(session, call, call.tool_call.given)
    kept = plan_task_change(session, call)
    if kept is not None:
        return kept
    made = session.profile.tools.internal(call.tool_call)
    if made is not None:
        return finish_call(session, call, made)
    look = None if task.checked else workspace_view.request_check(session, call)
    if look is not None:
        return look
    operation = session.profile.tools.operation(call.tool_call, facts.workspace)
    if isinstance(operation, RunCommand) and session.cwd != facts.workspace:
        operation = replace(operation, folder=session.cwd)
    request = PerformCall(
        call=call.tool_call,
        operation=operation,
        records=session.records,
        transcript_path=facts.transcript_path,
    )
    return replace(session, waiting=task), request


def _await_act(session: Session) -> tuple[Session, Request]:
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


def _ask_hooks(session: Session, ask: AskHooks) -> _TaskResult:
    profile, made = session.profile, ask.call.tool_call if ask.call is not None else None
    if not ask.event:
        names = [rule.name for rule in profile.for_role(ask.role, made.name if made is not None else "")]
        if not names:
            return apply_decision(session, ask, None)
        ask = replace(ask, event=names[0], more_events=tuple(names[1:]))
    if ask.role is Role.STOP and cap_counting.skips_stop_hooks(
        profile.cap, _cap_setting(session), session.refusals_in_row
    ):
        return end_without_stop_hooks(session)
    rule = profile.events[ask.event]
    hooks = select(
        profile,
        session.configuration.hooks,
        rule.name,
        _matcher_target(session, rule, ask),
        tool_input=made.input if made is not None else None,
    )
    if not hooks:
        return apply_decision(session, ask, None)
    first = start_groups(profile, hooks)[0]
    return _request_hooks(session, replace(ask, remaining_hooks=hooks[len(first) :]), first)


def _request_hooks(session: Session, ask: AskHooks, hooks: tuple[Hook, ...]) -> tuple[Session, Request]:
    rule = session.profile.events[ask.event]
    request = RunHooks(
        event=rule.name,
        target=_matcher_target(session, rule, ask),
        hooks=hooks,
        payload=compose(rule.fields, session_values(session, rule.name, ask.values)),
        records=session.records,
        transcript_path=session.facts.transcript_path,
        subagent_lines=session.subagent_lines,
    )
    session = replace(session, records=(), subagent_lines=())
    return replace(session, waiting=ask, hooks=hooks), request


def _matcher_target(session: Session, rule: EventRule, ask: AskHooks) -> str:
    if rule.target in ask.values or not rule.target:
        return str(ask.values.get(rule.target, ""))
    return str(session_values(session, rule.name, ask.values).get(rule.target, ""))


def cap_for(session: Session, repetition_used_tools: bool) -> Cap | None:
    """
    What the host's guard would do about an endless loop at this point.

    A lap used tools if a call was carried out in it; a refused one does not count.
    """
    return cap_counting.describe_cap(
        session.profile.cap,
        _cap_setting(session),
        repetition_used_tools=repetition_used_tools,
        calls_refused=session.calls_refused,
        # A lap, which lies within a turn, has left each of its refusals in the count if no call reset it.
        stops_refused=session.refusals_in_row > 0 or not session.in_turn,
    )
