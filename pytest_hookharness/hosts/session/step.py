"""
One step of a session: an answer goes in, the next request comes out.

The session is pure: it asks, it never acts. It starts no process and reads no file, clock or environment.
When it needs something from outside, it returns a request and stores in ``waiting`` what the answer is for.
The same session and answer therefore always give the same progress, and a session can be saved and resumed
at any request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, assert_never

from pytest_hookharness.hosts.hook_input.launch import select, start_groups
from pytest_hookharness.hosts.hook_input.stdin import compose, key_of, session_values
from pytest_hookharness.hosts.replies.decision import aggregate
from pytest_hookharness.hosts.replies.reply import read_reply, refuses_at_once
from pytest_hookharness.hosts.rules.profile import EventRule, Profile
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session import starts_and_ends
from pytest_hookharness.hosts.session.after_hooks import apply_decision, plan_task_change
from pytest_hookharness.hosts.session.folders_and_files import compare_content, request_check
from pytest_hookharness.hosts.session.limits import apply_cap, find_end, find_refusing, skips_stop_hooks
from pytest_hookharness.hosts.session.moves_and_events import apply_act
from pytest_hookharness.hosts.session.subagents import ask_subagent, continue_subagent, launch_subagent
from pytest_hookharness.hosts.session.tool_calls import close_batch, finish_call, refuse_by_mode
from pytest_hookharness.hosts.session_state.facts import Facts
from pytest_hookharness.hosts.session_state.requests import (
    Answer,
    AskHooks,
    AwaitAct,
    AwaitSubagent,
    CheckFile,
    CloseBatch,
    CloseSession,
    Ended,
    EnterWorktree,
    HooksFinished,
    MakeCall,
    Mismatch,
    NextAct,
    PendingCall,
    PerformCall,
    Request,
    RunHooks,
)
from pytest_hookharness.hosts.session_state.session_value import IDLE_WHY, Session
from pytest_hookharness.hosts.settings.configuration import Configuration, locate
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.moves import Observation, Performance, RunCommand, SubagentText, ToolResult
from pytest_hookharness.model.protocol import Decision, Hook, Payload, Reply, Rule
from pytest_hookharness.model.trace import Performed

_TaskResult: TypeAlias = "Session | tuple[Session, Request]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """
    The result of one step.

    Attributes:
        decision: The host's decision on the event whose hook runs were just answered; ``None`` while other
            hooks of that event still have to run.
        replies: The replies to that event in the order asked, including those of earlier requests for it.
        lines: Lines to append to transcripts before the request is carried out, by path.
        performed: All calls that this step made, took from the scenario or refused, in order.
        result: The result of the call that was just answered.
    """

    session: Session
    request: Request
    lines: Mapping[str, tuple[Payload, ...]]
    decision: Decision | None = None
    replies: tuple[Reply, ...] = ()
    performed: tuple[Performed, ...] = ()
    result: ToolResult | None = None


def begin(profile: Profile, configuration: Configuration, facts: Facts) -> Progress:
    """Start a session and return its first request."""
    session = Session(
        profile=profile,
        configuration=configuration,
        facts=facts,
        root=facts.workspace,
        cwd=facts.workspace,
        agenda=(AwaitAct(),),
    )
    if configuration.refused:
        session = session.finish("halted", configuration.refused, profile.config.rules["refused"])
        return _run_agenda(replace(session, agenda=(CloseSession(),)))
    return _run_agenda(starts_and_ends.open_session(session, "startup"))


def advance(session: Session, answer: Answer) -> Progress:
    """Return the next step of a session; raise ``Mismatch`` if the answer does not fit its request."""
    waiting = session.waiting
    session = replace(session, waiting=None)
    match waiting:
        case AskHooks():
            if not isinstance(answer, HooksFinished) or len(answer.runs) != len(session.hooks):
                got = type(answer).__name__
                got = f"{len(answer.runs)} runs" if isinstance(answer, HooksFinished) else got
                raise Mismatch(f"expected HooksFinished with {len(session.hooks)} runs, got {got}")
            return _take_results(session, waiting, answer)
        case MakeCall():
            return _finish(session, waiting.call, _expect_performance(answer))
        case CheckFile():
            found = compare_content(session, waiting, _expect_performance(answer))
            if isinstance(found, Session):
                return _run_agenda(found)
            return _finish(session, waiting.call, found)
        case EnterWorktree():
            return _run_agenda(starts_and_ends.enter_worktree(session, _expect_performance(answer)))
        case AwaitSubagent():
            if not isinstance(answer, SubagentText):
                raise Mismatch(f"expected the text of the subagent, got {type(answer).__name__}")
            return _run_agenda(continue_subagent(session, waiting.call, answer.text))
        case AwaitAct():
            if isinstance(answer, HooksFinished | Performance):
                raise Mismatch(f"expected an act or None, got {type(answer).__name__}")
            return _run_agenda(apply_act(session, answer))
        case _:
            raise Mismatch("the session has ended and takes no more answers; start another one with begin()")


def _finish(session: Session, call: PendingCall, done: Performance) -> Progress:
    after = finish_call(session, call, done)
    return replace(_run_agenda(after), result=after.performed[-1].result)


def _expect_performance(answer: Answer) -> Performance:
    if not isinstance(answer, Performance):
        raise Mismatch(f"expected a Performance of the call, got {type(answer).__name__}")
    return answer


def reconfigure(session: Session, configuration: Configuration) -> Session:
    """
    Return the session with changed settings. They apply from the next event on.

    Hooks that were requested and have not answered yet stay those of the old settings.
    """
    return replace(session, configuration=configuration)


def _take_results(session: Session, ask: AskHooks, results: HooksFinished) -> Progress:
    profile, rule = session.profile, session.profile.events[ask.event]
    pairs = zip(session.hooks, results.runs, strict=True)
    new = tuple(read_reply(profile, hook, rule.name, run) for hook, run in pairs)
    replies, hooks = (*ask.replies, *new), (*ask.asked_hooks, *session.hooks)
    unending = starts_and_ends.find_unending_hook(session, rule, results.runs)
    if ask.remaining_hooks and unending is None and not refuses_at_once(rule, new):
        following = replace(
            _with_changed_input(session, ask, new),
            asked_hooks=hooks,
            replies=replies,
            remaining_hooks=ask.remaining_hooks[1:],
        )
        session, request = _request_hooks(session, following, ask.remaining_hooks[:1])
        return _progress(session, request, None, replies)
    # ``finished`` counts within this request; ``replies`` begins with those of the requests before it.
    before = len(ask.replies)
    finished = (*range(before), *(before + at for at in results.finished)) if results.finished else ()
    workspace, home = session.facts.workspace, session.facts.home
    decision = aggregate(
        profile,
        rule.name,
        replies,
        finished,
        hooks=[replace(hook, source=locate(hook.source, workspace, home)) for hook in hooks],
        target=_matcher_target(session, rule, ask),
        tool_input=ask.call.tool_call.input if ask.call is not None else None,
    )
    rests_on = (*decision.rests_on, *_rules_of_turn(session, ask))
    decision = replace(decision, rests_on=rests_on) if rests_on else decision
    decision = apply_cap(session, ask.role, decision, find_refusing(hooks, replies))
    session = replace(session, hooks=())
    if unending is not None:
        # The host never decides; the decision made here only says what the other hooks replied.
        return _run_agenda(starts_and_ends.wait_for_hook(session, unending), decision, replies)
    return _run_agenda(apply_decision(session, ask, decision), decision, replies)


def _rules_of_turn(session: Session, ask: AskHooks) -> Iterator[Rule]:
    """Yield the facts that a decision rests on besides those about its event."""
    rules = session.profile.turns.rules
    if ask.role is Role.PROMPT and ask.incidental and "continuation" in rules:
        yield rules["continuation"]
    if ask.role is Role.AFTER_TOOL and len(session.batch) > 1 and "order of calls" in rules:
        yield rules["order of calls"]
    if ask.role is Role.STOP and session.stops_refused and "equal texts" in rules:
        yield rules["equal texts"]
    if session.facts.permission_mode != session.profile.turns.mode and "modes" in rules:
        yield rules["modes"]
    if ask.role in (Role.STOP, Role.SUBAGENT_STOP) and session.background:
        yield session.profile.tools.rules["end of a subagent"]


def _with_changed_input(session: Session, ask: AskHooks, replies: tuple[Reply, ...]) -> AskHooks:
    # On hosts that run hooks one by one, each hook gets the input as the hook before it changed it.
    changed = next((reply.updated_input for reply in replies if reply.updated_input is not None), None)
    given = ask.values.get("tool_input")
    if changed is None or not isinstance(given, Mapping):
        return ask
    answers = session.profile.answers(ask.event)
    if answers.input_merges or answers.next_merges:
        changed = {**given, **changed}
    return replace(ask, values={**ask.values, "tool_input": changed})


def _run_agenda(
    session: Session, decision: Decision | None = None, replies: tuple[Reply, ...] = ()
) -> Progress:
    # The agenda is a stack: the first task is done next, and doing it may put other tasks before the rest.
    # It never runs empty: the end of a turn leaves ``AwaitAct`` in it, the end of a session ``CloseSession``.
    while True:
        step = _do_task(session)
        if isinstance(step, Session):
            session = step
            continue
        return _progress(*step, decision, replies)


def _progress(
    session: Session, request: Request, decision: Decision | None, replies: tuple[Reply, ...]
) -> Progress:
    # The progress has the lines and calls, so the session continues without them.
    return Progress(
        session=replace(session, performed=(), lines={}),
        request=request,
        lines=session.lines,
        decision=decision,
        replies=replies,
        performed=session.performed,
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
            return replace(session, waiting=task), starts_and_ends.request_entry(task)
        case CloseBatch():
            return close_batch(session)
        case AwaitAct():
            # The host's limits end the turn before the next move; hooks of the last move have run.
            return find_end(session) or _await_act(replace(session, waiting=task))
        case AwaitSubagent():
            return ask_subagent(session, task)
        case CloseSession():
            rule = session.profile.replies.rules["no hooks"]
            return session, session.ending or Ended(how="idle", why=IDLE_WHY, rule=rule)
        case _:
            assert_never(task)


def _make_call(session: Session, task: MakeCall) -> _TaskResult:
    call, workspace = task.call, session.facts.workspace
    if (refused := refuse_by_mode(session, call)) is not None:
        return refused
    if call.subagent is not None:
        return launch_subagent(session, call, call.subagent)
    if call.tool_call.given is not None:
        return finish_call(session, call, call.tool_call.given)
    if (changed := plan_task_change(session, call)) is not None:
        return changed
    if (result := session.profile.tools.internal(call.tool_call)) is not None:
        return finish_call(session, call, result)
    if not task.checked and (check := request_check(session, call)) is not None:
        return check
    operation = session.profile.tools.operation(call.tool_call, workspace)
    # Only commands depend on the current folder; the paths of file tools are already absolute.
    if isinstance(operation, RunCommand) and session.cwd != workspace:
        operation = replace(operation, folder=session.cwd)
    return replace(session, waiting=task), PerformCall(call=call.tool_call, operation=operation)


def _await_act(session: Session) -> tuple[Session, Request]:
    if not session.in_turn:
        return session, NextAct(turn_over=True, ending=session.ending)
    request = NextAct(observation=Observation(session.messages))
    return replace(session, shown=session.messages, messages=()), request


def _ask_hooks(session: Session, ask: AskHooks) -> _TaskResult:
    profile, call = session.profile, ask.call.tool_call if ask.call is not None else None
    if not ask.event:
        names = [rule.name for rule in profile.for_role(ask.role, call.name if call is not None else "")]
        if not names:
            return apply_decision(session, ask, None)
        ask = replace(ask, event=names[0], more_events=tuple(names[1:]))
    if ask.role is Role.STOP and skips_stop_hooks(session):
        return starts_and_ends.end_without_stop_hooks(session)
    rule = profile.events[ask.event]
    hooks = select(
        profile,
        session.configuration.hooks,
        rule.name,
        _matcher_target(session, rule, ask),
        tool_input=call.input if call is not None else None,
        folder=session.facts.workspace,
    )
    if not hooks:
        return apply_decision(session, ask, None)
    first = start_groups(profile, hooks)[0]
    return _request_hooks(session, replace(ask, remaining_hooks=hooks[len(first) :]), first)


def _request_hooks(session: Session, ask: AskHooks, hooks: tuple[Hook, ...]) -> tuple[Session, Request]:
    rule = session.profile.events[ask.event]
    payload = compose(rule.fields, session_values(session, rule.name, ask.values))
    if ask.values.get("stop_hook_active") == "absent":
        payload.pop(key_of(rule, "stop_hook_active"), None)
    target = _matcher_target(session, rule, ask)
    request = RunHooks(event=rule.name, target=target, hooks=hooks, payload=payload)
    return replace(session, waiting=ask, hooks=hooks), request


def _matcher_target(session: Session, rule: EventRule, ask: AskHooks) -> str:
    if rule.target in ask.values or not rule.target:
        return str(ask.values.get(rule.target, ""))
    return str(session_values(session, rule.name, ask.values).get(rule.target, ""))
