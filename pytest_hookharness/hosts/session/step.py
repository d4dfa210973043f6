"""
The step of a session: an answer in, a request out.

The step is pure: the same session and answer give the same progress.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from pytest_hookharness.hosts.hook_input.payload_values import session_words
from pytest_hookharness.hosts.hook_input.stdin import compose
from pytest_hookharness.hosts.replies.decision import aggregate
from pytest_hookharness.hosts.replies.reply import read_reply, refuses_at_once
from pytest_hookharness.hosts.rules.events import EventRule
from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.roles import Role
from pytest_hookharness.hosts.session import cap_counting, workspace_view
from pytest_hookharness.hosts.session.after_hooks import settle
from pytest_hookharness.hosts.session.moves_and_events import open_session, take
from pytest_hookharness.hosts.session.subagents import keep_tasks, launch_subagent
from pytest_hookharness.hosts.session.tool_calls import close_batch, conclude
from pytest_hookharness.hosts.session.turn_ends import close_unasked, find_end, find_endless, wait_for
from pytest_hookharness.hosts.session.workspace_view import enter, request_entry
from pytest_hookharness.hosts.session_state.facts import Facts
from pytest_hookharness.hosts.session_state.requests import (
    Answer,
    Ask,
    Close,
    CloseBatch,
    Ended,
    Enter,
    HooksFinished,
    Listen,
    Look,
    Mismatch,
    NextAct,
    Perform,
    PerformCall,
    Request,
    RunHooks,
)
from pytest_hookharness.hosts.session_state.session_value import IDLE_WHY, Session
from pytest_hookharness.hosts.settings.configuration import Configuration, locate
from pytest_hookharness.hosts.settings.matchers_and_timeouts import select, waves
from pytest_hookharness.model.moves import Observation, Performance, RunCommand, ToolResult
from pytest_hookharness.model.protocol import Decision, Hook, Reply
from pytest_hookharness.model.trace import Performed
from pytest_hookharness.model.verdicts import Cap

_Step: TypeAlias = "Session | tuple[Session, Request]"
_STREAKS = {Role.STOP: "streak", Role.SUBAGENT_STOP: "subagent_streak"}


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
        agenda=(Listen(),),
    )
    if configuration.refused:
        rule = profile.config.rules["refused"]
        return _go_on(replace(session.finish("halted", configuration.refused, rule), agenda=(Close(),)))
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
            if not isinstance(answer, HooksFinished) or len(answer.runs) != len(session.hooks):
                raise Mismatch(f"{len(session.hooks)} hooks were asked; answer with Fired and as many runs")
            return _hear(session, waiting, answer)
        case Perform():
            after = conclude(session, waiting.call, _performance(answer))
            return replace(_go_on(after), result=after.performed[-1].result)
        case Look():
            found = workspace_view.compare(session, waiting, _performance(answer))
            if isinstance(found, Session):
                return _go_on(found)
            after = conclude(session, waiting.call, found)
            return replace(_go_on(after), result=after.performed[-1].result)
        case Enter():
            return _go_on(enter(session, _performance(answer)))
        case Listen():
            if isinstance(answer, HooksFinished | Performance):
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


def _hear(session: Session, ask: Ask, fired: HooksFinished) -> Progress:
    profile, rule = session.profile, session.profile.events[ask.event]
    pairs = zip(session.hooks, fired.runs, strict=True)
    new = tuple(read_reply(profile, hook, rule.name, run) for hook, run in pairs)
    replies, hooks = (*ask.heard, *new), (*ask.asked, *session.hooks)
    endless = find_endless(session, rule, fired.runs)
    if ask.rest and endless is None and not refuses_at_once(rule, new):
        again = replace(_feed(session, ask, new), asked=hooks, heard=replies, rest=ask.rest[1:])
        session, request = _request(session, again, ask.rest[:1])
        return Progress(session=session, request=request, replies=replies)
    before = len(ask.heard)
    finished = (*range(before), *(before + place for place in fired.finished)) if fired.finished else ()
    made = ask.call.made.input if ask.call is not None else None
    target = _target(session, rule, ask)
    placed = [replace(hook, source=_locate(session, hook)) for hook in hooks]
    decision = aggregate(profile, rule.name, replies, finished, hooks=placed, target=target, tool_input=made)
    if ask.role in _STREAKS:
        decision = cap_counting.override(
            profile.cap,
            _setting(session),
            getattr(session, _STREAKS[ask.role]),
            decision,
            calls_refused=session.calls_refused and ask.role is Role.STOP,
            refusing=cap_counting.find_refusing(hooks, replies),
        )
    session = replace(session, hooks=())
    after = settle(session, ask, decision) if endless is None else wait_for(session, endless)
    return _go_on(after, decision, replies)


def _locate(session: Session, hook: Hook) -> str:
    return locate(hook.source, session.facts.workspace, session.facts.home)


def _feed(session: Session, ask: Ask, replies: tuple[Reply, ...]) -> Ask:
    # Where hooks go one by one, the next one sees the input as the one before has left it.
    changed = next((reply.updated_input for reply in replies if reply.updated_input is not None), None)
    given = ask.values.get("tool_input")
    if changed is None or not isinstance(given, Mapping):
        return ask
    if session.profile.answers(ask.event).input_merges:
        changed = {**given, **changed}
    return replace(ask, values={**ask.values, "tool_input": changed})


def _setting(session: Session) -> cap_counting.Setting:
    rules = session.profile.cap
    given = session.facts.options
    configured = session.configuration.setting(rules.setting)
    return cap_counting.Setting(env=session.env, options=given, configured=configured)


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
            return find_end(session) or _listen(replace(session, waiting=task))
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
    made = session.profile.tools.internal(call.made)
    if made is not None:
        return conclude(session, call, made)
    look = None if task.looked else workspace_view.look_first(session, call)
    if look is not None:
        return look
    operation = session.profile.tools.operation(call.made, facts.workspace)
    if isinstance(operation, RunCommand) and session.cwd != facts.workspace:
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
    profile, made = session.profile, ask.call.made if ask.call is not None else None
    if not ask.event:
        names = [rule.name for rule in profile.for_role(ask.role, made.name if made is not None else "")]
        if not names:
            return settle(session, ask, None)
        ask = replace(ask, event=names[0], later=tuple(names[1:]))
    if ask.role is Role.STOP and cap_counting.asks_no_more(profile.cap, _setting(session), session.streak):
        return close_unasked(session)
    rule = profile.events[ask.event]
    hooks = select(
        profile,
        session.configuration.hooks,
        rule.name,
        _target(session, rule, ask),
        tool_input=made.input if made is not None else None,
    )
    if not hooks:
        return settle(session, ask, None)
    first = waves(profile, hooks)[0]
    return _request(session, replace(ask, rest=hooks[len(first) :]), first)


def _request(session: Session, ask: Ask, hooks: tuple[Hook, ...]) -> tuple[Session, Request]:
    rule = session.profile.events[ask.event]
    request = RunHooks(
        event=rule.name,
        target=_target(session, rule, ask),
        hooks=hooks,
        payload=compose(rule.fields, session_words(session, rule.name, ask.values)),
        records=session.records,
        transcript_path=session.facts.transcript_path,
        side_records=session.side,
    )
    session = replace(session, records=(), side=())
    return replace(session, waiting=ask, hooks=hooks), request


def _target(session: Session, rule: EventRule, ask: Ask) -> str:
    if rule.target in ask.values or not rule.target:
        return str(ask.values.get(rule.target, ""))
    return str(session_words(session, rule.name, ask.values).get(rule.target, ""))


def guard_for(session: Session, lap_used_tools: bool) -> Cap | None:
    """
    What the host's guard would do about an endless loop at this point.

    A lap used tools if a call was carried out in it; a refused one does not count.
    """
    return cap_counting.describe(
        session.profile.cap,
        _setting(session),
        lap_used_tools=lap_used_tools,
        calls_refused=session.calls_refused,
        # A lap, which lies within a turn, has left each of its refusals in the count if no call reset it.
        stops_refused=session.streak > 0 or not session.in_turn,
    )
