"""The end of a turn: stops, the host's cap and other limits, and hooks that never end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.hosts.rules.profile import EventRule
from pytest_hookharness.hosts.rules.transcript_lines import user_message
from pytest_hookharness.hosts.rules.turns import AtCap, Role
from pytest_hookharness.hosts.session.cap_counting import reported_flag
from pytest_hookharness.hosts.session_state.facts import derive_digest
from pytest_hookharness.hosts.session_state.requests import AskHooks, CloseSession
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.moves import Message
from pytest_hookharness.model.processes import Cut, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Decision, Hook, Payload
from pytest_hookharness.model.verdicts import Limit


def remember_move(session: Session, kind: str, *content: object) -> Session:
    """Return the session with one more move in the list that the host searches for repetitions."""
    stuck = session.profile.stuck
    if stuck is None:
        return session
    digest = derive_digest(0, kind, *content)[:16]
    return replace(session, recent=(*session.recent, (kind, digest))[-stuck.remembered :])


def find_end(session: Session) -> Session | None:
    """Return the session after a limit ended its turn; ``None`` if the agent may make another move."""
    if not session.in_turn:
        return None
    return (_end_if_out_of_steps(session) if session.moves else None) or _end_if_stuck(session)


def _end_if_out_of_steps(session: Session, *, stopped: bool = False) -> Session | None:
    steps = session.profile.steps
    if steps is None or session.moves < int(session.facts.options.get(steps.option, steps.most)):
        return None
    why = f"the host allows an agent {session.moves} moves in a turn"
    status = (steps.stopped if stopped else "") or steps.status
    return session.finish("capped", why, steps.rule, status)


def _end_if_stuck(session: Session) -> Session | None:
    stuck = session.profile.stuck
    if stuck is None or session.facts.options.get(stuck.option) is False:
        return None
    why = stuck.detect(session.recent)
    return session.finish("capped", why, stuck.rule, stuck.status) if why else None


def find_limits(session: Session, turn: int, period: int) -> tuple[Limit, ...]:
    """
    Return the limits that would end a loop which neither a hook nor the cap ends, the earliest first.

    Args:
        session: The session after a repetition of the cycle.
        turn: The last turn of that repetition.
        period: The number of turns in one repetition.
    """
    # A prompt resets all counts, so a repetition with a prompt in it never comes to a limit.
    if not period or not session.in_turn or session.moves <= period:
        return ()
    found = [*_step_limit(session, turn), *_stuck_limit(session, turn, period)]
    return tuple(sorted(found, key=lambda limit: limit.turn))


def _step_limit(session: Session, turn: int) -> Iterator[Limit]:
    steps = session.profile.steps
    if steps is not None:
        most = int(session.facts.options.get(steps.option, steps.most))
        why = f"the host allows an agent {most} moves in a turn"
        yield Limit(turn=turn + most - session.moves, why=why, rule=steps.rule)


def _stuck_limit(session: Session, turn: int, period: int) -> Iterator[Limit]:
    stuck, recent = session.profile.stuck, session.recent
    if stuck is None or session.facts.options.get(stuck.option) is False:
        return
    halves = (size for size in range(1, len(recent) // 2 + 1) if recent[-size:] == recent[-2 * size : -size])
    size = next(halves, 0)
    for more in range(1, (stuck.remembered if size else 0) + 1):
        recent = (*recent, recent[-size])[-stuck.remembered :]
        why = stuck.detect(recent)
        if why:
            # ``recent`` has several entries for some turns and none for others. If its own period is not that
            # of the loop, only the repetition of the end is known, not the turn.
            turns = more if size == period else period * -(-more // size)
            yield Limit(turn=turn + turns, why=why, rule=stuck.rule)
            return


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
    """
    Return the session that runs the hooks of a stop next.

    A stop that used up the last move of its turn ends the turn without hooks.
    """
    ended = _end_if_out_of_steps(session, stopped=True)
    return ended or session.put_first(_stop_event(session, text))


def _stop_event(session: Session, text: str) -> AskHooks:
    active = reported_flag(session, session.stops_refused, refused=session.stop_hook_active)
    values: Payload = {
        "stop_hook_active": active,
        "last_assistant_message": text,
        "background_tasks": [],
        "session_crons": [],
    }
    return AskHooks(role=Role.STOP, values=values)


def hold_prompt(session: Session, text: str) -> Session:
    """Return the session after a refused prompt, on a host that goes on to the stop with it."""
    session = replace(session, held_prompts=(*session.held_prompts, text))
    return session.put_first(_stop_event(session, ""))


def release_prompts(session: Session) -> Session:
    """Return the session with refused and held prompts shown to the agent."""
    for text in session.held_prompts:
        session = session.write_line("user", user_message(text)).add_messages(Message("prompt", text))
    return replace(session, held_prompts=())


def apply_stop_decision(session: Session, decision: Decision | None) -> Session:
    """Return the session after the decision on a stop. No decision: no hook ran."""
    if session.held_prompts and not session.moves and (decision is None or not decision.refused):
        rule = decision.rule if decision is not None else session.profile.replies.rules["no hooks"]
        return session.finish("halted", "a hook refused the prompt, and no hook refused the stop", rule)
    if decision is None:
        rule = session.profile.replies.rules["no hooks"]
        return session.finish("stopped", "the agent stopped and no hook ran", rule)
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
    if session.profile.turns.refusal_prompts:
        session = replace(session, spoken=())
    for text in decision.to_agent:
        session = session.add_messages(Message("feedback", text, decision.event))
        session = session.write_line("user", user_message(text), isMeta=True)
    session = session.ask_model()
    if not session.profile.turns.refusal_prompts:
        return session
    return session.put_first(
        AskHooks(role=Role.PROMPT, values={"prompt": "\n".join(decision.reasons)}, incidental=True)
    )
